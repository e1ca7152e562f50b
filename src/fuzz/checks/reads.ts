/**
 * Reads of the gateway with the replies that the exchange's views require. Lists are read page by
 * page, also with pages that end between entries of one moment, and with ranges of time.
 */
import type { EndpointId } from '../../contract/endpoints.ts';
import type { ExchangeView, MarketView, OrderStatus, OrderView } from '../../engine/read/views.ts';
import {
  orderId,
  subaccountId,
  timeUs,
  type Address,
  type MarketId,
  type SubaccountId,
} from '../../num/units.ts';
import {
  balanceRecord,
  candleRecord,
  configRecord,
  levelRecord,
  marginRecord,
  marketRecord,
  moneyText,
  orderRecord,
  positionRecord,
  priceRecord,
  sharesRecord,
  statsRecord,
  summaryRecord,
  tradeRecord,
  transferRecord,
  type Fields,
} from './records.ts';

export interface ExpectedRead {
  readonly endpoint: EndpointId;
  readonly request: Fields;
  /** The record, or all entries of a list in the order of its pages. */
  readonly expected: unknown;
  /** Entries of a page; null: the reply is one record. */
  readonly pageOf: number | null;
  /** True if later pages come before earlier ones, as for candles. */
  readonly backward?: boolean;
  /** True if the list may have more entries than expected ones. */
  readonly partial?: boolean;
  /** Start of what is kept, if the request reaches back beyond it; null if not. */
  readonly keptSinceMs?: number | null;
  /** The account whose token is sent, if not that of the request. */
  readonly as?: Address;
}

const ALL_TIME = timeUs(Number.MAX_SAFE_INTEGER);
const START = timeUs(0);
const LIMIT = 1000;
/** Beyond so many orders lists of orders are not rebuilt. */
const MAX_ORDERS = 4000;
const MINUTE_US = 60_000_000;
/** Entries of a list that are compared. */
const SHOWN = 60;

type Make = (view: ExchangeView, at: ReadPlace) => ExpectedRead | null;

/** The subject of a read, and numbers that select its parameters. */
interface ReadPlace {
  readonly owner: SubaccountId;
  readonly market: MarketView;
  readonly turn: number;
}

/** The nth read; null if there is nothing to read. */
export function expectedRead(view: ExchangeView, nth: number): ExpectedRead | null {
  const markets = view.markets();
  // Endpoints in turn; their parameters without a pattern.
  const turn = Math.imul(nth, 0x9e3779b1) >>> 8;
  const market = markets[turn % Math.max(1, markets.length)];
  if (market === undefined || view.subaccountCount <= SYSTEM) return null;
  const owner = subaccountId(SYSTEM + ((turn >> 4) % (view.subaccountCount - SYSTEM)));
  const make = READS[nth % READS.length];
  return make?.(view, { owner, market, turn: turn >> 8 }) ?? null;
}

/** Start of what is kept, as a reply says it; `from` in ms. */
const keptOf = (keptSinceUs: number | null, from: number | undefined): number | null =>
  keptSinceUs !== null && (from ?? 0) * 1000 < keptSinceUs ? Math.floor(keptSinceUs / 1000) : null;

/** Number of system subaccounts, which come first. */
export const SYSTEM = 6;

const pageSize = (turn: number): number => 1 + (turn % 4);

function ownerFields(view: ExchangeView, id: SubaccountId): Fields {
  const { account, index } = view.subaccount(id);
  return { account: view.addressOf(account), subaccountIndex: index };
}

const isPriced = (view: ExchangeView): boolean =>
  view.markets().every(({ markTicks }) => markTicks !== null);

/** A range of ms around two of the times, or no range. */
function rangeOf(
  times: readonly number[],
  turn: number,
): { readonly from?: number; readonly to?: number } {
  const at = (n: number): number => Math.floor((times[n % times.length] ?? 0) / 1000);
  if (times.length === 0 || turn % 3 === 0) return {};
  // From the oldest entry that is kept on.
  if (turn % 7 === 0) return { from: at(times.length - 1) };
  const [one, other] = [at(turn), at(turn >> 2)];
  return { from: Math.min(one, other), to: Math.max(one, other) + (turn % 2) };
}

const inRange = (
  us: number,
  { from = 0, to = Infinity }: { readonly from?: number; readonly to?: number },
): boolean => us >= from * 1000 && us < to * 1000;

/** Excess isolated margin, of this subaccount first; null if there is none. */
function excessOf(
  view: ExchangeView,
  first: SubaccountId,
): { readonly owner: SubaccountId; readonly market: MarketView } | null {
  const rest = Math.max(0, view.subaccountCount - SYSTEM);
  for (let i = 0; i < Math.min(rest, MOST_HOLDERS); i += 1) {
    const owner = subaccountId(SYSTEM + ((first - SYSTEM + i) % rest));
    const market = view.markets().find(({ id }) => view.isolatedExcess(owner, id) > 0n);
    if (market !== undefined) return { owner, market };
  }
  return null;
}

/** Subaccounts among which a rare state is searched for. */
const MOST_HOLDERS = 12;

/** One read in three asks for one market. */
const symbolOf = ({ spec }: MarketView, turn: number): Fields =>
  turn % 3 === 0 ? { symbol: spec.symbol } : {};
const isAsked = (market: MarketId, { id }: MarketView, turn: number): boolean =>
  turn % 3 !== 0 || market === id;

const READS: readonly Make[] = [
  (view, { owner }) =>
    isPriced(view)
      ? {
          endpoint: 'getStats',
          request: ownerFields(view, owner),
          expected: statsRecord(view, owner),
          pageOf: null,
        }
      : null,
  (view, { owner, turn }) => {
    const { account, subaccountIndex } = ownerFields(view, owner);
    const all = view.subaccountsOf(view.addressOf(view.subaccount(owner).account));
    const isWhole = turn % 3 !== 0;
    const held = isWhole ? all : all.filter(({ id }) => id === owner);
    return {
      endpoint: 'getBalance',
      request: isWhole ? { account } : { account, subaccountIndex },
      expected: held.map(({ id }) => balanceRecord(view, id)),
      pageOf: pageSize(turn),
    };
  },
  (view, { owner, market, turn }) =>
    isPriced(view)
      ? {
          endpoint: 'getPositions',
          request: { ...ownerFields(view, owner), ...symbolOf(market, turn) },
          expected: view
            .positions(owner)
            .filter((held) => isAsked(held.market, market, turn))
            .map((position) => positionRecord(view, position)),
          pageOf: pageSize(turn),
        }
      : null,
  (view, { owner, market, turn }) => ({
    endpoint: 'getMargin',
    request: { ...ownerFields(view, owner), ...symbolOf(market, turn) },
    expected: view
      .marginSettings(owner)
      .filter((one) => isAsked(one.market, market, turn))
      .map((setting) => marginRecord(view, owner, setting)),
    pageOf: pageSize(turn),
  }),
  (view, { owner, turn }) => {
    const { items: all, keptSinceUs } = view.transfers(owner, START, ALL_TIME, LIMIT);
    const range = rangeOf(
      all.map((entry) => entry.timeUs),
      turn,
    );
    // Both ends are inclusive.
    const wide = range.to === undefined ? range : { ...range, to: range.to + 1 };
    const shown = all.filter((entry) => inRange(entry.timeUs, wide));
    return {
      endpoint: 'getTransfers',
      request: { ...ownerFields(view, owner), ...range },
      expected: shown.slice(0, SHOWN).map((entry) => transferRecord(view, entry)),
      pageOf: pageSize(turn),
      partial: shown.length > SHOWN,
      keptSinceMs: keptOf(keptSinceUs, range.from),
    };
  },
  (view, { owner, turn }) => {
    const address = view.addressOf(view.subaccount(owner).account);
    const lists = view
      .subaccountsOf(address)
      .map(({ id }) => view.vaultSnapshots(id, START, ALL_TIME, LIMIT));
    // A list of several is whole from where each of them is.
    const kept = lists.flatMap(({ keptSinceUs }) => keptSinceUs ?? []);
    const all = lists
      .flatMap(({ items }) => items)
      .sort((a, b) => b.timeUs - a.timeUs || b.seq - a.seq);
    const range = rangeOf(
      all.map((entry) => entry.timeUs),
      turn,
    );
    const shown = all.filter((entry) => inRange(entry.timeUs, range));
    return {
      endpoint: 'getClsHistory',
      request: range,
      as: address,
      expected: shown.slice(0, SHOWN).map((entry) => sharesRecord(view, entry)),
      pageOf: pageSize(turn),
      partial: shown.length > SHOWN,
      keptSinceMs: keptOf(kept.length === 0 ? null : Math.max(...kept), range.from),
    };
  },
  (view, { market, turn }) => {
    const { items: all, keptSinceUs } = view.trades(market.id, START, ALL_TIME, LIMIT);
    const range = rangeOf(
      (turn % 2 === 0 ? all : all.slice(0, 40)).map((trade) => trade.timeUs),
      turn,
    );
    const shown = all.filter((trade) => inRange(trade.timeUs, range));
    return {
      endpoint: 'getTrades',
      request: { symbol: market.spec.symbol, ...range },
      expected: shown.slice(0, SHOWN).map((trade) => tradeRecord(view, trade)),
      pageOf: 1 + (turn % 7),
      partial: shown.length > SHOWN || all.length === LIMIT,
      keptSinceMs: keptOf(keptSinceUs, range.from),
    };
  },
  (view, { market, turn }) => {
    const minutes = [1, 3, 5, 15, 60][turn % 5] ?? 1;
    const name = minutes === 60 ? '1h' : `${String(minutes)}m`;
    const { items, keptSinceUs } = view.candles(
      market.id,
      minutes * MINUTE_US,
      START,
      ALL_TIME,
      SHOWN,
    );
    // From the start of what is kept on, from the minute before it, or all.
    const begin = keptSinceUs === null ? 0 : Math.floor(keptSinceUs / 1000);
    const from = [undefined, begin, Math.max(0, begin - 60_000)][turn % 3];
    const shown = items.filter(({ timeUs: at }) => at >= (from ?? 0) * 1000);
    return {
      endpoint: 'getCandles',
      request: {
        symbol: market.spec.symbol,
        interval: name,
        ...(from === undefined ? {} : { from }),
      },
      expected: shown.map((candle) => candleRecord(view, market, candle)),
      pageOf: pageSize(turn),
      backward: true,
      partial: items.length === SHOWN,
      keptSinceMs: keptOf(keptSinceUs, from),
    };
  },
  (view, { market, turn }) => {
    const group = [1, 2, 5, 10, 100, 1000][turn % 6] ?? 1;
    const side = (name: 'bid' | 'ask'): unknown[] =>
      grouped(view, market, name, group).slice(0, 1 + (turn % 20));
    return {
      endpoint: 'getBook',
      request: {
        symbol: market.spec.symbol,
        depth: 1 + (turn % 20),
        ...(group === 1 ? {} : { tickSize: stepsText(market, group) }),
      },
      expected: { bids: side('bid'), asks: side('ask'), sequence_number: market.bookSeq },
      pageOf: null,
    };
  },
  (view, { market }) => ({
    endpoint: 'getPrice',
    request: { symbol: market.spec.symbol },
    expected: priceRecord(view, market),
    pageOf: null,
  }),
  (view, { turn }) => ({
    endpoint: 'getPrices',
    request: {},
    expected: view.markets().map((market) => priceRecord(view, market)),
    pageOf: pageSize(turn),
  }),
  (view, { owner: subject, market, turn }) => {
    if (!isPriced(view)) return null;
    // Excess margin is rare: a market and a subaccount that have some, if there are any.
    const excess = excessOf(view, subject);
    const { owner, market: of } = excess ?? { owner: subject, market };
    const { id, spec } = of;
    const { feedId } = spec;
    const shared = view.markets().filter((other) => other.spec.feedId === feedId).length > 1;
    const isCash = shared || turn % 2 === 0;
    const amount = isCash ? view.margin(owner).withdrawableQuanta : view.isolatedExcess(owner, id);
    return {
      endpoint: 'getTransferMax',
      request: { ...ownerFields(view, owner), ...(isCash ? {} : { feedId }) },
      expected: {
        amount: moneyText(amount),
        shortfallPart: moneyText(isCash ? view.shortfallPart(owner, amount) : 0n),
      },
      pageOf: null,
    };
  },
  (view, { market }) => ({
    endpoint: 'getSummary',
    request: { symbol: market.spec.symbol },
    expected: summaryRecord(view, market),
    pageOf: null,
  }),
  (view, { turn }) => ({
    endpoint: 'getMarkets',
    request: {},
    expected: view.markets().map(marketRecord),
    pageOf: pageSize(turn),
  }),
  (view, { owner, market, turn }) => ordersRead(view, owner, market, turn),
  (view, { owner, market, turn }) => ordersRead(view, owner, market, turn + 1),
  (view, { owner }) => {
    const newest = view.findOrders(owner, EVERY_ORDER, 1).items[0];
    if (newest?.clientId == null) return null;
    const { account } = ownerFields(view, owner);
    const id = view.subaccount(owner).account;
    const named = view.orderByClientId(id, newest.clientId);
    if (named === undefined) return null;
    return {
      endpoint: 'getOrder',
      request: { account, clientId: newest.clientId },
      expected: orderRecord(view, named),
      pageOf: null,
    };
  },
  (view) =>
    isPriced(view)
      ? { endpoint: 'getConfig', request: {}, expected: configRecord(view), pageOf: null }
      : null,
  (view) => ({
    endpoint: 'getTime',
    request: {},
    expected: { time: Math.floor(view.nowUs / 1000) },
    pageOf: null,
  }),
  (view, { owner }) => {
    const { account } = ownerFields(view, owner);
    const { signers, quorum } = view.signersOf(view.addressOf(view.subaccount(owner).account));
    return {
      endpoint: 'getSigners',
      request: { account },
      expected: { account, signers, quorum },
      pageOf: null,
    };
  },
  (view, { owner, turn }) => {
    const { account, subaccountIndex } = ownerFields(view, owner);
    const held = view
      .delegatesOf(view.addressOf(view.subaccount(owner).account))
      .filter((grant) => grant.subaccountIndex === subaccountIndex)
      .sort((a, b) => a.delegate - b.delegate);
    return {
      endpoint: 'getDelegates',
      request: { account, subaccountIndex },
      expected: held.map(({ delegate }) => ({ account, delegate: view.addressOf(delegate) })),
      pageOf: pageSize(turn),
    };
  },
];

const EVERY_ORDER = {
  types: null,
  statuses: null,
  market: null,
  createdFromUs: 0,
  createdToUs: Infinity,
  updatedFromUs: 0,
  updatedToUs: Infinity,
} as const;

const STATES: readonly (readonly [string | null, readonly OrderStatus[] | null])[] = [
  [null, null],
  ['open', ['new', 'partiallyFilled', 'pending']],
  ['active', ['new', 'partiallyFilled']],
  ['filled', ['filled']],
  ['closed', ['filled', 'cancelled', 'expired', 'rejected']],
];

/** Orders of a subaccount, selected from all orders one by one. */
function ordersRead(
  view: ExchangeView,
  owner: SubaccountId,
  market: MarketView,
  turn: number,
): ExpectedRead | null {
  if (view.lastOrderId > MAX_ORDERS) return null;
  const [word, statuses] = STATES[turn % STATES.length] ?? [null, null];
  const inMarket = turn % 2 === 1;
  const own: OrderView[] = [];
  for (let id = 1; id <= view.lastOrderId; id += 1) {
    const order = view.order(orderId(id));
    if (order?.subaccount === owner) own.push(order);
  }
  own.sort((a, b) => b.updatedAtUs - a.updatedAtUs || b.orderId - a.orderId);
  const byCreation = turn % 4 === 2;
  const timeOf = (order: OrderView): number => (byCreation ? order.createdAtUs : order.updatedAtUs);
  const range = rangeOf(own.slice(0, 30).map(timeOf), turn);
  const names = byCreation ? ['createdFrom', 'createdTo'] : ['updatedFrom', 'updatedTo'];
  const limits = [range.from, range.to];
  const ranged = Object.fromEntries(
    names.flatMap((name, i) => (limits[i] === undefined ? [] : [[name, limits[i]]])),
  );
  const shown = own.filter(
    (order) =>
      statuses?.includes(order.status) !== false &&
      (!inMarket || order.market === market.id) &&
      inRange(timeOf(order), range),
  );
  const pageOf = 1 + (turn % 9);
  const compared = pagesOf(shown.slice(0, pageOf * 8), pageOf);
  return {
    endpoint: 'listOrders',
    request: {
      ...ownerFields(view, owner),
      ...(word === null ? {} : { status: word }),
      ...(inMarket ? { symbol: market.spec.symbol } : {}),
      ...ranged,
    },
    expected: compared.map((order) => orderRecord(view, order)),
    pageOf,
    partial: compared.length < shown.length,
  };
}

/** Pages of orders: in each the bids come before the asks. */
function pagesOf(orders: readonly OrderView[], pageOf: number): OrderView[] {
  const pages: OrderView[] = [];
  for (let at = 0; at < orders.length; at += pageOf) {
    const page = orders.slice(at, at + pageOf);
    pages.push(...page.filter(({ lots }) => lots > 0), ...page.filter(({ lots }) => lots < 0));
  }
  return pages;
}

/** Levels of so many ticks: bids rounded down, asks up. */
function grouped(
  view: ExchangeView,
  market: MarketView,
  side: 'bid' | 'ask',
  group: number,
): Fields[] {
  const sums = new Map<number, number>();
  for (const { priceTicks, lots } of view.depth(market.id, side, Infinity)) {
    const rest = priceTicks % group;
    const price = priceTicks - rest + (side === 'ask' && rest > 0 ? group : 0);
    sums.set(price, (sums.get(price) ?? 0) + lots);
  }
  return [...sums].map(
    ([priceTicks, lots]) => levelRecord(market, { priceTicks, lots } as never) ?? {},
  );
}

const stepsText = (market: MarketView, ticks: number): string =>
  String(levelRecord(market, { priceTicks: ticks, lots: 0 } as never)?.['price']);
