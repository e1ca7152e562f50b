import {
  cpSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { verifyTape } from '../../src/tape/verify-tape.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { parseMarketSpec } from '../../src/gateway/market-config.ts';
import { durationUs, lots, marketId, ppb, priceTicks, timeUs } from '../../src/num/units.ts';
import { BinanceRawDecoder } from '../../src/tape/binance-raw.ts';
import { BookSync, type TapeStep } from '../../src/tape/book-sync.ts';
import { ReadingOrder } from '../../src/tape/reading-order.ts';
import type { DepthRecord, TapeRecord, TradeRecord } from '../../src/tape/record.ts';
import { stepReader } from '../../src/tape/step-text.ts';
import { TapeSteps } from '../../src/tape/tape-steps.ts';
import { mergeStreams } from '../../src/tape/merge.ts';
import { openDataset } from '../../src/tape-files/dataset-files.ts';
import { DatasetWriter } from '../../src/tape-files/dataset-writer.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';

const DATASET = fileURLToPath(new URL('../../data/btcusdt-20240808', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'orrery-data-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

async function verify(folder: string) {
  const dataset = await openDataset(folder);
  const [market] = dataset.markets;
  if (market === undefined) throw new Error('no market');
  const streams = market.streams.map((stream) => dataset.records(stream));
  const steps = new TapeSteps(streams, marketId(0), () => market);
  const { tickSize, lotSize, symbol } = market;
  const spec = parseMarketSpec({ symbol, tickSize, lotSize, indexSource: 'mid' }, keccak);
  if (!spec.ok) throw new Error(spec.error);
  return { result: await verifyTape(steps, () => spec.value), steps };
}

test('the recorded book equals the venue’s best prices after each of 6548 updates', async () => {
  const { result, steps } = await verify(DATASET);
  expect(result).toMatchObject({
    books: 6548,
    compared: 6548,
    notCompared: {},
    mismatched: 0,
    crossedBooks: 0,
    violations: [],
  });
  expect(steps.syncFacts).toMatchObject({ depths: 6551, trades: 21_313, gaps: 0, dropped: 4 });
  expect(steps.orderingFacts).toMatchObject({ late: 0, minFeedLatencyUs: -1_272_403 });
});

test('a flipped byte of a dataset is detected before any record is read', async () => {
  const copy = join(scratch, 'damaged');
  cpSync(DATASET, copy, { recursive: true });
  const path = join(copy, 'binance-raw', '00001-2024-08-08.levels.parquet');
  const bytes = readFileSync(path);
  bytes[1000] = (bytes[1000] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  await expect(verify(copy)).rejects.toThrow(/levels\.parquet: sha256 is [0-9a-f]{64}/);
});

const A = '{"symbol":"A","tickSize":"1","lotSize":"1"}';
test.each([
  ['{', 'manifest.json: not JSON'],
  ['{}', 'manifest.json: not the manifest of a dataset'],
  [
    '{"orrery":"dataset","version":1}',
    'manifest.json: version 1, this program reads 2; import the recording again',
  ],
  ['{"orrery":"dataset","version":2}', 'manifest.json: `markets` and `streams` are lists'],
  [
    '{"orrery":"dataset","version":2,"markets":[{}],"streams":[]}',
    'manifest.json: markets[0].symbol is missing',
  ],
  [
    '{"orrery":"dataset","version":2,"markets":[{"symbol":"A","tickSize":"x","lotSize":"1"}],"streams":[]}',
    "manifest.json: markets[0].tickSize is 'x', not a positive decimal",
  ],
  [
    '{"orrery":"dataset","version":2,"markets":[{"symbol":"A","tickSize":"1","lotSize":"0"}],"streams":[]}',
    "manifest.json: markets[0].lotSize is '0', not a positive decimal",
  ],
  [
    `{"orrery":"dataset","version":2,"markets":[${A},${A}],"streams":[]}`,
    'manifest.json: markets[1].symbol A is there twice',
  ],
  [
    '{"orrery":"dataset","version":2,"markets":[],"streams":[{"id":"a","symbol":"X","format":"","source":"","licence":""}]}',
    'manifest.json: streams[0].symbol is not among the markets',
  ],
])('a manifest %s is rejected', async (text, message) => {
  const copy = mkdtempSync(join(scratch, 'manifest-'));
  writeFileSync(join(copy, 'manifest.json'), text);
  await expect(openDataset(copy)).rejects.toThrow(message);
});

const atMs = (ms: number): string => `"T":${1_700_000_000_000 + ms}`;
const LOCAL = '1700000000000000000';
const depthLine = (u: number, pu: number, rows: string, ms = 0): string =>
  `${LOCAL} {"stream":"x","data":{"e":"depthUpdate",${atMs(ms)},"s":"BTCUSDT","U":${pu + 1},"u":${u},"pu":${pu},"b":[${rows}],"a":[]}}`;

describe('raw lines', () => {
  test.each([
    ['nonsense', 'line 1: expected `<time of receipt> <json>`'],
    [`${LOCAL} {"a"`, 'line 1: not a JSON object: {"a"'],
    [`${LOCAL} {"stream":"x","data":5}`, 'line 1: `data` is not an object'],
    [
      `${LOCAL} {"stream":"x","data":{"e":"trade","s":"DOGEUSDT"}}`,
      "line 1: the tick and lot size of 'DOGEUSDT' are not known; give --symbol, --tick and --lot",
    ],
    [
      depthLine(2, 1, '["61800.25","1"]'),
      'line 1: `b[0]` price "61800.25" is not a positive multiple of 0.1',
    ],
    [
      depthLine(2, 1, '["61800.2","0.0001"]'),
      'line 1: `b[0]` size "0.0001" is not a multiple of 0.001',
    ],
    [depthLine(2, 1, '["61800.2"]'), 'line 1: `b[0]` size missing is not a multiple of 0.001'],
    [depthLine(2, 1, '[1e99,"1"]'), 'line 1: `b[0]` price 1e+99 is not a positive multiple of 0.1'],
    [
      depthLine(1e17, 1, ''),
      'line 1: `u` is 100000000000000000, not an integer from 0 to 2^53 − 1',
    ],
    [
      `${LOCAL} {"e":"trade",${atMs(0)},"s":"BTCUSDT","t":1,"p":"1.0","q":"0","m":true}`,
      'line 1: `q` of a trade is 0',
    ],
    [
      `${LOCAL} {"e":"trade",${atMs(0)},"s":"BTCUSDT","t":1,"p":"1.0","q":"1"}`,
      'line 1: `m` is not true or false',
    ],
  ])('%s is rejected with line and field', (line, message) => {
    expect(() => new BinanceRawDecoder(null).decode(line)).toThrow(message);
  });

  test('numbers are converted from text to whole steps', () => {
    const ticks = stepReader('0.05');
    expect(['1', '0.05', '61800.250', '0'].map(ticks)).toEqual([20, 1, 1_236_005, 0]);
    expect(['0.01', '-1', '', '.5', '1.', '1e3', '9'.repeat(30)].map(ticks)).toEqual([
      -1, -1, -1, -1, -1, -1, -1,
    ]);
  });
});

const trade = (us: number, id: number): TradeRecord => ({
  kind: 'trade',
  timeUs: timeUs(us),
  localUs: timeUs(us + 5),
  line: id,
  tradeId: id,
  priceTicks: priceTicks(10),
  lots: lots(1),
});
const depth = (us: number, lastId: number, prevId = lastId - 1): DepthRecord => ({
  kind: 'depth',
  timeUs: timeUs(us),
  localUs: timeUs(us),
  line: lastId,
  firstId: prevId + 1,
  lastId,
  prevId,
  levels: [{ side: 'bid', priceTicks: priceTicks(10), lots: lots(1) }],
});

test('lines are ordered by time, then trades before depth, then id', () => {
  const order = new ReadingOrder(durationUs(100));
  const out: TapeRecord[] = [];
  for (const record of [depth(50, 1), trade(50, 9), trade(40, 8), trade(50, 3), depth(400, 2)])
    order.push(record, out);
  const all = [...out, ...order.flush()];
  expect(all.map((record) => `${record.kind} ${record.timeUs} ${record.line}`)).toEqual([
    'trade 40 8',
    'trade 50 3',
    'trade 50 9',
    'depth 50 1',
    'depth 400 2',
  ]);
  expect(order.facts.outOfOrder).toBe(1);
  order.push(trade(10, 99), out);
  expect(order.facts.late).toBe(1);
});

test('depth follows its snapshot; after a break it waits for the next one (a gap is counted)', () => {
  const sync = new BookSync(marketId(0), () => UNITS);
  const snapshot = (us: number, lastId: number): TapeRecord => ({
    kind: 'snapshot',
    timeUs: timeUs(us),
    localUs: timeUs(us),
    line: 0,
    lastId,
    levels: [],
  });
  const kinds = (record: TapeRecord): string[] => {
    const steps: TapeStep[] = [];
    sync.next(record, steps);
    return steps.map(({ command }) => command?.kind ?? 'none');
  };
  expect(kinds(depth(1, 4))).toEqual(['tapeGap']);
  expect(kinds(depth(2, 6, 4))).toEqual([]);
  // The update that spans the snapshot was buffered; the older one is dropped.
  expect(kinds(snapshot(3, 5))).toEqual(['tapeSnapshot', 'tapeDepth']);
  expect(kinds(depth(4, 7))).toEqual(['tapeDepth']);
  expect(kinds(depth(5, 7))).toEqual([]);
  expect(kinds(depth(6, 9, 8))).toEqual(['tapeGap']);
  expect(kinds(depth(7, 10))).toEqual([]);
  expect(kinds(snapshot(1_000_006, 9))).toEqual(['tapeSnapshot', 'tapeDepth', 'tapeDepth']);
  expect(sync.facts).toMatchObject({ gaps: 1, dropped: 2, staleUs: 1_000_002 });
  expect(sync.facts.gapList).toEqual([
    { fromUs: 6, toUs: 1_000_006, reason: 'the chain of updates breaks' },
  ]);
});

const UNITS = { symbol: 'X', tickSize: '0.5', lotSize: '1', inverse: false };
const FACTS = { symbol: 'X', format: 'made', source: 'here', licence: 'none' };
const at = (us: number) => ({ timeUs: timeUs(us), localUs: timeUs(us + 3), line: us });

async function make(
  folder: string,
  id: string,
  records: readonly TapeRecord[],
  mode: 'create' | 'add' = 'create',
  units = UNITS,
) {
  const writer = await DatasetWriter.open(folder, { id, job: id, mode });
  for (const record of records) await writer.write(record);
  return writer.finish({ ...FACTS, symbol: units.symbol }, units);
}

async function collect<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const batch of batches) all.push(...batch);
  return all;
}

test('a dataset round-trips records of every kind', async () => {
  const folder = join(scratch, 'made');
  const records: TapeRecord[] = [
    {
      kind: 'snapshot',
      ...at(1),
      lastId: 3,
      levels: [{ side: 'ask', priceTicks: priceTicks(12), lots: lots(2 ** 52) }],
    },
    depth(2, 4),
    { ...trade(3, 7), lots: lots(-5) },
    {
      kind: 'touch',
      ...at(4),
      updateId: 2 ** 53 - 1,
      bidTicks: priceTicks(5),
      bidLots: lots(2 ** 40),
      askTicks: priceTicks(2 ** 31 - 1),
      askLots: lots(0),
    },
    { kind: 'mark', ...at(6), priceTicks: priceTicks(9) },
    { kind: 'index', ...at(7), priceTicks: priceTicks(8) },
    { kind: 'funding', ...at(8), ratePpb: ppb(-46_500) },
  ];
  const stream = await make(folder, 'made', records);
  expect(stream).toMatchObject({
    counts: { snapshot: 1, depth: 1, trade: 1, funding: 1 },
    firstUs: 1,
    lastUs: 8,
    levels: 7,
  });
  const dataset = await openDataset(folder);
  expect(await collect(dataset.records(stream))).toEqual(records);
});

test('streams of a market are merged; at equal times markets are in order of id', async () => {
  const folder = join(scratch, 'several');
  const mark = (us: number): TapeRecord => ({
    kind: 'mark',
    ...at(us),
    priceTicks: priceTicks(us),
  });
  await make(folder, 'a', [mark(1), mark(5), mark(9)]);
  await make(folder, 'b', [{ kind: 'index', ...at(5), priceTicks: priceTicks(3) }], 'add');
  await make(folder, 'c', [mark(4), mark(5)], 'add', { ...UNITS, symbol: 'Y' });
  const dataset = await openDataset(folder);
  const emitted = (options: Parameters<typeof dataset.read>[0]) =>
    collect(dataset.read(options).commands()).then((commands) =>
      commands.map(
        (command) =>
          `${command.timeUs} ${'market' in command ? String(command.market) : ''} ${command.kind}`,
      ),
    );
  expect(await emitted({})).toEqual([
    '1 0 setMark',
    '4 1 setMark',
    '5 0 setIndex',
    '5 0 setMark',
    '5 1 setMark',
    '9 0 setMark',
  ]);
  // Ids follow the requested order; steps before the range are summarised at its start.
  expect(await emitted({ markets: ['Y', 'X'], fromUs: 6, toUs: 9 })).toEqual([]);
  expect(await emitted({ markets: ['Y', 'X'], fromUs: 6, toUs: 10 })).toEqual([
    '6 1 setIndex',
    '6 1 setMark',
    '9 1 setMark',
  ]);
  expect(() => dataset.read({ markets: ['Z'] })).toThrow(/no market Z; markets are X, Y/);
});

test('a range of a tape starts with the book at that time', async () => {
  const dataset = await openDataset(DATASET);
  const { firstUs } = dataset.manifest.streams[0] ?? { firstUs: 0 };
  const fromUs = firstUs + 60_000_000;
  const bookAt = async (options: Parameters<typeof dataset.read>[0]) => {
    const spec = parseMarketSpec(
      { symbol: 'BTCUSDT', tickSize: '0.1', lotSize: '0.001', indexSource: 'mid' },
      keccak,
    );
    if (!spec.ok) throw new Error(spec.error);
    const engine = new Exchange({ ...DEFAULT_EXCHANGE_CONFIG, genesisTimeUs: timeUs(firstUs) });
    engine.apply({ kind: 'listMarket', timeUs: timeUs(firstUs), spec: spec.value });
    for await (const batch of dataset.read({ toUs: fromUs + 10_000_000, ...options }).commands()) {
      for (const command of batch) engine.apply(command);
    }
    return [engine.depth(marketId(0), 'bid', 50), engine.depth(marketId(0), 'ask', 50)];
  };
  expect(await bookAt({ fromUs })).toEqual(await bookAt({}));
});

test('merging does not depend on batch sizes', async () => {
  const numbers = fc.array(fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 5 }), {
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(numbers, { minLength: 1, maxLength: 4 }), async (lists) => {
      let from = 0;
      const streams = lists.map((batches, place) => {
        let last = 0;
        // Ascending in each stream.
        return batches.map((batch) =>
          batch.map((n) => ({ n: (last = Math.max(last, n)), place, seq: from++ })),
        );
      });
      async function* source<T>(batches: readonly T[]) {
        await Promise.resolve();
        yield* batches;
      }
      const merged = await collect(
        mergeStreams(
          streams.map((batches) => source(batches)),
          (a, b) => a.n < b.n,
        ),
      );
      const expected = streams
        .flat(2)
        .sort((a, b) => a.n - b.n || a.place - b.place || a.seq - b.seq);
      expect(merged).toEqual(expected);
    }),
    { numRuns: 200 },
  );
});

test('an existing folder is neither overwritten nor used as a dataset', async () => {
  const folder = join(scratch, 'there');
  await make(folder, 'a', [depth(1, 1)]);
  await expect(make(folder, 'a', [depth(1, 1)])).rejects.toThrow(
    /exists; --add adds a stream to it, --replace replaces it/,
  );
  const other = mkdtempSync(join(scratch, 'other-'));
  await expect(make(other, 'a', [depth(1, 1)])).rejects.toThrow(/exists and is not a dataset/);
});

test('an import interrupted between two files resumes after the first', async () => {
  const folder = join(scratch, 'resumed');
  const file = { name: 'one.csv', sha256: '0'.repeat(64), bytes: 5 };
  const options = { id: 'a', job: 'this one', mode: 'create' } as const;
  const first = await DatasetWriter.open(folder, options);
  await first.write(depth(1, 1));
  await first.endFile(file, { lastId: 1 });
  await first.write(depth(2, 2));
  expect(await first.abandon()).toBe(1);
  // Another import does not resume it.
  const second = await DatasetWriter.open(folder, options);
  expect(second.done).toEqual([file]);
  expect(second.reader).toEqual({ lastId: 1 });
  await second.write(depth(3, 2));
  const stream = await second.finish(FACTS, UNITS);
  expect(stream).toMatchObject({ importedFrom: [file], counts: { depth: 2 }, lastUs: 3 });
  expect(
    (await DatasetWriter.open(folder, { ...options, job: 'another', mode: 'add' })).done,
  ).toEqual([]);
});

test('a full disk is reported with the file; partial output is deleted, complete input files are kept', async () => {
  const folder = join(scratch, 'full');
  const options = { id: 's', job: 's', mode: 'create' } as const;
  const first = await DatasetWriter.open(folder, options);
  await first.write(trade(1, 1));
  await first.endFile({ name: 'a', sha256: 'a', bytes: 1 }, null);
  const part = join(`${folder}.partial`, 's', '00002-1970-01-01');
  symlinkSync('/dev/full', `${part}.levels.parquet`);
  await first.write(trade(2, 2));
  await expect(first.endFile({ name: 'b', sha256: '', bytes: 1 }, null)).rejects.toThrow(
    `${part}.levels.parquet: no space left on the device`,
  );
  expect(await first.abandon()).toBe(1);
  expect(readdirSync(join(`${folder}.partial`, 's'))).toEqual([
    '00001-1970-01-01.events.parquet',
    '00001-1970-01-01.levels.parquet',
  ]);
  const again = await DatasetWriter.open(folder, options);
  expect(again.done.map(({ name }) => name)).toEqual(['a']);
  await again.write(trade(2, 2));
  await again.endFile({ name: 'b', sha256: '', bytes: 1 }, null);
  expect(await again.finish(FACTS, UNITS)).toMatchObject({ counts: { trade: 2 } });
});
