/**
 * Every format of `orrery data import` on rows as published: records, detected units, faults by
 * line and field.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { zipSync } from 'fflate';
import { parquetWriteBuffer } from 'hyparquet-writer';
import seedrandom from 'seedrandom';
import { afterAll, describe, expect, test } from 'vitest';
import { verifyTape } from '../../src/tape/verify-tape.ts';
import { parseMarketSpec } from '../../src/gateway/market-config.ts';
import { marketId } from '../../src/num/units.ts';
import { parseColumnMap, type ColumnMap } from '../../src/tape/formats/column-map.ts';
import type { TapeRecord, TapeUnits } from '../../src/tape/record.ts';
import { TapeSteps } from '../../src/tape/tape-steps.ts';
import { fidelityOf } from '../../src/tape/tape-model.ts';
import { formatNamed } from '../../src/tape-files/format-named.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { readFiles } from './read-files.ts';

const scratch = mkdtempSync(join(tmpdir(), 'orrery-formats-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});
let folders = 0;

/** Writes files to a new folder. */
function files(contents: Readonly<Record<string, string | Uint8Array>>): string[] {
  const folder = join(scratch, String(folders++));
  mkdirSync(folder);
  return Object.entries(contents).map(([name, content]) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  });
}

const text = (...rows: readonly string[]): string => `${rows.join('\n')}\n`;
const brief = ({ line: _line, localUs: _local, ...rest }: TapeRecord) => rest;

describe('Binance public data', () => {
  const KLINES = [
    '1704067200000,42283.58,42298.62,42261.02,42298.61,35.92724,1704067259999,1519032.43569090,1327,22.55146,953501.53063350,0',
    '1704067260000,42298.62,42320.00,42298.61,42320.00,21.16779,1704067319999,895580.81,1015,15.12,640000.0,0',
  ];
  const HEADER =
    'open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore';

  test.each([
    ['CSV without a header', 'BTCUSDT-1m-2024-01.csv', text(...KLINES)],
    ['CSV with a header', 'BTCUSDT-1m-2024-01.csv', text(HEADER, ...KLINES)],
    ['gzip', 'BTCUSDT-1m-2024-01.csv.gz', gzipSync(text(...KLINES))],
    [
      'zip',
      'BTCUSDT-1m-2024-01.zip',
      zipSync({ 'BTCUSDT-1m-2024-01.csv': Buffer.from(text(HEADER, ...KLINES)) }),
    ],
    ['Windows line ends', 'BTCUSDT-1m-2024-01.csv', KLINES.join('\r\n')],
  ])('klines as %s', async (_what, name, content) => {
    const { units, records } = await readFiles('binance-klines', files({ [name]: content }));
    // Volumes may be rounded to lots of a listable market; prices never.
    expect(units).toEqual({
      symbol: 'BTCUSDT',
      tickSize: '0.01',
      lotSize: '0.0001',
      inverse: false,
    });
    expect(records.map(brief)).toEqual([
      {
        kind: 'bar',
        timeUs: 1_704_067_259_999_999,
        startUs: 1_704_067_200_000_000,
        open: 4_228_358,
        high: 4_229_862,
        low: 4_226_102,
        close: 4_229_861,
        volume: 359_272,
      },
      expect.objectContaining({ startUs: 1_704_067_260_000_000, close: 4_232_000 }),
    ]);
  });

  test('klines in microseconds, as spot files are since 2025', async () => {
    const row =
      '1735689600000000,93576.00,93610.93,93537.50,93610.93,8.21827000,1735689659999999,768978.12,2631,3.9,369757.3,0';
    const { records } = await readFiles(
      'binance-klines',
      files({ 'BTCUSDT-1m-2025-01.csv': text(row) }),
    );
    expect(records[0]).toMatchObject({
      startUs: 1_735_689_600_000_000,
      timeUs: 1_735_689_659_999_999,
    });
  });

  test('trades of futures and of spot: the taker is opposite to the maker', async () => {
    const futures = text(
      'id,price,qty,quote_qty,time,is_buyer_maker',
      '4476393354,42313.9,0.015,634.70850,1704067200015,true',
      '4476393355,42314.0,0.100,4231.4,1704067200100,false',
    );
    const { units, records } = await readFiles(
      'binance-trades',
      files({ 'BTCUSDT-trades-2024-01-01.csv': futures }),
    );
    expect(units).toMatchObject({ tickSize: '0.1', lotSize: '0.001' });
    expect(records.map(brief)).toEqual([
      {
        kind: 'trade',
        timeUs: 1_704_067_200_015_000,
        tradeId: 4_476_393_354,
        priceTicks: 423_139,
        lots: -15,
      },
      {
        kind: 'trade',
        timeUs: 1_704_067_200_100_000,
        tradeId: 4_476_393_355,
        priceTicks: 423_140,
        lots: 100,
      },
    ]);
    const spot = text('3359688121,42283.58000000,0.00070000,29.59850600,1704067200000,False,True');
    expect(
      (await readFiles('binance-trades', files({ 'BTCUSDT-trades-2024-01-01.csv': spot })))
        .records[0],
    ).toMatchObject({ lots: 7 });
  });

  test('aggregate trades', async () => {
    const rows = text(
      'agg_trade_id,price,quantity,first_trade_id,last_trade_id,transact_time,is_buyer_maker',
      '2000347837,42313.9,0.025,4476393354,4476393356,1704067200015,true',
    );
    const { records } = await readFiles(
      'binance-aggtrades',
      files({ 'BTCUSDT-aggTrades-2024-01-01.csv': rows }),
    );
    expect(records.map(brief)).toEqual([
      {
        kind: 'trade',
        timeUs: 1_704_067_200_015_000,
        tradeId: 2_000_347_837,
        priceTicks: 423_139,
        lots: -25,
      },
    ]);
  });

  test('best bids and asks: venue time and event time', async () => {
    const header =
      'update_id,best_bid_price,best_bid_qty,best_ask_price,best_ask_qty,transaction_time,event_time';
    const rows = text(
      header,
      '4063,42313.9,8.057,42314,1.5,1704067200011,1704067200017',
      '4070,42313.8,0.001,42314,1.25,1704067200020',
    );
    const { units, records } = await readFiles(
      'binance-bookticker',
      files({ 'BTCUSDT-bookTicker-2024-01.csv': rows }),
    );
    expect(units).toMatchObject({ symbol: 'BTCUSDT', tickSize: '0.1', lotSize: '0.001' });
    expect(records.map(({ line: _line, ...rest }) => rest)).toEqual([
      {
        kind: 'touch',
        timeUs: 1_704_067_200_011_000,
        localUs: 1_704_067_200_017_000,
        updateId: 4063,
        bidTicks: 423_139,
        bidLots: 8057,
        askTicks: 423_140,
        askLots: 1500,
      },
      {
        kind: 'touch',
        timeUs: 1_704_067_200_020_000,
        localUs: 1_704_067_200_020_000,
        updateId: 4070,
        bidTicks: 423_138,
        bidLots: 1,
        askTicks: 423_140,
        askLots: 1250,
      },
    ]);
  });

  test('funding rates, marks and indices', async () => {
    const funding = text(
      'calc_time,funding_interval_hours,last_funding_rate',
      '1704067200000,8,0.00037409',
      '1704096000005,8,-0.00001',
    );
    const read1 = await readFiles(
      'binance-funding',
      files({ 'BTCUSDT-fundingRate-2024-01.csv': funding }),
    );
    expect(read1.records.map(brief)).toEqual([
      { kind: 'funding', timeUs: 1_704_067_200_000_000, ratePpb: 374_090 },
      { kind: 'funding', timeUs: 1_704_096_000_005_000, ratePpb: -10_000 },
    ]);
    const mark = text(
      '1704067200000,42313.90000000,42313.9,42310.1,42312.34567891,0,1704067259999,0,60,0,0,0',
    );
    const units = { symbol: 'BTCUSDT', tickSize: '0.1', lotSize: '0.001', inverse: false };
    for (const kind of ['mark', 'index'] as const) {
      const { records } = await readFiles(
        `binance-${kind}-klines`,
        files({ 'BTCUSDT-1m.csv': mark }),
        { units },
      );
      expect(records.map(brief)).toEqual([
        { kind, timeUs: 1_704_067_259_999_999, priceTicks: 423_123 },
      ]);
    }
  });

  test.each([
    [
      'binance-klines',
      '1704067200000,42283.58,1',
      'line 1: 3 fields; a row of klines has at least 7',
    ],
    [
      'binance-klines',
      KLINES[0]?.replace('42298.62', '42200.00') ?? '',
      'line 1: `high` and `low` do not enclose `open` and `close`',
    ],
    [
      'binance-klines',
      KLINES[0]?.replace('1704067259999', '1704067100000') ?? '',
      'line 1: `close_time` "1704067100000" is not after `open_time`',
    ],
    [
      'binance-klines',
      KLINES[0]?.replace('42298.61', 'NaN') ?? '',
      'line 1: `close` "NaN" is not a decimal number from 0',
    ],
    [
      'binance-klines',
      KLINES[0]?.replace('1704067200000', '99999999999999999999') ?? '',
      'line 1: `open_time` "99999999999999999999" is not a time from 1970 to 2255',
    ],
    ['binance-trades', '1,2.5,0,0,1704067200015,true', 'line 1: `qty` of a trade is 0'],
    [
      'binance-trades',
      '1,2.5,1,0,1704067200015,maybe',
      'line 1: `is_buyer_maker` is "maybe", not true or false',
    ],
    [
      'binance-bookticker',
      '7,42313.9,1,42314,1',
      'line 1: 5 fields; a row of bookticker has at least 6',
    ],
    [
      'binance-bookticker',
      '7.5,42313.9,1,42314,1,1704067200011',
      'line 1: `update_id` is "7.5", not an integer from 0 to 2^53 − 1',
    ],
    [
      'binance-funding',
      '1704067200000,8,2.5',
      'line 1: `last_funding_rate` rate "2.5" is not between −1 and 1',
    ],
  ])('%s %s is rejected', async (format, row, message) => {
    const units = { symbol: 'X', tickSize: '0.01', lotSize: '0.00001', inverse: false };
    const [path = ''] = files({ 'X-1.csv': text(row) });
    const known = message.includes('decimal number') ? null : units;
    const expected = message.includes('decimal number')
      ? /X-1\.csv: line 1: `close`/
      : `${path}: ${message}`;
    await expect(
      readFiles(format, [path], { units: known === null ? units : known }),
    ).rejects.toThrow(expected);
  });

  test('bad rows are skipped up to a limit', async () => {
    const rows = [...KLINES, 'nonsense', '1,2', KLINES[0] ?? ''];
    const [path = ''] = files({ 'BTCUSDT-1m.csv': text(...rows) });
    const units = { symbol: 'BTCUSDT', tickSize: '0.01', lotSize: '0.00001', inverse: false };
    const tolerant = await readFiles('binance-klines', [path], { units, skipBad: 2 });
    expect(tolerant).toMatchObject({ skipped: 2 });
    expect(tolerant.records).toHaveLength(3);
    await expect(readFiles('binance-klines', [path], { units, skipBad: 1 })).rejects.toThrow(
      'line 4: 2 fields; a row of klines has at least 7 (bad row 2; --skip-bad 1 allows no more)',
    );
  });

  test('damaged archives are reported', async () => {
    const zip = zipSync({ 'a.csv': Buffer.from(text(...KLINES)) });
    await expect(
      readFiles('binance-klines', files({ 'A.zip': zip.subarray(0, 60) })),
    ).rejects.toThrow(/A\.zip: .*zip/);
    const two = zipSync({ 'a.csv': Buffer.from('1'), 'b.csv': Buffer.from('2') });
    await expect(readFiles('binance-klines', files({ 'A.zip': two }))).rejects.toThrow(
      'a zip archive with more than one file',
    );
    const gz = gzipSync(text(...KLINES)).subarray(0, 40);
    await expect(readFiles('binance-klines', files({ 'A.csv.gz': gz }))).rejects.toThrow(
      /damaged gzip data/,
    );
  });
});

describe('Tardis', () => {
  const book = text(
    'exchange,symbol,timestamp,local_timestamp,is_snapshot,side,price,amount',
    'deribit,BTC-PERPETUAL,1585699200245000,1585699200355684,true,ask,6421.5,18640',
    'deribit,BTC-PERPETUAL,1585699200245000,1585699200355684,true,bid,6421,1190',
    'deribit,BTC-PERPETUAL,1585699200345000,1585699200455684,false,ask,6421.5,0',
    'deribit,BTC-PERPETUAL,1585699200345000,1585699200455684,false,ask,6422,100',
    'deribit,BTC-PERPETUAL,1585699200445000,1585699200555684,false,bid,6421.5,10',
    'deribit,BTC-PERPETUAL,1585699300000000,1585699300000100,true,ask,6500,7',
  );

  test('incremental_book_L2: rows of one message form one update, a snapshot restarts the book', async () => {
    const { units, records } = await readFiles(
      'tardis-incremental-book-l2',
      files({ 'b.csv.gz': gzipSync(book) }),
    );
    expect(units).toEqual({
      symbol: 'BTC-PERPETUAL',
      tickSize: '0.1',
      lotSize: '1',
      inverse: true,
    });
    expect(records.map(brief)).toEqual([
      {
        kind: 'snapshot',
        timeUs: 1_585_699_200_245_000,
        lastId: 1,
        levels: [
          { side: 'ask', priceTicks: 64_215, lots: 18_640 },
          { side: 'bid', priceTicks: 64_210, lots: 1190 },
        ],
      },
      expect.objectContaining({
        kind: 'depth',
        firstId: 2,
        lastId: 2,
        prevId: 1,
        levels: [
          { side: 'ask', priceTicks: 64_215, lots: 0 },
          { side: 'ask', priceTicks: 64_220, lots: 100 },
        ],
      }),
      expect.objectContaining({
        kind: 'depth',
        lastId: 3,
        levels: [{ side: 'bid', priceTicks: 64_215, lots: 10 }],
      }),
      expect.objectContaining({
        kind: 'snapshot',
        lastId: 4,
        levels: [{ side: 'ask', priceTicks: 65_000, lots: 7 }],
      }),
    ]);
    expect(records[0]?.localUs).toBe(1_585_699_200_355_684);
  });

  test('the rebuilt book equals the quotes received with each message', async () => {
    const quotes = text(
      'exchange,symbol,timestamp,local_timestamp,ask_amount,ask_price,bid_price,bid_amount',
      'deribit,BTC-PERPETUAL,1585699200245000,1585699200355684,18640,6421.5,6421,1190',
      'deribit,BTC-PERPETUAL,1585699200345000,1585699200455684,100,6422,6421,1190',
      'deribit,BTC-PERPETUAL,1585699200445000,1585699200555684,100,6422,6421.5,10',
    );
    const depth = await readFiles('tardis', files({ 'b.csv': book }));
    const touches = await readFiles('tardis-quotes', files({ 'q.csv': quotes }), {
      units: depth.units,
    });
    expect(await verified([depth.records, touches.records], depth.units)).toMatchObject({
      compared: 3,
      touches: 3,
      mismatched: 0,
      crossedBooks: 0,
    });
    const wrong = await readFiles(
      'tardis-quotes',
      files({ 'q.csv': quotes.replace('6421.5,10', '6421.5,11') }),
      { units: depth.units },
    );
    expect(await verified([depth.records, wrong.records], depth.units)).toMatchObject({
      compared: 3,
      mismatched: 1,
    });
  });

  test('book_snapshot_N: complete books; missing levels are empty', async () => {
    const rows = text(
      'exchange,symbol,timestamp,local_timestamp,asks[0].price,asks[0].amount,bids[0].price,bids[0].amount,asks[1].price,asks[1].amount,bids[1].price,bids[1].amount',
      'binance-futures,BTCUSDT,1598918403696000,1598918403810979,11657.08,1.714,11657.07,10.896,11657.54,5.4,11656.97,0.2',
      'binance-futures,BTCUSDT,1598918403815000,1598918403819763,11657.08,1.714,11657.07,10.896,,,,',
    );
    const { units, records } = await readFiles('tardis-book-snapshot', files({ 's.csv': rows }));
    expect(units).toMatchObject({ symbol: 'BTCUSDT', tickSize: '0.01', lotSize: '0.001' });
    expect(
      records.map((record) => (record.kind === 'snapshot' ? record.levels.length : -1)),
    ).toEqual([4, 2]);
  });

  test('trades: ids that are not numbers are replaced by the line number', async () => {
    const rows = text(
      'exchange,symbol,timestamp,local_timestamp,id,side,price,amount',
      'bitmex,XBTUSD,1583020803145000,1583020803307160,ccc3c1fa-212c-e8b0-1706-9b9c4f3d5ecf,sell,8531.5,2152',
      'bitmex,ETHUSD,1583020803145000,1583020803307160,1,sell,1.5,1',
      'bitmex,XBTUSD,1583020803276000,1583020803336743,77,buy,8531.5,1',
    );
    const { records } = await readFiles('tardis-trades', files({ 't.csv': rows }), {
      symbol: 'XBTUSD',
    });
    expect(records.map(brief)).toEqual([
      { kind: 'trade', timeUs: 1_583_020_803_145_000, tradeId: 2, priceTicks: 85_315, lots: -2152 },
      { kind: 'trade', timeUs: 1_583_020_803_276_000, tradeId: 77, priceTicks: 85_315, lots: 1 },
    ]);
  });

  test('derivative_ticker: marks and indices when they change, a funding rate when it is due', async () => {
    const row = (ms: number, due: number, rate: string, index: string, mark: string) =>
      `binance-futures,BTCUSDT,${ms}000,${ms}000,${due}000,${rate},,,${mark},${index},${mark}`;
    const rows = text(
      'exchange,symbol,timestamp,local_timestamp,funding_timestamp,funding_rate,predicted_funding_rate,open_interest,last_price,index_price,mark_price',
      row(1_583_020_800_000, 1_583_049_600_000, '0.0001', '8500.01', '8500.5'),
      row(1_583_020_801_000, 1_583_049_600_000, '0.0002', '8500.01', '8500.6'),
      row(1_583_049_600_100, 1_583_078_400_000, '0.0003', '8500.01', '8500.6'),
    );
    const units = { symbol: 'BTCUSDT', tickSize: '0.1', lotSize: '1', inverse: false };
    const { records } = await readFiles('tardis', files({ 'd.csv': rows }), { units });
    expect(
      records.map((record) => [
        record.kind,
        record.timeUs / 1000,
        'ratePpb' in record ? record.ratePpb : 'priceTicks' in record ? record.priceTicks : 0,
      ]),
    ).toEqual([
      ['index', 1_583_020_800_000, 85_000],
      ['mark', 1_583_020_800_000, 85_005],
      ['mark', 1_583_020_801_000, 85_006],
      ['funding', 1_583_049_600_100, 200_000],
    ]);
  });

  test.each([
    ['a,b\n1,2\n', 'line 1: the header has no `symbol`, `timestamp` and `local_timestamp`'],
    [
      'symbol,timestamp,local_timestamp,x\nA,1,2,3\n',
      'line 1: the columns symbol, timestamp, local_timestamp, x match no known Tardis file',
    ],
    [book.replace('false,bid', 'false,buy'), 'line 6: `side` is "buy", not bid or ask'],
    [
      book.replace('1585699200445000', '2020-01-01'),
      'line 6: `timestamp` "2020-01-01" is not a time from 1970 to 2255 in us',
    ],
  ])('%# is rejected', async (content, message) => {
    const units = { symbol: 'BTC-PERPETUAL', tickSize: '0.5', lotSize: '1', inverse: false };
    await expect(readFiles('tardis', files({ 'b.csv': content }), { units })).rejects.toThrow(
      message,
    );
  });
});

/**
 * A simulated venue that publishes three levels and their changes as LOBSTER files: messages and
 * order books.
 */
function recordedVenue(steps: number): readonly [string, string] {
  const random = seedrandom('lobster');
  const below = (n: number): number => Math.floor(random() * n);
  const resting: { id: number; side: 1 | -1; price: number; left: number }[] = [];
  const prices = (side: 1 | -1): number[] =>
    [...new Set(resting.filter((one) => one.side === side).map(({ price }) => price))].sort(
      (a, b) => side * (b - a),
    );
  const size = (side: 1 | -1, price: number): number =>
    resting.reduce(
      (sum, one) => sum + (one.side === side && one.price === price ? one.left : 0),
      0,
    );
  const messages: string[] = [];
  const books: string[] = [];
  const say = (type: number, id: number, lots: number, price: number, side: number): void => {
    messages.push(
      `${34_200 + messages.length / 7},${type},${id},${lots},${price},${side}`.replace(
        /(\.[0-9]{9})[0-9]+/,
        '$1',
      ),
    );
    const [asks, bids] = [prices(-1), prices(1)];
    books.push(
      [0, 1, 2]
        .flatMap((i) => [
          asks[i] ?? 9_999_999_999,
          size(-1, asks[i] ?? 0),
          bids[i] ?? -9_999_999_999,
          size(1, bids[i] ?? 0),
        ])
        .join(','),
    );
  };
  for (let id = 1; id <= 40; id++)
    resting.push({
      id,
      side: id % 2 ? 1 : -1,
      price: 100_000 + (id % 2 ? -100 : 100) * (1 + below(8)),
      left: 1 + below(300),
    });
  for (let id = 41; id < 41 + steps; id++) {
    const side = below(2) ? 1 : -1;
    const own = prices(side);
    const [best = 100_000 - side * 100] = own;
    const [other = best + side * 300] = prices(side === 1 ? -1 : 1);
    const chance = random();
    const shown = (price: number): boolean => prices(side).slice(0, 3).includes(price);
    if (chance < 0.5 || own.length < 3) {
      const inside = side * (other - best) > 100 && below(4) === 0;
      const order = {
        id,
        side,
        price: best + side * (inside ? 100 : -100 * below(7)),
        left: 1 + below(300),
      } as const;
      resting.push({ ...order });
      if (shown(order.price)) say(1, id, order.left, order.price, side);
    } else if (chance < 0.8) {
      const mine = resting.filter((one) => one.side === side);
      const one = mine[below(mine.length)]!;
      const wasShown = shown(one.price);
      const gone = below(2) ? one.left : Math.min(one.left, 1 + below(50));
      one.left -= gone;
      if (one.left === 0) resting.splice(resting.indexOf(one), 1);
      if (wasShown) say(one.left === 0 ? 3 : 2, one.id, gone, one.price, side);
    } else if (chance < 0.93) {
      const one = resting.find((other) => other.side === side && other.price === best)!;
      const gone = Math.min(one.left, 1 + below(200));
      one.left -= gone;
      if (one.left === 0) resting.splice(resting.indexOf(one), 1);
      say(4, one.id, gone, best, side);
    } else if (chance < 0.97) say(5, 0, 7, best + side * 50, side);
    else if (chance < 0.99) say(6, -1, 500, best, -1);
    else say(7, 0, 0, [-1, 0, 1][below(3)]!, -1);
  }
  return [text(...messages), text(...books)];
}

async function verified(
  streams: readonly (readonly TapeRecord[])[],
  units: TapeUnits | null,
  levels = 2,
  onBook: (line: number, book: string) => void = () => undefined,
) {
  if (units === null) throw new Error('units');
  async function* source(records: readonly TapeRecord[]) {
    await Promise.resolve();
    yield records;
  }
  const counts = Object.fromEntries(streams.flat().map(({ kind }) => [kind, 1]));
  const steps = new TapeSteps(streams.map(source), marketId(0), () => units, {
    fidelity: fidelityOf(counts) ?? 'l2',
  });
  const spec = parseMarketSpec(
    { symbol: 'X', tickSize: '1', lotSize: '1', indexSource: 'mid' },
    keccak,
  );
  if (!spec.ok) throw new Error(spec.error);
  const books: string[] = [];
  const result = await verifyTape(steps, () => spec.value, {
    onBook: (engine, { line }) => {
      const side = (name: 'bid' | 'ask') =>
        engine
          .depth(marketId(0), name, levels)
          .map((at) => `${at.lots}@${at.priceTicks}`)
          .join(' ');
      onBook(line, `${side('bid')} | ${side('ask')}`);
      books.push(`${line}: ${side('bid')} | ${side('ask')}`);
    },
  });
  return { ...result, books };
}

describe('Hyperliquid', () => {
  const level = (px: string, sz: string) => `{"n":1,"px":"${px}","sz":"${sz}"}`;
  const l2 = `{"channel":"l2Book","data":{"coin":"BTC","levels":[[${level('105055.0', '3.03622')}],[${level('105056.0', '0.1')}]],"time":1737918843542}}`;
  const trades =
    '{"channel":"trades","data":[{"coin":"BTC","hash":"0xde","px":"105056.0","side":"B","sz":"0.00219","tid":121451470284048,"time":1737918794873,"users":["0xe9","0x68"]},{"coin":"BTC","hash":"0x2b","px":"105055.0","side":"A","sz":"0.1","tid":588047386913648,"time":1737918796007,"users":["0xb0","0x68"]}]}';

  test.each([
    [
      'collected lines',
      text(
        `1737918843893903000 ${l2}`,
        '1737918843893904000 {"channel":"subscriptionResponse","data":{}}',
        `1737918844167767000 ${trades}`,
      ),
      1_737_918_843_893_903,
    ],
    ['bare messages', text(l2, trades), 1_737_918_843_542_000],
    [
      'the archive',
      text(
        `{"time":"2025-01-26T19:14:03.893903123","ver_num":1,"raw":${l2}}`,
        `{"time":"2025-01-26T19:14:04","raw":${trades}}`,
      ),
      1_737_918_843_893_903,
    ],
  ])('l2Book and trades as %s', async (_what, content, localUs) => {
    const { units, records } = await readFiles('hyperliquid', files({ 'x.jsonl': content }));
    expect(units).toMatchObject({ symbol: 'BTC', tickSize: '1', lotSize: '0.00001' });
    expect(records.map(brief)).toEqual([
      {
        kind: 'snapshot',
        timeUs: 1_737_918_843_542_000,
        lastId: 1,
        levels: [
          { side: 'bid', priceTicks: 105_055, lots: 303_622 },
          { side: 'ask', priceTicks: 105_056, lots: 10_000 },
        ],
      },
      {
        kind: 'trade',
        timeUs: 1_737_918_794_873_000,
        tradeId: 121_451_470_284_048,
        priceTicks: 105_056,
        lots: 219,
      },
      {
        kind: 'trade',
        timeUs: 1_737_918_796_007_000,
        tradeId: 588_047_386_913_648,
        priceTicks: 105_055,
        lots: -10_000,
      },
    ]);
    expect(records[0]?.localUs).toBe(localUs);
  });

  test.each([
    ['nonsense', 'line 1: expected `<time of receipt> <json>`, got nonsense'],
    [l2.replace('"coin":"BTC",', ''), 'line 1: `coin` is missing'],
    [trades.replace('"side":"A"', '"side":"S"'), 'line 1: `data[1].side` is "S", not A or B'],
    [l2.replace('3.03622', 'x'), 'line 1: `bids[0].sz` size "x" is not a number, such as 1234.5'],
    [l2.replace('1737918843542', '-1'), 'line 1: `time` is "-1", not a time in milliseconds'],
  ])('%# is rejected with line and field', async (row, message) => {
    const units = { symbol: 'BTC', tickSize: '1', lotSize: '0.00001', inverse: false };
    await expect(
      readFiles('hyperliquid', files({ 'x.jsonl': text(row) }), { units }),
    ).rejects.toThrow(message);
  });
});

describe('cryptofeed’s captures of Binance', () => {
  const feed = (at: string, u: number, pu: number, symbol = 'CTKUSDT'): string =>
    `${at}: {"stream":"x","data":{"e":"depthUpdate","E":1626992741037,"T":1626992741${String(u).padStart(3, '0')},"s":"${symbol}","U":${pu + 1},"u":${u},"pu":${pu},"b":[["1.01",${JSON.stringify(String(u))}]],"a":[]}}`;
  const answer = (at: string, symbol: string, id: number): string =>
    `https://fapi.binance.com/fapi/v1/depth?symbol=${symbol}&limit=1000 -> ${at}: {"lastUpdateId":${id},"E":1626992741264,"T":1626992741261,"bids":[["1.01","7"]],"asks":[["1.02","8"]]}`;
  const capture = {
    'BINANCE_FUTURES.0.gz': gzipSync(
      text(
        'https://fapi.binance.com/fapi/v1/exchangeInfo -> 1626992740.175661: {"timezone":"UTC"}',
        'configuration: {"trades":[]}',
      ),
    ),
    'BINANCE_FUTURES.http.0.0.gz': gzipSync(
      text(answer('1626992741.2', 'SUSHIUSDT', 5), answer('1626992741.301402', 'CTKUSDT', 10)),
    ),
    'BINANCE_FUTURES.ws.1.0.gz': gzipSync(
      text(
        'wss://fstream.binance.com/stream?streams=ctkusdt@depth@100ms <-> 1626992740.179554',
        feed('1626992741.06217', 9, 8),
        feed('1626992741.1', 3, 2, 'SUSHIUSDT'),
        feed('1626992741.3105128', 11, 9),
        feed('1626992741.4', 12, 11),
      ),
    ),
  };

  test('HTTP responses are merged in the order of receipt', async () => {
    const { units, records } = await readFiles('binance-raw', files(capture), {
      symbol: 'CTKUSDT',
    });
    expect(units).toMatchObject({ symbol: 'CTKUSDT', tickSize: '0.01', lotSize: '1' });
    expect(
      records.map((record) => [
        record.kind,
        'lastId' in record ? record.lastId : null,
        record.localUs,
      ]),
    ).toEqual([
      ['depth', 9, 1_626_992_741_062_170],
      ['snapshot', 10, 1_626_992_741_301_402],
      ['depth', 11, 1_626_992_741_310_512],
      ['depth', 12, 1_626_992_741_400_000],
    ]);
    expect(records[1]).toMatchObject({
      levels: [
        { side: 'bid', priceTicks: 101, lots: 7 },
        { side: 'ask', priceTicks: 102, lots: 8 },
      ],
    });
  });

  test('the market must be selected, and faults name the line of their file', async () => {
    await expect(readFiles('binance-raw', files(capture))).rejects.toThrow(
      'the records are of CTKUSDT, SUSHIUSDT; --symbol selects one market',
    );
    await expect(readFiles('binance-raw', files(capture), { symbol: 'NONE' })).rejects.toThrow(
      'the records are of CTKUSDT, SUSHIUSDT, none is of NONE',
    );
  });

  test('bare messages use their own time as time of receipt', async () => {
    const bare = feed('', 9, 8).slice(2);
    const { records } = await readFiles('binance-raw', files({ 'x.jsonl': text(bare) }));
    expect(records[0]).toMatchObject({
      timeUs: 1_626_992_741_009_000,
      localUs: 1_626_992_741_009_000,
    });
  });
});

describe('Bybit', () => {
  const book = (type: string, u: number, b: string, a = '', ms = 589): string =>
    `{"topic":"orderbook.500.XRPUSDT","type":"${type}","ts":1733011200691,"data":{"s":"XRPUSDT","b":[${b}],"a":[${a}],"u":${u},"seq":1},"cts":1733011200${ms}}`;
  const level = (price: string, size: string): string => `["${price}","${size}"]`;

  test('a book follows its update ids, and restarts when they restart', async () => {
    const content = text(
      book('snapshot', 100, level('1.9531', '6203'), level('1.9532', '10')),
      book('delta', 101, level('1.9531', '0'), '', 600),
      book('delta', 101, level('1.9531', '5'), '', 610),
      book('snapshot', 1, level('1.9', '1'), level('2', '1'), 620),
      book('delta', 2, level('1.9', '3'), '', 630),
      book('delta', 4, level('1.9', '4'), '', 640),
    );
    const { units, records } = await readFiles(
      'bybit',
      files({ '2024-12-01_XRPUSDT_ob500.data': content }),
    );
    expect(units).toMatchObject({ symbol: 'XRPUSDT', tickSize: '0.0001', lotSize: '1' });
    expect(records[0]).toMatchObject({
      kind: 'snapshot',
      timeUs: 1_733_011_200_589_000,
      localUs: 1_733_011_200_691_000,
    });
    const { books } = await verified([records], units);
    expect(books).toEqual([
      '1: 6203@19531 | 10@19532',
      '2:  | 10@19532',
      '4: 1@19000 | 1@20000',
      '5: 3@19000 | 1@20000',
    ]);
  });

  test('trades of the book, mark and index', async () => {
    const trade = (more: string): string =>
      `{"T":1733011200100,"s":"XRPUSDT","v":"5","p":"1.95","i":"a-b"${more}}`;
    const content = text(
      '{"success":true,"op":"subscribe"}',
      `{"topic":"publicTrade.XRPUSDT","type":"snapshot","ts":1733011200105,"data":[${trade(',"S":"Buy","BT":false')},${trade(',"S":"Sell"')},${trade(',"S":"Sell","BT":true')}]}`,
      '{"topic":"tickers.XRPUSDT","type":"delta","ts":1733011200200,"data":{"symbol":"XRPUSDT","markPrice":"1.9512"}}',
      '{"topic":"publicTrade.BTCUSDT","type":"snapshot","ts":1733011200105,"data":[]}',
    );
    const { records } = await readFiles('bybit', files({ 'x.jsonl': content }), {
      symbol: 'XRPUSDT',
    });
    expect(records.map(brief)).toEqual([
      { kind: 'trade', timeUs: 1_733_011_200_100_000, tradeId: 1, priceTicks: 195, lots: 5 },
      { kind: 'trade', timeUs: 1_733_011_200_100_000, tradeId: 2, priceTicks: 195, lots: -5 },
      { kind: 'mark', timeUs: 1_733_011_200_200_000, priceTicks: 195 },
    ]);
  });

  test.each([
    ['{"data":{}}', 'line 1: `topic` is missing'],
    [
      book('delta', 1, level('x', '1')),
      'line 1: `data.b[0]` price "x" is not a number, such as 1234.5',
    ],
    [book('update', 1, ''), 'line 1: `type` is "update", not snapshot or delta'],
    [book('delta', -1, ''), 'line 1: `data.u` is "-1", not an integer from 0 to 2^53 − 1'],
  ])('%# is rejected with line and field', async (row, message) => {
    const units = { symbol: 'XRPUSDT', tickSize: '0.0001', lotSize: '1', inverse: false };
    await expect(readFiles('bybit', files({ 'x.jsonl': text(row) }), { units })).rejects.toThrow(
      message,
    );
  });

  test('a file of another kind is rejected at its first line, not for its name', async () => {
    await expect(readFiles('bybit', files({ 'x.csv': text('time,price', '1,2') }))).rejects.toThrow(
      'line 1: expected `<time of receipt> <json>`, got time,price',
    );
  });
});

describe('LOBSTER', () => {
  // The second book shows a level that no message contained; the last deletes an order of the
  // opening book.
  const messages = text(
    '34200.004241176,1,16113575,18,5853300,1',
    '34200.004260640,1,16113584,18,5853200,1',
    '34200.004447484,4,16113575,10,5853300,1',
    '34200.025551909,5,0,5,5853500,-1',
    '34200.025579546,2,16113584,8,5853200,1',
    '34200.025579546,3,1234,100,5859400,-1',
    '34200.201743,7,0,0,-1,-1',
  );
  const books = text(
    '5859400,200,5853300,18,5859800,200,5853000,150',
    '5859400,200,5853300,18,5859800,200,5853200,18',
    '5859400,200,5853300,8,5859800,200,5853200,18',
    '5859400,200,5853300,8,5859800,200,5853200,18',
    '5859400,200,5853300,8,5859800,200,5853200,10',
    '5859400,100,5853300,8,5859800,200,5853200,10',
    '5859400,100,5853300,8,5859800,200,5853200,10',
  );
  const names = {
    'AAPL_2012-06-21_34200000_57600000_message_2.csv': messages,
    'AAPL_2012-06-21_34200000_57600000_orderbook_2.csv': books,
  };

  test('messages are single orders and hidden trades, with times of the day', async () => {
    const { units, records } = await readFiles(
      'lobster',
      files({ 'AAPL_2012-06-21_34200000_57600000_message_2.csv': messages }),
    );
    expect(units).toEqual({ symbol: 'AAPL', tickSize: '0.0001', lotSize: '1', inverse: false });
    expect(records.map(brief)).toEqual([
      {
        kind: 'order',
        timeUs: 1_340_271_000_004_241,
        action: 'add',
        ref: 16_113_575,
        side: 'bid',
        priceTicks: 5_853_300,
        lots: 18,
      },
      expect.objectContaining({ action: 'add', ref: 16_113_584 }),
      expect.objectContaining({ action: 'execute', ref: 16_113_575, lots: 10 }),
      { kind: 'trade', timeUs: 1_340_271_000_025_551, tradeId: 4, priceTicks: 5_853_500, lots: 5 },
      expect.objectContaining({ action: 'reduce', lots: 8 }),
      expect.objectContaining({ action: 'remove', ref: 1234, side: 'ask' }),
    ]);
  });

  test('tick and lot hold, and a hidden trade at a price with visible orders is kept', async () => {
    const rows = text(
      '34200.1,1,5,300,5853300,1',
      '34200.2,5,0,200,5853300,1',
      '34200.3,4,5,100,5853300,1',
    );
    const units = { symbol: 'A', tickSize: '0.01', lotSize: '100', inverse: false };
    const { records } = await readFiles('lobster', files({ 'A_2012-06-21_message_1.csv': rows }), {
      units,
    });
    expect(records).toEqual([
      expect.objectContaining({ kind: 'order', action: 'add', priceTicks: 58_533, lots: 3 }),
      expect.objectContaining({ kind: 'trade', priceTicks: 58_533, lots: -2 }),
      expect.objectContaining({ kind: 'order', action: 'execute', priceTicks: 58_533, lots: 1 }),
    ]);
    const fine = text('34200.1,1,5,300,5853350,1');
    await expect(
      readFiles('lobster', files({ 'A_2012-06-21_message_1.csv': fine }), { units }),
    ).rejects.toThrow('line 1: `price` price "585.3350" is not a positive multiple of 0.01');
  });

  test('with the order book file the rebuilt book equals that file, line by line', async () => {
    const { units, records } = await readFiles('lobster', files(names));
    const { books: rebuilt, violations } = await verified([records], units);
    const expected = books
      .trim()
      .split('\n')
      .map((row, i) => {
        const fields = row.split(',');
        const at = (place: number): string => `${fields[place + 1]}@${fields[place]}`;
        return `${i + 1}: ${at(2)} ${at(6)} | ${at(0)} ${at(4)}`;
      });
    // The halt of the last line does not change the book.
    expect(rebuilt).toEqual(expected.slice(0, 6));
    expect(violations).toEqual([]);
  });

  test.each([
    ['34200.1,8,1,1,1,1', 'line 1: `type` is 8, not from 1 to 7'],
    ['34200.1,1,1,0,1,1', 'line 1: `size` is 0'],
    ['34200.1,1,1,5,1,0', 'line 1: `direction` is "0", not 1 or -1'],
    ['x,1,1,5,1,1', 'line 1: `time` "x" is not seconds after midnight'],
    ['34200.1,1,1', 'line 1: 3 fields; a message has 6'],
  ])('%s is refused', async (row, message) => {
    await expect(
      readFiles('lobster', files({ 'A_2012-06-21_message_1.csv': text(row) }), {
        units: { symbol: 'A', tickSize: '0.0001', lotSize: '1', inverse: false },
      }),
    ).rejects.toThrow(message);
  });

  test('orders below the recorded levels, crosses and halts: the book equals the file’s, line by line', async () => {
    const [messageText, bookText] = recordedVenue(1500);
    const { units, records } = await readFiles(
      'lobster',
      files({
        'SIM_2012-06-21_message_3.csv': messageText,
        'SIM_2012-06-21_orderbook_3.csv': bookText,
      }),
    );
    const last = new Map<number, string>();
    const { crossedBooks, violations } = await verified([records], units, 3, (line, book) =>
      last.set(line, book),
    );
    const rows = bookText
      .trim()
      .split('\n')
      .map((row) => row.split(','));
    for (const [line, book] of last) {
      const fields = rows[line - 1] ?? [];
      const side = (from: number): string =>
        [0, 4, 8]
          .filter((at) => fields[from + at + 1] !== '0')
          .map((at) => `${fields[from + at + 1]}@${fields[from + at]}`)
          .join(' ');
      expect(`${line}: ${book}`).toBe(`${line}: ${side(2)} | ${side(0)}`);
    }
    expect(last.size).toBeGreaterThan(700);
    expect([crossedBooks, violations]).toEqual([0, []]);
  });

  test('an order book file that ends early, and a name without a date, are rejected', async () => {
    const [first = ''] = books.split('\n');
    await expect(
      readFiles(
        'lobster',
        files({ ...names, 'AAPL_2012-06-21_34200000_57600000_orderbook_2.csv': text(first) }),
      ),
    ).rejects.toThrow(/orderbook_2\.csv has no such line/);
    await expect(readFiles('lobster', files({ 'message.csv': messages }))).rejects.toThrow(
      'the name of a LOBSTER file must contain its date',
    );
  });
});

describe('tables by their columns', () => {
  const bars = [
    ['2021-12-31 23:01:00.000000', 46_319, 46_385, 46_319, 46_377.5, 2.25],
    ['2021-12-31 23:02:00.000000', 46_377.5, 46_411, 46_377, 46_411, 1e-7],
  ] as const;
  const columns = ['timestamp', 'open', 'high', 'low', 'close', 'volume'] as const;
  const expected = [
    {
      kind: 'bar',
      timeUs: 1_640_991_719_999_999,
      startUs: 1_640_991_660_000_000,
      open: 463_190,
      high: 463_850,
      low: 463_190,
      close: 463_775,
      volume: 225_000,
    },
    {
      kind: 'bar',
      timeUs: 1_640_991_779_999_999,
      startUs: 1_640_991_720_000_000,
      open: 463_775,
      high: 464_110,
      low: 463_770,
      close: 464_110,
      volume: 0,
    },
  ];
  const column = (i: number): unknown[] => bars.map((row) => row[i]);

  test('CSV, Parquet and Arrow give the same bars; the interval is that of the first two', async () => {
    const csv = text(columns.join(','), ...bars.map((row) => row.join(',')));
    const parquet = parquetWriteBuffer({
      columnData: columns.map((name, i) => ({
        name,
        data: column(i) as never,
        type: i === 0 ? 'STRING' : 'DOUBLE',
      })),
    });
    const arrow = tableToIPC(
      tableFromArrays({
        timestamp: bars.map(([time]) => time as string),
        open: Float64Array.from(bars, (row) => row[1]),
        high: Float64Array.from(bars, (row) => row[2]),
        low: Float64Array.from(bars, (row) => row[3]),
        close: Float64Array.from(bars, (row) => row[4]),
        volume: Float64Array.from(bars, (row) => row[5]),
      }),
      'file',
    );
    for (const [format, name, content] of [
      ['csv', 'BTC_1m.csv', csv],
      ['parquet', 'BTC_1m.parquet', new Uint8Array(parquet)],
      ['arrow', 'BTC_1m.arrow', arrow],
    ] as const) {
      const { units, records } = await readFiles(format, files({ [name]: content }));
      expect(units).toEqual({ symbol: 'BTC', tickSize: '0.1', lotSize: '0.00001', inverse: false });
      expect(records.map(brief)).toEqual(expected);
    }
  });

  const mapped = async (map: unknown, content: string, units: TapeUnits | null = null) => {
    const parsed: ColumnMap = parseColumnMap(map);
    return (
      await readFiles('csv', files({ 'X.csv': content }), { map: parsed, units })
    ).records.map(brief);
  };

  test('a map names columns, units and words', async () => {
    expect(
      await mapped(
        {
          kind: 'trade',
          delimiter: ';',
          timeUnit: 's',
          columns: { time: 'when', price: 'paid', size: 'n', side: 'who' },
          buy: 'K',
          sell: ['V'],
        },
        text('when;paid;n;who', '1700000000.25;10.5;3;K', '1700000001;10;1;v'),
      ),
    ).toEqual([
      { kind: 'trade', timeUs: 1_700_000_000_250_000, tradeId: 2, priceTicks: 105, lots: 3 },
      { kind: 'trade', timeUs: 1_700_000_001_000_000, tradeId: 3, priceTicks: 100, lots: -1 },
    ]);
    expect(
      await mapped(
        {
          kind: 'bar',
          timeIs: 'close',
          interval: '1h',
          columns: { time: 0, open: 1, high: 2, low: 3, close: 4 },
        },
        text('1700000000000,1,2,1,2'),
      ),
    ).toEqual([
      {
        kind: 'bar',
        timeUs: 1_699_999_999_999_999,
        startUs: 1_699_996_400_000_000,
        open: 1,
        high: 2,
        low: 1,
        close: 2,
        volume: 0,
      },
    ]);
  });

  test('levels of equal time form one update', async () => {
    const content = text(
      'timestamp,side,price,size,is_snapshot',
      '1,bid,5,1,true',
      '1,ask,6,1,true',
      '2,ask,6,0,false',
      '2,ask,7,4,false',
    );
    expect(
      (await mapped({ kind: 'depth', timeUnit: 's' }, content)).map((record) => [
        record.kind,
        'levels' in record ? record.levels.length : 0,
      ]),
    ).toEqual([
      ['snapshot', 2],
      ['depth', 2],
    ]);
  });

  test.each([
    [[], 'column map: not a map of fields'],
    [
      { kind: 'candle' },
      'column map: `kind` must be one of trade, bar, depth, touch, mark, index, funding',
    ],
    [{ kind: 'bar', colums: {} }, "column map: unknown field 'colums'; known fields:"],
    [
      { kind: 'mark', columns: { size: 'x' } },
      "column map: a mark has no field 'size'; it has time, localTime, symbol, price",
    ],
    [{ kind: 'bar', interval: '1 minute' }, 'an interval is a number followed by s, m, h, d or w'],
    [
      { kind: 'bar', columns: { open: -1 } },
      'column map: `columns.open` is neither a name nor an index from 0',
    ],
  ])('the map %j is rejected', (map, message) => {
    expect(() => parseColumnMap(map)).toThrow(message);
  });

  test.each([
    ['a,b\n1,2\n', null, 'line 1: the columns a, b match no known table; map them with --map'],
    ['1,2\n', null, 'line 1: the file has no header; map the columns by index from 0 with --map'],
    [
      'time,price\n1,2\n',
      { kind: 'mark', columns: { price: 'mark' } },
      'line 1: no column for `price`: expected mark',
    ],
    [
      'time,open,high,low,close\n1700000000,1,1,1,1\n',
      null,
      'the length of a single valid bar is unknown',
    ],
    [
      'time,price,size,side\n1700000000,1,1,up\n',
      null,
      'line 2: `side` is "up", neither of buy, b, bid',
    ],
    [
      'time,price,size\n2024-02-30,1,1\n',
      null,
      'line 2: `time` "2024-02-30" is not a time from 1970 to 2255',
    ],
  ])('%j is rejected', async (content, map, message) => {
    const units = { symbol: 'X', tickSize: '1', lotSize: '1', inverse: false };
    await expect(
      readFiles('csv', files({ 'x.csv': content }), {
        map: map === null ? null : parseColumnMap(map),
        units,
      }),
    ).rejects.toThrow(message);
  });

  test('a file that is not a table is rejected', async () => {
    await expect(readFiles('parquet', files({ 'x.parquet': 'no' }))).rejects.toThrow(
      /x\.parquet: not a Parquet file/,
    );
    await expect(readFiles('arrow', files({ 'x.arrow': 'no table at all' }))).rejects.toThrow(
      /x\.arrow: /,
    );
    expect(() => formatNamed('xls')).toThrow(/unknown format 'xls'; known formats: binance-raw, /);
    expect(basename(scratch)).toContain('orrery');
  });
});
