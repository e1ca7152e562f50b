/** `orrery data import` of files under another layout than that of the named format. */
import { afterAll, describe, expect, test } from 'vitest';
import { SmallFiles } from './import-arguments.ts';

const files = new SmallFiles();
afterAll(() => {
  files.remove();
});

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
