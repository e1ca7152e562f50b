/**
 * Compares the orders of the same strategy in two runs, such as live and backtest. Orders are
 * paired in the order of sending: two orders match if market, side, type and size are equal, and
 * price unless an order between was skipped. An order without a match was sent in one run only.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FileError } from '../platform/file-error.ts';
import type { LiveRecord } from './live-run.ts';
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

/** Orders in a folder: of one strategy of a backtest, or of a live run. */
export async function readOrders(path: string, strategy: string | null): Promise<ComparedOrder[]> {
  const live = await readFile(join(path, 'live.json'), 'utf8').catch(() => null);
  if (live !== null) return ordersOfLive(JSON.parse(live) as LiveRecord);
  return ordersOfRun(await readRun(path), strategy, path);
}

function ordersOfRun(
  { strategies }: RecordedRun,
  wanted: string | null,
  path: string,
): ComparedOrder[] {
  const found = wanted === null ? strategies[0] : strategies.find(({ id }) => id === wanted);
  if (found === undefined) {
    throw new FileError(
      `${path}: no strategy ${wanted ?? ''} in the run; there are ${strategies.map(({ id }) => id).join(', ')}`,
    );
  }
  const fills = byOrder(found.fills.map((fill) => ({ ...fill, size: Number(fill.size) })));
  return found.orders.map((order) => ({
    ...order,
    ...filledOf(fills.get(order.orderId) ?? []),
  }));
}

function ordersOfLive({ orders, fills, ends }: LiveRecord): ComparedOrder[] {
  const filled = byOrder(fills.map((fill) => ({ ...fill, size: Math.abs(Number(fill.quantity)) })));
  return orders.flatMap(({ order, sentUs }): ComparedOrder[] => {
    if (order === null) return [];
    const last = ends.find(({ orderId }) => orderId === order.orderId);
    return [
      {
        symbol: order.symbol,
        side: order.quantity.startsWith('-') ? 'sell' : 'buy',
        orderType: order.orderType,
        size: order.quantity.replace('-', ''),
        price: order.price,
        sentUs,
        status: last?.status ?? order.status,
        ...filledOf(filled.get(order.orderId) ?? []),
      },
    ];
  });
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

/** Max distance at which a match is searched. */
const REACH = 50;

export function compareOrders(
  left: readonly ComparedOrder[],
  right: readonly ComparedOrder[],
): Comparison {
  const taken = new Set<number>();
  const pairs: Comparison['pairs'][number][] = [];
  const leftOnly: ComparedOrder[] = [];
  let from = 0;
  for (const order of left) {
    let place = -1;
    for (let i = from; i < Math.min(right.length, from + REACH); i++) {
      const candidate = right[i];
      if (candidate === undefined || taken.has(i) || !sameIntent(order, candidate)) continue;
      // The nearest with the same price; otherwise the nearest.
      if (place < 0 || (candidate.price === order.price && right[place]?.price !== order.price)) {
        place = i;
      }
      if (candidate.price === order.price) break;
    }
    const partner = right[place];
    if (partner === undefined) {
      leftOnly.push(order);
      continue;
    }
    taken.add(place);
    while (taken.has(from)) from += 1;
    pairs.push({ left: order, right: partner, differences: differencesOf(order, partner) });
  }
  return { pairs, leftOnly, rightOnly: right.filter((_order, i) => !taken.has(i)) };
}

function sameIntent(a: ComparedOrder, b: ComparedOrder): boolean {
  return (
    a.symbol === b.symbol && a.side === b.side && a.orderType === b.orderType && a.size === b.size
  );
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
