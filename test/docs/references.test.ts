/** References of the documents: links, paths of files, and the languages of code blocks. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
// @ts-expect-error: a module of the build scripts, without types
import * as docBlocks from '../../.ci/doc-blocks.mjs';
// @ts-expect-error: a module of the build scripts, without types
import * as siteLinks from '../../.ci/site/links.mjs';

interface Block {
  readonly line: number;
  readonly language: string;
  readonly text: string;
  readonly file: string | null;
  readonly untested: string | null;
}

const { blocksOf, documents, LANGUAGES, matchesOutput, commandsOf, root } = docBlocks as {
  readonly blocksOf: (document: string, text?: string) => Block[];
  readonly documents: () => string[];
  readonly LANGUAGES: readonly string[];
  readonly matchesOutput: (shown: readonly string[], printed: string) => boolean;
  readonly commandsOf: (text: string) => string[];
  readonly root: string;
};

const read = (document: string): string => readFileSync(join(root, document), 'utf8');
const prose = (text: string): string => text.replace(/^ *```[^]*?^ *```$/gm, '');

/** The top-level names in the packed tarball. */
const { files } = JSON.parse(read('package.json')) as { files: string[] };
const packed = new Set([...files, 'README.md', 'package.json']);

const { anchorOf } = siteLinks as { readonly anchorOf: (heading: string) => string };

function brokenLinks(document: string, text: string): string[] {
  const links = [...prose(text).matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)].map(([, link]) => link ?? '');
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? document : normalize(join(dirname(document), path));
    if (!existsSync(join(root, target)) || !packed.has(target.split('/')[0] ?? '')) return true;
    if (anchor === undefined) return false;
    const headings = [...read(target).matchAll(/^#+ (.*)$/gm)].map(([, title]) => title ?? '');
    return !headings.map(anchorOf).includes(anchor);
  });
}

const ROOTS = ['src', 'test', 'docs', 'examples', 'scenarios', '.ci', 'data'];

/** Files and folders under `ROOTS`; those of `src` with and without `src/`. */
const existing = ROOTS.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.includes('node_modules'))
    .flatMap((name) => (folder === 'src' ? [name, `src/${name}`] : [`${folder}/${name}`])),
);
const tops = new Set([...ROOTS, ...existing.map((path) => path.split('/')[0] ?? '')]);

function exists(pattern: string): boolean {
  const escaped = pattern.replace(/[.+?^$()|[\]\\]/g, '\\$&').replaceAll('*', '[^/]*');
  const expression = new RegExp(`^${escaped}$`);
  return existing.some((path) => expression.test(path));
}

/** Paths in backticks that look like files or folders of the repository and are not there. */
function missingPaths(text: string): string[] {
  const spans = [...prose(text).matchAll(/`([^`\n]+)`/g)].map(([, span]) => span ?? '');
  const paths = spans.filter((span) => {
    if (!/^[\w.-]+(\/[\w.*{},-]+)+$/.test(span)) return false;
    const first = span.split('/')[0] ?? '';
    return ROOTS.includes(first) || (tops.has(first) && /\.(ts|json)$/.test(span));
  });
  return paths.flatMap(expandBraces).filter((path) => !exists(path));
}

function expandBraces(path: string): string[] {
  const braces = /^(.*?)\{([^}]*)\}(.*)$/.exec(path);
  if (braces === null) return [path];
  const [, before = '', inside = '', after = ''] = braces;
  return inside.split(',').flatMap((part) => expandBraces(`${before}${part}${after}`));
}

describe.each(documents())('%s', (document) => {
  const text = read(document);

  test('has links that work in the repository and in the package', () => {
    expect(brokenLinks(document, text)).toEqual([]);
  });

  test('names files that exist', () => {
    expect(missingPaths(text)).toEqual([]);
  });

  test('has blocks that say how they are tested', () => {
    const blocks = blocksOf(document);
    for (const { language, line } of blocks) {
      expect(LANGUAGES, `${document}:${String(line)}`).toContain(language);
    }
    for (const [i, { file, language, line }] of blocks.entries()) {
      if (file === null) continue;
      const uses = blocks.slice(i + 1).some((later) => later.text.includes(file));
      expect(uses, `${document}:${String(line)}: no later block uses ${file} (${language})`).toBe(
        true,
      );
    }
  });

  test('runs orrery by npx', () => {
    const bare = blocksOf(document)
      .filter(({ language }) => language === 'sh' || language === 'console')
      .flatMap(({ text: block }) => commandsOf(block))
      .filter((command) => /(^|[|&;]\s*)\$?\s*orrery /.test(command));
    expect(bare).toEqual([]);
  });
});

/** Options of each command by docs/CLI.md, which is generated from the commands. */
const optionsOf = new Map(
  read('docs/CLI.md')
    .split(/^## orrery /m)
    .slice(1)
    .map((section) => {
      const [usage = ''] = section.split('\n');
      const name = usage.replace(/ [<[].*$/, '');
      return [name, new Set([...section.matchAll(/^\| `--([\w-]+)`/gm)].map(([, flag]) => flag))];
    }),
);

/** Options of `orrery` command lines that do not exist, as `command --option`. */
function unknownOptions(text: string): string[] {
  const lines = text
    .replaceAll(/\\\n\s*/g, ' ')
    .split(/\n|&&|\|\|/)
    .flatMap((line) => {
      const plain = line.replaceAll(/["',[\]]+/g, ' ').replaceAll(/ +/g, ' ');
      const found =
        /(?:npx orrery|dist\/cli\/main\.js) ((?:data |journal )?[\w-]+)(.*?)(?: #|$)/.exec(plain);
      return found === null ? [] : [[found[1] ?? '', found[2] ?? ''] as const];
    });
  return lines.flatMap(([name, rest]) => {
    const known = optionsOf.get(name);
    return [...rest.matchAll(/ --([\w-]+)/g)]
      .map(([, flag]) => flag ?? '')
      .filter((flag) => known?.has(flag.replace(/^no-/, '')) !== true)
      .map((flag) => `${name} --${flag}`);
  });
}

test('shows only options that the commands have', () => {
  const unknown = documents().flatMap((document) =>
    blocksOf(document).flatMap(({ text }) => unknownOptions(text)),
  );
  expect(unknown).toEqual([]);
});

test('finds options that a command does not have', () => {
  const text = 'npx orrery run a --prove --none\nCMD ["dist/cli/main.js", "serve", "--nowhere"]\n';
  expect(unknownOptions(text)).toEqual(['run --none', 'serve --nowhere']);
});

test('few blocks are not tested, and those say why', () => {
  const untested = documents().flatMap((document) =>
    blocksOf(document).flatMap(({ untested: reason }) => (reason === null ? [] : [reason])),
  );
  expect(untested.filter((reason) => reason.length < 15)).toEqual([]);
  expect(untested.length).toBeLessThanOrEqual(10);
});

test('finds dead links, anchors, and links to files that are not packed', () => {
  const text =
    '[a](docs/RULES.md) [b](docs/NONE.md) [c](docs/RULES.md#none) [d](test/docs) [e](#none)';
  const broken = ['docs/NONE.md', 'docs/RULES.md#none', 'test/docs', '#none'];
  expect(brokenLinks('README.md', text)).toEqual(broken);
});

test('finds paths that do not exist', () => {
  const text =
    '`engine/exchange.ts` `engine/orders/{place,none}.ts` `src/none.ts` `test/none` `a/b.ts`';
  expect(missingPaths(text)).toEqual(['engine/orders/none.ts', 'src/none.ts', 'test/none']);
});

test.each([
  [['a …', '…', 'd'], 'a b\nx\ny\nd\n', true],
  [['a', '…', 'd'], 'a\nd\n', true],
  [['a', 'd'], 'a\nb\nd\n', false],
  [['1.5'], '125\n', false],
])('compares %j with %j', (shown, printed, equal) => {
  expect(matchesOutput(shown, printed)).toBe(equal);
});

test('joins continuation lines and here-documents to one command', () => {
  expect(commandsOf('# a\nb \\\n  c\ncat <<END\nx\nEND\nd\n')).toEqual([
    'b \\\n  c',
    'cat <<END\nx\nEND',
    'd',
  ]);
});
