/** `orrery data import` of files under another layout than that of the named format. */
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { openDataset } from '../../../src/tape-files/dataset-files.ts';
import { SmallFiles } from './import-arguments.ts';

const files = new SmallFiles();
afterAll(() => {
  files.remove();
});

function gzipped(text: string): string {
  const path = files.file('lines.gz');
  writeFileSync(path, gzipSync(text));
  return path;
}

const DOGE = [
  '1704067200000,0.08950,0.08960,0.08940,0.08955,289641,1704067259999,25922.8,3310,175211,15681.3,0',
  '1704067260000,0.08955,0.08970,0.08950,0.08960,202444,1704067319999,18128.8,2407,115211,10310.1,0',
];
/** Klines of BTCUSD_PERP: contracts of 100 USD, and their value in bitcoin. */
const COIN = [
  '1704067200000,42314.0,42335.8,42289.6,42331.9,28964,1704067259999,68.45,3310,17521,41.4,0',
];

describe('files of Binance', () => {
  test('klines of a coin below 1 are no funding rates', async () => {
    await expect(
      files.import('binance-funding', files.file('DOGEUSDT-1m-2024-01.csv', ...DOGE)),
    ).rejects.toThrow('DOGEUSDT-1m-2024-01.csv: line 1: 12 fields; a row of funding has 3');
  });

  test.each(['mark', 'index'])('klines of trades are no %s prices', async (kind) => {
    await expect(
      files.import(`binance-${kind}-klines`, files.file('DOGEUSDT-1m-2024-01.csv', ...DOGE)),
    ).rejects.toThrow(`line 1: \`volume\` "289641" of a ${kind} price is not 0`);
  });

  test.each([
    ['markPriceKlines', 'binance-index-klines', 'are of the format binance-mark-klines'],
    ['indexPriceKlines', 'binance-mark-klines', 'are of the format binance-index-klines'],
    ['markPriceKlines', 'binance-klines', 'are of the format binance-mark-klines'],
    ['premiumIndexKlines', 'binance-mark-klines', 'are of no format here'],
    ['markPriceKlines', 'binance-mark-klines', null],
  ])('in the folder %s are no %s: %s', async (folder, format, fault) => {
    const row = '1704067200000,42,42,42,42,0,1704067259999,0,60,0,0,0';
    const path = files.file(`um/daily/${folder}/BTCUSDT/1m/BTCUSDT-1m-2024-01-01.csv`, row);
    const result = files.import(format, path, { symbol: 'BTCUSDT', tick: '1', lot: '1' });
    if (fault === null) expect((await result).manifest.counts).toEqual({ mark: 1 });
    else await expect(result).rejects.toThrow(`it is in a folder ${folder}, whose files ${fault}`);
  });

  test('marks alone are refused, since they state neither tick nor lot', async () => {
    for (const price of ['42', '42331.9']) {
      const row = `1704067200000,${price},${price},${price},${price},0,1704067259999,0,60,0,0,0`;
      const path = files.file('BTCUSDT-1m-2024-01-01.csv', row);
      await expect(files.import('binance-mark-klines', path)).rejects.toThrow(
        'the files have marks or indices alone, which state neither tick nor lot: import trades, books or klines first, or give --symbol, --tick and --lot',
      );
    }
  });

  test('klines of a coin-margined contract under another name are refused', async () => {
    const klines = files.file('klines.csv', ...COIN);
    await expect(files.import('binance-klines', klines, { symbol: 'BTCUSD' })).rejects.toThrow(
      'line 1: `quote_volume` "68.45" is not `volume` "28964" at the price of the row',
    );
    const inverse = await files.import('binance-klines', klines, {
      ...{ symbol: 'BTCUSD', inverse: true },
    });
    expect(inverse.units.inverse).toBe(true);
  });

  test.each(['volume,close_time,quote_volume', 'quote_volume,close_time,volume'])(
    'columns of klines are read by their names: %s',
    async (columns) => {
      const rows = DOGE.map((row) => row.split(',').slice(0, 8).join(','));
      const path = files.file('k.csv', `open_time,open,high,low,close,${columns}`, ...rows);
      const result = files.import('binance-klines', path, { symbol: 'DOGEUSDT' });
      if (columns.startsWith('volume')) expect((await result).manifest.counts).toEqual({ bar: 2 });
      else await expect(result).rejects.toThrow('line 2: `quote_volume` "289641" is not `volume`');
    },
  );

  test('trades with `base_qty` are coin-margined, and others are worth their `quote_qty`', async () => {
    const symbol = 'BTCUSD';
    const trade = '1,42000.1,5,0.0119,1704067200000,true';
    const named = files.file('t.csv', 'id,price,qty,base_qty,time,is_buyer_maker', trade);
    expect((await files.import('binance-trades', named, { symbol })).units.inverse).toBe(true);
    const bare = files.import('binance-trades', files.file('t.csv', trade), { symbol });
    await expect(bare).rejects.toThrow('line 1: `quote_qty` "0.0119" is not `qty` "5"');
    const linear = files.file('t.csv', '1,42000.1,0.5,21000.05,1704067200000,true');
    expect((await files.import('binance-trades', linear, { symbol })).units.inverse).toBe(false);
  });
});

describe('tables', () => {
  const symbol = 'BTCUSDT';
  const map = (text: string): string => files.file('map.yaml', text);
  const TRADES = ['BTCUSDT,1704067200000,42000.1,1,buy', 'BTCUSDT,1704067201000,42000.2,2,sell'];

  test('a first row that begins with a symbol is no header where the map has its time', async () => {
    const columns = '{ symbol: 0, time: 1, price: 2, size: 3, side: 4 }';
    const path = files.file('trades.csv', ...TRADES);
    const changes = { map: map(`kind: trade\ncolumns: ${columns}`) };
    expect((await files.import('csv', path, changes)).manifest.counts).toEqual({ trade: 2 });
    const headed = files.file('trades.csv', 'market,when,paid,n,who', ...TRADES);
    expect((await files.import('csv', headed, changes)).manifest.counts).toEqual({ trade: 2 });
  });

  test('trades without a side are named', async () => {
    const path = files.file('trades.csv', 'time,price,size', '1704067200000,42000.1,1');
    const { notes } = await files.import('csv', path, { symbol });
    expect(notes).toEqual([
      'trades.csv: no column has the side of the taker, so all trades are taken as buys',
    ]);
  });

  test('levels are no trades, unless a map states it', async () => {
    const path = files.file('t.csv', 'time,side,price,size', '1704067200000,bid,42000.1,1');
    await expect(files.import('csv', path, { symbol })).rejects.toThrow(
      't.csv: line 2: `side` is "bid": trades, or levels of a book?',
    );
    const changes = { symbol, map: map('kind: trade') };
    expect((await files.import('csv', path, changes)).manifest.counts).toEqual({ trade: 1 });
  });

  test.each([
    ['us', '1704067200000', 'is of 1970 in us, as given, and of 2024 in ms'],
    ['ns', '1704067200000000', 'is of 1970 in ns, as given, and of 2024 in us'],
    ['ms', '1704067200', 'is of 1970 in ms, as given, and of 2024 in s'],
    ['ms', '1704067200000', null],
    ['us', '1000', null],
  ])('a unit of %s of the time %s', async (unit, time, note) => {
    const path = files.file('t.csv', 'time,side,price,size', `${time},buy,42000.1,1`);
    const changes = { symbol, map: map(`kind: trade\ntimeUnit: ${unit}`) };
    const { notes } = await files.import('csv', path, changes);
    expect(notes).toEqual(note === null ? [] : [`t.csv: line 2: \`time\` ${time} ${note}`]);
  });

  test('funding rates in percent are named', async () => {
    const rates = (...values: readonly string[]): string =>
      files.file(
        'f.csv',
        'timestamp,funding_rate',
        ...values.map((rate, i) => `${String(1_704_067_200 + 28_800 * i)}000,${rate}`),
      );
    const { notes } = await files.import('csv', rates('0.01', '0.0102', '-0.0005'), { symbol });
    expect(notes).toEqual([
      'f.csv: 2 of 3 funding rates are 0.2 % or more; rates are read as fractions, such as 0.0001 for 0.01 %',
    ]);
    const usual = await files.import('csv', rates('0.0001', '0.0102', '-0.0005'), { symbol });
    expect(usual.notes).toEqual([]);
  });

  test('bars without volume are named, as klines of marks are', async () => {
    const note =
      'no bar has volume, so no order is filled in a backtest unless --bars depth=<lots> states one';
    const bars = [
      'time,open,high,low,close,Volume USDT',
      '1704067200000,42000,42000,42000,42000,5',
    ];
    const table = await files.import('csv', files.file('b.csv', ...bars), {
      ...{ symbol, interval: '1m' },
    });
    expect(table.notes).toEqual([note]);
    const marks = files.file('m.csv', '1704067200000,42,42,42,42,0,1704067259999,0,0,0,0,0');
    expect((await files.import('binance-klines', marks, { symbol })).notes).toEqual([note]);
  });
});

test.each([
  ['csv', 'time,price,size,side\n1704067200000,42000.1,1,buy'],
  ['bybit', ''],
])('%s: millions of empty lines are refused soon, and thousands are read', async (format, rows) => {
  const symbol = 'BTCUSDT';
  const millions = gzipped(`${rows}${'\n'.repeat(5_000_000)}`);
  await expect(files.import(format, millions, { symbol })).rejects.toThrow(
    'more than 1 MB of empty lines in succession',
  );
  const thousands = files.import(format, gzipped(`${rows}${'\r\n'.repeat(9999)}`), { symbol });
  if (rows === '') await expect(thousands).rejects.toThrow('no record of the market');
  else expect((await thousands).manifest.counts).toEqual({ trade: 1 });
});

describe('a dataset that begins with funding rates', () => {
  const FUNDING = ['calc_time,funding_interval_hours,last_funding_rate', '1704067200000,8,0.0001'];
  const KLINE =
    '1704067200000,42314.0,42335.8,42289.6,42331.9,289.641,1704067259999,12256155.27,3310,175.211,7414459.6,0';

  test.each([{}, { symbol: 'BTC/USDT' }])(
    'takes tick and lot of the next file: %o',
    async (changes) => {
      const out = `${files.file('x')}.set`;
      await files.import(
        'binance-funding',
        files.file('BTCUSDT-fundingRate-2024-01.csv', ...FUNDING),
        {
          out,
        },
      );
      const klines = files.file('BTCUSDT-1m-2024-01.csv', KLINE);
      await files.import('binance-klines', klines, { out, add: true, ...changes });
      const { manifest } = await openDataset(out);
      expect(manifest.markets).toEqual([
        { symbol: 'BTCUSDT', tickSize: '0.1', lotSize: '0.001', inverse: false },
      ]);
      expect(manifest.streams).toHaveLength(2);
    },
  );

  test('keeps units that are given', async () => {
    const out = `${files.file('x')}.set`;
    const given = { out, symbol: 'BTCUSDT', tick: '0.01', lot: '0.01' };
    await files.import('binance-funding', files.file('f.csv', ...FUNDING), given);
    const klines = files.file('BTCUSDT-1m-2024-01.csv', KLINE);
    await files.import('binance-klines', klines, { out, add: true });
    expect((await openDataset(out)).manifest.markets).toMatchObject([
      { tickSize: '0.01', lotSize: '0.01' },
    ]);
  });
});
