/**
 * Bundles the command `orrery` and its workers from the sources into `dist/program`: some files for
 * each command instead of hundreds of modules. The built entries, such as `dist/cli/main.js`,
 * import the bundle. Modules of the library stay as they are, and so do the engine
 * (`.ci/link.mjs`), packages, and scripts of other threads.
 */
import { build, transformSync } from 'esbuild';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { APART, parsed, walk } from './link.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const SOURCES = join(ROOT, 'src');
const DIST = join(ROOT, 'dist');
const FOLDER = join(DIST, 'program');
const LINKED = join(DIST, 'linked.js');
/** Modules that processes start with. */
const ENTRIES = [
  'cli/main',
  'cli/fuzz/worker',
  'cli/exhaust/worker',
  'search/workers/trial-worker',
  'journal-files/snapshot-worker',
];

/**
 * Scripts of threads that use few functions of the engine: each is one file with copies of them. A
 * run waits for the thread, which would take longer to load the engine than to decode its first
 * rows.
 */
const THREADS = ['tape-files/column-worker'];
const ALL = [...ENTRIES, ...THREADS];

/** So long a process that began before a build finds the parts that it loads later. */
const KEPT_MS = 86_400_000;

const TSCONFIG = readFileSync(join(ROOT, 'tsconfig.json'), 'utf8');

/** File of the bundle in which an entry begins. */
const bundledOf = (entry) => join(FOLDER, `${entry.replaceAll('/', '-')}.js`);

/** Built entry: it only imports the bundle. */
const builtEntryOf = (entry) => join(DIST, `${entry}.js`);

function textOfEntry(entry) {
  const bundled = relative(dirname(builtEntryOf(entry)), bundledOf(entry));
  return `${entry === 'cli/main' ? '#!/usr/bin/env node\n' : ''}export * from '${bundled}';\n`;
}

const timeOf = (file) => (existsSync(file) ? statSync(file).mtimeMs : 0);

/** Names of the files that begin, and of all that they load. */
export function namesOfProgram() {
  const names = new Set(ALL.map((entry) => basename(bundledOf(entry))));
  // A name that is added is visited, too.
  for (const name of names) {
    const file = join(FOLDER, name);
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    for (const [, part] of text.matchAll(/"\.\/([\w-]+-[A-Z0-9]{8}\.js)"/g)) names.add(part);
  }
  return names;
}

const builtOf = (source) => join(DIST, relative(SOURCES, source).replace(/\.ts$/, '.js'));

/** Modules of the engine name code of the linked file, which every user of the build shares. */
const linkedEngine = {
  name: 'linked engine',
  setup: (bundler) => {
    bundler.onResolve({ filter: /linked\.js$/ }, () => ({ path: '../linked.js', external: true }));
    bundler.onResolve({ filter: /^\..*\.ts$/ }, ({ path, resolveDir }) => {
      const module = relative(SOURCES, join(resolveDir, path));
      if (!APART.includes(module)) return undefined;
      return { path: `../${module.replace(/ts$/, 'js')}`, external: true };
    });
    bundler.onLoad({ filter: /\/src\/(base|num|engine)\/.*\.ts$/ }, ({ path }) => ({
      contents: readFileSync(builtOf(path), 'utf8'),
      loader: 'js',
    }));
  },
};

/** The module with `address` for each `import.meta.url`, as JavaScript. */
export function withAddress(source, address) {
  const { code } = transformSync(source, { loader: 'ts', tsconfigRaw: TSCONFIG });
  const places = [];
  walk(parsed(code), (node) => {
    const isOwn = node.type === 'MemberExpression' && node.object.type === 'MetaProperty';
    if (isOwn && node.property.name === 'url') places.push(node);
  });
  return places
    .sort((a, b) => b.start - a.start)
    .reduce((text, { start, end }) => text.slice(0, start) + address + text.slice(end), code);
}

/** A module's own address is that of its build, beside which it finds scripts and files. */
const builtAddresses = {
  name: 'built addresses',
  setup: (bundler) => {
    bundler.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      if (!source.includes('import.meta')) return undefined;
      const address = `new URL('${relative(FOLDER, builtOf(path))}', import.meta.url).href`;
      return { contents: withAddress(source, address), loader: 'js' };
    });
  },
};

/** Another process never reads a part of the file. */
function replace(file, contents, mode) {
  const partial = `${file}.${String(process.pid)}`;
  writeFileSync(partial, contents, { mode });
  renameSync(partial, file);
}

function isNew() {
  const sources = readdirSync(SOURCES, { recursive: true }).map((name) => join(SOURCES, name));
  const newest = Math.max(...[...sources, LINKED, fileURLToPath(import.meta.url)].map(timeOf));
  return (
    ALL.every(
      (entry) =>
        timeOf(bundledOf(entry)) > newest &&
        readFileSync(builtEntryOf(entry), 'utf8') === textOfEntry(entry),
    ) && [...namesOfProgram()].every((name) => existsSync(join(FOLDER, name)))
  );
}

/** The time of a part becomes that at which it is replaced. */
function outdate(parts) {
  const now = new Date();
  for (const part of parts) if (existsSync(part)) utimesSync(part, now, now);
}

/**
 * Removes the files of former builds that are older. A process of a former build may load one, and
 * another process may be about to rename a partial one.
 */
export function removeFormer(keptMs) {
  const names = namesOfProgram();
  for (const name of readdirSync(FOLDER)) {
    const file = join(FOLDER, name);
    if (!names.has(name) && timeOf(file) < Date.now() - keptMs) rmSync(file, { force: true });
  }
}

async function bundled(entries, options) {
  const { outputFiles } = await build({
    entryPoints: entries.map((entry) => ({
      in: join(SOURCES, `${entry}.ts`),
      out: basename(bundledOf(entry), '.js'),
    })),
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    outdir: FOLDER,
    write: false,
    logLevel: 'error',
    ...options,
  });
  return outputFiles;
}

/** Bundles it unless nothing has changed since; without a build, does nothing. */
export async function programIfChanged() {
  if (!ALL.every((entry) => existsSync(builtEntryOf(entry))) || isNew()) return;
  const outputFiles = [
    ...(await bundled(ENTRIES, { splitting: true, plugins: [linkedEngine, builtAddresses] })),
    ...(await bundled(THREADS, { plugins: [builtAddresses] })),
  ];
  mkdirSync(FOLDER, { recursive: true });
  const begins = ({ path }) => ALL.some((entry) => bundledOf(entry) === path);
  // Files that begin keep their time, by which the bundle is known to be new.
  const parts = [...namesOfProgram()].map((name) => ({ path: join(FOLDER, name) }));
  outdate(parts.filter((file) => !begins(file)).map(({ path }) => path));
  // Files that begin are last: their times are not before that of another one.
  const ordered = [...outputFiles.filter((file) => !begins(file)), ...outputFiles.filter(begins)];
  for (const { path, contents } of ordered) replace(path, contents, 0o666);
  // `npx orrery` executes the file of the command; npm makes it executable at its first use only.
  for (const entry of ALL) {
    replace(builtEntryOf(entry), textOfEntry(entry), entry === 'cli/main' ? 0o777 : 0o666);
  }
  removeFormer(KEPT_MS);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await programIfChanged();
