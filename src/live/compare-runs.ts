/**
 * Compares the same strategy in two runs, such as live and backtest: orders, fills and equity.
 * Orders are paired in the order of sending: two orders match if market, side, type and size are
 * equal, and those of equal price come first. An order without a match was sent in one run only.
 * Times, single fills and equity are compared if both runs are in virtual time.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FileError } from '../platform/file-error.ts';
import { faultOf, type Of } from '../platform/json-shape.ts';
import type { LiveGap, LiveRecord } from './live-record.ts';
import { pairOrders } from './pair-orders.ts';
import type { RunTerms } from '../run-plan/run-terms.ts';
import { readRun, type RecordedRun } from '../run-plan/run-folder.ts';

export interface ComparedOrder {
  readonly symbol: string;
  readonly side: 'buy' | 'sell';
  readonly orderType: string;
  readonly size: string;
  readonly price: string;
  readonly sentUs: number;
  readonly status: string;
  readonly filled: number;
  /** Size-weighted; null if there is no fill. */
  readonly averagePrice: number | null;
  readonly firstFillUs: number | null;
}

export interface ComparedFill {
  readonly timeUs: number;
  readonly symbol: string;
  readonly side: 'buy' | 'sell';
  readonly role: string;
  readonly price: string;
  readonly size: string;
  /** Positive if paid. */
  readonly fee: string;
  /** Position after the fill, signed. */
  readonly position: string;
}

export interface ComparedRun {
  readonly orders: readonly ComparedOrder[];
  readonly fills: readonly ComparedFill[];
  readonly equity: LiveRecord['equity'];
  /** Why a live run ended early; null if it did not. */
  readonly failure: string | null;
  /** Lost connections of a live run, in which fills are missing or may be. */
  readonly gaps: readonly LiveGap[];
  /** False for a live run on a wall clock. */
  readonly isVirtual: boolean;
  /** Null if they were not recorded. */
  readonly terms: RunTerms | null;
  /** Orders of other accounts in the exchange of a live run. */
  readonly foreignOrders: number;
}

/** A term that two runs do not share; null where a run has none of that name. */
export interface TermDifference {
  readonly name: string;
  readonly left: string | null;
  readonly right: string | null;
}

/** The first difference of two sequences; null on the side that has ended. */
export interface FirstDifference {
  readonly what: 'order' | 'fill' | 'equity';
  /** From 1. */
  readonly number: number;
  readonly left: string | null;
  readonly right: string | null;
}

export interface Comparison {
  readonly pairs: readonly {
    readonly left: ComparedOrder;
    readonly right: ComparedOrder;
    /** Descriptions of relevant differences; empty if there are none. */
    readonly differences: readonly string[];
  }[];
  readonly leftOnly: readonly ComparedOrder[];
  readonly rightOnly: readonly ComparedOrder[];
}

interface FillLike {
  readonly orderId: string | null;
  readonly price: string;
  readonly size: number;
  readonly timeUs: number;
}

/** Fields of `live.json` that a comparison reads. */
const LIVE = {
  startedUs: 'time',
  endedUs: 'time',
  orders: [{ sentUs: 'time', order: 'record?' }],
  fills: [
    {
      timeUs: 'time',
      symbol: 'text',
      orderId: 'text?',
      role: 'text',
      price: 'decimal',
      quantity: 'decimal',
      fee: 'decimal',
      position: 'decimal',
    },
  ],
  ends: [{ orderId: 'text', status: 'text' }],
  // Records of version 0.2.0 have none of these.
  clock: 'text?',
  failure: 'text?',
  gaps: 'list?',
  equity: 'list?',
  foreignOrders: 'number?',
  terms: 'record?',
} as const satisfies Of<LiveRecord>;

const ORDER = {
  orderId: 'text',
  symbol: 'text',
  orderType: 'text',
  quantity: 'decimal',
  price: 'decimal',
  status: 'text',
} as const satisfies Of<NonNullable<LiveRecord['orders'][number]['order']>>;
const GAP = {
  fromUs: 'time',
  toUs: 'time',
  unknownFills: 'text?',
  positions: [{ symbol: 'text', counted: 'decimal', exchange: 'decimal' }],
  balance: 'decimal?',
} as const satisfies Of<LiveGap>;
const SAMPLE = { timeUs: 'time', equity: 'number', balance: 'number' } as const;

/** Refused orders are null, and records of version 0.2.0 have no samples. */
function faultOfLive(record: unknown): string | null {
  const fault = faultOf(record, LIVE);
  if (fault !== null) return fault;
  const {
    orders,
    equity = [],
    gaps = [],
  } = record as Pick<LiveRecord, 'orders'> & Partial<LiveRecord>;
  const sent = orders.flatMap(({ order }) => order ?? []);
  const shape = { orders: [ORDER], equity: [SAMPLE], gaps: [GAP] } as const;
  return faultOf({ orders: sent, equity, gaps }, shape);
}

/** A run in a folder: one strategy of a backtest, or a live run. Throws `FileError`. */
export async function readCompared(path: string, strategy: string | null): Promise<ComparedRun> {
  const live = await readFile(join(path, 'live.json'), 'utf8').catch(() => null);
  if (live !== null) return comparedLive(liveRecordOf(live, join(path, 'live.json')));
  return comparedRun(await readRun(path), strategy, path);
}

/** Throws `FileError` that names the file and the field. */
function liveRecordOf(text: string, file: string): LiveRecord {
  let record: unknown;
  try {
    record = JSON.parse(text);
  } catch (error) {
    throw new FileError(`${file}: damaged, or cut off: ${(error as Error).message}`);
  }
  const { orrery, version } = (record ?? {}) as Partial<Record<string, unknown>>;
  if (orrery !== 'live') throw new FileError(`${file}: not the record of a live run`);
  if (version !== 1) {
    throw new FileError(`${file}: version ${String(version)} of the format; this release reads 1`);
  }
  const fault = faultOfLive(record);
  if (fault !== null) throw new FileError(`${file}: ${fault}`);
  return record as LiveRecord;
}

export function comparedRun(
  { strategies, terms }: Pick<RecordedRun, 'strategies' | 'terms'>,
  wanted: string | null,
  path: string,
): ComparedRun {
  const ids = strategies.map(({ id }) => id).join(', ');
  if (strategies.length === 0) throw new FileError(`${path}: the run has no strategy`);
  if (wanted === null && strategies.length > 1) {
    throw new FileError(`${path}: name one strategy with --strategy; there are ${ids}`);
  }
  const place = wanted === null ? 0 : strategies.findIndex(({ id }) => id === wanted);
  const found = strategies[place];
  if (found === undefined) {
    throw new FileError(`${path}: no strategy ${wanted ?? ''} in the run; there are ${ids}`);
  }
  const fills = byOrder(found.fills.map((fill) => ({ ...fill, size: Number(fill.size) })));
  return {
    isVirtual: true,
    failure: null,
    gaps: [],
    terms: terms?.[place] ?? null,
    foreignOrders: 0,
    equity: found.equity,
    fills: found.fills.map((fill) => ({
      ...fill,
      fee: String(rounded(Number(fill.fee) + Number(fill.originatorFee))),
    })),
    orders: found.orders.map((order) => ({
      ...order,
      ...filledOf(fills.get(order.orderId) ?? []),
    })),
  };
}

export function comparedLive(record: Partial<LiveRecord>): ComparedRun {
  const {
    orders,
    fills,
    ends,
    clock,
    equity,
    terms = null,
    foreignOrders = 0,
    failure = null,
    gaps = [],
  } = record;
  const filled = byOrder(
    (fills ?? []).map((fill) => ({ ...fill, size: Math.abs(Number(fill.quantity)) })),
  );
  return {
    isVirtual: clock === 'replay',
    failure,
    gaps,
    terms,
    foreignOrders,
    equity: equity ?? [],
    fills: (fills ?? []).map((fill) => ({
      ...fill,
      side: sideOf(fill.quantity),
      size: fill.quantity.replace('-', ''),
      fee: String(Number(fill.fee)),
    })),
    orders: (orders ?? []).flatMap(({ order, sentUs }): ComparedOrder[] => {
      if (order === null) return [];
      const last = ends?.find(({ orderId }) => orderId === order.orderId);
      return [
        {
          symbol: order.symbol,
          side: sideOf(order.quantity),
          orderType: order.orderType,
          size: order.quantity.replace('-', ''),
          price: order.price,
          sentUs,
          status: last?.status ?? order.status,
          ...filledOf(filled.get(order.orderId) ?? []),
        },
      ];
    }),
  };
}

function sideOf(quantity: string): 'buy' | 'sell' {
  return quantity.startsWith('-') ? 'sell' : 'buy';
}

/** Terms that differ, in the order of the left run; none unless both runs have recorded theirs. */
export function termDifferences(left: ComparedRun, right: ComparedRun): TermDifference[] {
  if (left.terms === null || right.terms === null) return [];
  const names = new Set([...Object.keys(left.terms), ...Object.keys(right.terms)]);
  return [...names].flatMap((name): TermDifference[] => {
    const [a = null, b = null] = [left.terms?.[name], right.terms?.[name]];
    return a === b ? [] : [{ name, left: a, right: b }];
  });
}

/**
 * The first difference of two runs in virtual time, in orders, fills and samples of the equity;
 * null if there is none, or if a run is not in virtual time. Samples are compared at common times.
 */
export function firstDifference(left: ComparedRun, right: ComparedRun): FirstDifference | null {
  if (!left.isVirtual || !right.isVirtual) return null;
  const leftTimes = new Set(left.equity.map(({ timeUs }) => timeUs));
  const rightTimes = new Set(right.equity.map(({ timeUs }) => timeUs));
  const common = (run: ComparedRun, others: ReadonlySet<number>) => {
    const shared = run.equity.filter(({ timeUs }) => others.has(timeUs));
    // Without a common sample nothing would be compared.
    return shared.length > 0 ? shared : run.equity;
  };
  return (
    firstOf('order', left.orders.map(orderText), right.orders.map(orderText)) ??
    firstOf('fill', left.fills.map(fillText), right.fills.map(fillText)) ??
    firstOf(
      'equity',
      common(left, rightTimes).map(equityText),
      common(right, leftTimes).map(equityText),
    )
  );
}

function firstOf(
  what: FirstDifference['what'],
  left: readonly string[],
  right: readonly string[],
): FirstDifference | null {
  const count = Math.max(left.length, right.length);
  for (let i = 0; i < count; i++) {
    if (left[i] === right[i]) continue;
    return { what, number: i + 1, left: left[i] ?? null, right: right[i] ?? null };
  }
  return null;
}

const timeText = (us: number): string =>
  `${new Date(us / 1000).toISOString().slice(0, 23)}${String(us % 1000).padStart(3, '0')}Z`;

function orderText(order: ComparedOrder): string {
  const { sentUs, side, size, symbol, orderType, price, status, filled, averagePrice } = order;
  // An open order has another status while it is partly filled.
  const isOpen = status === 'new' || status === 'partiallyFilled' || status === 'pending';
  const first = order.firstFillUs === null ? '' : `, first ${timeText(order.firstFillUs)}`;
  return `${timeText(sentUs)} ${side} ${size} ${symbol} ${orderType} at ${price}: ${isOpen ? 'open' : status}, filled ${String(filled)} at ${String(averagePrice)}${first}`;
}

function fillText({
  timeUs,
  side,
  size,
  symbol,
  role,
  price,
  fee,
  position,
}: ComparedFill): string {
  return `${timeText(timeUs)} ${side} ${size} ${symbol} at ${price} as ${role}, fee ${fee}, position ${position}`;
}

function equityText({ timeUs, equity, balance }: LiveRecord['equity'][number]): string {
  return `${timeText(timeUs)} equity ${String(equity)}, balance ${String(balance)}`;
}

function byOrder(fills: readonly FillLike[]): Map<string, FillLike[]> {
  const grouped = new Map<string, FillLike[]>();
  for (const fill of fills) {
    if (fill.orderId === null) continue;
    const group = grouped.get(fill.orderId) ?? [];
    group.push(fill);
    grouped.set(fill.orderId, group);
  }
  return grouped;
}

function filledOf(
  fills: readonly FillLike[],
): Pick<ComparedOrder, 'filled' | 'averagePrice' | 'firstFillUs'> {
  const size = fills.reduce((sum, fill) => sum + fill.size, 0);
  const value = fills.reduce((sum, fill) => sum + fill.size * Number(fill.price), 0);
  return {
    filled: rounded(size),
    averagePrice: size > 0 ? rounded(value / size) : null,
    firstFillUs: fills[0]?.timeUs ?? null,
  };
}

const rounded = (value: number): number => Math.round(value * 1e8) / 1e8;

export function compareOrders(
  left: readonly ComparedOrder[],
  right: readonly ComparedOrder[],
): Comparison {
  const places = pairOrders(left, right);
  const [fromLeft, fromRight] = [0, 1].map((side) => new Set(places.map((pair) => pair[side])));
  const pairs = places.flatMap(([i, j]): Comparison['pairs'][number][] => {
    const [one, other] = [left[i], right[j]];
    if (one === undefined || other === undefined) return [];
    return [{ left: one, right: other, differences: differencesOf(one, other) }];
  });
  return {
    pairs,
    leftOnly: left.filter((_order, i) => fromLeft?.has(i) !== true),
    rightOnly: right.filter((_order, j) => fromRight?.has(j) !== true),
  };
}

function differencesOf(left: ComparedOrder, right: ComparedOrder): string[] {
  const differences: string[] = [];
  const note = (what: string, a: string | number | null, b: string | number | null): void => {
    if (a !== b) differences.push(`${what} ${String(a ?? 'none')} against ${String(b ?? 'none')}`);
  };
  note('price', left.price, right.price);
  note('status', left.status, right.status);
  note('filled', left.filled, right.filled);
  note('average price', left.averagePrice, right.averagePrice);
  return differences;
}
