/** Comparison of state: balances, positions, margin, records, books, marks, shares, authority. */
import type { ExchangeView, OrderView } from '../engine/read/views.ts';
import { marketId, orderId, subaccountId, timeUs, type Address } from '../num/units.ts';
import { levelsOf, queueAt, sizeOf } from './book.ts';
import { hiddenAt } from './square-root.ts';
import { compareMarketData } from './compare-market-data.ts';
import type { Comparison } from './divergence.ts';
import { isLiquidationPrice } from './liquidation-price.ts';
import { isolatedExcess, statsOf } from './margin.ts';
import { max, sign } from './numbers.ts';
import { openInterest } from './checks.ts';
import { quintileOf } from './ranks.ts';
import {
  leftOf,
  marketOf,
  must,
  orderOf,
  positionOf,
  settingOf,
  type Market,
  type Order,
  type Sub,
  type World,
} from './world.ts';

/** Historical views are compared once per this many commands. */
const DATA_EVERY = 32;
/** A book without changes is compared once per this many comparisons. */
const BOOK_EVERY = 16;
/** Places in the closing order are compared once per this many comparisons. */
const RANKS_EVERY = 16;
const ALL_TIME = timeUs(Number.MAX_SAFE_INTEGER);

/**
 * With `full`, everything. Otherwise changed subaccounts and orders, holders of markets whose mark
 * or index moved, every book, and a rotating part of the rest.
 */
export function compareState(
  to: Comparison,
  world: World,
  exchange: ExchangeView,
  full: boolean,
): void {
  compareAll(to, world, exchange, full);
  world.comparedSeq = world.seq;
  world.comparisons += 1;
  world.touched.clear();
  world.marked.clear();
  world.toCompare = [];
}

function compareAll(to: Comparison, world: World, exchange: ExchangeView, full: boolean): void {
  to.same('R-12.1', () => 'the time', world.now, exchange.nowUs);
  to.same('R-2.10', () => 'the id of the last order', world.orders.length, exchange.lastOrderId);
  for (const sub of world.subs) {
    if (full || isDue(world, sub)) compareSub(to, world, exchange, sub);
    if (to.found !== null) return;
  }
  for (const order of full ? world.orders : changedOrders(world)) {
    compareOrder(to, world, exchange, order);
    if (to.found !== null) return;
  }
  for (const market of world.markets) {
    compareMarket(to, world, exchange, market, full);
    if (to.found !== null) return;
  }
}

function isDue(world: World, sub: Sub): boolean {
  if (world.touched.has(sub.id) || world.comparisons % world.subs.length === sub.id) return true;
  for (const market of world.marked) if (positionOf(sub, market).lots !== 0n) return true;
  return false;
}

function changedOrders(world: World): Order[] {
  const changed = world.live.filter(({ updatedSeq }) => updatedSeq > world.comparedSeq);
  for (const id of world.toCompare) changed.push(orderOf(world, id));
  const count = world.orders.length;
  if (count > 0) changed.push(orderOf(world, (world.comparisons % count) + 1));
  const { live } = world;
  if (live.length > 0) changed.push(must(live[world.comparisons % live.length]));
  return changed;
}

function compareSub(to: Comparison, world: World, exchange: ExchangeView, sub: Sub): void {
  const of = (what: string) => () => `${what} of subaccount ${sub.id}`;
  const view = exchange.subaccount(subaccountId(sub.id));
  to.same('R-5.1', of('account'), sub.account, view.account);
  to.same('R-5.1', of('index'), sub.index, view.index);
  to.same('R-1.6', of('cash'), sub.cash, view.balanceQuanta);
  comparePositions(to, world, exchange, sub);
  if (sub.house) return;
  const stats = statsOf(world, sub);
  const margin = exchange.margin(view.id);
  to.same('R-5.4', of('cross equity'), stats.crossEquity, margin.crossEquityQuanta);
  to.same('R-5.8', of('account value'), stats.accountValue, margin.accountValueQuanta);
  to.same('R-5.2', of('uPnL'), stats.upnl, margin.upnlQuanta);
  to.same('R-5.8', of('cross notional'), stats.crossNotional, margin.crossNotionalQuanta);
  to.same('R-5.4', of('cross requirement'), stats.crossInitial, margin.crossInitialQuanta);
  to.same('R-5.8', of('requirement'), stats.initial, margin.initialRequirementQuanta);
  to.same('R-5.8', of('maintenance'), stats.maintenance, margin.maintenanceRequirementQuanta);
  to.same('R-5.8', of('net deposits'), sub.netDeposits, margin.netDepositsQuanta);
  to.same('R-5.9', of('withdrawable'), stats.withdrawable, margin.withdrawableQuanta);
  if (to.found === null && !sub.system) compareAuthority(to, world, exchange, sub);
}

function comparePositions(to: Comparison, world: World, exchange: ExchangeView, sub: Sub): void {
  const id = subaccountId(sub.id);
  const shown = exchange.positions(id);
  for (const market of world.markets) {
    const of = (what: string) => () => `${what} of subaccount ${sub.id} in market ${market.id}`;
    const position = positionOf(sub, market.id);
    const view = shown.find((other) => other.market === marketId(market.id));
    to.same('R-5.2', of('lots'), position.lots, view?.lots ?? 0);
    if (view === undefined) continue;
    to.same('R-5.2', of('cost'), position.cost, view.costQuanta);
    to.same('R-5.6', of('margin'), position.margin, view.isolatedMarginQuanta);
    to.same('R-5.6', of('isolated'), settingOf(sub, market.id).isolated, view.isolated);
    to.same('R-7.3', of('funding'), position.funding, view.fundingQuanta);
    to.same('R-8.1', of('fees'), position.fees, view.feesQuanta);
    const excess = isolatedExcess(world, sub, market.id);
    to.same('R-5.10', of('excess margin'), excess, exchange.isolatedExcess(id, view.market));
    if (world.comparisons % RANKS_EVERY === 0) {
      const fifth = quintileOf(world, sub, market);
      to.same('R-6.4', of('ADL quintile'), fifth, exchange.adlQuantile(id, view.market));
    }
    const { liquidationTicks: ticks } = view;
    if (
      to.found !== null ||
      isLiquidationPrice(world, sub, market, ticks === null ? null : BigInt(ticks))
    )
      continue;
    to.differ('R-6.1', of('liquidation price')(), 'the nearest mark below', String(ticks));
  }
}

/** Settings, delegates, signers, shares and money movements. */
function compareAuthority(to: Comparison, world: World, exchange: ExchangeView, sub: Sub): void {
  const of = (what: string) => () => `${what} of subaccount ${sub.id}`;
  const address = sub.address as Address;
  const account = must(world.accounts[sub.account]);
  const delegates = exchange.delegatesOf(address).filter((d) => d.subaccountIndex === sub.index);
  to.sameList(
    'R-9.3',
    of('delegates'),
    sub.delegates.map(String),
    delegates.map(({ delegate }) => String(delegate)),
  );
  const { signers, quorum } = exchange.signersOf(address);
  to.sameList('R-9.1', of('signers'), account.signers, signers);
  to.same('R-9.1', of('quorum'), account.quorum, quorum);
  const mode = account.selfTrade ?? world.config.selfTradeExpire;
  to.same(
    'R-2.4',
    of('self-trade mode'),
    mode,
    exchange.selfTradeModeOf(must(exchange.accountIdOf(address))),
  );
  for (const setting of exchange.marginSettings(subaccountId(sub.id))) {
    const own = settingOf(sub, setting.market);
    const { spec } = marketOf(world, setting.market);
    const minPpm = BigInt(spec.tiers[0]?.initialMarginPpm ?? 0);
    const inMarket = of(`margin setting in market ${setting.market}`);
    to.same('R-5.7', inMarket, own.isolated, setting.isolated);
    to.same('R-5.7', inMarket, max(own.ratio ?? 0n, minPpm), setting.marginPpm);
  }
  const id = subaccountId(sub.id);
  const [snapshot] = exchange.vaultSnapshots(id, timeUs(0), ALL_TIME, 1).items;
  const noted = world.snapshots.findLast((other) => other.sub === sub.id);
  to.same('R-8.3', of('shares'), noted?.shares ?? null, snapshot?.shares ?? null);
  to.same(
    'R-8.3',
    of('net vault deposits'),
    noted?.netDeposits ?? null,
    snapshot?.netDepositsQuanta ?? null,
  );
  to.same('R-8.3', of('value of shares'), noted?.value ?? null, snapshot?.valueQuanta ?? null);
  to.same('R-8.3', of('time of the snapshot'), noted?.at ?? null, snapshot?.timeUs ?? null);
  to.same('R-8.2', of('lock-up'), noted?.lockedUntil ?? null, snapshot?.lockupEndsAtUs ?? null);
  const [movement] = exchange.transfers(id, timeUs(0), ALL_TIME, 1).items;
  const moved = world.movements.findLast((other) => other.sub === sub.id);
  to.same('R-5.9', of('newest transfer'), moved?.reason ?? null, movement?.reason ?? null);
  to.same('R-5.9', of('newest transfer'), moved?.amount ?? null, movement?.amountQuanta ?? null);
  to.same(
    'R-5.9',
    of('newest transfer'),
    moved?.counterparty ?? null,
    movement?.counterparty ?? null,
  );
  to.same('R-5.9', of('newest transfer'), moved?.market ?? null, movement?.market ?? null);
}

/** An ended order may be beyond retention; then it has no view. */
function compareOrder(to: Comparison, world: World, exchange: ExchangeView, order: Order): void {
  const view = exchange.order(orderId(order.id));
  const of = (what: string) => () => `${what} of order ${order.id}`;
  if (view === undefined) {
    const isOver = !['new', 'partiallyFilled', 'pending'].includes(order.status);
    to.same('R-2.8', of('existence'), !isOver, false);
    return;
  }
  to.same('R-2.8', of('status'), order.status, view.status);
  to.same('R-2.9', of('reason'), order.reason, view.reason);
  to.same('R-2.9', of('remaining lots'), sign(order.lots) * leftOf(order), view.remainingLots);
  to.same('R-2.9', of('settled lots'), sign(order.lots) * order.filled, view.settledLots);
  if (!marketOf(world, order.market).barred) {
    const shown = exchange.queueAhead(orderId(order.id));
    to.same('R-2.5', of('lots ahead'), aheadOf(world, order), shown);
  }
  compareTerms(to, order, view, of);
}

/** Lots ahead at its price, of users and of the tape; null if it does not rest. */
function aheadOf(world: World, order: Order): bigint | null {
  if (!order.resting) return null;
  const market = marketOf(world, order.market);
  const queue = queueAt(world, market, sign(order.lots), order.price);
  const before = queue.slice(
    0,
    queue.findIndex((resting) => resting.order === order),
  );
  const hidden = hiddenAt(market, sign(order.lots), order.price);
  return before.reduce((total, resting) => total + sizeOf(resting), hidden);
}

function compareTerms(
  to: Comparison,
  order: Order,
  view: OrderView,
  of: (what: string) => () => string,
): void {
  to.same('R-2.8', of('subaccount'), order.sub, view.subaccount);
  to.same('R-2.8', of('market'), order.market, view.market);
  to.same('R-2.8', of('type'), order.type, view.orderType);
  to.same('R-2.9', of('lots'), order.lots, view.lots);
  to.same('R-2.2', of('price'), order.price, view.priceTicks);
  to.same('R-4.1', of('trigger'), order.trigger, view.triggerTicks);
  to.same('R-4.2', of('trailing distance'), order.trailing, view.trailingPpm);
  to.same('R-3.3', of('period'), order.period, view.periodMs);
  to.same('R-2.10', of('group'), order.group, view.group?.orderId ?? null);
  to.same('R-2.10', of('sibling'), order.sibling, view.sibling?.orderId ?? null);
  to.same('R-2.10', of('parent'), order.parent, view.parent?.orderId ?? null);
  to.same('R-2.10', of('last update'), order.updatedSeq, view.lastUpdateSeq);
  to.same('R-2.10', of('time of update'), order.updatedAt, view.updatedAtUs);
  to.same('R-2.10', of('time of creation'), order.createdAt, view.createdAtUs);
}

function compareMarket(
  to: Comparison,
  world: World,
  exchange: ExchangeView,
  market: Market,
  full: boolean,
): void {
  const of = (what: string) => () => `${what} of market ${market.id}`;
  const view = exchange.market(marketId(market.id));
  to.same('R-5.3', of('index'), market.index, view.indexTicks);
  to.same('R-5.3', of('mark'), market.mark, view.markTicks);
  to.same('R-2.5', of('last price'), market.last, view.lastTicks);
  to.same('R-13.2', of('status'), market.status, view.status);
  const frozenSince = market.frozen ? market.frozenSince : null;
  to.same('R-5.3b', of('start of the freeze'), frozenSince, view.frozenSinceUs);
  if (market.spec !== view.spec) {
    to.same('R-13.1', of('terms'), termsOf(market.spec), termsOf(view.spec));
  }
  if (market.nextSpec !== view.nextSpec) {
    to.same('R-13.1', of('announced terms'), termsOf(market.nextSpec), termsOf(view.nextSpec));
  }
  to.same('R-13.1', of('end of the notice'), market.nextAt, view.nextSpecUs);
  to.same('R-7.2', of('funding rate'), market.fundingRate, view.fundingRatePpb);
  to.same('R-1.6', of('open interest'), openInterest(world, market.id), view.openInterestLots);
  // A book that no command has changed is compared in turn.
  const isDue =
    full || view.bookSeq > world.comparedSeq || (world.comparisons + market.id) % BOOK_EVERY === 0;
  for (const side of isDue ? (['bid', 'ask'] as const) : []) {
    const levels = levelsOf(world, market, side === 'bid' ? 1n : -1n);
    const shown = exchange.depth(marketId(market.id), side, full ? 1_000_000 : levels.length + 1);
    to.sameList(
      'R-2.5',
      of(`${side} levels`),
      levels.map(([price, size]) => `${size}@${price}`),
      shown.map((level) => `${level.lots}@${level.priceTicks}`),
    );
  }
  const isDataDue =
    world.seq <= world.dataUntil || world.seq % DATA_EVERY < world.seq - world.comparedSeq;
  if (full || isDataDue) compareMarketData(to, world, exchange, market);
}

/** Texts of terms, which are objects that never change. */
const termTexts = new WeakMap<object, string>();

function termsOf(terms: object | null): string {
  if (terms === null) return '';
  let text = termTexts.get(terms);
  if (text === undefined) {
    text = textOf(terms);
    termTexts.set(terms, text);
  }
  return text;
}

/** Terms as text, independent of field order. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const fields = Object.entries(value).map(([name, field]) => `${name}: ${textOf(field)}`);
  return `{${fields.sort().join(', ')}}`;
}
