/** Orders, positions, balances and figures of the account in use. */
import { batch, signal } from '@preact/signals';
import type { ResponseOf } from '../../contract/endpoints.ts';
import { fills, forgetHistory, type Fill } from './account-history.ts';
import type { Update } from './feeds.ts';
import { spread } from './frames.ts';
import { OrderList, type Order } from './order-list.ts';
import { call, callPage, Refused } from './requests.ts';
import { account, isTokenRefusal, logOut, subaccountIndex, token } from './session.ts';

export type Position = ResponseOf<'getPositions'>[number];
export type Stats = ResponseOf<'getStats'>;
export type Balance = ResponseOf<'getBalance'>[number];

/** Largest page of orders. */
const MAX_PAGE = 500;

/** All orders that are known, outside of signals. */
export const orders = new OrderList();
/** Newest first. */
export const openOrders = signal<readonly Order[]>([]);
/** Last changed first. */
export const pastOrders = signal<readonly Order[]>([]);
export const positions = signal<readonly Position[]>([]);
export const stats = signal<Stats | null>(null);
export const balances = signal<readonly Balance[]>([]);
/** Why the account cannot be read by this wallet; null: it can. */
export const accountProblem = signal<string | null>(null);
/** Text of the live region. */
export const announcement = signal('');

const pending = {
  orders: new Map<string, Order>(),
  positions: new Map<string, Position>(),
  fills: [] as Fill[],
};

export function forgetAccount(): void {
  batch(() => {
    orders.clear();
    pending.orders.clear();
    pending.positions.clear();
    pending.fills = [];
    showOrders();
    positions.value = [];
    balances.value = [];
    stats.value = null;
    accountProblem.value = null;
    forgetHistory();
  });
}

function showOrders(): void {
  openOrders.value = orders.open;
  pastOrders.value = orders.past;
}

/** Orders that arrive while lists are read, by read. */
const reads = new Set<Map<string, Order>>();

/** Reads the state of the account, also after a lost connection. */
export async function loadAccount(): Promise<void> {
  const { value: of } = account;
  const { value: bearer } = token;
  if (of === null || bearer === null) return;
  const at = { account: of, subaccountIndex: subaccountIndex.value };
  const late = new Map<string, Order>();
  reads.add(late);
  try {
    const [held, live, newest, cash, figures] = await Promise.all([
      call('getPositions', at, bearer),
      allOpenOrders(at, bearer),
      call('listOrders', { ...at, limit: MAX_PAGE }, bearer),
      call('getBalance', { account: of }, bearer),
      call('getStats', at, bearer),
    ]);
    // Another account was chosen since.
    if (account.peek() !== of || subaccountIndex.peek() !== at.subaccountIndex) return;
    batch(() => {
      positions.value = held;
      // The feed may be ahead of the lists.
      orders.clear();
      orders.take([...live, ...newest.bids, ...newest.asks, ...late.values()]);
      showOrders();
      balances.value = cash;
      stats.value = figures;
      accountProblem.value = null;
    });
    await fills.load();
  } catch (error) {
    if (isTokenRefusal(error)) logOut(true);
    if (!(error instanceof Refused) || error.status !== 403) return;
    if (account.peek() !== of || subaccountIndex.peek() !== at.subaccountIndex) return;
    forgetAccount();
    accountProblem.value = error.message;
  } finally {
    reads.delete(late);
  }
}

/** Live orders, pages of them: a protective order may be older than any number of others. */
async function allOpenOrders(
  at: { readonly account: string; readonly subaccountIndex: number },
  bearer: string,
): Promise<Order[]> {
  const found: Order[] = [];
  let cursor: string | null = null;
  do {
    const request = { ...at, status: 'open', limit: MAX_PAGE };
    const page: { body: ResponseOf<'listOrders'>; next: string | null } = await callPage(
      'listOrders',
      cursor === null ? request : { ...request, cursor },
      bearer,
    );
    found.push(...page.body.bids, ...page.body.asks);
    cursor = page.next;
  } while (cursor !== null);
  return found;
}

/** An answer to a request may arrive after a newer record of the feed. */
function keepNewer(late: Map<string, Order>, order: Order): void {
  const old = late.get(order.orderId);
  if (old !== undefined && old.lastUpdateSequenceNumber > order.lastUpdateSequenceNumber) return;
  late.set(order.orderId, order);
}

/** Records of an answer, before their feed has them. */
export function takeOrders(read: readonly Order[]): void {
  for (const late of reads) for (const order of read) keepNewer(late, order);
  orders.take(read);
  showOrders();
}

/** An update of a private feed. */
export function takeAccountUpdate(type: string, data: Update): void {
  if (type === 'Order' || type === 'Position' || type === 'Balance') refreshStats();
  switch (type) {
    case 'Order': {
      const order = data as unknown as Order;
      pending.orders.set(order.orderId, order);
      if (order.status === 'rejected') say(`Order rejected: ${order.reason ?? ''}`);
      break;
    }
    case 'Fill': {
      const fill = data as unknown as Fill;
      pending.fills.push(fill);
      say(`Filled ${fill.quantity} ${fill.symbol} at ${fill.price}`);
      break;
    }
    case 'Position':
      pending.positions.set(String(data['symbol']), data as unknown as Position);
      break;
    case 'Balance':
      balances.value = [
        ...balances.value.filter((one) => one.subaccountIndex !== data['subaccountIndex']),
        data as unknown as Balance,
      ].sort((a, b) => a.subaccountIndex - b.subaccountIndex);
      return;
    case 'Stats':
      stats.value = data as unknown as Stats;
      return;
    default:
      return;
  }
  askFlush();
}

/** At most ten times a second: people read tables more slowly than the book. */
const FLUSH_MS = 100;
const askFlush = spread(flush, FLUSH_MS);

function flush(): void {
  batch(() => {
    if (pending.orders.size > 0) takeOrders([...pending.orders.values()]);
    pending.orders.clear();
    if (pending.positions.size > 0) {
      const changed = [...pending.positions.values()];
      positions.value = [
        ...positions.value.filter((one) => !pending.positions.has(one.symbol)),
        ...changed.filter(({ quantity }) => Number(quantity) !== 0),
      ].sort((a, b) => a.symbol.localeCompare(b.symbol));
      pending.positions.clear();
    }
    if (pending.fills.length > 0) fills.add(pending.fills.splice(0).reverse());
  });
}

let saidMs = -Infinity;

/** Pause between reads of the figures, which the feed sends every five seconds only. */
const STATS_MS = 400;
let statsTimer: ReturnType<typeof setTimeout> | undefined;

/** Reads equity and margin soon after a change of the account. */
function refreshStats(): void {
  statsTimer ??= setTimeout(() => {
    statsTimer = undefined;
    if (account.value === null || token.value === null) return;
    const at = { account: account.value, subaccountIndex: subaccountIndex.value };
    void call('getStats', at, token.value).then(
      (figures) => {
        stats.value = figures;
      },
      () => undefined,
    );
  }, STATS_MS);
}

/** At most one announcement in two seconds. */
function say(text: string): void {
  const now = performance.now();
  if (now - saidMs < 2000) return;
  saidMs = now;
  announcement.value = text;
}
