/** Orders, positions, balances and figures of the account in use. */
import { batch, computed, signal } from '@preact/signals';
import type { ResponseOf } from '../../contract/endpoints.ts';
import { fills, forgetHistory, type Fill } from './account-history.ts';
import type { Update } from './feeds.ts';
import { call, callPage } from './requests.ts';
import { account, isTokenRefusal, logOut, subaccountIndex, token } from './session.ts';

export type Order = ResponseOf<'listOrders'>['bids'][number];
export type Position = ResponseOf<'getPositions'>[number];
export type Stats = ResponseOf<'getStats'>;
export type Balance = ResponseOf<'getBalance'>[number];

const OPEN = ['new', 'partiallyFilled', 'pending'];
/** Largest page of orders. */
const MAX_PAGE = 500;
/** Past orders are dropped beyond so many orders; live ones never are. */
const MAX_ORDERS = 1000;
const FLUSH_MS = 50;

export const orders = signal<ReadonlyMap<string, Order>>(new Map());
export const positions = signal<readonly Position[]>([]);
export const stats = signal<Stats | null>(null);
export const balances = signal<readonly Balance[]>([]);
/** Text of the live region. */
export const announcement = signal('');

export const isOpen = ({ status }: Order): boolean => OPEN.includes(status);
export const openOrders = computed(() =>
  [...orders.value.values()].filter(isOpen).sort((a, b) => b.createdAt - a.createdAt),
);
export const pastOrders = computed(() =>
  [...orders.value.values()]
    .filter((order) => !isOpen(order))
    .sort((a, b) => b.updatedAt - a.updatedAt),
);

const pending = {
  orders: new Map<string, Order>(),
  positions: new Map<string, Position>(),
  fills: [] as Fill[],
  timer: false,
};

export function forgetAccount(): void {
  batch(() => {
    orders.value = new Map();
    positions.value = [];
    balances.value = [];
    stats.value = null;
    forgetHistory();
  });
}

/** Reads the state of the account, also after a lost connection. */
export async function loadAccount(): Promise<void> {
  const { value: of } = account;
  const { value: bearer } = token;
  if (of === null || bearer === null) return;
  const at = { account: of, subaccountIndex: subaccountIndex.value };
  const before = orders.value;
  try {
    const [held, live, newest, cash, figures] = await Promise.all([
      call('getPositions', at, bearer),
      allOpenOrders(at, bearer),
      call('listOrders', { ...at, limit: MAX_PAGE }, bearer),
      call('getBalance', { account: of }, bearer),
      call('getStats', at, bearer),
    ]);
    batch(() => {
      positions.value = held;
      // The feed may be ahead of the lists.
      const arrived = [...orders.value].flatMap(([id, one]) => (before.get(id) === one ? [] : one));
      orders.value = newer(new Map(), [...live, ...newest.bids, ...newest.asks, ...arrived]);
      balances.value = cash;
      stats.value = figures;
    });
    await fills.load();
  } catch (error) {
    if (isTokenRefusal(error)) logOut(true);
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

/** The newer record of each order wins. */
function newer(known: Map<string, Order>, read: readonly Order[]): Map<string, Order> {
  for (const order of read) {
    const old = known.get(order.orderId);
    if (old === undefined || old.lastUpdateSequenceNumber <= order.lastUpdateSequenceNumber) {
      known.set(order.orderId, order);
    }
  }
  if (known.size > MAX_ORDERS) {
    for (const [id, order] of known) {
      if (known.size <= MAX_ORDERS) break;
      if (!isOpen(order)) known.delete(id);
    }
  }
  return known;
}

/** Records of an answer, before their feed has them. */
export function takeOrders(read: readonly Order[]): void {
  orders.value = newer(new Map(orders.value), read);
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
  if (pending.timer) return;
  pending.timer = true;
  setTimeout(flush, FLUSH_MS);
}

function flush(): void {
  pending.timer = false;
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
