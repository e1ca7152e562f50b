/**
 * `npm run docs`: the documents and the API reference as a searchable site in reports/site. The
 * pages are README, CHANGELOG, CONTRIBUTING, docs and examples; TypeDoc writes the reference from
 * the docstrings of each entry of package.json. Fails on dead links and anchors. The packages of
 * the site are installed at the first run, apart from those of the repository.
 *
 *     npm run docs -- [--serve] [--base /path/]
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { documents, root } from '../doc-blocks.mjs';
import { anchorOf, deadLinks } from './links.mjs';

const site = import.meta.dirname;
const pages = join(site, 'pages');
const output = join(root, 'reports', 'site');

const { values: options } = parseArgs({
  options: { serve: { type: 'boolean', default: false }, base: { type: 'string', default: '/' } },
});

function installPackages() {
  const installed = join(site, 'node_modules', '.package-lock.json');
  const timeOf = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);
  if (timeOf(installed) >= timeOf(join(site, 'package-lock.json'))) return;
  console.log('docs: installing packages (npm ci)');
  execFileSync('npm', ['ci', '--ignore-scripts', '--loglevel=error'], {
    ...{ cwd: site, stdio: ['ignore', 'inherit', 'inherit'] },
  });
  utimesSync(installed, new Date(), new Date());
}

function writePage(path, text) {
  mkdirSync(dirname(join(pages, path)), { recursive: true });
  writeFileSync(join(pages, path), text);
}

/**
 * Documents at their own paths, so that their links work as in the repository. A README is the
 * index of its folder, a file of `examples` is a part of its folder's page, and the reference is in
 * place of the report of the public API.
 */
function copyDocuments() {
  for (const document of [...documents(), 'data/LICENSE.md']) {
    const text = readFileSync(join(root, document), 'utf8')
      .replaceAll(/(?<=\]\([^)\s#]*)\bREADME\.md/g, 'index.md')
      .replaceAll(/(?<=\]\()api\/orrery\.api\.md/g, '../reference/index.md')
      .replaceAll(
        /(?<=\]\()([^)\s#]*\bexamples(?:\/[\w-]+)*)\/([\w-]+(?:\.\w+)+)\)/g,
        (_, folder, file) => `${folder}.md#${anchorOf(file)})`,
      )
      // Marks of generated parts.
      .replaceAll(/^<!-- .* -->$/gm, '');
    // A diagram needs the width of the page.
    const settings = text.includes('```mermaid') ? '---\naside: false\n---\n\n' : '';
    writePage(document.replace(/\bREADME\.md$/, 'index.md'), settings + text);
  }
}

const LANGUAGES = { '.ts': 'ts', '.yaml': 'yaml', '.sh': 'sh' };

/** One page for each folder of examples, at the path of the folder. */
function writeExamples(folder = 'examples') {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  const parts = files.map((name) => {
    const text = readFileSync(join(root, folder, name), 'utf8').trimEnd();
    return `## ${name}\n\n\`\`\`\`${LANGUAGES[extname(name)] ?? 'text'}\n${text}\n\`\`\`\`\n`;
  });
  writePage(`${folder}.md`, [`# ${folder}\n`, ...parts].join('\n'));
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  for (const name of folders) writeExamples(`${folder}/${name}`);
}

async function writeReference() {
  const { Application, Converter, ReflectionKind } = await import('typedoc');
  const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const entries = Object.entries(exports)
    .filter(([, entry]) => typeof entry === 'object')
    .map(([entry, { types }]) => {
      const source = types.replace(/^\.\/dist\/(.*)\.d\.ts$/, '$1');
      // TypeDoc names a module by its path without `/index`.
      const path = source.replace(/\/index$/, '');
      return { name: `${name}${entry.slice(1)}`, path, file: join(root, 'src', `${source}.ts`) };
    });
  const app = await Application.bootstrapWithPlugins({
    plugin: ['typedoc-plugin-markdown', 'typedoc-vitepress-theme'],
    entryPoints: entries.map(({ file }) => file),
    tsconfig: join(root, 'tsconfig.json'),
    out: join(pages, 'reference'),
    docsRoot: pages,
    name: 'Reference',
    readme: 'none',
    logLevel: 'Warn',
    validation: { invalidLink: true, invalidPath: true, notExported: false, notDocumented: false },
    skipErrorChecking: true,
    disableSources: true,
    excludeInternal: true,
    excludePrivate: true,
    excludeProtected: true,
    excludeExternals: true,
    hideBreadcrumbs: true,
    hidePageHeader: true,
    useCodeBlocks: true,
    parametersFormat: 'table',
  });
  // A module has the name that users import, not the path of its source.
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.getReflectionsByKind(ReflectionKind.Module)) {
      const entry = entries.find(({ path }) => path === module.name);
      if (entry === undefined) throw new Error(`no entry of package.json is ${module.name}`);
      module.name = entry.name;
      if (!module.hasComment()) throw new Error(`${entry.file}: has no @packageDocumentation`);
    }
  });
  const project = await app.convert();
  if (project === undefined) throw new Error('TypeDoc cannot read the sources');
  app.validate(project);
  await app.generateOutputs(project);
  if (app.logger.hasErrors() || app.logger.hasWarnings()) throw new Error('TypeDoc warns');
}

installPackages();
rmSync(pages, { recursive: true, force: true });
copyDocuments();
cpSync(join(root, 'docs', 'pictures'), join(pages, 'docs', 'pictures'), { recursive: true });
writeExamples();
await writeReference();

const { build, serve } = await import('vitepress');
// VitePress fails on links to pages that do not exist; anchors are checked in its output.
await build(site, { base: options.base, outDir: output });
// VitePress takes over pictures that a page shows, and not those that it links to.
cpSync(join(root, 'docs', 'pictures'), join(output, 'docs', 'pictures'), { recursive: true });
const dead = deadLinks(output, options.base);
for (const link of dead) console.error(`docs: dead link ${link}`);
if (dead.length > 0) process.exit(1);
console.log('docs: written to reports/site; `npm run docs -- --serve` shows it');
if (options.serve) await serve({ root: site, base: options.base, port: 4173 });
