/** Reads of an exchange's state (`ExchangeView`): plain values, computed on demand. */
import { floorTo, maxBig } from '../../num/arithmetic.ts';
import { ExactSum } from '../../num/exact-sum.ts';
import {
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
} from '../../num/units.ts';
import { signersOf } from '../accounts/authority.ts';
import { shareOfWithdrawal } from '../liquidation/shortfall-share.ts';
import type { Dated, Recent } from '../accounts/recent.ts';
import type { Subaccount } from '../accounts/subaccount.ts';
import type { ExchangeConfig, SelfTradeMode } from '../config.ts';
import type { PlaceOrders, Side } from '../commands.ts';
import { hasFreshIndex } from '../pricing/freshness.ts';
import type { BookMark } from '../book/changed-prices.ts';
import { bookChanges } from './book-changes.ts';
import { fundingOutlook, fundsOf, markComposition } from './market-reader.ts';
import { MINUTE_US } from '../market/candles.ts';
import {
  findOrders,
  hasOrder,
  openOrders,
  liveOrderByClientId,
  orderByClientId,
  orderOf,
  queueAhead,
} from './order-reader.ts';
import { orderRefusal } from '../orders/order-refusal.ts';
import { selfTradeModeOf } from '../orders/self-trade.ts';
import type { Refusal } from '../refusals.ts';
import { AdlRanks, RANKED_NOW } from '../liquidation/adl-ranks.ts';
import { liquidationPrice } from '../margin/liquidation-price.ts';
import { ratioRefusal } from '../margin/margin-mode.ts';
import { isolatedExcess, marginFigures, withdrawable } from '../margin/margin.ts';
import { upnlOf } from '../margin/requirement.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type {
  BookChanges,
  CandleView,
  DelegateView,
  ExchangeView,
  FundingOutlookView,
  FundsView,
  LevelView,
  MarginSettingView,
  MarginView,
  MarkCompositionView,
  MarketView,
  Moment,
  OperatorEntry,
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
  protected readonly state: ExchangeState;
  /** Cached rankings for reads at the same sequence number; not part of the state. */
  private readonly adlRanks = new AdlRanks();

  constructor(state: ExchangeState) {
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

  /** Open orders and subaccounts, with which the size of a live snapshot grows. */
  get liveRows(): number {
    return this.state.orders.size + this.state.accounts.subaccounts.length;
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
      indexAtUs: market.indexTicks === null ? null : market.indexAtUs,
      indexStale: market.indexTicks !== null && !hasFreshIndex(this.state, market),
      markTicks: market.markTicks,
      lastTicks: market.lastTicks,
      bestBid: market.book.best(1),
      bestAsk: market.book.best(-1),
      openInterestLots: market.openInterestLots,
      fundingRatePpb: market.fundingRatePpb,
      bookSeq: market.bookSeq,
      status: market.status,
      openInterestCapLots: market.openInterestCapLots,
      frozenSinceUs: market.frozen ? market.frozenSinceUs : null,
      nextSpec: market.nextSpec,
      nextSpecUs: market.nextSpec === null ? null : timeUs(market.termsDueUs),
    };
  }

  /** The last 24 h (D-16): from candles, and from single trades for the partial first minute. */
  summary(id: MarketId): SummaryView {
    const { trades, candles, spec } = this.state.market(id);
    const sinceUs = this.state.nowUs - DAY_US;
    const wholeUs = candles.wholeFrom(sinceUs);
    const minutes = candles.sums(wholeUs);
    const volume = new ExactSum();
    let { tickLots } = minutes;
    for (let i = trades.firstFrom(timeUs(sinceUs)); i < trades.size; i++) {
      if (trades.timeAt(i) >= wholeUs) break;
      const size = Math.abs(trades.lotsAt(i));
      volume.add(size);
      tickLots += BigInt(size) * BigInt(trades.priceAt(i));
    }
    return {
      volumeLots: minutes.volumeLots + volume.total,
      notionalQuanta: quanta(tickLots * BigInt(spec.quantaPerTickLot)),
      price24hAgoTicks: this.priceAt(id, sinceUs),
    };
  }

  /** Last price at or before a time, bars by their minute; otherwise the first price. */
  private priceAt(id: MarketId, atUs: number): PriceTicks | null {
    const { trades, candles } = this.state.market(id);
    const after = trades.firstFrom(timeUs(atUs + 1));
    const traded = after === 0 ? null : trades.priceAt(after - 1);
    if (traded !== null && trades.timeAt(after - 1) >= floorTo(atUs, MINUTE_US)) return traded;
    return candles.closeBefore(Math.max(0, atUs)) ?? traded ?? candles.firstPrice;
  }

  /**
   * Best bid + best ask that history states, in half ticks, while a user's order holds its levels
   * away (decision 0143); null if the book has them.
   */
  statedHalfTicks(id: MarketId): number | null {
    return this.state.market(id).tape.statedHalfTicks;
  }

  markComposition(id: MarketId): MarkCompositionView {
    return markComposition(this.state, this.state.market(id));
  }

  fundingOutlook(id: MarketId): FundingOutlookView {
    return fundingOutlook(this.state, this.state.market(id));
  }

  funds(): FundsView {
    return fundsOf(this.state);
  }

  operatorLog(): readonly OperatorEntry[] {
    return this.state.operatorLog;
  }

  depth(id: MarketId, side: Side, limit: number): LevelView[] {
    return this.state.market(id).book.depth(side === 'bid' ? 1 : -1, limit);
  }

  groupedDepth(id: MarketId, side: Side, ticks: number, limit: number): LevelView[] {
    return this.state.market(id).book.grouped(side === 'bid' ? 1 : -1, ticks, limit);
  }

  levelCount(id: MarketId, side: Side): number {
    return this.state.market(id).book.levelCount(side === 'bid' ? 1 : -1);
  }

  bookChanges(id: MarketId, since: BookMark | null): BookChanges {
    return bookChanges(this.state.market(id).book, since);
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

  hasSubaccounts(address: Address): boolean {
    return (this.state.accounts.find(address)?.subaccounts.size ?? 0) > 0;
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
    const freeCross = figures.admissionEquity - figures.initial - figures.haircut;
    return {
      balanceQuanta: subaccount.cash,
      crossEquityQuanta: quanta(figures.equity),
      accountValueQuanta: quanta(figures.equity + figures.isolatedEquity),
      upnlQuanta: quanta(figures.upnl),
      crossNotionalQuanta: quanta(figures.notional),
      crossInitialQuanta: quanta(figures.initial),
      initialRequirementQuanta: quanta(figures.initial + figures.isolatedInitial),
      maintenanceRequirementQuanta: quanta(figures.maintenance + figures.isolatedMaintenance),
      freeCollateralCrossQuanta: quanta(freeCross),
      freeCollateralQuanta: quanta(
        freeCross + figures.isolatedAdmissionEquity - figures.isolatedInitial,
      ),
      netDepositsQuanta: subaccount.netDeposits,
      withdrawableQuanta: quanta(
        subaccount.role === 'user' || subaccount.role === 'vault'
          ? withdrawable(this.state, subaccount)
          : maxBig(0n, subaccount.cash),
      ),
    };
  }

  positionLots(id: SubaccountId, market: MarketId): number {
    return this.state.subaccount(id).exposures[market]?.positionLots ?? 0;
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

  adlQuantile(id: SubaccountId, market: MarketId, ages = RANKED_NOW): number | null {
    return this.adlRanks.quantile(this.state, id, this.state.market(market), ages);
  }

  shortfallPart(id: SubaccountId, amount: Quanta): Quanta {
    return shareOfWithdrawal(this.state, this.state.subaccount(id), amount).share;
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
    return newestOf(this.state.transfers, id, { fromUs, toUs, limit, upTo });
  }

  vaultSnapshots(
    id: SubaccountId,
    fromUs: TimeUs,
    toUs: TimeUs,
    limit: number,
    upTo?: Moment,
  ): Retained<VaultSnapshotView> {
    return newestOf(this.state.vaultSnapshots, id, { fromUs, toUs, limit, upTo });
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
    return isolatedExcess(this.state.subaccount(id), exposure, this.state.market(market));
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
    return orderOf(this.state, id);
  }

  hasOrder(id: OrderId): boolean {
    return hasOrder(this.state, id);
  }

  divergence(id: MarketId): { readonly lots: number; readonly levels: number } {
    const { divergedLots, divergedLevels } = this.state.market(id).tape;
    return { lots: divergedLots, levels: divergedLevels };
  }

  queueAhead(id: OrderId): Lots | null {
    return queueAhead(this.state, id);
  }

  orderByClientId(
    account: AccountId,
    clientId: string,
    within: (index: number) => boolean = () => true,
  ): OrderView | undefined {
    return orderByClientId(this.state, account, clientId, within);
  }

  liveOrderByClientId(account: AccountId, clientId: string): OrderView | undefined {
    return liveOrderByClientId(this.state, account, clientId);
  }

  openOrders(id: SubaccountId): OrderView[] {
    return openOrders(this.state, id);
  }

  findOrders(id: SubaccountId, filter: OrderFilter, limit: number, after?: OrderPlace): OrderList {
    return findOrders(this.state, id, filter, limit, after);
  }

  requestRefusal(command: PlaceOrders): Refusal | null {
    const nowUs = timeUs(Math.max(command.timeUs, this.nowUs));
    return orderRefusal(this.state, command, 'request', { nowUs });
  }

  checkAccountNonce(id: AccountId, delegate: AccountId | null, nonce: bigint): Refusal | null {
    return this.state.accounts.get(id).nonces.check(delegate, nonce);
  }

  checkMarginRatio(market: MarketId, marginPpm: number): Refusal | null {
    return ratioRefusal(this.state.market(market), marginPpm);
  }
}

interface Page {
  readonly fromUs: TimeUs;
  readonly toUs: TimeUs;
  readonly limit: number;
  readonly upTo: Moment | undefined;
}

/**
 * Entries of a subaccount in [fromUs, toUs) and not after `upTo`: the newest `limit`, newest first.
 */
function newestOf<T extends Dated & Moment>(
  recent: Recent<T>,
  id: SubaccountId,
  { fromUs, toUs, limit, upTo }: Page,
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
