/**
 * Links the engine: all modules of `src/engine`, `src/num` and `src/base` become one file,
 * `dist/linked.js`, in which every function and value of a module is a constant binding. Each
 * module of `dist` that has values re-exports them from there, so imports stay as they are.
 *
 * V8 folds a constant binding into compiled code. It loads an import, or a function that is
 * declared by a statement, at every use, and compares it with the function that it inlined there.
 * The engine has about a hundred such uses per order (decision record 0087).
 */
import { parse } from 'acorn';
import { build, transformSync } from 'esbuild';
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const ROOMS = ['base', 'num', 'engine'];
/** Modules that every command loads, most of them without the engine. */
export const APART = ['base/assert.ts', 'base/user-error.ts'];
const TARGET = 'node20';
const LINKED = join(ROOT, 'dist', 'linked.js');

/** Parses a module of JavaScript. */
export const parsed = (code) => parse(code, { ecmaVersion: 'latest', sourceType: 'module' });

/** Calls `visit` for each node of a syntax tree. */
export function walk(node, visit) {
  visit(node);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child?.type === 'string') walk(child, visit);
    }
  }
}

/** Names that a pattern assigns; `a.b` and `a[b]` assign none. */
function targetsOf(pattern) {
  switch (pattern?.type) {
    case 'Identifier':
      return [pattern.name];
    case 'ArrayPattern':
      return pattern.elements.flatMap(targetsOf);
    case 'ObjectPattern':
      return pattern.properties.flatMap((property) => targetsOf(property.value ?? property));
    case 'AssignmentPattern':
      return targetsOf(pattern.left);
    case 'RestElement':
      return targetsOf(pattern.argument);
    default:
      return [];
  }
}

/** Names that are assigned anywhere after their declaration. */
function assignedNames(program) {
  const names = [];
  walk(program, (node) => {
    if (node.type === 'AssignmentExpression') names.push(...targetsOf(node.left));
    else if (node.type === 'UpdateExpression') names.push(...targetsOf(node.argument));
    else if (node.type === 'ForOfStatement' || node.type === 'ForInStatement') {
      names.push(...targetsOf(node.left));
    }
  });
  return new Set(names);
}

/**
 * The code with constant bindings at its top level. Functions come first: as constants they are not
 * hoisted, and they run nothing by themselves.
 */
export function withConstants(code) {
  const program = parsed(code);
  const assigned = assignedNames(program);
  const imports = [];
  const functions = [];
  const others = [];
  const exports = [];
  for (const node of program.body) {
    const text = code.slice(node.start, node.end);
    if (node.type === 'ImportDeclaration') imports.push(...constantImport(node));
    else if (node.type === 'FunctionDeclaration' && !assigned.has(node.id.name)) {
      const { id } = node;
      const unnamed = code.slice(node.start, id.start) + code.slice(id.end, node.end);
      functions.push(`const ${id.name} = ${unnamed};`);
    } else if (node.type === 'VariableDeclaration' && node.kind === 'var') {
      const isConstant = node.declarations.every(
        ({ id, init }) => id.type === 'Identifier' && init !== null && !assigned.has(id.name),
      );
      others.push(isConstant ? text.replace(/^var/, 'const') : text);
    } else if (node.type === 'ExportNamedDeclaration') {
      // An exported binding is a cell of the module, which is loaded at every use.
      for (const { local, exported } of node.specifiers) {
        if (assigned.has(local.name)) throw new Error(`${local.name} is exported and assigned`);
        exports.push(`export const ${exported.name} = ${local.name};`);
      }
    } else others.push(text);
  }
  return [...imports, ...functions, ...others, ...exports, ''].join('\n');
}

/** An import, and its names as constants. */
function constantImport({ source, specifiers }) {
  const names = specifiers.map(({ local, imported }) => [imported.name, local.name]);
  const list = names.map(([name, local]) => `${name} as ${local}_imported`).join(', ');
  return [
    `import { ${list} } from ${source.raw};`,
    ...names.map(([, local]) => `const ${local} = ${local}_imported;`),
  ];
}

/** Imports of modules that stay apart, as those of `dist`. */
const modulesApart = {
  name: 'modules apart',
  setup: (linker) => {
    linker.onResolve({ filter: /\.ts$/ }, ({ path, resolveDir }) => {
      const module = relative(join(ROOT, 'src'), join(resolveDir, path));
      if (!APART.includes(module)) return undefined;
      return { path: `./${module.replace(/ts$/, 'js')}`, external: true };
    });
  },
};

/** Names of the values that a module exports. */
function exportsOf(file) {
  const { code } = transformSync(readFileSync(file, 'utf8'), { loader: 'ts', target: TARGET });
  const names = [];
  for (const node of parsed(code).body) {
    if (node.type === 'ExportAllDeclaration') throw new Error(`${file}: export * cannot be linked`);
    if (node.type !== 'ExportNamedDeclaration') continue;
    for (const { exported } of node.specifiers) names.push(exported.name);
    if (node.declaration?.type === 'VariableDeclaration') {
      for (const { id } of node.declaration.declarations) names.push(id.name);
    } else if (node.declaration) names.push(node.declaration.id.name);
  }
  return names;
}

const modulesOf = (room) =>
  readdirSync(join(ROOT, 'src', room), { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(room, name))
    .sort();

const builtOf = (path) => join(ROOT, 'dist', path.replace(/ts$/, 'js'));

/** Writes the linked file, and links the modules of `dist` to it. */
async function link(paths) {
  const modules = paths.map((path, number) => {
    const names = exportsOf(join(ROOT, 'src', path));
    const linked = (name) => `${name}_${String(number)}`;
    const list = names.map((name) => `${name} as ${linked(name)}`).join(', ');
    const again = names.map((name) => `${linked(name)} as ${name}`).join(', ');
    return { path, names, list, again };
  });
  const withValues = modules.filter(({ names }) => names.length > 0);
  const { outputFiles } = await build({
    stdin: {
      contents: withValues
        .map(({ path, list }) => `export { ${list} } from './${path}';`)
        .join('\n'),
      resolveDir: join(ROOT, 'src'),
    },
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: TARGET,
    write: false,
    logLevel: 'error',
    plugins: [modulesApart],
  });
  const text = withConstants(outputFiles[0].text);
  for (const { path, again } of withValues) {
    const file = builtOf(path);
    const target = relative(dirname(file), LINKED);
    replace(file, `export { ${again} } from '${target}';\n`);
  }
  // Last: its time is not before that of a module that is linked to it.
  replace(LINKED, text);
}

/** Another process never reads a part of the file: several may link at the same time. */
function replace(file, text) {
  const partial = `${file}.${String(process.pid)}`;
  writeFileSync(partial, text);
  renameSync(partial, file);
}

/** Whether a built module has no code of its own; a build beside this one may have written some. */
function isLinked(file) {
  const text = readFileSync(file, 'utf8');
  return (
    /^export \{[^}]*\} from '[^']*linked\.js';\n$/.test(text) ||
    /^export \{\};\s*(\/\/.*)?$/.test(text)
  );
}

/** Links a build, unless no module has changed since; without a build, does nothing. */
export async function linkIfChanged() {
  const paths = ROOMS.flatMap(modulesOf).filter((path) => !APART.includes(path));
  if (!paths.every((path) => existsSync(builtOf(path)))) return;
  const times = paths.flatMap((path) => [join(ROOT, 'src', path), builtOf(path)]);
  times.push(fileURLToPath(import.meta.url));
  const newest = Math.max(...times.map((path) => statSync(path).mtimeMs));
  const isNewest = existsSync(LINKED) && statSync(LINKED).mtimeMs >= newest;
  if (isNewest && paths.every((path) => isLinked(builtOf(path)))) return;
  await link(paths);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await linkIfChanged();
