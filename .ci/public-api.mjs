/**
 * The public API as text: every name that the package exports, and the declaration of each type
 * that a user can reach from them, without comments and private members. A declaration marked
 * `@internal` is named and not shown. The check compares it with docs/api/orrery.api.md.
 *
 * node .ci/public-api.mjs [--write]
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const page = 'docs/api/orrery.api.md';
const printer = ts.createPrinter({ removeComments: true });

/** Entry name → source file, from `exports` of package.json. */
function entriesOf(folder) {
  const { name, exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return Object.entries(exports)
    .filter(([, entry]) => typeof entry === 'object')
    .map(([path, entry]) => [
      `${name}${path.slice(1)}`,
      join(folder, entry.types.replace(/^\.\/dist\/(.*)\.d\.ts$/, 'src/$1.ts')),
    ]);
}

/** Declarations of source files, emitted one by one as they are reached. */
class Declarations {
  modules = new Map();

  constructor(folder, files) {
    const { config } = ts.readConfigFile(join(folder, 'tsconfig.json'), ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, folder);
    const whole = { ...options, incremental: false, tsBuildInfoFile: undefined };
    this.program = ts.createProgram(files, { ...whole, sourceMap: false });
  }

  /** Top-level names of a module: statements, or where an import or a re-export leads. */
  module(file) {
    const known = this.modules.get(file);
    if (known !== undefined) return known;
    const source = this.program.getSourceFile(file);
    if (source === undefined) throw new Error(`${file}: is no source file`);
    let text = '';
    this.program.emit(source, (_name, content) => (text = content), undefined, true);
    const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    const made = { file, statements: new Map(), links: new Map(), exported: new Map() };
    for (const statement of tree.statements) this.index(made, statement);
    this.modules.set(file, made);
    return made;
  }

  index(module, statement) {
    const { statements, links, exported } = module;
    const target = (specifier) =>
      specifier.text.startsWith('.')
        ? resolve(dirname(module.file), specifier.text.replace(/\.js$/, '.ts'))
        : specifier.text;
    if (ts.isImportDeclaration(statement)) {
      const from = target(statement.moduleSpecifier);
      const { name, namedBindings } = statement.importClause ?? {};
      if (name !== undefined) links.set(name.text, { from, name: 'default' });
      if (namedBindings !== undefined && ts.isNamespaceImport(namedBindings)) {
        links.set(namedBindings.name.text, { from, name: '*' });
      } else {
        for (const one of namedBindings?.elements ?? []) {
          links.set(one.name.text, { from, name: (one.propertyName ?? one.name).text });
        }
      }
    } else if (ts.isExportDeclaration(statement)) {
      for (const one of statement.exportClause?.elements ?? []) {
        const name = (one.propertyName ?? one.name).text;
        const from = statement.moduleSpecifier && target(statement.moduleSpecifier);
        exported.set(one.name.text, { from: from ?? module.file, name });
      }
    } else {
      for (const name of namesOf(statement)) {
        statements.set(name, [...(statements.get(name) ?? []), statement]);
        exported.set(name, { from: module.file, name });
      }
    }
  }

  /** Follows imports and re-exports to a declaration, or to the name of a package. */
  resolve({ from, name }) {
    if (!from.endsWith('.ts')) return { package: from };
    const module = this.module(from);
    const statements = module.statements.get(name);
    if (statements !== undefined) return { module, name, statements };
    const next = module.links.get(name) ?? module.exported.get(name);
    if (next === undefined) throw new Error(`${relative(root, from)}: does not declare ${name}`);
    return this.resolve(next);
  }
}

function namesOf(statement) {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  }
  return statement.name === undefined ? [] : [statement.name.text];
}

const HIDDEN = [ts.SyntaxKind.PrivateKeyword, ts.SyntaxKind.ProtectedKeyword];
const isHidden = (member) =>
  (member.modifiers?.some(({ kind }) => HIDDEN.includes(kind)) ?? false) ||
  (member.name !== undefined && ts.isPrivateIdentifier(member.name));

const isInternal = (statement) =>
  ts.getJSDocTags(statement).some(({ tagName }) => tagName.text === 'internal');

/** A declaration without `export declare`, comments, and what its users cannot reach. */
function visible(statement) {
  if (!ts.isClassDeclaration(statement)) return statement;
  const { modifiers, name, typeParameters, heritageClauses, members } = statement;
  const shown = members.filter((member) => !isHidden(member));
  const { factory } = ts;
  return factory.updateClassDeclaration(
    ...[statement, modifiers, name, typeParameters, heritageClauses, shown],
  );
}

function textOf(statement, name) {
  if (isInternal(statement)) return `/* internal */ ${name};`;
  const text = printer.printNode(
    ts.EmitHint.Unspecified,
    visible(statement),
    statement.getSourceFile(),
  );
  return text.replace(/^(export )?(declare )?/, '');
}

/** Names that a declaration refers to, as links from its module. */
function linksOf(module, statement) {
  if (isInternal(statement)) return [];
  const found = [];
  const add = (entity) => {
    const parts = entity.getText().split('.');
    const link = module.links.get(parts[0]);
    if (link?.name === '*') found.push({ from: link.from, name: parts[1] });
    else if (link !== undefined) found.push(link);
    else if (module.statements.has(parts[0])) found.push({ from: module.file, name: parts[0] });
  };
  const visit = (node) => {
    if (ts.isClassElement(node) && isHidden(node)) return;
    if (ts.isTypeReferenceNode(node)) add(node.typeName);
    else if (ts.isTypeQueryNode(node)) add(node.exprName);
    else if (ts.isExpressionWithTypeArguments(node)) add(node.expression);
    else if (ts.isComputedPropertyName(node)) add(node.expression);
    else if (ts.isImportTypeNode(node)) found.push(importTypeLink(module, node));
    ts.forEachChild(node, visit);
  };
  visit(statement);
  return found;
}

function importTypeLink(module, { argument, qualifier }) {
  const { text } = argument.literal;
  const from = text.startsWith('.')
    ? resolve(dirname(module.file), text.replace(/\.js$/, '.ts'))
    : text;
  return { from, name: qualifier?.getText().split('.')[0] ?? '*' };
}

/** The whole report. Throws when an entry exports a name that nothing declares. */
export function apiReport(folder) {
  const entries = entriesOf(folder);
  const declarations = new Declarations(
    folder,
    entries.map(([, file]) => file),
  );
  const shown = new Map();
  const packages = new Set();
  const reach = (link) => {
    const found = declarations.resolve(link);
    if (found.package !== undefined) return packages.add(found.package);
    for (const statement of found.statements) {
      if (shown.has(statement)) continue;
      shown.set(statement, `${found.name}\u0000${textOf(statement, found.name)}`);
      for (const next of linksOf(found.module, statement))
        if (next.name !== '*') reach(next);
        else packages.add(next.from);
    }
  };
  const lists = entries.map(([name, file]) => {
    const { exported } = declarations.module(file);
    for (const link of exported.values()) reach(link);
    const names = [...exported.keys()].sort();
    return [`## ${name}`, '', '```', ...names, '```', ''].join('\n');
  });
  const texts = [...new Set(shown.values())].sort().map((text) => text.split('\u0000')[1]);
  return [
    '# Public API',
    '',
    'Generated: `node .ci/public-api.mjs --write`. `npm run check` fails when it is out of date.',
    '',
    ...lists,
    '## Declarations',
    '',
    `Types come from these packages: ${[...packages].sort().join(', ')}.`,
    '',
    ['```ts', texts.join('\n\n'), '```', ''].join('\n'),
  ].join('\n');
}

/** The first lines that differ, for the message of the check. */
function firstDifference(was, is) {
  const [before, after] = [was.split('\n'), is.split('\n')];
  const line = after.findIndex((text, i) => text !== before[i]);
  const at = line === -1 ? after.length : line;
  return `${page}:${at + 1}\n- ${before[at] ?? ''}\n+ ${after[at] ?? ''}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const report = apiReport(root);
  const path = join(root, page);
  if (process.argv.includes('--write')) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, report);
    console.log(`written: ${page}`);
  } else {
    let committed = '';
    try {
      committed = readFileSync(path, 'utf8');
    } catch {
      // A missing file differs from the report.
    }
    if (committed !== report) {
      console.log(`the public API differs from ${firstDifference(committed, report)}`);
      console.log('if that is intended: node .ci/public-api.mjs --write, and commit it');
      process.exitCode = 1;
    }
  }
}
