/** Formats of venues' own messages and files, on rows as published in their documentation. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, describe, expect, test } from 'vitest';
import type { TapeRecord } from '../../src/tape/record.ts';
import { readFiles } from './read-files.ts';

const scratch = mkdtempSync(join(tmpdir(), 'orrery-venues-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});
let folders = 0;

function file(name: string, content: string | Uint8Array): string {
  const folder = join(scratch, String(folders++), ...name.split('/').slice(0, -1));
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name.split('/').at(-1) ?? '');
  writeFileSync(path, content);
  return path;
}

const lines = (...rows: readonly unknown[]): string =>
  `${rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n')}\n`;

/** A record in one line: kind, ids, levels or price and size. */
function brief(record: TapeRecord): string {
  switch (record.kind) {
    case 'depth':
    case 'snapshot': {
      const ids = record.kind === 'depth' ? `${record.prevId}>${record.lastId}` : record.lastId;
      const levels = record.levels.map((l) => `${l.side[0] ?? ''}${l.priceTicks}:${l.lots}`);
      return `${record.kind} ${ids} ${levels.join(' ')}`.trim();
    }
    case 'trade':
      return `trade ${record.priceTicks}:${record.lots}`;
    case 'touch':
      return `touch ${record.bidTicks}:${record.bidLots} ${record.askTicks}:${record.askLots}`;
    case 'order':
      return `${record.action} ${record.ref} ${record.side} ${record.priceTicks}:${record.lots}`;
    case 'bar':
      return `bar ${record.open} ${record.high} ${record.low} ${record.close} ${record.volume}`;
    case 'funding':
      return `funding ${record.ratePpb}`;
    default:
      return `${record.kind} ${record.priceTicks}`;
  }
}

async function read(format: string, path: string, symbol: string | null = null) {
  const { units, records } = await readFiles(format, [path], { symbol });
  return { units, records: records.map(brief), raw: records };
}

describe('Binance spot', () => {
  const rows = lines(
    '1700000000100000000 {"lastUpdateId":10,"bids":[["100.00","1.00000000"]],"asks":[["100.01","2.00000000"]]}',
    '1700000000200000000 {"e":"depthUpdate","E":1700000000190,"s":"BTCUSDT","U":9,"u":11,"b":[["100.00","1.50000"]],"a":[]}',
    '1700000000300000000 {"e":"depthUpdate","E":1700000000290,"s":"BTCUSDT","U":12,"u":12,"b":[["99.99","3.00001"]],"a":[]}',
    '1700000000310000000 {"u":12,"s":"BTCUSDT","b":"100.00","B":"1.5","a":"100.01","A":"2"}',
    '1700000000320000000 {"e":"trade","E":1700000000305,"s":"BTCUSDT","t":7,"p":"100.01","q":"0.1","T":1700000000304,"m":false,"M":true}',
  );

  test('updates follow the one before U; tick and lot are found, not those of futures', async () => {
    const { units, records, raw } = await read('binance-raw', file('spot.txt', rows));
    expect(units).toMatchObject({ symbol: 'BTCUSDT', tickSize: '0.01', lotSize: '0.00001' });
    expect(records).toEqual([
      'snapshot 10 b10000:100000 a10001:200000',
      'depth 8>11 b10000:150000',
      'depth 11>12 b9999:300001',
      'touch 10000:150000 10001:200000',
      'trade 10001:10000',
    ]);
    // The best price has no time of its own: it has that of the last message.
    expect(raw[3]?.timeUs).toBe(1_700_000_000_290_000);
  });
});

describe('OKX', () => {
  const book = (
    action: string,
    seqId: number,
    prevSeqId: number,
    bids: unknown,
    asks: unknown,
  ) => ({
    arg: { channel: 'books', instId: 'BTC-USD-SWAP' },
    action,
    data: [{ asks, bids, ts: '1597026383085', checksum: 0, seqId, prevSeqId }],
  });
  const rows = lines(
    { event: 'subscribe', arg: { channel: 'books', instId: 'BTC-USD-SWAP' }, connId: 'a' },
    book('snapshot', 100, -1, [['8476.9', '415', '0', '13']], [['8477.0', '7', '0', '2']]),
    book('update', 105, 100, [['8476.9', '0', '0', '0']], []),
    book('update', 105, 105, [], []),
    book('update', 3, 105, [], [['8477.0', '8', '0', '1']]),
    {
      arg: { channel: 'bbo-tbt', instId: 'BTC-USD-SWAP' },
      data: [
        {
          asks: [['8477.0', '8', '0', '1']],
          bids: [['8476.8', '2', '0', '1']],
          ts: '1597026383090',
          seqId: 4,
        },
      ],
    },
    {
      arg: { channel: 'trades', instId: 'BTC-USD-SWAP' },
      data: [
        {
          instId: 'BTC-USD-SWAP',
          tradeId: '1309',
          px: '8477',
          sz: '12',
          side: 'sell',
          ts: '1597026383095',
        },
      ],
    },
    {
      arg: { channel: 'mark-price', instId: 'BTC-USD-SWAP' },
      data: [{ instId: 'BTC-USD-SWAP', markPx: '8476.95', ts: '1597026383099' }],
    },
  );

  test('books with their chain of ids, which may restart, best prices, trades and marks', async () => {
    const { units, records } = await read('okx', file('okx.jsonl', rows));
    expect(units).toMatchObject({ symbol: 'BTC-USD-SWAP', tickSize: '0.1', inverse: true });
    expect(records).toEqual([
      'snapshot 100 b84769:415 a84770:7',
      'depth 100>105 b84769:0',
      'depth 105>106 a84770:8',
      'touch 84768:2 84770:8',
      'trade 84770:-12',
      'mark 84770',
    ]);
  });

  test('another market is refused with the names that the file holds', async () => {
    await expect(read('okx', file('okx.jsonl', rows), 'ETH-USD-SWAP')).rejects.toThrow(
      'the records are of BTC-USD-SWAP, none is of ETH-USD-SWAP',
    );
  });
});

describe('Deribit', () => {
  const notice = (channel: string, data: unknown) => ({
    jsonrpc: '2.0',
    method: 'subscription',
    params: { channel, data },
  });
  const at = { timestamp: 1554373962454, instrument_name: 'BTC-PERPETUAL' };
  const rows = lines(
    { jsonrpc: '2.0', id: 1, result: ['book.BTC-PERPETUAL.raw'] },
    notice('book.BTC-PERPETUAL.raw', {
      ...at,
      type: 'snapshot',
      change_id: 297217,
      bids: [['new', 5042.34, 30]],
      asks: [['new', 5042.64, 40]],
    }),
    notice('book.BTC-PERPETUAL.raw', {
      ...at,
      type: 'change',
      change_id: 297218,
      prev_change_id: 297217,
      bids: [['delete', 5042.34, 0]],
      asks: [['change', 5042.64, 50]],
    }),
    notice('quote.BTC-PERPETUAL', {
      ...at,
      best_bid_price: 5042.3,
      best_bid_amount: 10,
      best_ask_price: 5042.64,
      best_ask_amount: 50,
    }),
    notice('trades.BTC-PERPETUAL.raw', [
      { ...at, trade_seq: 30289, trade_id: '48079', price: 5042.64, amount: 20, direction: 'buy' },
    ]),
    notice('ticker.BTC-PERPETUAL.raw', { ...at, mark_price: 5042.5, index_price: 5041.1 }),
  );

  test('books, quotes, trades, mark and index', async () => {
    const { units, records } = await read('deribit', file('deribit.jsonl', rows));
    expect(units).toMatchObject({ symbol: 'BTC-PERPETUAL', tickSize: '0.01', inverse: true });
    expect(records).toEqual([
      'snapshot 297217 b504234:30 a504264:40',
      'depth 297217>297218 b504234:0 a504264:50',
      'touch 504230:10 504264:50',
      'trade 504264:20',
      'index 504110',
      'mark 504250',
    ]);
  });
});

describe('Kraken', () => {
  test('spot: levels beyond the subscribed depth are removed', async () => {
    const level = (price: number, qty: number) => ({ price, qty });
    const book = (type: string, bids: unknown, asks: unknown) => ({
      channel: 'book',
      type,
      data: [
        { symbol: 'MATIC/USD', bids, asks, checksum: 1, timestamp: '2023-10-06T17:35:55.440295Z' },
      ],
    });
    const bids = Array.from({ length: 10 }, (_, i) => level((566 - i) / 1000, 5));
    const { units, records } = await read(
      'kraken',
      file(
        'kraken.jsonl',
        lines(
          { method: 'subscribe', result: { channel: 'book', depth: 10 }, success: true },
          book('snapshot', bids, [level(0.567, 1)]),
          book('update', [level(0.5665, 2)], []),
          {
            channel: 'trade',
            type: 'snapshot',
            data: [
              {
                symbol: 'MATIC/USD',
                side: 'buy',
                price: 0.5,
                qty: 1,
                trade_id: 1,
                timestamp: '2023-10-06T17:00:00Z',
              },
            ],
          },
          {
            channel: 'trade',
            type: 'update',
            data: [
              {
                symbol: 'MATIC/USD',
                side: 'sell',
                price: 0.5665,
                qty: 1,
                trade_id: 2,
                timestamp: '2023-10-06T17:35:56Z',
              },
            ],
          },
        ),
      ),
    );
    expect(units).toMatchObject({ symbol: 'MATIC-USD', tickSize: '0.0001' });
    expect(records.slice(1)).toEqual(['depth 1>2 b5665:2 b5570:0', 'trade 5665:-1']);
  });

  test('futures: updates are numbered, and one may be missing', async () => {
    const change = (seq: number, side: string, price: number, qty: number) =>
      `1626994928.037677: ${JSON.stringify({ feed: 'book', product_id: 'PI_ETHUSD', side, seq, price, qty, timestamp: 1626994927744 })}`;
    const { units, records } = await read(
      'kraken',
      file(
        'KRAKEN_FUTURES.ws.1.0',
        lines(
          '1626994928.034643: {"feed":"book_snapshot","product_id":"PI_ETHUSD","timestamp":1626994927674,"seq":10,"tickSize":null,"bids":[{"price":2003.9,"qty":2234.0}],"asks":[{"price":2004.6,"qty":1.0}]}',
          change(11, 'sell', 2004.85, 4787),
          change(13, 'buy', 2003.9, 0),
          '1626994929.1: {"feed":"trade","product_id":"PI_ETHUSD","uid":"2cb0","side":"buy","type":"fill","seq":3,"time":1626994928293,"qty":1.0,"price":2004.6}',
        ),
      ),
    );
    expect(units).toMatchObject({ symbol: 'PI_ETHUSD', inverse: true });
    expect(records).toEqual([
      'snapshot 10 b200390:2234 a200460:1',
      'depth 10>11 a200485:4787',
      'depth 12>13 b200390:0',
      'trade 200460:1',
    ]);
  });
});

describe('Coinbase', () => {
  const l2 = (sequence: number, type: string, updates: unknown) => ({
    channel: 'l2_data',
    client_id: '',
    timestamp: '2023-02-09T20:32:50.714964855Z',
    sequence_num: sequence,
    events: [{ type, product_id: 'BTC-USD', updates }],
  });
  const level = (side: string, price: string, size: string) => ({
    side,
    event_time: '1970-01-01T00:00:00Z',
    price_level: price,
    new_quantity: size,
  });

  test('Advanced Trade: a hole in the sequence is a gap, and the side of a trade is the maker’s', async () => {
    const trade = {
      trade_id: '12345',
      product_id: 'BTC-USD',
      price: '21921.73',
      size: '0.06',
      side: 'BUY',
      time: '2023-02-09T20:32:51Z',
    };
    const { records } = await read(
      'coinbase',
      file(
        'coinbase.jsonl',
        lines(
          l2(0, 'snapshot', [level('bid', '21921.73', '0.06'), level('offer', '21921.74', '0.02')]),
          l2(1, 'update', [level('bid', '21921.73', '0')]),
          { channel: 'heartbeats', sequence_num: 2, events: [] },
          l2(4, 'update', [level('offer', '21921.74', '0.03')]),
          {
            channel: 'market_trades',
            timestamp: '2023-02-09T20:32:51Z',
            sequence_num: 5,
            events: [{ type: 'update', trades: [trade] }],
          },
        ),
      ),
    );
    expect(records).toEqual([
      'snapshot 1 b2192173:6 a2192174:2',
      'depth 1>2 b2192173:0',
      'depth 3>4 a2192174:3',
      'trade 2192173:-6',
    ]);
  });

  test('Exchange: snapshot, l2update and match', async () => {
    const { records } = await read(
      'coinbase',
      file(
        'coinbase.jsonl',
        lines(
          '1700000000000000000 {"type":"snapshot","product_id":"BTC-USD","bids":[["10101.10","0.45"]],"asks":[["10102.55","0.57"]]}',
          '1700000000100000000 {"type":"l2update","product_id":"BTC-USD","time":"2023-11-14T22:13:20.05Z","changes":[["buy","10101.10","0"]]}',
          '1700000000200000000 {"type":"match","trade_id":10,"side":"sell","size":"0.5","price":"10102.55","product_id":"BTC-USD","sequence":50,"time":"2023-11-14T22:13:20.1Z"}',
        ),
      ),
    );
    expect(records).toEqual([
      'snapshot 1 b1010110:45 a1010255:57',
      'depth 1>2 b1010110:0',
      'trade 1010255:50',
    ]);
  });
});

describe('Databento', () => {
  const MBO =
    'ts_recv,ts_event,rtype,publisher_id,instrument_id,action,side,price,size,channel_id,order_id,flags,ts_in_delta,sequence,symbol';
  const mbo = (action: string, side: string, price: string, size: number, order: number) =>
    `1609160400000704060,1609160400000429831,160,1,5482,${action},${side},${price},${size},0,${order},128,0,1,ESH1`;

  test('mbo: a fill executes the order, and the record after it removes only what is left', async () => {
    const { units, records } = await read(
      'databento',
      file(
        'x.mbo.csv',
        lines(
          MBO,
          mbo('R', 'N', '9223372036854775807', 0, 0),
          mbo('A', 'B', '3720250000000', 5, 7),
          mbo('A', 'A', '3720500000000', 4, 8),
          mbo('T', 'A', '3720250000000', 2, 0),
          mbo('F', 'B', '3720250000000', 2, 7),
          mbo('C', 'B', '3720250000000', 2, 7),
          mbo('M', 'A', '3720500000000', 1, 8),
          mbo('M', 'A', '3720750000000', 1, 8),
          mbo('C', 'B', '3720250000000', 3, 7),
          mbo('T', 'B', '3720500000000', 9, 0),
        ),
      ),
    );
    expect(units).toMatchObject({ symbol: 'ESH1', tickSize: '0.01' });
    expect(records).toEqual([
      'snapshot 1',
      'add 7 bid 372025:5',
      'add 8 ask 372050:4',
      'execute 7 bid 372025:2',
      'reduce 8 ask 372050:3',
      'remove 8 ask 372050:1',
      'add 8 ask 372075:1',
      'remove 7 bid 372025:3',
      'trade 372050:9',
    ]);
  });

  test('mbo: the size of a trade beyond the fills of known orders is a trade after them', async () => {
    const { records } = await read(
      'databento',
      file(
        'hidden.mbo.csv',
        lines(
          MBO,
          mbo('R', 'N', '9223372036854775807', 0, 0),
          mbo('A', 'B', '3720250000000', 5, 7),
          mbo('T', 'A', '3720250000000', 9, 0),
          mbo('F', 'B', '3720250000000', 2, 6),
          mbo('F', 'B', '3720250000000', 4, 7),
          mbo('C', 'B', '3720250000000', 4, 7),
          mbo('A', 'B', '3720000000000', 1, 8),
        ),
      ),
    );
    expect(records).toEqual([
      'snapshot 1',
      'add 7 bid 372025:5',
      'execute 7 bid 372025:4',
      'trade 372025:-5',
      'add 8 bid 372000:1',
    ]);
  });

  test('mbp: the changes of the best levels from row to row, and trades', async () => {
    const row = (action: string, bid: string, size: number, ask: string) =>
      `2020-12-28T13:00:00.006136329Z,2020-12-28T13:00:00.006001487Z,1,1,5482,${action},A,0,3720.250000000,1,128,1,1,${bid},${ask},${size},11,15,9,ESH1`;
    const { records } = await read(
      'databento',
      file(
        'x.mbp-1.csv',
        lines(
          'ts_recv,ts_event,rtype,publisher_id,instrument_id,action,side,depth,price,size,flags,ts_in_delta,sequence,bid_px_00,ask_px_00,bid_sz_00,ask_sz_00,bid_ct_00,ask_ct_00,symbol',
          row('A', '3720.250000000', 24, '3720.500000000'),
          row('T', '3720.250000000', 24, '3720.500000000'),
          row('C', '3720.000000000', 23, '3720.500000000'),
          row('M', '3720.000000000', 23, '3720.500000000'),
        ),
      ),
    );
    expect(records).toEqual([
      'snapshot 1 b372025:24 a372050:11',
      'trade 372025:-1',
      'depth 1>2 b372025:0 b372000:23',
    ]);
  });

  test('ohlcv: the record type gives the length of a bar', async () => {
    const { raw } = await read(
      'databento',
      file(
        'x.ohlcv-1m.csv',
        lines(
          'ts_event,rtype,publisher_id,instrument_id,open,high,low,close,volume,symbol',
          '1609160400000000000,33,1,5482,372025000000000,372050000000000,371150000000000,372100000000000,353,ESH1',
        ).replace('372100', '372000'),
      ),
    );
    expect(raw).toMatchObject([
      { startUs: 1_609_160_400_000_000, timeUs: 1_609_160_459_999_999, volume: 353 },
    ]);
  });

  test('a binary file is named and never printed', async () => {
    const path = file('x.mbo.csv', Buffer.from('DBN\u0003\u0000\u0001\u0000binary'));
    await expect(read('databento', path)).rejects.toThrow(
      `${path}: it is a Databento binary file (DBN); export it as CSV and use the format databento`,
    );
    const other = file('y.csv', Buffer.from([1, 2, 0, 3]));
    await expect(read('csv', other, 'X')).rejects.toThrow(`${other}: it is binary, not text`);
  });
});

describe('ccxt', () => {
  test.each([
    [
      'one list',
      '[[1504541580000,4235.4,4240.6,4230.0,4230.7,37.7],[1504541640000,4230.7,4231,4229.5,4230,null]]',
    ],
    [
      'pretty lines',
      '[\n  [\n 1504541580000, 4235.4, 4240.6,\n 4230.0, 4230.7, 37.7 ],\n [1504541640000,4230.7,4231,4229.5,4230,null]\n]\n',
    ],
    [
      'a list a line',
      '[1504541580000,4235.4,4240.6,4230.0,4230.7,37.7]\n[1504541640000,4230.7,4231,4229.5,4230,null]\n',
    ],
  ])('OHLCV arrays as %s', async (_name, text) => {
    const { units, records } = await read('ccxt-ohlcv', file('BTC_USDT-1m-ohlcv.json', text));
    expect(units).toMatchObject({ symbol: 'BTCUSDT', tickSize: '0.1' });
    expect(records).toEqual(['bar 42354 42406 42300 42307 377', 'bar 42307 42310 42295 42300 0']);
  });

  test('other JSON is rejected', async () => {
    await expect(read('ccxt-ohlcv', file('BTC_USDT.json', '{"a":[1,2]}'))).rejects.toThrow(
      'row 1: expected a list, got "{\\"a\\":"',
    );
  });
});

describe('NautilusTrader', () => {
  const bytes = (value: bigint): Uint8Array => {
    const buffer = Buffer.alloc(16);
    buffer.writeBigInt64LE(BigInt.asIntN(64, value), 0);
    buffer.writeBigInt64LE(value >> 64n, 8);
    return buffer;
  };
  const price = (text: string): Uint8Array =>
    bytes(BigInt(Math.round(Number(text) * 100)) * 10n ** 14n);
  const table = (columns: Readonly<Record<string, readonly unknown[]>>): Uint8Array => {
    const fixed = (values: readonly unknown[]) => values[0] instanceof Uint8Array;
    return new Uint8Array(
      parquetWriteBuffer({
        columnData: Object.entries(columns).map(([name, data]) => ({ name, data: [...data] })),
        schema: [
          { name: 'root', num_children: Object.keys(columns).length },
          ...Object.entries(columns).map(([name, data]) => ({
            name,
            repetition_type: 'REQUIRED' as const,
            ...(fixed(data)
              ? { type: 'FIXED_LEN_BYTE_ARRAY' as const, type_length: 16 }
              : typeof data[0] === 'bigint'
                ? { type: 'INT64' as const }
                : typeof data[0] === 'number'
                  ? { type: 'INT32' as const }
                  : { type: 'BYTE_ARRAY' as const, converted_type: 'UTF8' as const }),
          })),
        ],
      }),
    );
  };
  const T = 1_700_000_060_000_000_000n;

  test('bars: market and length from the path, prices from fixed-length integers', async () => {
    const columns = {
      open: [price('100.5')],
      high: [price('101')],
      low: [price('100')],
      close: [price('100.25')],
      volume: [price('7')],
      ts_event: [T],
      ts_init: [T],
    };
    const path = file(
      'data/bar/BTCUSDT-PERP.BINANCE-1-MINUTE-LAST-EXTERNAL/part-0.parquet',
      table(columns),
    );
    const { units, records, raw } = await read('nautilus', path);
    expect(units).toMatchObject({ symbol: 'BTCUSDT-PERP', tickSize: '0.01' });
    expect(records).toEqual(['bar 10050 10100 10000 10025 7']);
    expect(raw[0]).toMatchObject({ startUs: 1_700_000_000_000_000, timeUs: 1_700_000_059_999_999 });
  });

  test('deltas of one event are one update; a clear starts a snapshot', async () => {
    const path = file(
      'data/order_book_delta/ETHUSDT.BINANCE/part-0.parquet',
      table({
        action: [4, 1, 1, 3],
        side: [0, 1, 2, 1],
        price: [price('0'), price('20.5'), price('20.75'), price('20.5')],
        size: [price('0'), price('3'), price('4'), price('0')],
        order_id: [0n, 0n, 0n, 0n],
        flags: [32, 32, 160, 128],
        sequence: [1n, 1n, 1n, 2n],
        ts_event: [T, T, T, T + 1000n],
        ts_init: [T, T, T, T + 1000n],
      }),
    );
    const { records } = await read('nautilus', path);
    expect(records).toEqual(['snapshot 1 b2050:3 a2075:4', 'depth 1>2 b2050:0']);
  });

  test('trade ticks', async () => {
    const path = file(
      'data/trade_tick/ETHUSDT.BINANCE/part-0.parquet',
      table({
        price: [price('20.5')],
        size: [price('3')],
        aggressor_side: [2],
        trade_id: ['77'],
        ts_event: [T],
        ts_init: [T],
      }),
    );
    expect((await read('nautilus', path)).records).toEqual(['trade 205:-3']);
  });
});
