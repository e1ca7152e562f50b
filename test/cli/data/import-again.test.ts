/** `orrery data import` given again after a failure, and twice at a time. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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

test('of two imports into one folder at a time, one is refused', async () => {
  expect(await run(file('a.csv', `${HEADER}${trades(0, '100')}`), '--symbol', 'A')).toBe(0);
  const names = ['B', 'C'];
  const exits = await Promise.all(
    names.map((name) =>
      run(file(`${name}.csv`, `${HEADER}${trades(0, '100')}`), '--symbol', name, '--add'),
    ),
  );
  // Which of them is first is a matter of the files' I/O.
  expect([...exits].sort()).toEqual([0, 2]);
  expect(printed).toContain(`${out}: process ${String(process.pid)} is importing into it`);
  expect((await importedAs()).map(([symbol]) => symbol)).toEqual(['A', names[exits.indexOf(0)]]);
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

test('the same holds where a symbolic link names the dataset', async () => {
  const a = file('a.csv', `${HEADER}${trades(0, '100')}`);
  const b = file('b.csv', `${HEADER}${trades(0, '101')}`);
  const target = `${out}-target`;
  symlinkSync(target, out);
  expect(await run(a, '--symbol', 'X')).toBe(0);
  expect(existsSync(join(target, 'manifest.json'))).toBe(true);
  renameSync(target, `${target}.partial.former`);
  expect(await run(b, '--symbol', 'Y', '--add')).toBe(0);
  expect((await importedAs()).map(([symbol]) => symbol)).toEqual(['X', 'Y']);
  expect(lstatSync(out).isSymbolicLink()).toBe(true);
});

test('a replacement deletes no other folder beside the dataset', async () => {
  const a = file('a.csv', `${HEADER}${trades(0, '100')}`);
  mkdirSync(`${out}.former`);
  for (const more of [[], ['--replace']]) expect(await run(a, '--symbol', 'X', ...more)).toBe(0);
  expect(existsSync(`${out}.former`)).toBe(true);
});

test('a dataset with files of the user is not replaced, and they are named', async () => {
  const a = file('a.csv', `${HEADER}${trades(0, '100')}`);
  expect(await run(a, '--symbol', 'X')).toBe(0);
  mkdirSync(join(out, 'notes'));
  const mine = join(out, 'notes', 'mine.txt');
  writeFileSync(mine, '');
  expect(await run(a, '--symbol', 'Y', '--replace')).toBe(2);
  expect(printed).toContain(`${mine}: is not a file of the dataset`);
  const sample = ['data', 'sample', '--days', '1', '--symbols', 'BTC-SAMPLE'];
  expect(await main([...sample, '--out', out, '--replace'])).toBe(2);
  expect((await importedAs()).map(([symbol]) => symbol)).toEqual(['X']);
  expect(existsSync(mine)).toBe(true);
  expect(existsSync(`${out}.partial`)).toBe(false);
});

test('a dataset whose name is that of the temporary folder is not deleted', async () => {
  const a = file('a.csv', `${HEADER}${trades(0, '100')}`);
  const dataset = out;
  out = `${dataset}.partial`;
  expect(await run(a, '--symbol', 'X')).toBe(0);
  out = dataset;
  expect(await run(a, '--symbol', 'Y')).toBe(2);
  expect(printed).toContain('is not of a stopped import');
  out = `${dataset}.partial`;
  expect((await importedAs()).map(([symbol]) => symbol)).toEqual(['X']);
});

test('an added stream does not replace a file of the user', async () => {
  expect(await run(file('a.csv', `${HEADER}${trades(0, '100')}`), '--symbol', 'A')).toBe(0);
  const mine = join(out, 'GOLD.csv');
  writeFileSync(mine, `${HEADER}${trades(0, '100')}`);
  expect(await run(mine, '--symbol', 'GOLD', '--add')).toBe(0);
  expect(existsSync(mine)).toBe(true);
  expect((await importedAs()).map(([symbol]) => symbol)).toEqual(['A', 'GOLD']);
});

test('streams that are merged one after the other all stay', async () => {
  const command = ['--symbol', 'X', '--tick', '1', '--lot', '1', '--interval', '1m'];
  const bars = (from: number): string =>
    [from, from + 1, from + 2].map((i) => `${String(START_S + 60 * i)},1,1,1,1,1\n`).join('');
  for (const [i, more] of [[], ['--add', '--merge'], ['--add', '--merge']].entries()) {
    const path = file(`${String(i)}.csv`, `time,open,high,low,close,volume\n${bars(2 * i)}`);
    expect(await run(path, ...command, ...more)).toBe(0);
  }
  const dataset = await openDataset(out);
  const { streams } = dataset.manifest;
  expect(new Set(streams.map(({ id }) => id)).size).toBe(3);
  let read = 0;
  for (const stream of streams) {
    for await (const batch of dataset.records(stream)) read += batch.length;
  }
  expect(read).toBe(7);
});

test('a replacement through a symbolic link keeps the link', async () => {
  const a = file('a.csv', `${HEADER}${trades(0, '100')}`);
  expect(await run(a, '--symbol', 'X')).toBe(0);
  const real = out;
  out = `${real}-link`;
  symlinkSync(real, out);
  expect(await run(a, '--symbol', 'Y', '--replace')).toBe(0);
  expect(lstatSync(out).isSymbolicLink()).toBe(true);
  out = real;
  expect((await importedAs()).map(([symbol]) => symbol)).toEqual(['Y']);
});

test('a dataset of another format version is replaced, and its folder has no other files', async () => {
  const a = file('a.csv', `${HEADER}${trades(0, '100')}`);
  expect(await run(a, '--symbol', 'X')).toBe(0);
  const manifest = join(out, 'manifest.json');
  for (const version of [1, 3]) {
    const text = readFileSync(manifest, 'utf8');
    writeFileSync(manifest, text.replace('"version": 2', `"version": ${String(version)}`));
    expect(await run(a, '--symbol', 'X', '--add')).toBe(2);
    expect(printed).toContain(`${manifest}: version ${String(version)}, this program reads 2`);
    writeFileSync(join(out, 'notes.txt'), '');
    expect(await run(a, '--symbol', 'X', '--replace')).toBe(2);
    expect(printed).toContain(`${join(out, 'notes.txt')}: is not a file of the dataset`);
    rmSync(join(out, 'notes.txt'));
    expect(await run(a, '--symbol', 'X', '--replace')).toBe(0);
    expect(await importedAs()).toEqual([['X', 100, 100, 3]]);
  }
});

test('an import begins again if its state is damaged', async () => {
  const a = file('a.csv', `${HEADER}${trades(0, '100')}`);
  for (const state of ['', '{"job":', 'null']) {
    mkdirSync(`${out}.partial`);
    writeFileSync(join(`${out}.partial`, 'resume.json'), state);
    expect(await run(a, '--symbol', 'X', '--replace'), state).toBe(0);
  }
});

test('a manifest without counts, input files or gaps is named as damaged', async () => {
  expect(await run(file('a.csv', `${HEADER}${trades(0, '100')}`), '--symbol', 'X')).toBe(0);
  const manifest = join(out, 'manifest.json');
  const text = readFileSync(manifest, 'utf8');
  for (const field of ['counts', 'importedFrom', 'gapList']) {
    writeFileSync(manifest, text.replace(`"${field}"`, `"no"`));
    await expect(openDataset(out)).rejects.toThrow(`${manifest}: streams[0].${field} is not a`);
  }
});

test('times that change their unit are read, and named with their row', async () => {
  const rows = (times: readonly string[]): string =>
    times.map((time) => `${time},100,1,buy\n`).join('');
  const times = ['1704067200', '1704067201.5', '1704067202000', '2024-01-01T00:00:03Z'];
  expect(await run(file('mixed.csv', HEADER + rows(times)), '--symbol', 'X')).toBe(0);
  expect(printed).toContain(
    'mixed.csv: line 4: `time` is in ms, and in s before it; 2 such changes. Each time is read in its own unit',
  );
  expect((await openDataset(out)).manifest.streams[0]?.lastUs).toBe((START_S + 3) * 1e6);
  printed = '';
  const map = file('map.yaml', 'kind: trade\ntimeUnit: s\n');
  const seconds = file('seconds.csv', HEADER + rows(times.slice(0, 2)));
  expect(await run(seconds, '--symbol', 'X', '--map', map, '--replace')).toBe(0);
  expect(printed).not.toContain('own unit');
});

test('an added stream that was moved before the manifest named it is taken back', async () => {
  expect(await run(file('a.csv', `${HEADER}${trades(0, '100')}`), '--symbol', 'A')).toBe(0);
  const first = file('first.csv', `${HEADER}${trades(0, '100')}`);
  const second = file('second.csv', `${HEADER}${trades(60, 'cheap')}`);
  const command = [first, second, '--symbol', 'X', '--tick', '1', '--lot', '1', '--add'];
  expect(await run(...command)).toBe(2);
  // As after a kill between the two steps that add a stream.
  const state = join(`${out}.partial`, 'resume.json');
  const { id, ...more } = JSON.parse(readFileSync(state, 'utf8')) as { id: string };
  const asMoved = JSON.stringify({ id, ...more, moved: id });
  writeFileSync(state, asMoved);
  renameSync(join(`${out}.partial`, id), join(out, id));
  file('second.csv', `${HEADER}${trades(60, '102')}`);
  expect(await run(...command)).toBe(0);
  expect(readdirSync(out).sort()).toEqual(['A.csv', id, 'manifest.json'].sort());
  expect((await importedAs()).at(-1)).toEqual(['X', 100, 102, 6]);

  // As after a kill behind both.
  mkdirSync(`${out}.partial`);
  writeFileSync(state, asMoved);
  expect(await run(...command)).toBe(2);
  expect(printed).toContain('overlap those of the stream');
  expect(readdirSync(out).sort()).toEqual(['A.csv', id, 'manifest.json'].sort());
});
