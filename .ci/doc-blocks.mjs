/**
 * The code blocks of the documents. The language of a block decides how it is tested; a comment in
 * the first line adds to it, where every reader sees it:
 *
 * - `sh`: commands; each must end with exit code 0. One block is one shell session: servers that it
 *   starts stop at its end.
 * - `console`: commands after `$ ` with their output. `…` is any text, a line `…` any lines.
 * - `ts`, `js`: compiled and run. `yaml`, `json`: parsed.
 * - `# name.ext` or `// name.ext`: the block is a file of that name, which a later block uses.
 * - `# in a clone`: commands that need the repository. `# in a project`: those that install the
 *   package. `# not tested: <reason>`: commands that no test can run.
 * - `text`, `mermaid`, `ini`, `dockerfile`: not run here.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');

export const LANGUAGES = [
  ...['sh', 'console', 'ts', 'js', 'yaml', 'json'],
  // `npm run test:python` runs the blocks of Python, `npm run test:pg` those of SQL.
  ...['text', 'mermaid', 'ini', 'dockerfile', 'python', 'sql'],
];

/** Every document that users read, relative to the repository. */
export function documents() {
  const pages = (folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => `${folder}/${name}`);
  return [
    'README.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    ...pages('docs'),
    ...pages('docs/decisions'),
  ];
}

/**
 * Blocks of one document, with the line of their fence, from 1. Indented blocks lose the indent.
 */
export function blocksOf(document, text = readFileSync(join(root, document), 'utf8')) {
  const blocks = [];
  let open = null;
  text.split('\n').forEach((line, i) => {
    const fence = /^( *)```(\S*)\s*$/.exec(line);
    if (open === null) {
      if (fence === null) return;
      open = { document, line: i + 1, language: fence[2], indent: fence[1].length, lines: [] };
    } else if (fence !== null && fence[2] === '') {
      blocks.push(describe(open));
      open = null;
    } else open.lines.push(line.slice(open.indent));
  });
  if (open !== null) throw new Error(`${document}:${open.line}: block without an end`);
  return blocks;
}

function describe({ document, line, language, lines }) {
  const [first = ''] = lines;
  const comment = /^(?:#|\/\/) (.*)$/.exec(first)?.[1] ?? '';
  const file = /^[\w-]+(?:\.[\w-]+)*\.(?:ts|mjs|js|yaml|json|csv)$/.test(comment) ? comment : null;
  return {
    document,
    line,
    language,
    text: `${lines.join('\n')}\n`,
    file,
    where: /^in a (clone|project)\b/.exec(comment)?.[1] ?? null,
    untested: /^not tested: (.+)$/.exec(comment)?.[1] ?? null,
  };
}

/** Commands of a `sh` block, with continuation lines and here-documents joined. */
export function commandsOf(text) {
  const commands = [];
  let current = '';
  let end = null;
  for (const line of text.trimEnd().split('\n')) {
    current += current === '' ? line : `\n${line}`;
    if (end !== null) {
      if (line.trim() !== end) continue;
      end = null;
    } else {
      end = /<<-?\s*'?(\w+)'?/.exec(line)?.[1] ?? null;
      if (end !== null || line.endsWith('\\')) continue;
    }
    commands.push(current);
    current = '';
  }
  if (current !== '') commands.push(current);
  return commands.filter((command) => !/^\s*(#.*)?$/.test(command));
}

/** `$ ` commands of a `console` block (`> ` continues one), each with the output that follows. */
export function sessionOf(text) {
  const steps = [];
  for (const line of text.trimEnd().split('\n')) {
    if (line.startsWith('$ ')) steps.push({ command: line.slice(2), output: [], open: true });
    else if (steps.length === 0) throw new Error(`output before a command: ${line}`);
    else if (line.startsWith('> ') && steps.at(-1).open) {
      steps.at(-1).command += `\n${line.slice(2)}`;
    } else {
      steps.at(-1).open = false;
      steps.at(-1).output.push(line);
    }
  }
  return steps;
}

/** Whether printed output has the form that a document shows. */
export function matchesOutput(shown, printed) {
  const pattern = shown
    .map((line) => {
      if (line.trim() === '…') return '(?:.*\\n)*?';
      const text = line
        .trimEnd()
        .split('…')
        .map((part) => part.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
      return `${text.join('.*')} *\\n`;
    })
    .join('');
  const text = printed.trimEnd();
  return new RegExp(`^${pattern}$`).test(text === '' ? '' : `${text}\n`);
}
