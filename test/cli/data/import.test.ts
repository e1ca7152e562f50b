/** `orrery data import`: markets that must agree, overlap, merges, and refused options. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
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
  const printJson = (value: unknown): void => {
    print(JSON.stringify(value));
  };
  return { ...real, print, printJson, printError: print, explainFailure };
});

const scratch = mkdtempSync(join(tmpdir(), 'orrery-import-'));
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

const START = 1_704_067_200_000;
/** Minute bars at a price, from a minute on. */
const bars = (from: number, count: number, price: number): string =>
  Array.from({ length: count }, (_, i) => {
    const open = START + (from + i) * 60_000;
    return `${open},${price},${price + 1},${price - 1},${price},5,${open + 59_999},0,0,0,0,0\n`;
  }).join('');
const FUNDING = `calc_time,funding_interval_hours,last_funding_rate\n${START},8,0.0001\n${START + 28_800_000},8,0.0002\n`;
const run = (...args: readonly string[]) => main(['data', 'import', ...args, '--out', out]);

describe('the market of a file', () => {
  test('becomes a market of its own, or must agree with --symbol', async () => {
    const eth = file('ETHUSDT-1m-2024-01.csv', bars(0, 3, 2000));
    expect(await run('binance-klines', file('BTCUSDT-1m-2024-01.csv', bars(0, 3, 42_000)))).toBe(0);
    expect(await run('binance-klines', eth, '--add', '--symbol', 'BTCUSDT')).toBe(2);
    expect(printed).toContain('by its name it is of ETHUSDT, not of BTCUSDT');
    expect(await run('binance-klines', eth, '--add')).toBe(0);
    const { markets } = await openDataset(out);
    expect(markets.map(({ symbol }) => symbol)).toEqual(['BTCUSDT', 'ETHUSDT']);
  });

  test('is that of its name for a tick and a lot without --symbol', async () => {
    const btc = file('BTCUSDT-1m-2024-01.csv', bars(0, 3, 42_000));
    const units = ['--tick', '0.1', '--lot', '0.001'];
    expect(await run('binance-klines', btc, ...units)).toBe(0);
    const { markets } = await openDataset(out);
    expect(markets).toMatchObject([{ symbol: 'BTCUSDT', tickSize: '0.1', lotSize: '0.001' }]);
    const eth = file('ETHUSDT-1m-2024-01.csv', bars(3, 3, 2000));
    expect(await run('binance-klines', btc, eth, ...units, '--replace')).toBe(2);
    expect(printed).toContain('by its name it is of ETHUSDT, not of BTCUSDT');
    expect(await run('binance-klines', file('noname.csv', bars(0, 3, 9)), ...units)).toBe(2);
    expect(printed).toContain('--tick and --lot need --symbol');
  });

  test('in the records must agree too, and those of other markets are named', async () => {
    const table = 'timestamp,symbol,funding_rate\n1768233600000,ETHUSDT,0.0001\n';
    expect(await run('csv', file('f1.csv', table), '--symbol', 'BTCUSDT')).toBe(2);
    expect(printed).toContain('the records are of ETHUSDT, none is of BTCUSDT');
    const both = file('f2.csv', `${table}1768233600001,SOLUSDT,0.0001\n`);
    expect(await run('csv', both)).toBe(2);
    expect(printed).toContain('the records are of ETHUSDT, SOLUSDT; --symbol selects one market');
    expect(await run('csv', both, '--symbol', 'SOLUSDT')).toBe(0);
    expect(printed).toContain('not read: ETHUSDT');
    printed = '';
    expect(await run('csv', both, '--symbol', 'SOLUSDT', '--replace', '--json')).toBe(0);
    expect(JSON.parse(printed)).toMatchObject({
      symbol: 'SOLUSDT',
      notes: [
        'not read: ETHUSDT',
        'the files have no price; tick and lot come from the next ones of the market',
      ],
    });
  });

  test('is not taken from the dataset if the file has none', async () => {
    expect(await run('binance-klines', file('BTCUSDT-1m-2024-01.csv', bars(0, 3, 42_000)))).toBe(0);
    expect(await run('binance-klines', file('bars.csv', bars(9, 3, 42_000)), '--add')).toBe(2);
    expect(printed).toContain('name no market; give --symbol');
  });
});

test('a value beyond the columns of the header ends the import, and leaves nothing', async () => {
  const header = 'open_time,open,high,low,close,volume,close_time\n';
  const path = file('BTCUSDT-1m-2024-01.csv', header + bars(0, 3, 42_000));
  expect(await run('binance-klines', path)).toBe(2);
  expect(printed).toContain(
    'BTCUSDT-1m-2024-01.csv: line 2: a value in column 8, and the header names 7',
  );
  expect(existsSync(out)).toBe(false);
});

test('usual names of columns are found in any case', async () => {
  const table = 'Timestamp,OPEN,High,low,Close,Vol,Symbol\n';
  const rows = '2024-01-02 00:00:00,1,3,1,2,10,X\n2024-01-02 00:01:00,2,3,1,2,11,X\n';
  expect(await run('csv', file('any-case.csv', table + rows))).toBe(0);
  const { markets } = await openDataset(out);
  expect(markets).toMatchObject([{ symbol: 'X', counts: { bar: 2 } }]);
});

test.each([
  ['a;b\n1;2\n', 'the columns a;b match no known table; map them with --map and delimiter: ";"'],
  ['a\tb\n1\t2\n', 'map them with --map and delimiter: "\\t"'],
  ['a,b;c\n1,2\n', 'the columns a, b;c match no known table; map them with --map'],
  ['time,open,high,low,close\n', 'refused.csv: no record of the market'],
  [
    'time,open,high,low,close\n1704067200,1,1,1,1\n1704067260,1,x,1,1\n',
    'the length of a single valid bar is unknown; give it, as --interval 1m',
  ],
  [
    'time,open,high,low,close\n1704067320,1,1,1,1\n1704067260,1,1,1,1\n1704067200,1,1,1,1\n',
    'no bar is after the first one; sort the rows by time, oldest first',
  ],
])('the table %j is refused', async (content, message) => {
  expect(await run('csv', file('refused.csv', content), '--symbol', 'X')).toBe(2);
  expect(printed).toContain(message);
});

test('a file in the place of a dataset is named', async () => {
  const path = file('no-dataset.csv', 'a,b\n');
  expect(await main(['data', 'info', path])).toBe(2);
  expect(printed).toContain(
    `${path}: is a file; a dataset is a folder that orrery data import writes`,
  );
});

describe('overlap', () => {
  test('the same funding file is refused in one import, and as a second stream', async () => {
    const funding = file('BTCUSDT-fundingRate-2024-01.csv', FUNDING);
    const copy = file('BTCUSDT-fundingRate-copy.csv', `${FUNDING}\n`);
    expect(await run('binance-funding', funding, funding)).toBe(2);
    expect(printed).toContain('the same file as BTCUSDT-fundingRate-2024-01.csv');
    expect(await run('binance-funding', funding, copy)).toBe(2);
    expect(printed).toContain('overlap those of an earlier file');
    expect(await run('binance-funding', funding)).toBe(0);
    expect(await run('binance-funding', copy, '--add')).toBe(2);
    expect(printed).toContain('--merge keeps each record once');
    expect(await run('binance-funding', copy, '--add', '--merge')).toBe(2);
    expect(printed).toContain('all records are in the dataset already');
    expect((await openDataset(out)).manifest.streams).toHaveLength(1);
  });

  test('a merge adds what is missing, and ends where the two disagree', async () => {
    const name = (n: number): string => `BTCUSDT-1m-part-${String(n)}.csv`;
    expect(await run('binance-klines', file(name(1), bars(0, 5, 42_000)))).toBe(0);
    const more = file(name(2), bars(3, 5, 42_000));
    expect(await run('binance-klines', more, '--add')).toBe(2);
    expect(await run('binance-klines', more, '--add', '--merge')).toBe(0);
    expect(printed).toContain('2 records of binance-klines kept once');
    const dataset = await openDataset(out);
    expect(dataset.manifest.streams.map(({ counts }) => counts.bar)).toEqual([5, 3]);
    const other = file(name(3), bars(2, 2, 41_000));
    expect(await run('binance-klines', other, '--add', '--merge')).toBe(2);
    expect(printed).toContain('the bar at 2024-01-01 00:02:59.999999 differs');
    expect(await main(['data', 'verify', out])).toBe(0);
  });

  test('rows that are newest first or not sorted, and files in another order, are refused', async () => {
    const rows = bars(0, 9, 42_000).trimEnd().split('\n');
    const table = (name: string, lines: readonly string[]): string =>
      file(name, `${lines.join('\n')}\n`);
    const newest = table('BTCUSDT-1m-2024-01.csv', [...rows].reverse());
    expect(await run('binance-klines', newest)).toBe(2);
    expect(printed).toContain(
      'BTCUSDT-1m-2024-01.csv: line 2: the bar of 2024-01-01 00:07:59.999999 follows that of',
    );
    expect(printed).toContain('sort the rows by time, oldest first');
    const moved = [...rows.slice(0, 4), ...rows.slice(5), rows[4]!];
    expect(await run('binance-klines', table('BTCUSDT-1m-2024-01.csv', moved))).toBe(2);
    const early = table('BTCUSDT-1m-2024-01.csv', rows.slice(0, 4));
    const late = table('BTCUSDT-1m-later.csv', rows.slice(4));
    expect(await run('binance-klines', late, early)).toBe(2);
    expect(printed).toContain('are before those of an earlier file');
    expect(await run('binance-klines', early, late)).toBe(0);
    expect((await openDataset(out)).manifest.streams[0]?.counts.bar).toBe(9);
  });

  test('two bars of one time are kept once, and refused if they differ', async () => {
    const rows = bars(0, 5, 42_000).trimEnd().split('\n');
    const repeat = (line: string): string =>
      file(
        'BTCUSDT-1m-2024-01.csv',
        `${[...rows.slice(0, 3), line, ...rows.slice(3)].join('\n')}\n`,
      );
    const other = bars(2, 1, 41_000).trimEnd();
    expect(await run('binance-klines', repeat(other))).toBe(2);
    expect(printed).toContain(
      'BTCUSDT-1m-2024-01.csv: line 4: the bar of 2024-01-01 00:02:59.999999 differs from that of line 3, which has the same time; keep one of them',
    );
    expect(await run('binance-klines', repeat(rows[2] ?? ''))).toBe(0);
    expect((await openDataset(out)).manifest.streams[0]?.duplicates).toBe(1);
  });

  test('trades that are newest first are refused', async () => {
    const times = Array.from({ length: 9 }, (_, i) => START + i * 60_000);
    const trades = (of: readonly number[]): string =>
      `timestamp,price,size,side\n${of.map((time) => `${time},42000,1,buy\n`).join('')}`;
    expect(await run('csv', file('t1.csv', trades([...times].reverse())), '--symbol', 'X')).toBe(2);
    expect(printed).toContain('8 of 9 records of kind trade are before their predecessor');
    // A single record of another day does not say how the file is sorted.
    const late = [...times.slice(0, 4), START + 86_400_000, ...times.slice(4)];
    expect(await run('csv', file('t3.csv', trades(late)), '--symbol', 'X', '--replace')).toBe(0);
    expect(await run('csv', file('t2.csv', trades(times)), '--symbol', 'X', '--replace')).toBe(0);
  });

  test('a jump of the price between files is printed', async () => {
    const first = file('BTCUSDT-1m-2024-01.csv', bars(0, 3, 42_000));
    const second = file('BTCUSDT-1m-later.csv', bars(3, 3, 2000));
    expect(await run('binance-klines', first, second)).toBe(0);
    expect(printed).toContain(
      'price jumps from 42000 to 2000 at 2024-01-01 00:03:59.999999, line 4',
    );
    expect(await main(['data', 'verify', out])).toBe(1);
    expect(printed).toContain('the price jumps by a factor of 21.00: records of another market');
  });
});

test.each([
  [
    ['binance-trades', 'x.csv', '--map', 'm.yaml'],
    '--map does not apply to the format binance-trades',
  ],
  [['tardis', 'x.csv', '--interval', '1m'], '--interval does not apply to the format tardis'],
  [
    ['binance-raw', 'x.gz', '--round', '--lot', '1', '--tick', '1', '--symbol', 'X'],
    '--round does not apply to the format binance-raw',
  ],
  [['csv', 'x.csv', '--round'], '--round needs --lot'],
  [['lobster', 'x_message_5.csv', '--inverse'], '--inverse: lobster records no inverse contracts'],
  [['csv', 'x.csv', '--merge'], '--merge needs --add'],
  [['csv', 'x.csv', '--tick', '1'], '--tick and --lot need each other'],
  [['csv', 'x.csv', '--tick', '1', '--lot', '1'], '--tick and --lot need --symbol'],
])('refuses %j', async (args, message) => {
  expect(await run(...args)).toBe(2);
  expect(printed).toContain(message);
});

test('bars have no recorded book: missing ones are a gap, and no time without a book', async () => {
  const minutes = [1704067200, 1704067260, 1704067440].map((time) => `${String(time)},1,1,1,1\n`);
  const content = `time,open,high,low,close\n${minutes.join('')}`;
  expect(await run('csv', file('bars.csv', content), '--symbol', 'X')).toBe(0);
  expect(await main(['data', 'verify', out])).toBe(1);
  expect(printed).toMatch(/^gaps +1$/m);
});
