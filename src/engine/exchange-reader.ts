/**
 * Reads of an exchange's state (`ExchangeView`): plain values, made when asked. Nothing here changes state.
 */
import { maxBig } from '../num/arithmetic.ts';
import {
  lots,
  orderId,
  ppm,
  quanta,
  timeUs,
  type AccountId,
  type Address,
  type MarketId,
  type OrderId,
  type PriceTicks,
  type Quanta,
  type Seq,
  type Lots,
  type SubaccountId,
  type TimeUs,
} from '../num/units.ts';
import { signersOf } from './accounts/authority.ts';
import type { Dated, Recent } from './accounts/recent.ts';
import type { Subaccount } from './accounts/subaccount.ts';
import type { OrderRows } from './book/order-rows.ts';
import { NONE, ORDER_STATUSES, ORDER_TYPES } from './book/order-table.ts';
import type { RowFilter } from './book/row-tags.ts';
import type { ExchangeConfig, SelfTradeMode } from './config.ts';
import type { Side } from './commands.ts';
import { MINUTE_US } from './market/candles.ts';
import { findClientId } from './orders/place.ts';
import { selfTradeModeOf } from './orders/self-trade.ts';
import type { Outcome } from './rejections.ts';
import { liquidationPrice } from './risk/liquidation-price.ts';
import { isolatedExcess, marginFigures, withdrawable } from './risk/margin.ts';
import { upnlOf } from './risk/requirement.ts';
import type { State } from './state.ts';
import type {
  CandleView,
  DelegateView,
  ExchangeView,
  LevelView,
  MarginSettingView,
  MarginView,
  MarketView,
  Moment,
  OrderFilter,
  OrderList,
  OrderPlace,
  OrderView,
  PositionView,
  Retained,
  SignersView,
  SubaccountView,
  SummaryView,
  TradeView,
  TransferView,
  VaultSnapshotView,
} from './views.ts';

const DAY_US = 86_400_000_000;

export class ExchangeReader implements ExchangeView {
  protected readonly state: State;

  constructor(state: State) {
    this.state = state;
  }

  get config(): ExchangeConfig {
    return this.state.config;
  }
  get seq(): Seq {
    return this.state.seq;
  }
  get nowUs(): TimeUs {
    return this.state.nowUs;
  }

  get lastOrderId(): OrderId {
    return orderId(this.state.nextOrderId - 1);
  }

  marketIdOf(symbol: string): MarketId | undefined {
    return this.state.marketBySymbol.get(symbol);
  }

  markets(): readonly MarketView[] {
    return this.state.markets.map((market) => this.market(market.id));
  }

  market(id: MarketId): MarketView {
    const market = this.state.market(id);
    return {
      id,
      spec: market.spec,
      indexTicks: market.indexTicks,
      indexText: market.indexText,
      markTicks: market.markTicks,
      lastTicks: market.lastTicks,
      bestBid: market.book.best(1),
      bestAsk: market.book.best(-1),
      openInterestLots: market.openInterestLots,
      fundingRatePpb: market.fundingRatePpb,
      bookSeq: market.bookSeq,
    };
  }

  /**
   * The last 24 h: exact over the trades that are kept; what is older comes from whole minutes that start within
   * the 24 h.
   */
  summary(id: MarketId): SummaryView {
    const { trades, candles, spec } = this.state.market(id);
    const sinceUs = this.state.nowUs - DAY_US;
    const keptUs = trades.keptSinceUs;
    let volume = 0;
    let tickLots = 0n;
    let exactFromUs: number = sinceUs;
    if (keptUs !== null && keptUs > sinceUs) {
      // The minute in which the kept trades begin is counted from its candle, since its first trades may be gone.
      exactFromUs = Math.floor(keptUs / MINUTE_US) * MINUTE_US + MINUTE_US;
      const older = candles.sums(Math.ceil(sinceUs / MINUTE_US) * MINUTE_US, exactFromUs);
      volume += older.volumeLots;
      tickLots += older.tickLots;
    }
    for (let i = trades.size - 1; i >= 0 && trades.timeAt(i) >= exactFromUs; i--) {
      const size = Math.abs(trades.lotsAt(i));
      volume += size;
      tickLots += BigInt(size) * BigInt(trades.priceAt(i));
    }
    return {
      volumeLots: lots(volume),
      notionalQuanta: quanta(tickLots * BigInt(spec.quantaPerTickLot)),
      price24hAgoTicks: this.priceAt(id, sinceUs),
    };
  }

  /** Last trade at or before a time, else the first trade ever. */
  private priceAt(id: MarketId, atUs: number): PriceTicks | null {
    const { trades, candles } = this.state.market(id);
    const after = trades.firstFrom(timeUs(atUs + 1));
    if (after > 0) return trades.priceAt(after - 1);
    return candles.closeBefore(Math.max(0, atUs)) ?? candles.firstPrice;
  }

  depth(id: MarketId, side: Side, limit: number): LevelView[] {
    return this.state.market(id).book.depth(side === 'bid' ? 1 : -1, limit);
  }

  trades(
    id: MarketId,
    fromUs: TimeUs,
    toUs: TimeUs,
    limit: number,
    before = Infinity,
  ): Retained<TradeView> {
    const { trades } = this.state.market(id);
    const items: TradeView[] = [];
    const end = Math.min(trades.firstFrom(toUs), trades.firstWithId(before));
    for (let i = end - 1; i >= 0 && items.length < limit; i--) {
      if (trades.timeAt(i) < fromUs) break;
      items.push(trades.view(i, id));
    }
    return { items, keptSinceUs: trades.keptSinceUs };
  }

  candles(
    id: MarketId,
    intervalUs: number,
    fromUs: TimeUs,
    toUs: TimeUs,
    limit: number,
  ): Retained<CandleView> {
    const { candles } = this.state.market(id);
    return {
      items: candles.fold(intervalUs, fromUs, toUs, limit, this.state.nowUs),
      keptSinceUs: candles.keptSinceUs,
    };
  }

  accountIdOf(address: Address): AccountId | undefined {
    return this.state.accounts.find(address)?.id;
  }

  addressOf(id: AccountId): Address {
    return this.state.accounts.get(id).address;
  }

  selfTradeModeOf(id: AccountId): SelfTradeMode {
    return selfTradeModeOf(this.state, id);
  }

  subaccountIdOf(address: Address, index: number): SubaccountId | undefined {
    return this.state.accounts.findSubaccount(address, index)?.id;
  }

  subaccount(id: SubaccountId): SubaccountView {
    return viewSubaccount(this.state.subaccount(id));
  }

  get subaccountCount(): number {
    return this.state.accounts.subaccounts.length;
  }

  subaccountsOf(address: Address): SubaccountView[] {
    const account = this.state.accounts.find(address);
    if (account === undefined) return [];
    return [...account.subaccounts.values()]
      .map((id) => viewSubaccount(this.state.subaccount(id)))
      .sort((a, b) => a.index - b.index);
  }

  margin(id: SubaccountId): MarginView {
    const subaccount = this.state.subaccount(id);
    const figures = marginFigures(this.state, subaccount);
    return {
      balanceQuanta: subaccount.cash,
      crossEquityQuanta: quanta(figures.equity),
      accountValueQuanta: quanta(figures.equity + figures.isolatedEquity),
      upnlQuanta: quanta(figures.upnl),
      crossNotionalQuanta: quanta(figures.notional),
      crossInitialQuanta: quanta(figures.initial),
      initialRequirementQuanta: quanta(figures.initial + figures.isolatedInitial),
      maintenanceRequirementQuanta: quanta(figures.maintenance + figures.isolatedMaintenance),
      netDepositsQuanta: subaccount.netDeposits,
      withdrawableQuanta: quanta(
        subaccount.role === 'user' || subaccount.role === 'vault'
          ? withdrawable(this.state, subaccount)
          : maxBig(0n, subaccount.cash),
      ),
    };
  }

  positions(id: SubaccountId): PositionView[] {
    const subaccount = this.state.subaccount(id);
    const views: PositionView[] = [];
    for (const exposure of subaccount.exposures) {
      if (exposure === undefined || exposure.positionLots === 0) continue;
      const market = this.state.market(exposure.market);
      views.push({
        subaccount: id,
        market: exposure.market,
        lots: exposure.positionLots,
        costQuanta: exposure.costQuanta,
        upnlQuanta: quanta(market.markTicks === null ? 0n : upnlOf(exposure, market)),
        feesQuanta: exposure.feesQuanta,
        fundingQuanta: exposure.fundingQuanta,
        isolated: exposure.isolated,
        isolatedMarginQuanta: exposure.marginQuanta,
        liquidationTicks: liquidationPrice(this.state, exposure),
        updatedAtUs: exposure.updatedAtUs,
      });
    }
    return views;
  }

  holdersOf(id: MarketId): Iterable<SubaccountId> {
    return this.state.market(id).holders;
  }

  transfers(
    id: SubaccountId,
    fromUs: TimeUs,
    toUs: TimeUs,
    limit: number,
    upTo?: Moment,
  ): Retained<TransferView> {
    return newestOf(this.state.transfers, id, fromUs, toUs, limit, upTo);
  }

  vaultSnapshots(
    id: SubaccountId,
    fromUs: TimeUs,
    toUs: TimeUs,
    limit: number,
    upTo?: Moment,
  ): Retained<VaultSnapshotView> {
    return newestOf(this.state.vaultSnapshots, id, fromUs, toUs, limit, upTo);
  }

  marginSettings(id: SubaccountId): MarginSettingView[] {
    const { exposures } = this.state.subaccount(id);
    return this.state.markets.map((market) => {
      const exposure = exposures[market.id];
      return {
        market: market.id,
        isolated: exposure?.isolated ?? false,
        marginPpm: ppm(
          Math.max(exposure?.ownMarginPpm ?? 0, market.spec.tiers[0]?.initialMarginPpm ?? 0),
        ),
      };
    });
  }

  isolatedExcess(id: SubaccountId, market: MarketId): Quanta {
    const exposure = this.state.subaccount(id).exposures[market];
    if (exposure === undefined) return quanta(0n);
    return isolatedExcess(exposure, this.state.market(market));
  }

  signersOf(address: Address): SignersView {
    const account = this.state.accounts.find(address);
    if (account === undefined) return { signers: [address], quorum: 1 };
    return { signers: signersOf(account), quorum: account.quorum };
  }

  delegatesOf(address: Address): DelegateView[] {
    const delegates = this.state.accounts.find(address)?.delegates ?? [];
    return [...delegates]
      .sort(([a], [b]) => a - b)
      .flatMap(([subaccountIndex, granted]) =>
        granted.map((delegate) => ({ subaccountIndex, delegate })),
      );
  }

  isDelegate(account: Address, index: number, delegate: Address): boolean {
    const known = this.state.accounts.find(delegate);
    if (known === undefined) return false;
    return this.state.accounts.find(account)?.hasDelegate(index, known.id) === true;
  }

  order(id: OrderId): OrderView | undefined {
    const live = this.state.orders.slotOf(id);
    if (live !== NONE) return viewOrder(this.state.orders, live);
    const { endedOrders: ended } = this.state;
    const slot = ended.slotOf(id);
    return slot === NONE ? undefined : viewOrder(ended.page(slot), ended.rowOf(slot));
  }

  queueAhead(id: OrderId): Lots | null {
    const table = this.state.orders;
    const slot = table.slotOf(id);
    if (slot === NONE || !table.isResting(slot)) return null;
    let ahead = 0;
    for (let at = table.prev(slot); at !== NONE; at = table.prev(at)) ahead += table.left(at);
    return lots(ahead);
  }

  orderByClientId(
    account: AccountId,
    clientId: string,
    within: (index: number) => boolean = () => true,
  ): OrderView | undefined {
    const sees = (rows: OrderRows, row: number): boolean =>
      within(this.state.subaccount(rows.subaccount(row)).index);
    const owner = this.state.accounts.get(account);
    const anySubaccount = owner.subaccounts.values().next().value;
    if (anySubaccount === undefined) return undefined;
    const live = findClientId(this.state, this.state.subaccount(anySubaccount), clientId);
    if (live !== NONE && sees(this.state.orders, live)) return viewOrder(this.state.orders, live);
    const ended = this.state.endedOrders;
    for (let slot = owner.endedOrders.tail; slot !== NONE; slot = ended.prevOfOwner(slot)) {
      const page = ended.page(slot);
      const row = ended.rowOf(slot);
      if (page.clientIds.is(row, clientId) && sees(page, row)) return viewOrder(page, row);
    }
    return undefined;
  }

  openOrders(id: SubaccountId): OrderView[] {
    const table = this.state.orders;
    const views: OrderView[] = [];
    const list = this.state.subaccount(id).orders;
    for (let slot = list.head; slot !== NONE; slot = table.nextOfOwner(slot)) {
      views.push(viewOrder(table, slot));
    }
    return views;
  }

  findOrders(id: SubaccountId, filter: OrderFilter, limit: number, after?: OrderPlace): OrderList {
    const { orders: live, endedOrders: ended } = this.state;
    const subaccount = this.state.subaccount(id);
    const account = this.state.accounts.get(subaccount.account);
    const rows: RowFilter = {
      ...filter,
      subaccount: id,
      types: bitsOf(ORDER_TYPES, filter.types),
      statuses: bitsOf(ORDER_STATUSES, filter.statuses),
      timed:
        Math.max(filter.createdFromUs, filter.updatedFromUs) > 0 ||
        Math.min(filter.createdToUs, filter.updatedToUs) < Infinity,
    };
    const sinceUs = Math.max(filter.createdFromUs, filter.updatedFromUs);
    const follows = (table: OrderRows, slot: number): boolean => {
      if (after === undefined) return true;
      const later = after.updatedAtUs - table.updatedAtUs(slot);
      return later > 0 || (later === 0 && table.id(slot) < after.orderId);
    };
    const found: OrderView[] = [];
    let total = 0;
    for (let slot = subaccount.orders.head; slot !== NONE; slot = live.nextOfOwner(slot)) {
      if (!live.matches(slot, rows)) continue;
      total += 1;
      if (follows(live, slot)) found.push(viewOrder(live, slot));
    }
    // Ended orders are in the order of their last update: the newest `limit`, and those of the same instant as the last of them.
    const list = account.endedOrders;
    const byTags = !rows.timed && list.count * 3 > ended.rows;
    const most = byTags ? ended.countMatches(rows) : Infinity;
    let seen = 0;
    let taken = 0;
    let lastUs = 0;
    let slot = most === 0 ? NONE : list.tail;
    for (; slot !== NONE; slot = ended.prevOfOwner(slot)) {
      const page = ended.page(slot);
      const row = ended.rowOf(slot);
      // An order is created before it is updated, so all that follow are too old.
      if (sinceUs > 0 && page.updatedAtUs(row) < sinceUs) break;
      if (!page.matches(row, rows)) continue;
      if (follows(page, row)) {
        if (taken < limit || page.updatedAtUs(row) === lastUs) {
          lastUs = page.updatedAtUs(row);
          found.push(viewOrder(page, row));
          taken += 1;
        } else if (byTags) break;
      }
      seen += 1;
      if (seen === most) break;
    }
    total += byTags ? most : seen;
    found.sort((a, b) => b.updatedAtUs - a.updatedAtUs || b.orderId - a.orderId);
    const keptSinceUs =
      account.endedOrdersCut && list.head !== NONE
        ? ended.page(list.head).updatedAtUs(ended.rowOf(list.head))
        : null;
    return { items: found.slice(0, limit), total, keptSinceUs };
  }

  checkOrderNonce(id: SubaccountId, delegate: AccountId | null, nonce: bigint): Outcome | null {
    return this.state.subaccount(id).orderNonces.check(delegate, nonce);
  }

  checkAccountNonce(id: AccountId, delegate: AccountId | null, nonce: bigint): Outcome | null {
    return this.state.accounts.get(id).nonces.check(delegate, nonce);
  }

  clientIdInUse(id: AccountId, clientId: string): boolean {
    const account = this.state.accounts.get(id);
    const first = account.subaccounts.values().next().value;
    if (first === undefined) return false;
    return findClientId(this.state, this.state.subaccount(first), clientId) !== NONE;
  }
}

/** Entries of a subaccount in [fromUs, toUs) and not after `upTo`, the newest `limit`, newest first. */
function newestOf<T extends Dated & Moment>(
  recent: Recent<T>,
  id: SubaccountId,
  fromUs: TimeUs,
  toUs: TimeUs,
  limit: number,
  upTo?: Moment,
): Retained<T> {
  const items: T[] = [];
  for (const entry of recent.of(id).toReversed()) {
    if (items.length === limit || entry.timeUs < fromUs) break;
    if (entry.timeUs >= toUs || (upTo !== undefined && isAfter(entry, upTo))) continue;
    items.push(entry);
  }
  return { items, keptSinceUs: recent.keptSinceUs(id) };
}

function isAfter(a: Moment, b: Moment): boolean {
  return a.timeUs > b.timeUs || (a.timeUs === b.timeUs && a.seq > b.seq);
}

/** Words as bits of their places; all of them when none are asked for. */
function bitsOf<T extends string>(words: readonly T[], asked: readonly T[] | null): number {
  return (asked ?? words).reduce((bits, word) => bits | (1 << words.indexOf(word)), 0);
}

function viewSubaccount(subaccount: Subaccount): SubaccountView {
  return {
    id: subaccount.id,
    account: subaccount.account,
    index: subaccount.index,
    balanceQuanta: subaccount.cash,
    updatedAtUs: subaccount.updatedAtUs,
    system: subaccount.role !== 'user',
  };
}

function viewOrder(table: OrderRows, slot: number): OrderView {
  const special = table.special(slot);
  return {
    orderId: table.id(slot),
    subaccount: table.subaccount(slot),
    market: table.market(slot),
    orderType: table.orderType(slot),
    status: table.status(slot),
    reason: table.reason(slot),
    lots: table.lots(slot),
    settledLots: table.settled(slot),
    remainingLots: table.remaining(slot),
    priceTicks: table.price(slot),
    ioc: table.isIoc(slot),
    postOnly: table.isPostOnly(slot),
    reduceOnly: table.isReduceOnly(slot),
    nonce: table.nonce(slot),
    expiresAtMs: table.expiresAtMs(slot),
    delegate: table.delegate(slot),
    clientId: table.clientId(slot),
    originator: table.originator(slot),
    originatorFeePpm: table.originatorFeePpm(slot),
    triggerTicks: special?.triggerTicks ?? null,
    trailingPpm: special?.trailingPpm ?? null,
    periodMs: special?.periodMs ?? null,
    attached: special?.attached ?? 'no',
    group: special?.group ?? null,
    sibling: special?.sibling ?? null,
    parent: special?.parent ?? null,
    createdAtUs: table.createdAtUs(slot),
    updatedAtUs: table.updatedAtUs(slot),
    lastUpdateSeq: table.lastUpdateSeq(slot),
  };
}
