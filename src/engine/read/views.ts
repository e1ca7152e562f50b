/** Views: read access to an exchange between commands. Plain copies or iterators; not hashed. */
import type { BookMark } from '../book/changed-prices.ts';
import type { ExchangeConfig, MarketSpec, MarketStatus, SelfTradeMode } from '../config.ts';
import type {
  Command,
  CommandKind,
  OrderTerms,
  OrderType,
  PlaceOrders,
  Side,
} from '../commands.ts';
import type { EventSink, LedgerReason } from '../events.ts';
import type { Attached, OrderRef } from '../orders/conditional.ts';
import type { EndReason, Outcome, Refusal } from '../refusals.ts';
import type {
  AccountId,
  Address,
  Lots,
  MarketId,
  OrderId,
  Ppb,
  Ppm,
  PriceTicks,
  Quanta,
  Seq,
  SubaccountId,
  TimeUs,
  TradeId,
} from '../../num/units.ts';

export type OrderStatus =
  'new' | 'partiallyFilled' | 'filled' | 'pending' | 'cancelled' | 'expired' | 'rejected';

/** An order as in the contract's order record, in engine units. */
export interface OrderView extends OrderTerms {
  readonly orderId: OrderId;
  readonly status: OrderStatus;
  readonly reason: EndReason | null;
  /** Signed, as `lots`: lots = settledLots + remainingLots in every state. */
  readonly settledLots: Lots;
  readonly remainingLots: Lots;
  /** Fires a take-profit or stop-loss, activates a trailing stop. */
  readonly triggerTicks: PriceTicks | null;
  /** Of a trailing stop, in 1e-6. */
  readonly trailingPpm: number | null;
  readonly periodMs: bigint | null;
  /** Role in which one submit attached it to its parent, whose nonce it shares. */
  readonly attached: Attached;
  /** First order of its batch, its pair's other leg, and its parent; possibly not retained. */
  readonly group: OrderRef | null;
  readonly sibling: OrderRef | null;
  readonly parent: OrderRef | null;
  readonly createdAtUs: TimeUs;
  readonly updatedAtUs: TimeUs;
  readonly lastUpdateSeq: Seq;
}

/** A filter of orders; null is any. Times are half-open: from inclusive, to exclusive. */
export interface OrderFilter {
  readonly types: readonly OrderType[] | null;
  readonly statuses: readonly OrderStatus[] | null;
  readonly market: MarketId | null;
  readonly createdFromUs: number;
  readonly createdToUs: number;
  readonly updatedFromUs: number;
  readonly updatedToUs: number;
}

/** Cursor into a list of orders: later entries are older, or equally old with a smaller id. */
export interface OrderPlace {
  readonly updatedAtUs: number;
  readonly orderId: number;
}

/** Newest update first, then newest order; `total` counts all matches. */
export interface OrderList extends Retained<OrderView> {
  readonly total: number;
}

export interface PositionView {
  readonly subaccount: SubaccountId;
  readonly market: MarketId;
  readonly lots: Lots;
  /** Signed: positive for a long. uPnL = lots × mark × quantaPerTickLot − cost. */
  readonly costQuanta: Quanta;
  readonly upnlQuanta: Quanta;
  /** Sum over the lifetime of the position; 0n when it closes. */
  readonly feesQuanta: Quanta;
  /** Net funding received by the open part; a closed part's is in its fill. */
  readonly fundingQuanta: Quanta;
  readonly isolated: boolean;
  /** Margin held by an isolated position; 0n when cross. */
  readonly isolatedMarginQuanta: Quanta;
  /** Nearest mark at which the unit is below maintenance, other marks fixed; null if none. */
  readonly liquidationTicks: PriceTicks | null;
  readonly updatedAtUs: TimeUs;
}

/** The figures behind `GET /account/stats`, in Quanta. */
export interface MarginView {
  readonly balanceQuanta: Quanta;
  readonly crossEquityQuanta: Quanta;
  readonly accountValueQuanta: Quanta;
  readonly upnlQuanta: Quanta;
  /** Σ |position| × mark over cross positions. */
  readonly crossNotionalQuanta: Quanta;
  /** Requirement of cross positions and open orders, plus cash reserved in isolated markets. */
  readonly crossInitialQuanta: Quanta;
  /** With isolated positions. */
  readonly initialRequirementQuanta: Quanta;
  readonly maintenanceRequirementQuanta: Quanta;
  /** Collateral for opening: without frozen gains, less the haircut. */
  readonly freeCollateralCrossQuanta: Quanta;
  /** With isolated positions. */
  readonly freeCollateralQuanta: Quanta;
  readonly netDepositsQuanta: Quanta;
  /** */
  readonly withdrawableQuanta: Quanta;
}

export interface SubaccountView {
  readonly id: SubaccountId;
  readonly account: AccountId;
  readonly index: number;
  readonly balanceQuanta: Quanta;
  readonly updatedAtUs: TimeUs;
  /** True for the tape's makers and takers, the vault, insurance and treasury. */
  readonly system: boolean;
}

/** Ages that a reader accepts of rankings of up to 100 holders of a side, and of more; in µs. */
export interface RankingAges {
  readonly smallUs: number;
  readonly largeUs: number;
}

/** A level with its present size; 0 if nothing rests there. */
export interface ChangedLevel extends LevelView {
  readonly side: Side;
}

export interface BookChanges {
  readonly mark: BookMark;
  /** Each once, in no order; null if not all are known: then the whole book is to be read. */
  readonly levels: readonly ChangedLevel[] | null;
}

export interface LevelView {
  readonly priceTicks: PriceTicks;
  readonly lots: Lots;
}

export interface MarketView {
  readonly id: MarketId;
  readonly spec: MarketSpec;
  readonly indexTicks: PriceTicks | null;
  /** The oracle's price as sent; null if the index has another source. */
  readonly indexText: string | null;
  /** When the index last had a price; null before the first. */
  readonly indexAtUs: TimeUs | null;
  /** True if that is longer ago than `config.indexStaleUs`; the book's own mid is never stale. */
  readonly indexStale: boolean;
  readonly markTicks: PriceTicks | null;
  readonly lastTicks: PriceTicks | null;
  readonly bestBid: LevelView | null;
  readonly bestAsk: LevelView | null;
  /** Σ of long lots. */
  readonly openInterestLots: Lots;
  /** Funding rate in force per interval, 1e-9. */
  readonly fundingRatePpb: Ppb;
  /** Sequence number of the last command that changed the book. */
  readonly bookSeq: Seq;
  readonly status: MarketStatus;
  /** Limit of open interest in force. */
  readonly openInterestCapLots: Lots;
  /** Start of the freeze (R-5.3b); null if not frozen. */
  readonly frozenSinceUs: TimeUs | null;
  /** Announced terms and their effective time; null without any. */
  readonly nextSpec: MarketSpec | null;
  readonly nextSpecUs: TimeUs | null;
}

/** Current composition of a mark, before its recomputation. Unused parts are null. */
export interface MarkCompositionView {
  readonly indexTicks: PriceTicks | null;
  /** Index + EMA of the basis. */
  readonly smoothedTicks: PriceTicks | null;
  /** Last price clipped to the impact prices; unclipped for source `last`. */
  readonly lastTicks: PriceTicks | null;
  /** Rounded outward; null if a side is too thin for the impact notional. */
  readonly impactBidTicks: PriceTicks | null;
  readonly impactAskTicks: PriceTicks | null;
  /** Bounds of the mark. */
  readonly lowestTicks: PriceTicks | null;
  readonly highestTicks: PriceTicks | null;
}

/** Outlook of the next funding settlement. */
export interface FundingOutlookView {
  /** End of the current interval; null with recorded rates and in a delisted market. */
  readonly nextUs: TimeUs | null;
  /** Rate of the mean of the samples so far, whatever their number; null without any. */
  readonly indicativePpb: Ppb | null;
  /** Samples so far; below half of an interval's count the rate will be 0. */
  readonly samples: number;
}

/** Funds behind the exchange's liabilities (§6, §8). */
export interface FundsView {
  /** At most 0. */
  readonly shortfallQuanta: Quanta;
  /** When the shortfall began; null while there is none. */
  readonly shortfallSinceUs: TimeUs | null;
  readonly insuranceQuanta: Quanta;
  /** Remaining insurance payments in this UTC hour, over all markets. */
  readonly insuranceAllowanceQuanta: Quanta;
  /** Net asset value of the vault for redemptions. */
  readonly vaultValueQuanta: Quanta;
  /** In 1e-6. */
  readonly vaultShares: bigint;
}

/** 24-hour figures of `GET /summary` at the exchange's current time. */
export interface SummaryView {
  /** In lots; a bigint, since the sum may exceed 2^53. */
  readonly volumeLots: bigint;
  /** Σ price × size in Quanta. */
  readonly notionalQuanta: Quanta;
  readonly price24hAgoTicks: PriceTicks | null;
}

export interface TradeView {
  readonly tradeId: TradeId;
  readonly market: MarketId;
  readonly priceTicks: PriceTicks;
  /** Signed by the taker's side. */
  readonly lots: Lots;
  readonly timeUs: TimeUs;
}

export interface CandleView {
  /** Start of the bucket. */
  readonly timeUs: TimeUs;
  readonly openTicks: PriceTicks;
  readonly highTicks: PriceTicks;
  readonly lowTicks: PriceTicks;
  readonly closeTicks: PriceTicks;
  /** In lots; a bigint, since the sum may exceed 2^53. */
  readonly volumeLots: bigint;
  readonly fundingRatePpb: Ppb;
}

/**
 * One side of one movement of money; the counterparty is null for deposits and withdrawals.
 */
export interface TransferView {
  readonly subaccount: SubaccountId;
  readonly reason: Extract<
    LedgerReason,
    'deposit' | 'withdrawal' | 'transferIn' | 'transferOut' | 'clsDeposit' | 'clsWithdrawal'
  >;
  readonly amountQuanta: Quanta;
  readonly counterparty: SubaccountId | null;
  readonly market: MarketId | null;
  readonly timeUs: TimeUs;
  readonly seq: Seq;
}

/** A holder's vault shares at one time. */
export interface VaultSnapshotView {
  readonly subaccount: SubaccountId;
  /** In 1e-6. */
  readonly shares: bigint;
  /** Paid in less paid out. */
  readonly netDepositsQuanta: Quanta;
  /** Redemption value of the shares at that time. */
  readonly valueQuanta: Quanta;
  readonly lockupEndsAtUs: TimeUs;
  readonly timeUs: TimeUs;
  readonly seq: Seq;
}

/** An account's own setting in a market. */
export interface MarginSettingView {
  readonly market: MarketId;
  readonly isolated: boolean;
  /** The account's own initial rate, or the market's if it has none. */
  readonly marginPpm: Ppm;
}

export interface DelegateView {
  readonly subaccountIndex: number;
  readonly delegate: AccountId;
}

export interface SignersView {
  readonly signers: readonly Address[];
  readonly quorum: number;
}

/** Time and command of a recorded entry. */
export interface Moment {
  readonly timeUs: number;
  readonly seq: number;
}

/** Result of a read that may reach beyond retention: it is cut at this time. */
export interface Retained<T> {
  readonly items: readonly T[];
  /** null if nothing was dropped. */
  readonly keptSinceUs: TimeUs | null;
}

/** An accepted command of the operator. Ids and amounts are null if the kind has none. */
export interface OperatorEntry {
  readonly seq: Seq;
  readonly timeUs: TimeUs;
  readonly kind: OperatorKind;
  readonly market: MarketId | null;
  readonly subaccount: SubaccountId | null;
  readonly amountQuanta: Quanta | null;
  /**
   * The status set, the price of a delisting in ticks, or the reference of a deposit or withdrawal;
   * empty for others.
   */
  readonly detail: string;
}

export type OperatorKind = Extract<
  CommandKind,
  'listMarket' | 'setMarketTerms' | 'setMarketStatus' | 'delistMarket' | 'deposit' | 'withdraw'
>;

export interface ExchangeView {
  readonly config: ExchangeConfig;
  /** Commands applied so far. */
  readonly seq: Seq;
  readonly nowUs: TimeUs;
  /** Id of the newest order; 0 before the first. */
  readonly lastOrderId: OrderId;

  marketIdOf(symbol: string): MarketId | undefined;
  markets(): readonly MarketView[];
  market(id: MarketId): MarketView;
  summary(id: MarketId): SummaryView;
  markComposition(id: MarketId): MarkCompositionView;
  fundingOutlook(id: MarketId): FundingOutlookView;
  funds(): FundsView;
  /** Accepted commands of the operator, oldest first. */
  operatorLog(): readonly OperatorEntry[];
  /** Best first, at most `limit` levels. */
  depth(id: MarketId, side: Side, limit: number): LevelView[];
  /**
   * The same in levels of `ticks` ticks. Bids round down, asks up, so none shows a better price.
   */
  groupedDepth(id: MarketId, side: Side, ticks: number, limit: number): LevelView[];
  levelCount(id: MarketId, side: Side): number;
  /** Differences since the mark of an earlier call. The first call begins the record. */
  bookChanges(id: MarketId, since: BookMark | null): BookChanges;
  /** Newest first; fromUs inclusive, toUs exclusive; only trades before `before` if given. */
  trades(
    id: MarketId,
    fromUs: TimeUs,
    toUs: TimeUs,
    limit: number,
    before?: number,
  ): Retained<TradeView>;
  /** Ascending, the newest `limit`; intervalUs a multiple of a minute. */
  candles(
    id: MarketId,
    intervalUs: number,
    fromUs: TimeUs,
    toUs: TimeUs,
    limit: number,
  ): Retained<CandleView>;

  accountIdOf(address: Address): AccountId | undefined;
  addressOf(id: AccountId): Address;
  selfTradeModeOf(id: AccountId): SelfTradeMode;
  /** undefined if that pair was never credited. */
  subaccountIdOf(address: Address, index: number): SubaccountId | undefined;
  subaccount(id: SubaccountId): SubaccountView;
  /** Number of subaccounts; their ids are 0 to n − 1. */
  readonly subaccountCount: number;
  /** Whether the account was ever credited. */
  hasSubaccounts(address: Address): boolean;
  /** Subaccounts of an account in ascending index. */
  subaccountsOf(address: Address): SubaccountView[];
  margin(id: SubaccountId): MarginView;
  /** Signed; 0 without a position. */
  positionLots(id: SubaccountId, market: MarketId): number;
  /** Open positions in ascending market id. */
  positions(id: SubaccountId): PositionView[];
  /** ADL quintile: 5 is closed first, null without position or mark. */
  adlQuantile(id: SubaccountId, market: MarketId, ages?: RankingAges): number | null;
  /** Share of the shortfall that a withdrawal of this amount would bear. */
  shortfallPart(id: SubaccountId, amount: Quanta): Quanta;
  /** Newest first; fromUs inclusive, toUs exclusive, nothing after the moment `upTo`. */
  transfers(
    id: SubaccountId,
    fromUs: TimeUs,
    toUs: TimeUs,
    limit: number,
    upTo?: Moment,
  ): Retained<TransferView>;

  /** By market id. */
  marginSettings(id: SubaccountId): MarginSettingView[];
  /** Withdrawable margin of the subaccount's isolated position in a market. */
  isolatedExcess(id: SubaccountId, market: MarketId): Quanta;
  /** Newest first; fromUs inclusive, toUs exclusive, nothing after the moment `upTo`. */
  vaultSnapshots(
    id: SubaccountId,
    fromUs: TimeUs,
    toUs: TimeUs,
    limit: number,
    upTo?: Moment,
  ): Retained<VaultSnapshotView>;

  /** Subaccounts with a position in a market, in ascending id. */
  holdersOf(id: MarketId): Iterable<SubaccountId>;

  /** The signer set in force; an unknown address signs for itself. */
  signersOf(address: Address): SignersView;
  /** Of one account, by subaccount index, then in order of grant. */
  delegatesOf(address: Address): DelegateView[];
  /** Whether this address may act for that subaccount now. */
  isDelegate(account: Address, index: number, delegate: Address): boolean;

  /** A live or retained order. */
  order(id: OrderId): OrderView | undefined;
  /** Whether `order` has it. */
  hasOrder(id: OrderId): boolean;
  /**
   * Lots ahead of a resting order at its price, users' and the tape's; null if it does not rest.
   */
  queueAhead(id: OrderId): Lots | null;
  /**
   * Lots that users took and recorded history stated again, ever, and how many times it did so at a
   * level.
   */
  divergence(id: MarketId): { readonly lots: number; readonly levels: number };
  /** The newest order with this clientId, in the subaccounts that pass `within`. */
  orderByClientId(
    account: AccountId,
    clientId: string,
    within?: (index: number) => boolean,
  ): OrderView | undefined;
  /** The live order with this clientId, in any subaccount. */
  liveOrderByClientId(account: AccountId, clientId: string): OrderView | undefined;
  /** Live orders of a subaccount in ascending order id. */
  openOrders(id: SubaccountId): OrderView[];
  /** Live and retained orders that match, at most `limit` after the cursor `after`. */
  findOrders(id: SubaccountId, filter: OrderFilter, limit: number, after?: OrderPlace): OrderList;

  /** Refusal by account or market; values off the market's grid are fractions. */
  requestRefusal(command: PlaceOrders): Refusal | null;
  /** Refusal of this nonce for an account request, or null. */
  checkAccountNonce(id: AccountId, delegate: AccountId | null, nonce: bigint): Refusal | null;
  /** The same for a margin ratio. */
  checkMarginRatio(market: MarketId, marginPpm: number): Refusal | null;
}

/** The state machine as seen by its drivers; `Exchange` implements it. */
export interface Engine extends ExchangeView {
  /**
   * Runs due timers, then the command. Returns `ok`, or a refusal, which changes nothing but the
   * time. Throws `InvariantError` on a broken invariant, and if the command is earlier than now.
   */
  apply(command: Command, emit?: EventSink): Outcome;
  /** Time of the next timer; Infinity without one. */
  nextTimerUs(): number;
  /** 32 hex digits over every command and event so far. */
  chainHash(): string;
  /** 64 hex digits: SHA-256 of the live state, without seq, chain hash and history. */
  stateHash(): string;
  /** The whole exchange, history included, in canonical bytes. */
  snapshot(): Uint8Array;
  /** An independent copy: restore(snapshot()). */
  fork(): Engine;
  /** The named invariants that are violated; empty if none. */
  checkInvariants(): readonly InvariantViolation[];
  /** The solvency invariants alone (R-1.6a and its premises): one pass over accounts. */
  checkSolvency(): readonly InvariantViolation[];
}

/** A violated invariant. */
export interface InvariantViolation {
  readonly invariant: string;
  /** The rule ids covered, such as `R-1.6`. */
  readonly rule: string;
  /** The invariant as a sentence. */
  readonly says: string;
  /** The violation, with its numbers. */
  readonly detail: string;
}
