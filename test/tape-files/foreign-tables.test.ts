/**
 * Tables and files as other tools write them: compressed Arrow (Feather), decimals, 32-bit floats,
 * times of microseconds, two markets in one table, floats with noise, lz4 and zstd files, Binance's
 * historical books, raw lines of unknown markets.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { zipSync } from 'fflate';
import { afterAll, describe, expect, test } from 'vitest';
import { parseColumnMap } from '../../src/tape/formats/column-map.ts';
import { lz4Whole } from '../../src/tape-files/lz4-frame.ts';
import type { RecordingOptions } from '../../src/tape-files/recordings.ts';
import { readFiles, type Read } from './read-files.ts';

const scratch = mkdtempSync(join(tmpdir(), 'orrery-foreign-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});
const fixture = (name: string): string =>
  fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
let count = 0;
function file(name: string, content: string | Uint8Array): string {
  const path = join(scratch, `${String(count++)}-${name}`);
  writeFileSync(path, content);
  return path;
}

const read = (
  format: string,
  path: string,
  symbol: string | null = null,
  changes: Partial<RecordingOptions> = {},
): Promise<Read> => readFiles(format, [path], { symbol, ...changes });

describe('tables written by pyarrow', () => {
  test.each([
    ['arrow', 'trades-lz4.arrow'],
    ['arrow', 'trades-zstd.arrow'],
    ['parquet', 'trades.parquet'],
  ])('%s, %s: every row of one market, to the microsecond', async (format, name) => {
    for (const [symbol, places] of [
      ['BTCUSDT', [1, 2, 3]],
      ['ETHUSDT', [0]],
    ] as const) {
      const { units, records } = await read(format, fixture(name), symbol);
      expect(units).toEqual({ symbol, tickSize: '0.1', lotSize: '0.001', inverse: false });
      const rows = Array.from({ length: 40 }, (_, i) => i).filter((i) =>
        (places as readonly number[]).includes(i % 4),
      );
      expect(records).toEqual(
        rows.map((i) => {
          const timeUs = 1_700_000_000_123_456 + i * 1_000_001;
          const size = 100 + i;
          const at = { kind: 'trade', timeUs, localUs: timeUs, line: i + 2, tradeId: i + 2 };
          return { ...at, priceTicks: 500_001 + i, lots: i % 3 === 0 ? -size : size };
        }),
      );
    }
  });

  test('of a table of two markets, one must be selected', async () => {
    await expect(read('parquet', fixture('trades.parquet'))).rejects.toThrow(
      'the records are of ETH/USDT, BTC/USDT; --symbol selects one market',
    );
    await expect(read('parquet', fixture('trades.parquet'), 'SOLUSDT')).rejects.toThrow(
      'the records are of ETH/USDT, BTC/USDT, none is of SOLUSDT',
    );
  });
});

describe('lz4 frames', () => {
  const path = fixture('linked.csv.lz4');
  const plain = [
    'timestamp,price,size,side',
    ...Array.from(
      { length: 3000 },
      (_, i) =>
        `${String(1_700_000_000_000 + Math.floor(i / 40) * 1000)},100.5,${String(1 + (i % 7))},buy`,
    ),
    '',
  ].join('\n');

  test('linked blocks decompress to the original text', async () => {
    expect(Buffer.from(lz4Whole(readFileSync(path), 1e8)).toString()).toBe(plain);
    expect((await read('csv', path, 'X')).records).toEqual(
      (await read('csv', file('x.csv', plain), 'X')).records,
    );
  });

  test('damage is reported at every position', async () => {
    const bytes = readFileSync(path);
    for (let at = 0; at < bytes.length; at += 37) {
      const cut = file('cut.lz4', bytes.subarray(0, Math.max(5, at)));
      await expect(read('csv', cut, 'X')).rejects.toThrow(/cut\.lz4: /);
      if (at < 7) continue;
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 0x55;
      let text = '';
      try {
        text = Buffer.from(lz4Whole(changed, 1e8)).toString();
      } catch (error) {
        expect(String(error)).toMatch(/lz4 data/);
      }
      // Only damage of checksums may leave the text unchanged.
      if (text === plain) continue;
      await expect(read('csv', file('bad.lz4', changed), 'X')).rejects.toThrow(/bad\.lz4: /);
    }
  });

  test('several frames are decompressed, and skippable ones skipped', () => {
    const frame = readFileSync(path);
    const skipped = Buffer.from([0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
    const both = Buffer.concat([frame, skipped, frame]);
    expect(Buffer.from(lz4Whole(both, 1e8)).toString()).toBe(plain + plain);
  });
});

test('a zstd file is decompressed, and damage is reported', async () => {
  // `timestamp,price,size\n1700000000000,100.5,2\n`, compressed by zstd.
  const bytes = Buffer.from(ZSTD, 'base64');
  expect((await read('csv', file('x.csv.zst', bytes), 'X')).records).toMatchObject([
    { kind: 'trade', timeUs: 1_700_000_000_000_000, priceTicks: 1005, lots: 2 },
  ]);
  const cut = file('cut.zst', bytes.subarray(0, bytes.length - 9));
  await expect(read('csv', cut, 'X')).rejects.toThrow(/cut\.zst: /);
});
const ZSTD = 'KLUv/SArRQEAFAJ0aW1lc3RhbXAscHJpY2Usc2l6ZQoxNzAsMTAwLjUsMgoBAGxgDA==';

test('rounding noise of floats is removed', async () => {
  const rows = [
    '1700000001,39432.48,0.00031099999999999997',
    '1700000002,39432.479999999996,2.4999999999999998e-05',
  ];
  const table = ['timestamp,price,size', ...rows, '1700000003,39432.5,0.035716000000000005'].join(
    '\n',
  );
  const { units, records } = await read('csv', file('noise.csv', table), 'X');
  expect(units).toMatchObject({ tickSize: '0.01', lotSize: '0.000001' });
  expect(records).toMatchObject([
    { priceTicks: 3_943_248, lots: 311 },
    { priceTicks: 3_943_248, lots: 25 },
    { priceTicks: 3_943_250, lots: 35_716 },
  ]);
});

test('a number that would be a time before 1980 is refused, unless its unit is given', async () => {
  const path = file('of-the-day.csv', 'timestamp,price,size\n14400464,10.5,1\n');
  await expect(read('csv', path, 'X')).rejects.toThrow(
    'line 2: `time` "14400464" is before 1980 in the unit that its digits suggest; give the unit',
  );
  const map = parseColumnMap({ kind: 'trade', timeUnit: 'ms' });
  const { records } = await read('csv', path, 'X', { map });
  expect(records).toMatchObject([{ timeUs: 14_400_464_000 }]);
});

test('seconds in a format of milliseconds are refused', async () => {
  const path = file('seconds.json', '[[1704067200,1,2,0.5,1.5,10],[1704067260,1,2,0.5,1.5,10]]');
  await expect(read('ccxt-ohlcv', path, 'X')).rejects.toThrow('its time is before 1980');
});

test('a column that a table has twice is refused', async () => {
  const path = file('twice.csv', 'timestamp,price,price,size\n1700000000,10.5,11.5,1\n');
  await expect(read('csv', path, 'X')).rejects.toThrow('line 1: the column `price` is there twice');
});

test('a zip archive of another market than its name is refused', async () => {
  const kline = '1704067200000,1,2,0.5,1.5,10,1704067259999,15,3,5,7,0\n';
  const archive = (member: string): string =>
    file('BTCUSDT-1m-2024-01.zip', Buffer.from(zipSync({ [member]: Buffer.from(kline) })));
  const [format, ours] = ['binance-klines', 'BTCUSDT-1m-2024-01.csv'] as const;
  expect((await readFiles(format, [archive(ours)])).records).toHaveLength(1);
  await expect(readFiles(format, [archive('ETHUSDT-1m-2024-01.csv')])).rejects.toThrow(
    'by the name of its file ETHUSDT-1m-2024-01.csv it is of ETHUSDT, not of BTCUSDT',
  );
});

test('sizes finer than the lot are bad, or rounded if requested', async () => {
  const table = [
    'timestamp,price,size',
    '1700000001,10.5,0.00026',
    '1700000002,10.5,0.0034',
    '1700000003,10.5,0.00251',
  ].join('\n');
  const units = { symbol: 'X', tickSize: '0.1', lotSize: '0.001', inverse: false };
  const path = file('fine.csv', table);
  await expect(read('csv', path, 'X', { units })).rejects.toThrow(
    'line 2: `size` size "0.00026" is not a multiple of 0.001',
  );
  const negative = file('negative.csv', table.replace('0.00026', '-5'));
  await expect(read('csv', negative, 'X', { units })).rejects.toThrow(
    'line 2: `size` size "-5" is negative',
  );
  const { records } = await read('csv', path, 'X', { units, round: true });
  expect(records.map((record) => ('lots' in record ? record.lots : 0))).toEqual([1, 3, 3]);
});

test('klines with another header are read by its names', async () => {
  const table = [
    'timestamp,open,high,low,close,volume,quote_volume,trades,close_time',
    '1757750400000,115715.50,116011.00,115715.50,115913.30,1844.202,213658733.84120,39746,1757753999999',
  ].join('\n');
  const { records } = await read('binance-klines', file('btc.csv', table), 'X');
  expect(records).toMatchObject([
    {
      kind: 'bar',
      startUs: 1_757_750_400_000_000,
      timeUs: 1_757_753_999_999_999,
      close: 1_159_133,
    },
  ]);
  await expect(
    read('binance-klines', file('short.csv', 'timestamp,open,high,low,close,volume\n'), 'X'),
  ).rejects.toThrow(
    /line 1: no column for `close_time` of klines: .*; for other tables use the format csv/,
  );
  const funding = 'timestamp,symbol,funding_rate\n1768233600000,BTCUSDT,0.00004650\n';
  expect((await read('binance-funding', file('f.csv', funding))).records).toMatchObject([
    { kind: 'funding', timeUs: 1_768_233_600_000_000, ratePpb: 46_500 },
  ]);
});

describe('Binance’s historical books', () => {
  const head = 'symbol,timestamp,first_update_id,last_update_id,side,update_type,price,qty,pu';
  const rows = [
    'BTCUSDT,1667346579146,7,7,b,snap,20377.00,1.770,-1',
    'BTCUSDT,1667346579146,7,7,a,snap,20377.10,0.001,-1',
    'BTCUSDT,1667346579200,8,9,a,set,20377.10,0.000,7',
    'BTCUSDT,1667346579200,8,9,a,set,20377.20,4,7',
    'ETHUSDT,1667346579200,8,9,a,set,1500.20,4,7',
    'BTCUSDT,1667346579300,10,10,b,set,20377.00,1,9',
  ];

  test('a snapshot and its updates, with the stream’s ids', async () => {
    const table = file('d.csv', [head, ...rows].join('\n'));
    const { records } = await read('binance-depth', table, 'BTCUSDT');
    expect(records).toMatchObject([
      { kind: 'snapshot', lastId: 7, levels: [{ side: 'bid' }, { side: 'ask' }] },
      { kind: 'depth', firstId: 8, lastId: 9, prevId: 7, levels: [{ lots: 0 }, { lots: 4000 }] },
      { kind: 'depth', firstId: 10, lastId: 10, prevId: 9, levels: [{ lots: 1000 }] },
    ]);
  });

  test.each([
    ['b,snap', 'x,snap', '`side` is "x", neither b nor a'],
    ['b,snap', 'b,gone', '`update_type` is "gone", neither snap nor set'],
  ])('%s as %s is rejected', async (from, to, message) => {
    const table = [head, ...rows].join('\n').replace(from, to);
    const path = file('d.csv', table);
    await expect(read('binance-depth', path, 'BTCUSDT')).rejects.toThrow(`line 2: ${message}`);
  });

  test('the generic format does not parse them as trades', async () => {
    const path = file('d.csv', [head, ...rows].join('\n'));
    await expect(read('csv', path)).rejects.toThrow('the columns are of the format binance-depth');
  });
});

describe('raw lines of unknown markets', () => {
  const line = (symbol: string, more: string): string =>
    `1700000000000000000 {"stream":"x","data":{"e":"aggTrade","T":1700000000000,"s":"${symbol}","m":true,${more}}}`;
  const trades = [
    line('DOGEUSDT', '"a":1,"p":"0.081230","q":"15"'),
    line('DOGEUSDT', '"a":2,"p":"0.08124","q":"1.50"'),
  ];

  test('their tick and lot size are found in the data', async () => {
    const { units, records } = await read('binance-raw', file('r', trades.join('\n')));
    expect(units).toEqual({
      symbol: 'DOGEUSDT',
      tickSize: '0.00001',
      lotSize: '0.1',
      inverse: false,
    });
    expect(records).toMatchObject([
      { kind: 'trade', tradeId: 1, priceTicks: 8123, lots: -150 },
      { kind: 'trade', tradeId: 2, priceTicks: 8124, lots: -15 },
    ]);
    const coin = await read(
      'binance-raw',
      file('r', line('XRPUSD_PERP', '"a":1,"p":"2.5","q":"3"')),
    );
    expect(coin.units?.inverse).toBe(true);
  });

  test('of several markets, one must be selected', async () => {
    const both = file('r', [line('XRPUSDT', '"a":9,"p":"2.5","q":"3"'), ...trades].join('\n'));
    expect((await read('binance-raw', both, 'DOGEUSDT')).records.length).toBe(2);
    await expect(read('binance-raw', both)).rejects.toThrow(
      'the records are of XRPUSDT, DOGEUSDT; --symbol selects one market',
    );
    await expect(read('binance-raw', both, 'ADAUSDT')).rejects.toThrow(
      'the records are of XRPUSDT, DOGEUSDT, none is of ADAUSDT',
    );
  });

  test('trades are counted once if both single and aggregate ones are recorded', async () => {
    const single = line('DOGEUSDT', '"t":5,"p":"0.08123","q":"15"').replace('aggTrade', 'trade');
    const both = file('r', [...trades, single].join('\n'));
    expect((await read('binance-raw', both)).records.length).toBe(2);
  });
});
