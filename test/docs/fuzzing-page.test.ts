/** docs/FUZZING.md lists the invariants that there are. `ORRERY_UPDATE=1` writes them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { STATE_INVARIANTS } from '../../src/engine/invariants/invariants.ts';
import { STREAM_INVARIANTS } from '../../src/fuzz/stream-checker.ts';
import { formatPage } from './format-page.ts';

const PAGE = join(import.meta.dirname, '../../docs/FUZZING.md');

interface Row {
  readonly name: string;
  readonly rule: string;
  readonly says: string;
}

const table = (rows: readonly Row[]): string =>
  [
    '| invariant | rule | what must hold |',
    '| --- | --- | --- |',
    ...rows.map(({ name, rule, says }) => `| \`${name}\` | ${rule} | ${says} |`),
  ].join('\n');

function withTable(page: string, name: string, rows: readonly Row[]): string {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const start = page.indexOf(open) + open.length;
  return `${page.slice(0, start)}\n\n${table(rows)}\n\n${page.slice(page.indexOf(close))}`;
}

test('the page lists every invariant with its rule', async () => {
  const page = readFileSync(PAGE, 'utf8');
  const stream = STREAM_INVARIANTS.map(({ invariant, ...rest }) => ({ name: invariant, ...rest }));
  const written = await formatPage(
    withTable(withTable(page, 'state', STATE_INVARIANTS), 'stream', stream),
  );
  if (process.env['ORRERY_UPDATE'] === '1') writeFileSync(PAGE, written);
  expect(readFileSync(PAGE, 'utf8')).toBe(written);
});
