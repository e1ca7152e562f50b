import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { verifyTape } from '../../src/backtest/verify-tape.ts';
import { parseMarketSpec } from '../../src/gateway/market-config.ts';
import { durationUs, lots, marketId, priceTicks, timeUs } from '../../src/num/units.ts';
import { BinanceRawDecoder } from '../../src/sim/tape/binance-raw.ts';
import { BookSync } from '../../src/sim/tape/book-sync.ts';
import { ReadingOrder } from '../../src/sim/tape/reading-order.ts';
import type { DepthRecord, TapeRecord, TradeRecord } from '../../src/sim/tape/record.ts';
import { stepReader } from '../../src/sim/tape/step-text.ts';
import { TapeSteps } from '../../src/sim/tape/tape-steps.ts';
import { openRecording } from '../../src/store/dataset-files.ts';
import { DatasetWriter } from '../../src/store/dataset-writer.ts';
import { keccak } from '../../src/wallet/ethers-ports.ts';

const DATASET = fileURLToPath(new URL('../../data/btcusdt-20240808', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'orrery-data-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

async function verify(folder: string) {
  const recording = await openRecording(folder);
  const steps = new TapeSteps(recording.records, marketId(0));
  const { tickSize = '', lotSize = '', symbol = '' } = recording.units() ?? {};
  const spec = parseMarketSpec({ symbol, tickSize, lotSize, indexSource: 'mid' }, keccak);
  if (!spec.ok) throw new Error(spec.error);
  return { result: await verifyTape(steps, () => spec.value), steps };
}

test('the rebuilt book is the venue’s at every one of 629 comparisons', async () => {
  const { result, steps } = await verify(DATASET);
  expect(result).toMatchObject({
    compared: 629,
    mismatched: 0,
    crossedBooks: 0,
    violations: [],
  });
  expect(steps.syncFacts).toMatchObject({ depths: 6551, trades: 21_313, gaps: 0, dropped: 4 });
  expect(steps.orderingFacts).toMatchObject({ late: 0, minFeedLatencyUs: -1_272_403 });
});

test('a flipped byte of a dataset is found before anything is read', async () => {
  const copy = join(scratch, 'damaged');
  cpSync(DATASET, copy, { recursive: true });
  const path = join(copy, 'levels.parquet');
  const bytes = readFileSync(path);
  bytes[1000] = (bytes[1000] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  await expect(openRecording(copy)).rejects.toThrow(/levels\.parquet: sha256 is [0-9a-f]{64}/);
});

test.each([
  ['{', 'manifest.json: not JSON'],
  ['{}', 'manifest.json: not the manifest of a dataset'],
  ['{"orrery":"dataset","version":2}', 'manifest.json: version 2, this program reads 1'],
])('a manifest %s is refused', async (text, message) => {
  const copy = mkdtempSync(join(scratch, 'manifest-'));
  writeFileSync(join(copy, 'manifest.json'), text);
  await expect(openRecording(copy)).rejects.toThrow(message);
});

const at = (ms: number): string => `"T":${1_700_000_000_000 + ms}`;
const LOCAL = '1700000000000000000';
const depthLine = (u: number, pu: number, rows: string, ms = 0): string =>
  `${LOCAL} {"stream":"x","data":{"e":"depthUpdate",${at(ms)},"s":"BTCUSDT","U":${pu + 1},"u":${u},"pu":${pu},"b":[${rows}],"a":[]}}`;

describe('raw lines', () => {
  test.each([
    ['nonsense', 'line 1: expected `<local nanoseconds> <json>`'],
    [`${LOCAL} {"a"`, 'line 1: not a JSON object: {"a"'],
    [`${LOCAL} {"stream":"x","data":5}`, 'line 1: `data` is not an object'],
    [`${LOCAL} {"stream":"x","data":{"e":"trade","s":"DOGEUSDT"}}`, "line 1: symbol 'DOGEUSDT' has no known tick and lot size; give them"],
    [depthLine(2, 1, '["61800.25","1"]'), 'line 1: `b[0]` price "61800.25" is not a positive multiple of 0.1'],
    [depthLine(2, 1, '["61800.2","0.0001"]'), 'line 1: `b[0]` size "0.0001" is not a multiple of 0.001'],
    [depthLine(2, 1, '["61800.2"]'), 'line 1: `b[0]` size missing is not a multiple of 0.001'],
    [depthLine(2, 1, '[1e99,"1"]'), 'line 1: `b[0]` price 1e+99 is not a positive multiple of 0.1'],
    [depthLine(1e17, 1, ''), 'line 1: `u` is 100000000000000000, not an integer from 0 to 2^53 − 1'],
    [`${LOCAL} {"e":"trade",${at(0)},"s":"BTCUSDT","t":1,"p":"1.0","q":"0","m":true}`, 'line 1: `q` of a trade is 0'],
    [`${LOCAL} {"e":"trade",${at(0)},"s":"BTCUSDT","t":1,"p":"1.0","q":"1"}`, 'line 1: `m` is not true or false'],
  ])('%s is refused with line and field', (line, message) => {
    expect(() => new BinanceRawDecoder(null).decode(line)).toThrow(message);
  });

  test('numbers go from text to whole steps', () => {
    const ticks = stepReader('0.05');
    expect(['1', '0.05', '61800.250', '0'].map(ticks)).toEqual([20, 1, 1_236_005, 0]);
    expect(['0.01', '-1', '', '.5', '1.', '1e3', '9'.repeat(30)].map(ticks)).toEqual([-1, -1, -1, -1, -1, -1, -1]);
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

test('lines come out by time, then trades before depth, then id', () => {
  const order = new ReadingOrder(durationUs(100));
  const out = [depth(50, 1), trade(50, 9), trade(40, 8), trade(50, 3), depth(400, 2)].flatMap((record) => order.push(record));
  const all = [...out, ...order.flush()];
  expect(all.map((record) => `${record.kind} ${record.timeUs} ${record.line}`)).toEqual([
    'trade 40 8',
    'trade 50 3',
    'trade 50 9',
    'depth 50 1',
    'depth 400 2',
  ]);
  expect(order.facts.outOfOrder).toBe(1);
  order.push(trade(10, 99));
  expect(order.facts.late).toBe(1);
});

test('depth follows its snapshot, a break waits for the next one (a gap is counted)', () => {
  const sync = new BookSync(marketId(0));
  const snapshot = (us: number, lastId: number): TapeRecord => ({
    kind: 'snapshot',
    timeUs: timeUs(us),
    localUs: timeUs(us),
    line: 0,
    lastId,
    levels: [],
  });
  const kinds = (record: TapeRecord): string[] => sync.next(record).map(({ command }) => command?.kind ?? 'none');
  expect(kinds(depth(1, 4))).toEqual(['tapeGap']);
  expect(kinds(depth(2, 6, 4))).toEqual([]);
  // The update that spans the snapshot was waiting; the older one is dropped.
  expect(kinds(snapshot(3, 5))).toEqual(['tapeSnapshot', 'tapeDepth']);
  expect(kinds(depth(4, 7))).toEqual(['tapeDepth']);
  expect(kinds(depth(5, 7))).toEqual([]);
  expect(kinds(depth(6, 9, 8))).toEqual(['tapeGap']);
  expect(kinds(depth(7, 10))).toEqual([]);
  expect(kinds(snapshot(1_000_006, 9))).toEqual(['tapeSnapshot', 'tapeDepth', 'tapeDepth']);
  expect(sync.facts).toMatchObject({ gaps: 1, dropped: 2, staleUs: 1_000_000 });
});

test('a dataset gives back the records that it was made of', async () => {
  const folder = join(scratch, 'made');
  const writer = await DatasetWriter.create(folder);
  const touch: TapeRecord = {
    kind: 'touch',
    timeUs: timeUs(9),
    localUs: timeUs(3),
    line: 4,
    updateId: 2 ** 53 - 1,
    bidTicks: priceTicks(5),
    bidLots: lots(2 ** 40),
    askTicks: priceTicks(6),
    askLots: lots(0),
  };
  const records: TapeRecord[] = [depth(1, 4), { ...trade(2, 7), lots: lots(-5) }, touch];
  for (const record of records) await writer.write(record);
  await writer.finish({
    symbol: 'X',
    tickSize: '1',
    lotSize: '1',
    inverse: false,
    source: '',
    licence: '',
    importedFrom: [],
    firstUs: 1,
    lastUs: 9,
    outOfOrder: 0,
    gaps: 0,
    droppedUpdates: 0,
    minFeedLatencyUs: 0,
    maxFeedLatencyUs: 0,
  });
  const { records: batches } = await openRecording(folder);
  const back: TapeRecord[] = [];
  for await (const batch of batches) back.push(...batch);
  expect(back).toEqual(records);
});
