/**
 * Records as rows of two tables. `events` has one row per record, in recorded order; `levels` has
 * their price and size pairs in the same order (price positive for a bid, negative for an ask).
 * Integers only.
 *
 * | record   | lastId        | firstId        | prevId  | pairs                            |
 * | -------- | ------------- | -------------- | ------- | -------------------------------- |
 * | depth    | last update   | first update   | before  | levels                           |
 * | snapshot | update        |                |         | levels                           |
 * | trade    | trade         |                |         | price, size by the taker's side  |
 * | touch    | update        |                |         | bid, ask                         |
 * | bar      | start, µs     |                |         | open, high, low, close & volume  |
 * | mark     |               |                |         | price                            |
 * | index    |               |                |         | price                            |
 * | funding  | rate, 1e-9    |                |         |                                  |
 * | order    | order         | action         |         | price and size by the order's side |
 */
import type { TapeLevel } from '../engine/commands.ts';
import { lots, ppb, priceTicks, timeUs, type Lots, type PriceTicks } from '../num/units.ts';
import { ORDER_ACTIONS, TapeError, type RecordKind, type TapeRecord } from './record.ts';

/** The index in this list is the `kind` column; append-only. */
export const RECORD_KINDS = [
  'depth',
  'snapshot',
  'trade',
  'touch',
  'bar',
  'mark',
  'index',
  'funding',
  'order',
] as const satisfies readonly RecordKind[];

export const EVENT_COLUMNS = [
  { name: 'kind', type: 'INT32', encoding: 'PLAIN' },
  { name: 'timeUs', type: 'INT64', encoding: 'DELTA_BINARY_PACKED' },
  { name: 'localUs', type: 'INT64', encoding: 'DELTA_BINARY_PACKED' },
  { name: 'line', type: 'INT64', encoding: 'DELTA_BINARY_PACKED' },
  { name: 'lastId', type: 'INT64', encoding: 'PLAIN' },
  { name: 'firstId', type: 'INT64', encoding: 'PLAIN' },
  { name: 'prevId', type: 'INT64', encoding: 'PLAIN' },
  { name: 'levelCount', type: 'INT32', encoding: 'PLAIN' },
] as const;
export const LEVEL_COLUMNS = [
  { name: 'price', type: 'INT32', encoding: 'PLAIN' },
  { name: 'lots', type: 'INT64', encoding: 'PLAIN' },
] as const;

/** One row of `events`, in column order without the last column. */
export type EventRow = readonly [
  kind: number,
  timeUs: number,
  localUs: number,
  line: number,
  lastId: number,
  firstId: number,
  prevId: number,
];

export function eventRow(record: TapeRecord): EventRow {
  const { timeUs: atUs, localUs, line } = record;
  const row = (lastId = 0, firstId = 0, prevId = 0): EventRow => [
    RECORD_KINDS.indexOf(record.kind),
    atUs,
    localUs,
    line,
    lastId,
    firstId,
    prevId,
  ];
  switch (record.kind) {
    case 'depth':
      return row(record.lastId, record.firstId, record.prevId);
    case 'snapshot':
      return row(record.lastId);
    case 'trade':
      return row(record.tradeId);
    case 'touch':
      return row(record.updateId);
    case 'bar':
      return row(record.startUs);
    case 'funding':
      return row(record.ratePpb);
    case 'order':
      return row(record.ref, ORDER_ACTIONS.indexOf(record.action));
    default:
      return row();
  }
}

/** Passes the price and size pairs of a record to `add`; returns their number. */
export function levelPairs(
  record: TapeRecord,
  add: (signedPrice: number, size: number) => void,
): number {
  switch (record.kind) {
    case 'depth':
    case 'snapshot':
      for (const { side, priceTicks: price, lots: size } of record.levels) {
        add(side === 'bid' ? price : -price, size);
      }
      return record.levels.length;
    case 'trade':
      add(record.lots > 0 ? record.priceTicks : -record.priceTicks, Math.abs(record.lots));
      return 1;
    case 'touch':
      add(record.bidTicks, record.bidLots);
      add(-record.askTicks, record.askLots);
      return 2;
    case 'bar':
      add(record.open, 0);
      add(record.high, 0);
      add(record.low, 0);
      add(record.close, record.volume);
      return 4;
    case 'mark':
    case 'index':
      add(record.priceTicks, 0);
      return 1;
    case 'order':
      add(record.side === 'bid' ? record.priceTicks : -record.priceTicks, record.lots);
      return 1;
    default:
      return 0;
  }
}

type Numbers = Int32Array | Float64Array;

/** Columns of one row group, as decoded from its file. */
export interface RecordColumns {
  readonly kind: Numbers;
  readonly timeUs: Numbers;
  readonly localUs: Numbers;
  readonly line: Numbers;
  readonly lastId: Numbers;
  readonly firstId: Numbers;
  readonly prevId: Numbers;
  readonly levelCount: Numbers;
  readonly price: Numbers;
  readonly lots: Numbers;
}

/** Records per batch: few enough that they die in the young generation of the garbage collector. */
const BATCH = 256;

/** Records of a row group in batches. Throws `TapeError` if rows and pairs do not match. */
export function* recordsOf(columns: RecordColumns): Generator<TapeRecord[]> {
  const rows = columns.kind.length;
  let at = 0;
  for (let from = 0; from < rows; from += BATCH) {
    const records: TapeRecord[] = [];
    for (let i = from; i < Math.min(rows, from + BATCH); i++) {
      const pairs = columns.levelCount[i] ?? 0;
      records.push(recordAt(columns, i, at, pairs));
      at += pairs;
    }
    yield records;
  }
}

const PAIRS: Readonly<Record<RecordKind, number | null>> = {
  depth: null,
  snapshot: null,
  trade: 1,
  touch: 2,
  bar: 4,
  mark: 1,
  index: 1,
  funding: 0,
  order: 1,
};

function recordAt(columns: RecordColumns, i: number, at: number, pairs: number): TapeRecord {
  const kind = RECORD_KINDS[columns.kind[i] ?? -1];
  if (kind === undefined) {
    throw new TapeError(`events: unknown record kind ${String(columns.kind[i])}`);
  }
  const needed = PAIRS[kind];
  if (needed !== null && pairs !== needed) {
    throw new TapeError(`events: a ${kind} has ${String(needed)} pairs, not ${String(pairs)}`);
  }
  const atUs = timeUs(columns.timeUs[i] ?? 0);
  const localUs = timeUs(columns.localUs[i] ?? 0);
  const line = columns.line[i] ?? 0;
  const lastId = columns.lastId[i] ?? 0;
  switch (kind) {
    case 'depth':
      return {
        kind,
        timeUs: atUs,
        localUs,
        line,
        firstId: columns.firstId[i] ?? 0,
        lastId,
        prevId: columns.prevId[i] ?? 0,
        levels: levelsAt(columns, at, pairs),
      };
    case 'snapshot':
      return { kind, timeUs: atUs, localUs, line, lastId, levels: levelsAt(columns, at, pairs) };
    case 'trade':
      return {
        kind,
        timeUs: atUs,
        localUs,
        line,
        tradeId: lastId,
        priceTicks: priceAt(columns, at),
        lots: isBid(columns, at) ? sizeAt(columns, at) : lots(-sizeAt(columns, at)),
      };
    case 'touch':
      return {
        kind,
        timeUs: atUs,
        localUs,
        line,
        updateId: lastId,
        bidTicks: priceAt(columns, at),
        bidLots: sizeAt(columns, at),
        askTicks: priceAt(columns, at + 1),
        askLots: sizeAt(columns, at + 1),
      };
    case 'bar':
      return {
        kind,
        timeUs: atUs,
        localUs,
        line,
        startUs: timeUs(lastId),
        open: priceAt(columns, at),
        high: priceAt(columns, at + 1),
        low: priceAt(columns, at + 2),
        close: priceAt(columns, at + 3),
        volume: sizeAt(columns, at + 3),
      };
    case 'mark':
    case 'index':
      return { kind, timeUs: atUs, localUs, line, priceTicks: priceAt(columns, at) };
    case 'funding':
      return { kind, timeUs: atUs, localUs, line, ratePpb: ppb(lastId) };
    case 'order':
      return {
        kind,
        timeUs: atUs,
        localUs,
        line,
        action: actionAt(columns.firstId[i] ?? -1),
        ref: lastId,
        side: isBid(columns, at) ? 'bid' : 'ask',
        priceTicks: priceAt(columns, at),
        lots: sizeAt(columns, at),
      };
  }
}

function priceAt({ price }: RecordColumns, at: number): PriceTicks {
  return priceTicks(Math.abs(price[at] ?? 0));
}

function sizeAt(columns: RecordColumns, at: number): Lots {
  return lots(columns.lots[at] ?? 0);
}

function isBid({ price }: RecordColumns, at: number): boolean {
  return (price[at] ?? 0) > 0;
}

function actionAt(code: number): (typeof ORDER_ACTIONS)[number] {
  const action = ORDER_ACTIONS[code];
  if (action === undefined) throw new TapeError(`events: unknown order action ${String(code)}`);
  return action;
}

function levelsAt(columns: RecordColumns, at: number, pairs: number): TapeLevel[] {
  const { price: prices, lots: sizes } = columns;
  const levels: TapeLevel[] = [];
  for (let j = at; j < at + pairs; j++) {
    const price = prices[j] ?? 0;
    const size = lots(sizes[j] ?? 0);
    levels.push(
      price > 0
        ? { side: 'bid', priceTicks: priceTicks(price), lots: size }
        : { side: 'ask', priceTicks: priceTicks(-price), lots: size },
    );
  }
  return levels;
}
