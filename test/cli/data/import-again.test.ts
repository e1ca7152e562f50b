/** `orrery data import` given again after a failure, and twice at a time. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import type * as CliSupport from '../../../src/cli/cli-support.ts';
import { openDataset } from '../../../src/tape-files/dataset-files.ts';

vi.mock('../../../src/cli/cli-support.ts', async (original) => {
  const real = await original<typeof CliSupport>();
  const print = (line = ''): void => {
    printed += `${line}\n`;
  };
  const explainFailure = (error: unknown): number => {
    print(error instanceof Error ? error.message : '');
    return real.explainFailure(error);
  };
  return { ...real, print, printError: print, explainFailure };
});

const scratch = mkdtempSync(join(tmpdir(), 'orrery-import-again-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});
let out = '';
let printed = '';
let runs = 0;
beforeEach(() => {
  out = join(scratch, `set-${String(runs++)}`);
  printed = '';
});

function file(name: string, content: string): string {
  const path = join(scratch, name);
  writeFileSync(path, content);
  return path;
}

const START_S = 1_704_067_200;
/** Trades at a price, one a second, from a second on. */
const trades = (from: number, price: string): string =>
  [0, 1, 2].map((i) => `${String(START_S + from + i)},${price},1,buy\n`).join('');
const HEADER = 'time,price,size,side\n';
const run = (...args: readonly string[]) => main(['data', 'import', 'csv', ...args, '--out', out]);
const importedAs = async () => {
  const { manifest } = await openDataset(out);
  return manifest.streams.map(({ symbol, prices, counts }) => [
    symbol,
    prices?.minTicks,
    prices?.maxTicks,
    counts.trade,
  ]);
};

test('a completed file that has changed since is read again', async () => {
  const command = ['--symbol', 'X', '--tick', '1', '--lot', '1'];
  const first = file('first.csv', `${HEADER}${trades(0, '100')}`);
  const second = file('second.csv', `${HEADER}${trades(60, 'cheap')}`);
  expect(await run(first, second, ...command)).toBe(2);
  expect(printed).toContain('imported 1 of 2 files; rerun the command to continue');
  file('first.csv', `${HEADER}${trades(0, '101')}`);
  file('second.csv', `${HEADER}${trades(60, '102')}`);
  expect(await run(first, second, ...command)).toBe(0);
  expect(await importedAs()).toEqual([['X', 101, 102, 6]]);
  expect(printed).toContain('first.csv has changed since it was imported: the import begins again');
});

test('of two imports into one folder at a time, the second is refused', async () => {
  expect(await run(file('a.csv', `${HEADER}${trades(0, '100')}`), '--symbol', 'A')).toBe(0);
  const names = ['B', 'C'];
  const exits = await Promise.all(
    names.map((name) =>
      run(file(`${name}.csv`, `${HEADER}${trades(0, '100')}`), '--symbol', name, '--add'),
    ),
  );
  expect(exits).toEqual([0, 2]);
  expect(printed).toContain(`${out}: process ${String(process.pid)} is importing into it`);
  expect((await importedAs()).map(([symbol]) => symbol)).toEqual(['A', 'B']);
  expect(existsSync(`${out}.pid`)).toBe(false);
  expect(existsSync(`${out}.partial`)).toBe(false);
});

test('a dataset whose replacement ended between two renames has its name again', async () => {
  const a = file('a.csv', `${HEADER}${trades(0, '100')}`);
  const b = file('b.csv', `${HEADER}${trades(0, '101')}`);
  expect(await run(a, '--symbol', 'X')).toBe(0);
  renameSync(out, `${out}.partial.former`);
  expect(await run(b, '--symbol', 'Y', '--add')).toBe(0);
  expect((await importedAs()).map(([symbol]) => symbol)).toEqual(['X', 'Y']);
  expect(await run(b, '--symbol', 'Z', '--replace')).toBe(0);
  expect((await importedAs()).map(([symbol]) => symbol)).toEqual(['Z']);
  expect(existsSync(`${out}.partial.former`)).toBe(false);
});

test('a replacement deletes no other folder beside the dataset', async () => {
  const a = file('a.csv', `${HEADER}${trades(0, '100')}`);
  mkdirSync(`${out}.former`);
  for (const more of [[], ['--replace']]) expect(await run(a, '--symbol', 'X', ...more)).toBe(0);
  expect(existsSync(`${out}.former`)).toBe(true);
});
