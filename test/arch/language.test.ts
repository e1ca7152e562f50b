/**
 * Language rules of the repository as a test: standard terms in identifiers, comments and
 * documents.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { findIdiom } from './idiom.ts';
import { longSentences, MOST_WORDS } from './sentences.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => /^(src|test|examples|docs|\.ci)\/.*\.(ts|mjs|cjs|md)$|^[A-Z]+\.md$/.test(file))
  // Excludes the word list itself, and texts that the contract fixes.
  .filter(
    (file) => !/^test\/arch\/(idiom|language\.test)\.ts$|^src\/contract\/messages\.ts$/.test(file),
  )
  // Generated from src, which is checked itself.
  .filter((file) => !file.startsWith('docs/api/'))
  .filter((file) => existsSync(root + file));

test('no file uses a private term where a standard one exists', () => {
  const found = files.flatMap((file) =>
    findIdiom(file, readFileSync(root + file, 'utf8')).map(
      ({ line, term, text }) => `${file}:${line}: "${term}" in: ${text}`,
    ),
  );
  expect(found).toEqual([]);
});

test.each([
  ['src/a.ts', '/** Whether anybody hears of it. */', ['anybody', 'hears']],
  ['src/a.ts', '// What an order needs.', ['What']],
  ['src/a.ts', 'const heardAll = 1;', ['heard']],
  ['docs/a.md', 'A doubt is told.', ['doubt', 'told']],
  ['src/a.ts', 'const x = shoulder + interior;', []],
])('finds idiom in %s: %s', (file, text, terms) => {
  expect(findIdiom(file, text).map(({ term }) => term)).toEqual(terms);
});

test('comments and documents are wrapped at 100 columns', () => {
  const long = files
    .filter((file) => /^(src|docs|\.ci)\/|^[A-Z]+\.md$/.test(file))
    .flatMap((file) => {
      const lines = readFileSync(root + file, 'utf8').split('\n');
      let fenced = false;
      return lines.flatMap((line, i) => {
        if (line.startsWith('```')) fenced = !fenced;
        const prose = file.endsWith('.md')
          ? !fenced && !line.startsWith('|') && !/^\s*(\[|<|!\[)|https?:/.test(line)
          : /^\s*(\/\/|\/?\*)/.test(line) && !/https?:/.test(line);
        return prose && line.length > 100 ? [`${file}:${i + 1}`] : [];
      });
    });
  expect(long).toEqual([]);
});

test(`sentences of documents have at most ${String(MOST_WORDS)} words`, () => {
  const documents = files.filter((file) => /^(docs\/.*|[A-Z]+)\.md$/.test(file));
  expect(documents).toContain('docs/RULES.md');
  const long = documents.flatMap((file) =>
    longSentences(readFileSync(root + file, 'utf8')).map(
      ({ line, words, text }) => `${file}:${line}: ${words} words: ${text}`,
    ),
  );
  expect(long).toEqual([]);
});

test('counts words of prose by sentence and list item', () => {
  const words = (count: number): string => 'word '.repeat(count).trim();
  const found = (text: string): number[] => longSentences(text).map((one) => one.words);
  expect(found(`A title\n\n${words(15)}\n${words(16)}.`)).toEqual([31]);
  expect(found(`${words(30)}. ${words(30)} (R-1.2).`)).toEqual([]);
  expect(found(`- ${words(20)}\n- ${words(20)}\n\n${words(20)}`)).toEqual([]);
  expect(found(`${words(30)} \`code of any length\` [link](with/words) 1.5 × fooBar`)).toEqual([
    31,
  ]);
  expect(found(`${words(16)}, e.g. ${words(16)}`)).toEqual([32]);
  expect(found(`| ${words(40)} |\n\n\`\`\`sh\n${words(40)}\n\`\`\`\n\n# ${words(40)}`)).toEqual([]);
});
