/**
 * Orders of an account. A change costs a search in a sorted list and a copy of references, not a
 * sort, so that 10,000 open orders can change hundreds of times a second. Lists are new arrays
 * after a change; records are never changed.
 */
import type { ResponseOf } from '../../contract/endpoints.ts';

export type Order = ResponseOf<'listOrders'>['bids'][number];

const OPEN: readonly string[] = ['new', 'partiallyFilled', 'pending'];
/** Older ended orders are dropped; open ones never are. */
const MAX_PAST = 1000;
/** From so many changes on, one sort is cheaper than their searches. */
const MANY = 200;

export const isOpen = ({ status }: Order): boolean => OPEN.includes(status);

/** Sizes of orders that ended without being filled, with their reasons; empty without one. */
export function unfilledText(read: readonly Order[]): string {
  const ended = read.filter((order) => !isOpen(order) && /[1-9]/.test(order.remaining));
  const texts = ended.map(({ remaining, reason }) => {
    const size = `${remaining.replace('-', '')} not filled`;
    return reason === null ? size : `${size} (${reason})`;
  });
  return [...new Set(texts)].join(', ');
}

type Compare = (a: Order, b: Order) => number;

const byId: Compare = (a, b) => (a.orderId < b.orderId ? -1 : a.orderId > b.orderId ? 1 : 0);
/** Newest first; the parts of a batch have one time, and are in the order of their nonces. */
const byCreation: Compare = (a, b) => b.createdAt - a.createdAt || a.nonce - b.nonce || byId(a, b);
const byUpdate: Compare = (a, b) => b.updatedAt - a.updatedAt || byId(a, b);

const levelOf = ({ symbol, quantity, price }: Order): string =>
  `${symbol} ${quantity.startsWith('-') ? 'ask' : 'bid'} ${price}`;

export class OrderList {
  /** Newest first. */
  open: readonly Order[] = [];
  /** Last changed first. */
  past: readonly Order[] = [];
  private readonly known = new Map<string, Order>();
  /** Resting orders by market, side and price. */
  private readonly levels = new Map<string, Set<Order>>();
  /** Records of the parts of a batch, by group and id. */
  private readonly groups = new Map<string, Map<string, Order>>();

  clear(): void {
    this.open = [];
    this.past = [];
    this.known.clear();
    this.levels.clear();
    this.groups.clear();
  }

  /** The newer record of each order wins. */
  take(read: Iterable<Order>): void {
    const removed: Order[] = [];
    const added: Order[] = [];
    const changed = new Map<string, Order | undefined>();
    for (const order of read) {
      const old = this.known.get(order.orderId);
      if (old !== undefined && old.lastUpdateSequenceNumber > order.lastUpdateSequenceNumber) {
        continue;
      }
      if (!changed.has(order.orderId)) changed.set(order.orderId, old);
      this.known.set(order.orderId, order);
    }
    for (const [id, old] of changed) {
      const order = this.known.get(id);
      if (old !== undefined) removed.push(old);
      if (order !== undefined) added.push(order);
    }
    for (const order of removed) this.leaveLevel(order);
    for (const order of added) {
      this.joinLevel(order);
      this.joinGroup(order);
    }
    const pick = (orders: readonly Order[], open: boolean): Order[] =>
      orders.filter((order) => isOpen(order) === open);
    this.open = replaced(this.open, pick(removed, true), pick(added, true), byCreation);
    this.past = replaced(this.past, pick(removed, false), pick(added, false), byUpdate);
    const dropped = this.past.slice(MAX_PAST);
    for (const { orderId } of dropped) this.known.delete(orderId);
    if (dropped.length > 0) this.past = this.past.slice(0, MAX_PAST);
    this.pruneGroups([...dropped, ...pick(added, false)]);
  }

  /** Open size at a price of the book; 0 without own orders. */
  sizeAt(symbol: string, side: 'bid' | 'ask', price: string): number {
    let size = 0;
    for (const { remaining } of this.levels.get(`${symbol} ${side} ${price}`) ?? []) {
      size += Math.abs(Number(remaining));
    }
    return size;
  }

  /** Orders of a group: all of them while a part is open, then those of the lists. */
  group(id: string): Iterable<Order> {
    return this.groups.get(id)?.values() ?? [];
  }

  private joinGroup(order: Order): void {
    if (order.groupId === null) return;
    const group = this.groups.get(order.groupId) ?? new Map<string, Order>();
    group.set(order.orderId, order);
    this.groups.set(order.groupId, group);
  }

  /** Removes dropped orders from the groups of `ended` orders that have no open part. */
  private pruneGroups(ended: readonly Order[]): void {
    for (const id of new Set(ended.map(({ groupId }) => groupId))) {
      const group = id === null ? undefined : this.groups.get(id);
      if (id === null || group === undefined || [...group.values()].some(isOpen)) continue;
      for (const orderId of group.keys()) if (!this.known.has(orderId)) group.delete(orderId);
      if (group.size === 0) this.groups.delete(id);
    }
  }

  private joinLevel(order: Order): void {
    if (!isOpen(order) || order.status === 'pending') return;
    const key = levelOf(order);
    const level = this.levels.get(key);
    if (level === undefined) this.levels.set(key, new Set([order]));
    else level.add(order);
  }

  private leaveLevel(order: Order): void {
    const key = levelOf(order);
    const level = this.levels.get(key);
    if (level?.delete(order) === true && level.size === 0) this.levels.delete(key);
  }
}

/** `list` without the removed records and with the added ones, in order. */
function replaced(
  list: readonly Order[],
  removed: readonly Order[],
  added: readonly Order[],
  compare: Compare,
): readonly Order[] {
  if (removed.length + added.length === 0) return list;
  if (removed.length + added.length > MANY) {
    const gone = new Set(removed);
    return [...list.filter((order) => !gone.has(order)), ...added].sort(compare);
  }
  const copy = list.slice();
  for (const order of removed) {
    const at = place(copy, order, compare);
    if (copy[at] === order) copy.splice(at, 1);
  }
  for (const order of added) copy.splice(place(copy, order, compare), 0, order);
  return copy;
}

/** Index of the first record that does not precede `order`. */
function place(list: readonly Order[], order: Order, compare: Compare): number {
  let [from, to] = [0, list.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    const at = list[middle];
    if (at !== undefined && compare(at, order) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
}
