/** Sizes that are numbers of contracts, as OKX records them, with and without `--contract-size`. */
import { join } from 'node:path';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, describe, expect, test } from 'vitest';
import { openDataset } from '../../../src/tape-files/dataset-files.ts';
import { parseManifest } from '../../../src/tape/manifest.ts';
import { SmallFiles } from './import-arguments.ts';

const files = new SmallFiles();
const scratch = mkdtempSync(join(tmpdir(), 'orrery-contracts-'));
afterAll(() => {
  files.remove();
  rmSync(scratch, { recursive: true, force: true });
});

const SWAP = 'BTC-USDT-SWAP';
const NOTE = /sizes of BTC-USDT-SWAP are numbers of contracts/;
const okx = (channel: string, data: object, symbol = SWAP): string =>
  JSON.stringify({ arg: { channel, instId: symbol }, action: 'snapshot', data: [data] });
const book = (symbol = SWAP): string =>
  okx(
    'books',
    {
      asks: [['42001.1', '350.12', '0', '4']],
      bids: [['42000.9', '12', '0', '1']],
      ts: '1704067200000',
      seqId: 7,
      prevSeqId: -1,
    },
    symbol,
  );
const trade = okx('trades', {
  ...{ instId: SWAP, tradeId: '5', px: '42001.1', sz: '3', side: 'buy' },
  ts: '1704067201000',
});
const mark = okx('mark-price', { instId: SWAP, markPx: '42001', ts: '1704067202000' });
const tardis = (exchange: string, symbol: string): readonly string[] => [
  'exchange,symbol,timestamp,local_timestamp,id,side,price,amount',
  `${exchange},${symbol},1583020803145000,1583020803307160,1,sell,8531.5,7`,
];

async function recordsIn(folder: string) {
  const dataset = await openDataset(folder);
  const [market] = dataset.markets;
  const list = [];
  for (const stream of market?.streams ?? [])
    for await (const batch of dataset.records(stream)) list.push(...batch);
  return { market, list };
}

describe('sizes of contracts', () => {
  test('are quantities of the base currency, exactly', async () => {
    const out = join(scratch, 'exact');
    const path = files.file('okx.jsonl', book(), trade);
    const { manifest, units, notes } = await files.import('okx', path, {
      out,
      'contract-size': '0.010',
    });
    expect(units).toMatchObject({ tickSize: '0.1', lotSize: '0.0001' });
    expect(manifest.contractSize).toBe('0.01');
    expect(notes.join()).not.toMatch(NOTE);
    const { list } = await recordsIn(out);
    expect(list).toMatchObject([
      { levels: [{ lots: 1200 }, { lots: 35_012 }] },
      { kind: 'trade', lots: 300 },
    ]);
    expect(parseManifest(JSON.stringify((await openDataset(out)).manifest))).toMatchObject({
      streams: [{ contractSize: '0.01' }],
    });
  });

  test('are taken as quantities without it, and the summary names them', async () => {
    const out = join(scratch, 'noted');
    const { manifest, units, notes } = await files.import('okx', files.file('okx.jsonl', trade), {
      out,
    });
    expect([units.lotSize, manifest.contractSize]).toEqual(['1', undefined]);
    expect(notes.join('\n')).toMatch(NOTE);
  });

  test('have no note in files of marks alone, nor for spot and coin-margined contracts', async () => {
    for (const [line, symbol] of [
      [mark, SWAP],
      [book('BTC-USDT'), 'BTC-USDT'],
      [book('BTC-USD-SWAP'), 'BTC-USD-SWAP'],
    ] as const) {
      const { notes } = await files.import('okx', files.file('okx.jsonl', line), {
        ...{ symbol, tick: '0.1', lot: '0.01' },
      });
      expect(notes.join()).not.toMatch(/numbers of contracts/);
    }
  });

  test.each([
    ['okex-swap', 'BTC-USDT-SWAP', true],
    ['okex-futures', 'BTC-USDT-240628', true],
    ['okex-swap', 'BTC-USD-SWAP', false],
    ['okex', 'BTC-USDT', false],
    ['huobi-dm-linear-swap', 'BTC-USDT', true],
    ['gate-io-futures', 'BTC_USDT', true],
    ['bitmex', 'XBTUSDT', true],
    ['bitmex', 'XBTUSD', false],
    ['binance-futures', 'BTCUSDT', false],
    ['bybit', 'BTCUSDT', false],
  ])('in files of Tardis: %s %s is %s', async (exchange, symbol, isCounted) => {
    const path = files.file('trades.csv', ...tardis(exchange, symbol));
    for (const format of ['tardis', 'csv']) {
      const { notes } = await files.import(format, path);
      expect(/numbers of contracts/.test(notes.join())).toBe(isCounted);
      const sized = await files.import(format, path, { 'contract-size': '0.1' }).catch(String);
      const refused = ['BTC-USD-SWAP', 'XBTUSD'].includes(symbol);
      expect(typeof sized === 'string').toBe(refused);
      if (typeof sized !== 'string') expect(sized.units.lotSize).toBe('0.1');
      else expect(sized).toContain('--contract-size is for linear contracts');
    }
  });

  test('of bars are volumes, and of more than one unit are whole lots of one', async () => {
    const path = files.file('ES-ohlcv.json', '[[1704067200000,4700.25,4701,4700,4700.5,12]]');
    const out = join(scratch, 'bars');
    await files.import('ccxt-ohlcv', path, {
      ...{ out, symbol: 'ES', interval: '1m', tick: '0.25', lot: '1', 'contract-size': '50' },
    });
    expect((await recordsIn(out)).list).toMatchObject([{ kind: 'bar', volume: 600 }]);
  });

  test('stay in the dataset as they were imported: the next stream has the same', async () => {
    const out = join(scratch, 'added');
    await files.import('okx', files.file('okx.jsonl', mark), {
      ...{ out, symbol: SWAP, tick: '0.1', lot: '0.0001' },
    });
    await files.import('okx', files.file('okx.jsonl', book()), {
      ...{ out, add: true, 'contract-size': '0.01' },
    });
    const trades = files.file('okx.jsonl', trade);
    for (const other of [undefined, '0.1']) {
      await expect(
        files.import('okx', trades, { out, add: true, 'contract-size': other }),
      ).rejects.toThrow(/was imported with 0\.01, this one with (none|0\.1); import both alike/);
    }
    await files.import('okx', trades, { out, add: true, 'contract-size': '0.01' });
    const { list } = await recordsIn(out);
    expect(list.map(({ kind }) => kind)).toEqual(['mark', 'snapshot', 'trade']);
  });
});

describe('--contract-size', () => {
  test.each(['0', '-1', '1e-2', 'x', ''])("'%s' is refused", async (text) => {
    await expect(
      files.import('okx', files.file('okx.jsonl', trade), { 'contract-size': text }),
    ).rejects.toThrow(`--contract-size is '${text}', not a positive decimal`);
  });

  test('is refused where sizes are never contracts', async () => {
    const path = files.file('BTCUSDT-trades-2024-01.csv', '1,42000,1,42000,1704067200000,true');
    await expect(files.import('binance-trades', path, { 'contract-size': '0.01' })).rejects.toThrow(
      '--contract-size does not apply to the format binance-trades',
    );
  });

  test('gives sizes that are no multiple of the lot an error with the quantity', async () => {
    const path = files.file('okx.jsonl', book());
    await expect(
      files.import('okx', path, {
        ...{ symbol: SWAP, tick: '0.1', lot: '0.01', 'contract-size': '0.01' },
      }),
    ).rejects.toThrow('size "3.5012" is not a multiple of 0.01 ("350.12" contracts)');
  });
});
