/**
 * What may be read from an exchange between commands. Views are plain values copied out of state, or iterators over
 * it; they never change it, and they are not part of any hash. Units as in `num/units`.
 */
import type { ExchangeConfig, MarketSpec, MarketStatus, SelfTradeMode } from '../config.ts';
import type { Command, CommandKind, OrderType, Side } from '../commands.ts';
import type { EventSink, LedgerReason } from '../events.ts';
import type { Attached, OrderRef } from '../orders/conditional.ts';
import type { EndReason, Outcome } from '../refusals.ts';
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

/** An order as the contract's order record shows it, in engine units. */
export interface OrderView {
  readonly orderId: OrderId;
  readonly subaccount: SubaccountId;
  readonly market: MarketId;
  readonly orderType: OrderType;
  readonly status: OrderStatus;
  readonly reason: EndReason | null;
  /** Signed; lots = settledLots + remainingLots in every state. */
  readonly lots: Lots;
  readonly settledLots: Lots;
  readonly remainingLots: Lots;
  readonly priceTicks: PriceTicks;
  readonly ioc: boolean;
  readonly postOnly: boolean;
  readonly reduceOnly: boolean;
  readonly nonce: bigint;
  readonly expiresAtMs: bigint;
  readonly delegate: AccountId | null;
  readonly clientId: string | null;
  readonly originator: Address | null;
  readonly originatorFeePpm: Ppm;
  /** Fires a take-profit or stop-loss, activates a trailing stop. */
  readonly triggerTicks: PriceTicks | null;
  /** Of a trailing stop, in 1e-6. */
  readonly trailingPpm: number | null;
  readonly periodMs: bigint | null;
  /** As what it was attached to its parent by one submit, whose nonce it shares. */
  readonly attached: Attached;
  /** First order of its batch, the other leg of its pair, and its parent: references may be to orders that are gone. */
  readonly group: OrderRef | null;
  readonly sibling: OrderRef | null;
  readonly parent: OrderRef | null;
  readonly createdAtUs: TimeUs;
  readonly updatedAtUs: TimeUs;
  readonly lastUpdateSeq: Seq;
}

/** Which orders a reader asks for; null is any, times are from inclusive to exclusive. */
export interface OrderFilter {
  readonly types: readonly OrderType[] | null;
  readonly statuses: readonly OrderStatus[] | null;
  readonly market: MarketId | null;
  readonly createdFromUs: number;
  readonly createdToUs: number;
  readonly updatedFromUs: number;
  readonly updatedToUs: number;
}

/** Where a list of orders was left: what follows is older, or as old with a smaller id. */
export interface OrderPlace {
  readonly updatedAtUs: number;
  readonly orderId: number;
}

/** Newest update first, then newest order; `total` counts what matches beyond `items`, too. */
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
  /** Sum over the life of the position; 0n when it closes. */
  readonly feesQuanta: Quanta;
  /** Received less paid, of what is open; a closed part's is in its fill. */
  readonly fundingQuanta: Quanta;
  readonly isolated: boolean;
  /** Margin held by an isolated position; 0n when cross. */
  readonly isolatedMarginQuanta: Quanta;
  /**
   * The mark nearest to today's at which the subaccount would be below maintenance, other marks held fixed; null when
   * no price does that. Today's mark when it already is.
   */
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
  /** Of cross positions and open orders, and what orders of isolated markets hold. */
  readonly crossInitialQuanta: Quanta;
  /** With isolated positions. */
  readonly initialRequirementQuanta: Quanta;
  readonly maintenanceRequirementQuanta: Quanta;
  /** What may be used to open: without gains in frozen markets and less the haircut on their notional. */
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

export interface LevelView {
  readonly priceTicks: PriceTicks;
  readonly lots: Lots;
}

export interface MarketView {
  readonly id: MarketId;
  readonly spec: MarketSpec;
  readonly indexTicks: PriceTicks | null;
  /** The oracle's price as it was given; null when the index comes from elsewhere. */
  readonly indexText: string | null;
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
  /** Since when the market is frozen (R-5.3b); null while it is not. */
  readonly frozenSinceUs: TimeUs | null;
  /** Terms whose notice runs and when they come into force; null without any. */
  readonly nextSpec: MarketSpec | null;
  readonly nextSpecUs: TimeUs | null;
}

/**
 * What a mark is made of, as it is now; the mark itself follows at its next recomputation. What a market's source does not
 * use, or what is absent, is null.
 */
export interface MarkCompositionView {
  readonly indexTicks: PriceTicks | null;
  /** Index + EMA of the basis. */
  readonly smoothedTicks: PriceTicks | null;
  /** Last price within the impact prices; as it is where the source is `last`. */
  readonly lastTicks: PriceTicks | null;
  /** Rounded outward; null where a side is too thin for the impact notional. */
  readonly impactBidTicks: PriceTicks | null;
  readonly impactAskTicks: PriceTicks | null;
  /** The mark is never below or above these. */
  readonly lowestTicks: PriceTicks | null;
  readonly highestTicks: PriceTicks | null;
}

/** Funding to come. */
export interface FundingOutlookView {
  /** End of the interval under way; null where rates are recorded ones, and in a delisted market. */
  readonly nextUs: TimeUs | null;
  /** Rate of the mean of the samples so far, whatever their number; null without any. */
  readonly indicativePpb: Ppb | null;
  /** Samples so far; with fewer than half of an interval's the rate will be 0. */
  readonly samples: number;
}

/** What stands behind everybody's claims (§6, §8). */
export interface FundsView {
  /** At most 0. */
  readonly shortfallQuanta: Quanta;
  /** When the shortfall began; null while there is none. */
  readonly shortfallSinceUs: TimeUs | null;
  readonly insuranceQuanta: Quanta;
  /** What insurance may still pay in this UTC hour, in all markets. */
  readonly insuranceAllowanceQuanta: Quanta;
  /** Net asset value of the vault when it pays out. */
  readonly vaultValueQuanta: Quanta;
  /** In 1e-6. */
  readonly vaultShares: bigint;
}

/** 24-hour figures of `GET /summary` at the exchange's now. */
export interface SummaryView {
  /** Whole lots: a sum that may pass 2^53. */
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
  /** Whole lots: a sum that may pass 2^53. */
  readonly volumeLots: bigint;
  readonly fundingRatePpb: Ppb;
}

/** One side of one movement of money; the counterparty is null for deposits and withdrawals. */
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
  /** What the shares would have paid out then. */
  readonly valueQuanta: Quanta;
  readonly lockupEndsAtUs: TimeUs;
  readonly timeUs: TimeUs;
  readonly seq: Seq;
}

/** An account's own setting in a market. */
export interface MarginSettingView {
  readonly market: MarketId;
  readonly isolated: boolean;
  /** The account's own initial rate, or the market's while it has none. */
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

/** When something was recorded, and by which command. */
export interface Moment {
  readonly timeUs: number;
  readonly seq: number;
}

/** What a reader asked for reaches back beyond what is kept: results are cut at this time. */
export interface Retained<T> {
  readonly items: readonly T[];
  /** null when everything since the beginning is still here. */
  readonly keptSinceUs: TimeUs | null;
}

/** An accepted command of the operator. Ids and amounts are null where the kind has none. */
export interface OperatorEntry {
  readonly seq: Seq;
  readonly timeUs: TimeUs;
  readonly kind: OperatorKind;
  readonly market: MarketId | null;
  readonly subaccount: SubaccountId | null;
  readonly amountQuanta: Quanta | null;
  /** Status set, or the price of a delisting in ticks; empty for other kinds. */
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
  /** Id of the order placed last; 0 before the first. */
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
  /** Newest first; fromUs inclusive, toUs exclusive; those before the trade `before` when it is given. */
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
  /** undefined when that pair was never credited. */
  subaccountIdOf(address: Address, index: number): SubaccountId | undefined;
  subaccount(id: SubaccountId): SubaccountView;
  /** Subaccounts so far; their ids are 0 to one less. */
  readonly subaccountCount: number;
  /** Subaccounts of an account in ascending index. */
  subaccountsOf(address: Address): SubaccountView[];
  margin(id: SubaccountId): MarginView;
  /** Open positions in ascending market id. */
  positions(id: SubaccountId): PositionView[];
  /**
   * Fifth of its side's holders in which a position is closed by auto-deleveraging: 5 is closed first, 1 last. null without a
   * position or a mark. Computed over all holders; a ranking that is at most `maxAgeUs` old may be used again.
   */
  adlQuantile(id: SubaccountId, market: MarketId, maxAgeUs?: number): number | null;
  /** What a withdrawal from the exchange of this amount would leave to the shortfall. */
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
  /** What may leave the margin of the subaccount's isolated position in a market. */
  isolatedExcess(id: SubaccountId, market: MarketId): Quanta;
  /** Newest first; fromUs inclusive, toUs exclusive, nothing after the moment `upTo`. */
  vaultSnapshots(
    id: SubaccountId,
    fromUs: TimeUs,
    toUs: TimeUs,
    limit: number,
    upTo?: Moment,
  ): Retained<VaultSnapshotView>;

  /** Subaccounts that hold a position in a market, in ascending id. */
  holdersOf(id: MarketId): Iterable<SubaccountId>;

  /** The signer set in force; of an address never seen, itself. */
  signersOf(address: Address): SignersView;
  /** Of one account, by subaccount index, then in order of grant. */
  delegatesOf(address: Address): DelegateView[];
  /** Whether this address acts for that subaccount now. */
  isDelegate(account: Address, index: number, delegate: Address): boolean;

  /** Live orders, and ended ones while they are retained. */
  order(id: OrderId): OrderView | undefined;
  /** Lots that stand ahead of a resting order at its price, users' and the tape's; null when it does not rest. */
  queueAhead(id: OrderId): Lots | null;
  /** The newest order with this clientId, live or retained, in those subaccounts of the account that `within` takes. */
  orderByClientId(
    account: AccountId,
    clientId: string,
    within?: (index: number) => boolean,
  ): OrderView | undefined;
  /** Live orders of a subaccount in ascending order id. */
  openOrders(id: SubaccountId): OrderView[];
  /** Live and retained orders that match, at most `limit` of those that follow `after`. */
  findOrders(id: SubaccountId, filter: OrderFilter, limit: number, after?: OrderPlace): OrderList;

  /** Why the engine would refuse this order nonce now; null when it may be used. */
  checkOrderNonce(id: SubaccountId, delegate: AccountId | null, nonce: bigint): Outcome | null;
  /** The same for account requests (transfers, margin, delegates, signers). */
  checkAccountNonce(id: AccountId, delegate: AccountId | null, nonce: bigint): Outcome | null;
  /** Whether a live order of the account holds this clientId. */
  clientIdInUse(id: AccountId, clientId: string): boolean;
}

/** The state machine as its drivers hold it. `Exchange` is the implementation. */
export interface Engine extends ExchangeView {
  /**
   * Runs due timers, then the command. `ok`, or the refusal that left no trace but the command's own time.
   * Throws `InvariantError` on a broken invariant, and when the command is earlier than now.
   */
  apply(command: Command, emit?: EventSink): Outcome;
  /** When the engine next wants time to advance; Infinity when never. */
  nextTimerUs(): number;
  /** 32 hex digits over every command and event so far. */
  chainHash(): string;
  /** 64 hex digits: SHA-256 of the canonical snapshot of live state, without seq, chain hash and history. */
  stateHash(): string;
  /** The whole exchange, history included, in canonical bytes. */
  snapshot(): Uint8Array;
  /** An independent copy: restore(snapshot()). */
  fork(): Engine;
  /** The named invariants that do not hold; empty when all is well. */
  checkInvariants(): readonly InvariantViolation[];
  /** Those of solvency alone (R-1.6a and what it rests on): one pass over accounts. */
  checkSolvency(): readonly InvariantViolation[];
}

/** An invariant that does not hold. */
export interface InvariantViolation {
  readonly invariant: string;
  /** The rules that it stands for, such as `R-1.6`. */
  readonly rule: string;
  /** What must hold, in a sentence. */
  readonly says: string;
  /** What was found, with the numbers. */
  readonly detail: string;
}
