/** Coin-margined contracts are known by their venue and name, whatever `--symbol` names them. */
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { isInverseAt } from '../../../src/tape/formats/venue-contracts.ts';
import { SmallFiles } from './import-arguments.ts';

const files = new SmallFiles();
afterAll(() => {
  files.remove();
});

const KLINES = [
  '1704067200000,42314.0,42335.8,42289.6,42331.9,28964,1704067259999,68.45,3310,17521,41.4,0',
  '1704067260000,42331.9,42353.1,42331.8,42350.4,20244,1704067319999,47.82,2407,11521,27.2,0',
];
const tardis = (exchange: string, symbol: string): readonly string[] => [
  'exchange,symbol,timestamp,local_timestamp,id,side,price,amount',
  `${exchange},${symbol},1583020803145000,1583020803307160,1,sell,8531.5,2152`,
];

describe('an inverse contract', () => {
  test.each([
    ['BTCUSD_PERP', '0.1', '1'],
    ['BTCUSD-PERP', undefined, undefined],
  ])('of Binance that --symbol names %s, with tick %s', async (symbol, tick, lot) => {
    const path = files.file('BTCUSD_PERP-1m-2024-01.csv', ...KLINES);
    const { units } = await files.import('binance-klines', path, { symbol, tick, lot });
    expect(units).toMatchObject({ symbol, inverse: true });
  });

  test('is none if --no-inverse states it', async () => {
    const funding = [
      'calc_time,funding_interval_hours,last_funding_rate',
      '1704067200000,8,0.0001',
    ];
    const path = files.file('BTCUSD_PERP-fundingRate-2024-01.csv', ...funding);
    const { units } = await files.import('binance-funding', path, { inverse: false });
    expect(units).toMatchObject({ symbol: 'BTCUSD_PERP', inverse: false });
  });

  test.each([
    ['bitmex', 'XBTUSD', true],
    ['bitmex', 'XBTUSDT', false],
    ['deribit', 'BTC-PERPETUAL', true],
    ['deribit', 'BTC_USDC-PERPETUAL', false],
    ['huobi-dm-swap', 'BTC-USD', true],
    ['binance-delivery', 'BTCUSD_PERP', true],
    ['binance-futures', 'BTCUSDT', false],
    ['bybit', 'BTCUSDH24', true],
    ['bybit', 'BTCUSDT', false],
  ])('in files of Tardis: %s %s is %s', async (exchange, symbol, inverse) => {
    const path = files.file('trades.csv', ...tardis(exchange, symbol));
    expect((await files.import('tardis', path)).units).toMatchObject({ symbol, inverse });
    expect((await files.import('csv', path)).units).toMatchObject({ symbol, inverse });
  });

  test.each([
    ['binance/minute/btcusd', true],
    ['cryptofuture/bybit/minute/btcusd', true],
    ['crypto/bybit/minute/btcusd', false],
    ['dydx/minute/btcusd', false],
    ['binance/minute/btcusdt', false],
  ])('in files of LEAN: %s is %s', async (folder, inverse) => {
    const row = '0,17204,17207.6,17203.9,17207.6,4242';
    const path = files.file(join(folder, '20221213_trade.csv'), row);
    expect((await files.import('lean', path)).units.inverse).toBe(inverse);
  });

  test('in messages of Bybit', async () => {
    const book = (symbol: string): string =>
      `{"topic":"orderbook.500.${symbol}","type":"snapshot","ts":1700000000000,"data":{"s":"${symbol}","b":[["100","1"]],"a":[["101","1"]],"u":1,"seq":1}}`;
    for (const [symbol, inverse] of [
      ['BTCUSD', true],
      ['BTCUSDT', false],
    ] as const) {
      const path = files.file('messages.jsonl', book(symbol));
      expect((await files.import('bybit', path)).units).toMatchObject({ symbol, inverse });
    }
  });

  test('is not added to a linear market of the dataset', async () => {
    const symbol = 'XBTUSD';
    const bars = ['timestamp,open,high,low,close,volume', '1704067200000,1.5,1.5,1.5,1.5,1'];
    const out = `${files.file('y')}.set`;
    await files.import('csv', files.file('bars.csv', ...bars), { symbol, interval: '1m', out });
    const trades = files.file('t.csv', ...tardis('bitmex', symbol));
    const added = files.import('tardis', trades, { out, add: true });
    await expect(added).rejects.toThrow(
      'these files are of a coin-margined contract, and XBTUSD of the dataset is none',
    );
  });
});

test('contracts in names of Nautilus', () => {
  expect(isInverseAt('BINANCE', 'BTCUSD-PERP')).toBe(true);
  expect(isInverseAt('BINANCE', 'BNBUSD_PERP')).toBe(true);
  expect(isInverseAt('BINANCE', 'BTCBUSD-PERP')).toBe(false);
  expect(isInverseAt('BINANCE', 'BTCUSDT-PERP')).toBe(false);
  expect(isInverseAt('BYBIT', 'BTCUSD-INVERSE')).toBe(true);
  expect(isInverseAt('BYBIT', 'BTCUSDT-LINEAR')).toBe(false);
  expect(isInverseAt('OKX', 'BTC-USD-SWAP')).toBe(true);
});
