/**
 * `orrery data import`: files that are not what their name or an option states. Length of bars,
 * month, kind of market.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { zipSync } from 'fflate';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type * as CliSupport from '../../../src/cli/cli-support.ts';
import { main } from '../../../src/cli/main.ts';
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

const scratch = mkdtempSync(join(tmpdir(), 'orrery-claims-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});
let printed = '';
let folder = '';
let runs = 0;
beforeEach(() => {
  printed = '';
  folder = join(scratch, String(runs++));
});

const S = 1000;
const M = 60 * S;
const H = 60 * M;
const D = 24 * H;
const START = Date.UTC(2024, 0, 1);

/** Starts of bars at a distance from each other. */
const every = (ms: number, count = 8): number[] =>
  Array.from({ length: count }, (_, i) => START + i * ms);
/** Rows of Binance's klines; `ms`: their length. */
const klines = (starts: readonly number[], ms: number): string =>
  starts.map((at) => `${at},100,101,99,100,5,${at + ms - 1},0,0,0,0,0\n`).join('');
const ohlcv = (starts: readonly number[]): string =>
  `timestamp,open,high,low,close,volume\n${starts.map((at) => `${at},100,101,99,100,5\n`).join('')}`;
const arrays = (starts: readonly number[]): string =>
  JSON.stringify(starts.map((at) => [at, 100, 101, 99, 100, 5]));
const databento = (starts: readonly number[], rtype: number): string =>
  `ts_event,rtype,open,high,low,close,volume,symbol\n${starts
    .map((at) => `${String(at)}000000,${String(rtype)},100,101,99,100,5,BTCUSDT\n`)
    .join('')}`;
const lean = (starts: readonly number[]): string =>
  starts.map((at) => `${String(at - START)},100,101,99,100,5\n`).join('');

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

const out = (): string => join(folder, 'set');
const run = (...args: readonly string[]) => main(['data', 'import', ...args, '--out', out()]);
const x = ['--symbol', 'BTCUSDT'] as const;

describe('the length of bars', () => {
  test.each([
    ['BTCUSDT-5m-2024-01.csv', every(M), M, 'lasts 1m, and its name states 5m'],
    ['BTCUSDT-1m-2024-01.csv', every(5 * M), 5 * M, 'lasts 5m, and its name states 1m'],
    ['BTCUSDT-5m-2024-01.csv', every(M), 5 * M, 'begins 1m after the one before it'],
    ['BTCUSDT-1m-2024-01.csv', every(5 * M), M, 'its bars are 5m apart, and its name states 1m'],
    ['BTCUSDT-1h-2024-01.csv', every(H), H + 1, 'lasts 3600.001s, and its name states 1h'],
    ['BTCUSDT-1mo-2024-01.csv', every(D), D, 'lasts 1d, and its name states a month'],
    ['BTCUSDT.csv', [...every(M), START + 10 * M, START + 11 * M + S], M, 'begins 61s after'],
  ])('of klines in %s are compared with it (%#)', async (name, starts, ms, message) => {
    for (const format of ['binance-klines', 'binance-mark-klines', 'binance-index-klines']) {
      printed = '';
      const rows = klines(starts, ms);
      // Klines of marks and indices have no volume.
      const text = format === 'binance-klines' ? rows : rows.replaceAll(',100,5,', ',100,0,');
      expect(await run(format, file(name, text), ...x, '--tick', '1', '--lot', '1')).toBe(2);
      expect(printed).toContain(name);
      expect(printed).toContain(message);
    }
  });

  test.each([
    ['csv', 'btcusdt_5m.csv', ohlcv(every(M)), [], 'begins 1m after', 'its name states 5m'],
    ['csv', 'bars.csv', ohlcv(every(M)), ['--interval', '5m'], 'begins 1m', 'interval is 5m'],
    ['csv', 'bars.csv', ohlcv(every(5 * M)), ['--interval', '1m'], 'are 5m apart', 'is 1m'],
    ['csv', 'btc-1m.csv', ohlcv(every(5 * M)), [], 'are 5m apart', 'its name states 1m'],
    [
      'csv',
      'bars.csv',
      ohlcv([START, ...every(M).slice(3)]),
      [],
      'begins 1m after the one before it',
      'those before it last 3m; --interval gives the length of a bar',
    ],
    ['csv', 'bars.csv', ohlcv([START, START + M, START + M + S]), [], 'begins 1s', 'last 1m'],
    ['ccxt-ohlcv', 'BTC_USDT-5m.json', arrays(every(M)), [], 'begins 1m', 'its name states 5m'],
    ['databento', 'x.ohlcv-1h.csv', databento(every(M), 33), [], 'lasts 1m', 'name states 1h'],
    ['databento', 'x.csv', databento(every(S), 33), [], 'begins 1s after', 'before it last 1m'],
    ['lean', 'hour/btcusdt/20240101_trade.csv', lean(every(M)), [], 'begins 1m', 'it last 1h'],
    [
      'lean',
      'minute/btcusdt/20240101_trade.csv',
      lean(every(H, 12)),
      [],
      'are 1h apart',
      'last 1m',
    ],
    [
      'lean',
      'minute/btcusdt/20240101_trade.csv',
      lean(every(M)),
      ['--interval', '5m'],
      'begins 1m after',
      'the given interval is 5m',
    ],
  ])('of %s in %s is compared with its rows (%#)', async (format, name, text, args, ...parts) => {
    expect(await run(format, file(name, text), ...x, ...args)).toBe(2);
    expect(printed).toContain(name);
    for (const part of parts) expect(printed).toContain(part);
  });

  test('of a file in an archive is compared with its name there', async () => {
    const archive = (member: string): Uint8Array =>
      zipSync({ [member]: Buffer.from(klines(every(M), M)) });
    const path = file('BTCUSDT.zip', archive('BTCUSDT-5m-2024-01.csv'));
    expect(await run('binance-klines', path)).toBe(2);
    expect(printed).toContain('its bars last 1m, and the name of its file BTCUSDT-5m-2024-01.csv');
  });

  test('is not skipped as bad rows where most rows have another', async () => {
    const path = file('btc-5m.csv', ohlcv(every(M, 20)));
    expect(await run('csv', path, ...x, '--skip-bad', '100')).toBe(2);
    expect(printed).toContain('16 of 20 bars do not fit, the first one: the bar of 2024-01-01');
    // A single row is.
    const one = file('btc-1m.csv', ohlcv([...every(M), START + 8 * M + S, START + 9 * M]));
    expect(await run('csv', one, ...x, '--skip-bad', '1')).toBe(0);
    expect(printed).toContain('1 bad row skipped');
  });

  test('is found after a first row that is bad, which is named by its line', async () => {
    const text = ohlcv(every(M)).replace('100,101', 'x,101');
    expect(await run('csv', file('bars.csv', text), ...x)).toBe(2);
    expect(printed).toContain('bars.csv: line 2: `open`');
    expect(await run('csv', file('bars.csv', text), ...x, '--skip-bad', '1')).toBe(0);
    expect((await openDataset(out())).manifest.streams[0]?.counts.bar).toBe(7);
  });

  test('is one in a recording and in a market', async () => {
    const minutes = file('BTCUSDT-1m-2024-01.csv', klines(every(M), M));
    const more = every(5 * M).map((at) => at + H);
    const fives = file('BTCUSDT-5m-2024-01.csv', klines(more, 5 * M));
    expect(await run('binance-klines', minutes, fives)).toBe(2);
    expect(printed).toContain('lasts 5m, and those before it last 1m');
    expect(await run('binance-klines', minutes, '--replace')).toBe(0);
    expect(await run('binance-klines', fives, '--add')).toBe(2);
    expect(printed).toContain(
      'its bars last 5m, and those of the stream binance-klines 1m; import them into another dataset',
    );
    expect(await run('binance-klines', fives, '--add', '--merge')).toBe(2);
    expect((await openDataset(out())).manifest.streams).toHaveLength(1);
  });

  test.each([
    ['gaps', 'btc-5m.csv', [0, 5, 10, 20, 25, 60, 65].map((n) => START + n * M), []],
    ['a gap at the start', 'btc-5m.csv', [0, 10, 15, 20].map((n) => START + n * M), []],
    ['sparse bars', 'btc-1m.csv', [0, 7, 9, 14, 30].map((n) => START + n * M), []],
    ['days of local time', 'btc-1d.csv', [0, 24, 47, 71, 96].map((n) => START + n * H), []],
    ['an option that contradicts the name', 'btc-1d.csv', every(M), ['--interval', '1m']],
    ['a length of the recording', 'btc-30d.csv', every(M), []],
    ['two lengths', 'btc-1m-7d-1h.csv', every(M), []],
    ['other words', 'btc-5S-3min.csv', every(3 * M), ['--interval', '3m']],
  ])('allows %s', async (_, name, starts, args) => {
    expect(await run('csv', file(name, ohlcv(starts)), ...x, ...args)).toBe(0);
    const [stream] = (await openDataset(out())).manifest.streams;
    expect(stream?.counts.bar).toBe(starts.length);
  });

  test('by the name serves a file that begins with a gap, or has one bar', async () => {
    const gap = file('btc-5m.csv', ohlcv([START, START + 10 * M, START + 15 * M]));
    expect(await run('csv', gap, ...x)).toBe(0);
    expect((await openDataset(out())).manifest.streams[0]).toMatchObject({
      barUs: 5 * M * 1000,
      gaps: 1,
    });
    expect(await run('csv', file('btc-4h.csv', ohlcv([START])), ...x, '--replace')).toBe(0);
    expect((await openDataset(out())).manifest.streams[0]?.barUs).toBe(4 * H * 1000);
  });

  const apart = [START, START + 5 * M];
  test.each([
    ['binance-klines', 'BTCUSDT-1m-2024-01.csv', klines(apart, M), [], '5m', 'its name states 1m'],
    ['binance-klines', 'BTCUSDT.csv', klines(apart, M), [], '5m', 'those before it last 1m'],
    ['csv', 'btc-1m.csv', ohlcv(apart), x, '5m', 'its name states 1m'],
    ['csv', 'b.csv', ohlcv(apart), [...x, '--interval', '1m'], '5m', 'the given interval is 1m'],
    [
      'lean',
      'minute/btcusdt/20240101_trade.csv',
      lean(every(H, 5)),
      x,
      '1h',
      'those before it last 1m',
    ],
  ])(
    'is uncertain in a file of %s with few bars, %s, which is printed',
    async (format, name, text, args, distance, wanted) => {
      expect(await run(format, file(name, text), ...args)).toBe(0);
      expect(printed).toContain(
        `${basename(name)}: bars are taken as missing, since its bars are ${distance} apart, and ${wanted}`,
      );
      if (format !== 'lean') expect(printed).toContain(', 1 gap\n');
    },
  );

  test.each([[[0]], [[0, 1]], [[0, 1, 6]], [[0, 2, 5]]])(
    'is not uncertain with bars at minutes %j',
    async (minutes) => {
      const starts = minutes.map((n) => START + n * M);
      expect(await run('csv', file('btc-1m.csv', ohlcv(starts)), ...x)).toBe(0);
      expect(printed).not.toContain('taken as missing');
    },
  );

  test('months are as long as their klines state', async () => {
    const months = [0, 1, 2].map((month) => {
      const [from, to] = [Date.UTC(2024, month), Date.UTC(2024, month + 1)];
      return klines([from], to - from);
    });
    expect(await run('binance-klines', file('BTCUSDT-1mo-2024-01.csv', months.join('')))).toBe(0);
    const later = klines([Date.UTC(2024, 5)], 30 * D);
    expect(await run('binance-klines', file('BTCUSDT-1mo-2024-06.csv', later), '--add')).toBe(0);
  });
});

describe('the month or day of a file', () => {
  const TRADES = `1,100,1,100,${String(START)},true\n2,100,1,100,${String(START + H)},true\n`;
  test.each([
    ['binance-klines', 'BTCUSDT-1m-2024-02.csv', klines(every(M), M), 'states 2024-02'],
    ['binance-trades', 'BTCUSDT-trades-2024-01-02.csv', TRADES, 'states 2024-01-02'],
    ['binance-trades', 'BTCUSDT-trades-2023-12.csv', TRADES, 'states 2023-12'],
    [
      'tardis',
      'x_trades_2024-01-02_BTCUSDT.csv',
      `exchange,symbol,timestamp,local_timestamp,id,side,price,amount\nx,BTCUSDT,${String(START)}000,${String(START)}000,1,buy,100,1\n`,
      'states 2024-01-02',
    ],
  ])('of %s in %s is that of its records', async (format, name, text, message) => {
    expect(await run(format, file(name, text))).toBe(2);
    expect(printed).toContain('its records are of 2024-01-01 00:00:');
    expect(printed).toContain(message);
    const right = name.replace(/20[0-9-]+[0-9](?=[_.])/, '2024-01-01');
    expect(await run(format, file(right, text))).toBe(0);
  });

  test('must be a date', async () => {
    const path = file('BTCUSDT-1m-2024-02-31.csv', klines(every(M), M));
    expect(await run('binance-klines', path)).toBe(2);
    expect(printed).toContain('BTCUSDT-1m-2024-02-31.csv: `date` "2024-02-31" is not a time');
  });

  test('is compared in an archive too', async () => {
    const data = { 'BTCUSDT-1m-2024-03.csv': Buffer.from(klines(every(M), M)) };
    expect(await run('binance-klines', file('BTCUSDT.zip', zipSync(data)))).toBe(2);
    expect(printed).toContain('the name of its file BTCUSDT-1m-2024-03.csv states 2024-03');
  });
});

describe('the contract of a file', () => {
  test('with an expiry is another market', async () => {
    const dated = file('BTCUSDT_240628-1m-2024-01.csv', klines(every(M), M));
    expect(await run('binance-klines', dated, '--symbol', 'BTCUSDT')).toBe(2);
    expect(printed).toContain('by its name it is of BTCUSDT_240628, not of BTCUSDT');
    expect(await run('binance-klines', dated)).toBe(0);
    expect((await openDataset(out())).markets).toMatchObject([
      { symbol: 'BTCUSDT_240628', inverse: false },
    ]);
  });

  test.each(['BTCUSD_PERP', 'BTCUSD_240628'])('%s is inverse', async (symbol) => {
    expect(await run('binance-klines', file(`${symbol}-1m-2024-01.csv`, klines(every(M), M)))).toBe(
      0,
    );
    expect((await openDataset(out())).markets).toMatchObject([{ symbol, inverse: true }]);
    expect(printed).toContain('is coin-margined');
  });

  const FUTURES = `1,100,1,100,${String(START)},true\n`;
  const SPOT = `2,100,1,100,${String(START + H)},True,True\n`;
  test('is never mixed with spot', async () => {
    const futures = file('BTCUSDT-trades-2024-01-01.csv', FUTURES);
    const spot = file('spot/BTCUSDT-trades-2024-01-01.csv', SPOT);
    expect(await run('binance-trades', futures, spot)).toBe(2);
    expect(printed).toContain('it is of spot, and the files before it are of a future');
    expect(await run('binance-trades', futures)).toBe(0);
    expect(await run('binance-trades', spot, '--add')).toBe(2);
    expect(printed).toContain('these files are spot, and BTCUSDT of the dataset is a future');
  });

  test.each([
    ['microseconds', 'BTCUSDT-1m-2024-01.csv', klines(every(M), M).replaceAll(/0{3},/g, '000000,')],
    ['folder', 'data/spot/monthly/klines/BTCUSDT-1m-2024-01.csv', klines(every(M), M)],
  ])('klines of spot are known by their %s', async (_, name, text) => {
    const funding = file(
      'BTCUSDT-fundingRate-2024-01.csv',
      `calc_time,funding_interval_hours,last_funding_rate\n${String(START)},8,0.0001\n`,
    );
    const path = file(name, text.replaceAll(/999,/g, name.includes('/') ? '999,' : '999999,'));
    expect(await run('binance-klines', path)).toBe(0);
    expect(printed).toContain('BTCUSDT is spot');
    expect(await run('binance-funding', funding, '--add')).toBe(2);
    expect(printed).toContain('BTCUSDT of the dataset is spot');
  });

  test('klines in a folder of futures are of a contract', async () => {
    const um = 'data/futures/um/monthly/klines/BTCUSDT-1m-2024-01.csv';
    expect(await run('binance-klines', file(um, klines(every(M), M)))).toBe(0);
    const spot = file('BTCUSDT-trades-2024-01-01.csv', SPOT);
    expect(await run('binance-trades', spot, '--add')).toBe(2);
    expect(printed).toContain('these files are spot');
  });
});
