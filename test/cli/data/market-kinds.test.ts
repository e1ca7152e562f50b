/** Recordings of spot, options and inverse contracts: what `data import` states or refuses. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import type * as CliSupport from '../../../src/cli/cli-support.ts';
import { main } from '../../../src/cli/main.ts';

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

let printed = '';
let runs = 0;
const scratch = mkdtempSync(join(tmpdir(), 'orrery-kinds-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

async function imported(format: string, rows: readonly unknown[], ...more: readonly string[]) {
  const file = join(scratch, `file-${String(runs++)}.jsonl`);
  writeFileSync(
    file,
    `${rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n')}\n`,
  );
  printed = '';
  return main(['data', 'import', format, file, '--out', join(scratch, 'set'), ...more]);
}

const BINANCE_SPOT = [
  '1700000000100000000 {"lastUpdateId":10,"bids":[["100.00","1.00000000"]],"asks":[["100.01","2.00000000"]]}',
  '1700000000200000000 {"e":"depthUpdate","E":1700000000190,"s":"BTCUSDT","U":9,"u":11,"b":[["100.00","1.50001"]],"a":[]}',
];
const BINANCE_FUTURES = [
  '1700000100100000000 {"lastUpdateId":10,"E":1700000100050,"T":1700000100050,"bids":[["100.0","1.000"]],"asks":[["100.1","2.000"]]}',
  '1700000100200000000 {"e":"depthUpdate","E":1700000100190,"T":1700000100190,"s":"BTCUSDT","U":9,"u":11,"pu":8,"b":[["100.0","1.500"]],"a":[]}',
];
const coinbase = (product: string) => [
  {
    channel: 'l2_data',
    timestamp: '2023-02-09T20:32:50.714964855Z',
    sequence_num: 0,
    events: [
      {
        type: 'snapshot',
        product_id: product,
        updates: [
          { side: 'bid', price_level: '21921.73', new_quantity: '0.06' },
          { side: 'offer', price_level: '21921.74', new_quantity: '0.5' },
        ],
      },
    ],
  },
];
const kraken = (symbol: string) => [
  {
    channel: 'book',
    type: 'snapshot',
    data: [
      {
        symbol,
        bids: [{ price: 0.5, qty: 10 }],
        asks: [{ price: 0.6, qty: 10 }],
        timestamp: '2023-10-06T17:35:55.440295Z',
      },
    ],
  },
];
const okx = (instId: string) => [
  {
    arg: { channel: 'books', instId },
    action: 'snapshot',
    data: [
      {
        bids: [['8476.9', '415', '0', '13']],
        asks: [['8477.0', '7', '0', '2']],
        ts: '1597026383085',
        seqId: 1,
        prevSeqId: -1,
      },
    ],
  },
];
const deribit = (name: string) => [
  {
    jsonrpc: '2.0',
    method: 'subscription',
    params: {
      channel: `book.${name}.raw`,
      data: {
        type: 'snapshot',
        timestamp: 1_597_026_383_085,
        instrument_name: name,
        change_id: 1,
        bids: [['new', 0.05, 10]],
        asks: [['new', 0.06, 10]],
      },
    },
  },
];

test.each([
  ['binance-raw', BINANCE_SPOT, 'BTCUSDT is spot'],
  ['coinbase', coinbase('BTC-USD'), 'BTC-USD is spot'],
  ['kraken', kraken('MATIC/USD'), 'MATIC-USD is spot'],
  ['okx', okx('BTC-USDT'), 'BTC-USDT is spot'],
  ['deribit', deribit('BTC_USDC'), 'BTC_USDC is spot'],
])('%s: spot is named as such, and what a backtest makes of it', async (format, rows, words) => {
  expect(await imported(format, rows, '--replace')).toBe(0);
  expect(printed).toContain(
    `${words}: a backtest plays it as a perpetual without funding, with margin and short positions`,
  );
});

test.each([
  ['binance-raw', BINANCE_FUTURES],
  ['coinbase', coinbase('BTC-PERP-INTX')],
  ['okx', okx('BTC-USDT-SWAP')],
  ['deribit', deribit('BTC_USDC-PERPETUAL')],
])('%s: a contract is not called spot', async (format, rows) => {
  expect(await imported(format, rows, '--replace')).toBe(0);
  expect(printed).not.toContain('spot');
});

test('ticks and lots too fine for a market are named on import', async () => {
  expect(await imported('binance-raw', BINANCE_SPOT, '--replace')).toBe(0);
  expect(printed).toContain('tick × lot has 7 decimals, and a market that is traded in at most 6');
});

test('a fine tick with a coarse lot is not called too fine for a market', async () => {
  const rows = ['time,price,quantity,side', '1700000000000,0.00001234,100,buy'];
  const units = ['--symbol', 'X', '--tick', '0.00000001', '--lot'];
  expect(await imported('csv', rows, '--replace', ...units, '100')).toBe(0);
  expect(printed).not.toContain('tick × lot');
  expect(await imported('csv', rows, '--replace', ...units, '10')).toBe(0);
  expect(printed).toContain('tick × lot has 7 decimals');
});

test('spot and a contract of one name do not become one market', async () => {
  expect(await imported('binance-raw', BINANCE_FUTURES, '--replace')).toBe(0);
  expect(await imported('binance-raw', BINANCE_SPOT, '--add')).toBe(2);
  expect(printed).toContain(
    'these files are spot, and BTCUSDT of the dataset is a future or perpetual (stream binance-raw)',
  );
});

test.each([
  ['deribit', deribit('BTC-27DEC24-60000-C')],
  ['deribit', deribit('XRP_USDC-30JUN23-0d55-P')],
  ['okx', okx('BTC-USD-241227-60000-C')],
])('%s: an option is refused', async (format, rows) => {
  expect(await imported(format, rows, '--replace')).toBe(2);
  expect(printed).toContain('is an option; refused, since markets here are perpetuals');
});

test.each([
  ['deribit', deribit('BTC-PERPETUAL')],
  ['okx', okx('BTC-USD-SWAP')],
])('%s: an inverse contract is imported for checks of its book', async (format, rows) => {
  expect(await imported(format, rows, '--replace')).toBe(0);
  expect(printed).toContain('is coin-margined: book checks work, PnL is refused');
});
