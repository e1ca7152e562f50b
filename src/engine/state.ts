/**
 * All that an exchange is between two commands, and the context of the command being applied. Rules are functions
 * over this record; they change it and `emit` what happened.
 *
 * Invariant: `live` parts (accounts, markets, live orders, expiry) decide every future command; history (ended orders,
 * trades, candles, transfers) decides none, and stays outside the state hash.
 */
import { must } from '../base/assert.ts';
import { halfSipKey, type HalfSipKey } from '../base/half-siphash.ts';
import { RollingHash } from '../base/rolling-hash.ts';
import { SlotIndex } from '../base/slot-index.ts';
import { TimerHeap } from '../base/timer-heap.ts';
import {
  address,
  orderId,
  quanta,
  seq,
  timeUs,
  tradeId,
  type Address,
  type MarketId,
  type OrderId,
  type Quanta,
  type Seq,
  type SubaccountId,
  type TimeUs,
  type TradeId,
} from '../num/units.ts';
import { Accounts } from './accounts/accounts.ts';
import type { Subaccount } from './accounts/subaccount.ts';
import { Recent } from './accounts/recent.ts';
import { EndedOrders } from './book/ended-orders.ts';
import { OrderTable } from './book/order-table.ts';
import type { ExchangeConfig, TriggerSource } from './config.ts';
import type { Cause, EngineEvent, EventSink } from './events.ts';
import { codeOf } from '../base/code-of.ts';
import { CAUSES } from './schema/event-schema.ts';
import type { Market } from './market/market.ts';
import type { OperatorEntry, TransferView, VaultSnapshotView } from './read/views.ts';

/** The tape's two accounts: addresses that no key signs for. */
export const HOUSE_MAKER = address('0x0000000000000000000000000000000000000001');
export const HOUSE_TAKER = address('0x0000000000000000000000000000000000000002');

/** Something that an end or a fill leaves to be done: a leg to look at, the legs of an ended parent, slices after an ended one. */
export type FollowUp =
  | { readonly kind: 'leg'; readonly orderId: OrderId }
  | { readonly kind: 'parent'; readonly legs: readonly OrderId[] }
  | { readonly kind: 'slices'; readonly after: OrderId; readonly last: OrderId }
  | { readonly kind: 'nextSlice'; readonly after: OrderId; readonly last: OrderId };

/** @internal */
export class State {
  readonly config: ExchangeConfig;
  /** Key of the instants at which prices are sampled; derived from the configuration. */
  readonly samplingKey: HalfSipKey;
  nowUs: TimeUs;
  seq: Seq = seq(0);
  nextOrderId: OrderId = orderId(1);
  nextTradeId: TradeId = tradeId(1);

  readonly accounts = new Accounts();
  readonly markets: Market[] = [];
  readonly marketBySymbol = new Map<string, MarketId>();
  readonly orders = new OrderTable();
  /** Live clientIds, by hash of (account, clientId). */
  readonly clientIds = new SlotIndex();
  /** (expiry time, order id) of live orders that can expire; ended ones are skipped when they surface. */
  readonly expiries = new TimerHeap();
  /** (time, order id) of TWAP slices that wait for their time. */
  readonly slices = new TimerHeap();
  /** Live orders that have an entry in `expiries`. */
  expiring = 0;

  /** Deposits less withdrawals: what must be there in total. */
  supply: Quanta = quanta(0n);

  /** Σ of all holders' vault shares, in 1e-6 (R-8.2), and when their next snapshots are due; Infinity without any. */
  vaultShares = 0n;
  vaultSnapshotUs = Infinity;

  readonly vault: Subaccount;
  readonly insurance: Subaccount;
  readonly treasury: Subaccount;
  readonly houseMaker: Subaccount;
  readonly houseTaker: Subaccount;
  /** Deficits that no party could pay: its cash is never above zero. */
  readonly shortfall: Subaccount;

  /** Number of the newest shortfall, when it began, and when insurance pays on it next. */
  shortfallEpoch = 0;
  shortfallSinceUs: TimeUs = timeUs(0);
  shortfallDueUs = Infinity;
  /** Σ of exempt deposits that have not left, and of which shortfall; of an older one they count no more. */
  exemptTotal: Quanta = quanta(0n);
  exemptTotalEpoch = 0;
  /** The UTC hour of the insurance limit: its start, what counts as held then, and what was paid since. */
  insuranceHourUs: TimeUs = timeUs(0);
  insuranceBase: Quanta = quanta(0n);
  insurancePaid: Quanta = quanta(0n);
  /** When the vault next offers its positions; Infinity without any. */
  vaultLeaveUs = Infinity;

  /** History. */
  readonly endedOrders = new EndedOrders();
  readonly transfers: Recent<TransferView>;
  readonly vaultSnapshots: Recent<VaultSnapshotView>;
  /** Accepted commands of the operator, oldest first. */
  readonly operatorLog: OperatorEntry[] = [];

  readonly hash = new RollingHash();
  /** Markets whose book or last price changed since quotes were last settled. */
  readonly changedBooks: Market[] = [];
  /** Length of the used prefix of `changedBooks`; the array is reused. */
  changedBookCount = 0;
  /** What ends and fills mean for other orders, to be carried out before the command is over. */
  readonly pendingEffects: FollowUp[] = [];
  /** Triggers accepted by this command: they fire at once when their condition is true already. */
  readonly newTriggers: OrderId[] = [];
  /** Triggers that are about to fire: out of the index, and not to be put back by others. */
  readonly firing = new Set<OrderId>();
  /** Whether the source of some market's triggers was recomputed. */
  triggersDue = false;
  /** Whether somebody may have become liquidatable: a mark was recomputed, funding settled, a pause ended. */
  liquidationDue = false;
  /** (time, subaccount id) of pauses between slices; derived from exposures. */
  readonly liquidationPauses = new TimerHeap();
  /** Those whose distance to liquidation is to be computed anew (`Subaccount.unsure`); derived. */
  private riskCheckPending: Subaccount[] = [];
  /**
   * Number of the current step: one command, or one timer instant. Prices that moved "in this step" (§6) carry it; no part of the
   * state, since every step begins with a new number.
   */
  step = 0;
  /** Bars are played step by step even when nothing waits for any of their prices. For checks; no part of the state. */
  playsBarsInFull = false;
  /** Engine orders of the command being applied. */
  private engineOrders = 0;
  /** Context of the command being applied. */
  private causeName: Cause = 'command';
  private causeCode = codeOf(CAUSES, 'command');
  private eventIndex = 0;
  /** The instant that the hash knows of: the command's own, or a timer's. */
  private hashedUs = 0;
  private sink: EventSink | undefined;

  constructor(config: ExchangeConfig) {
    this.config = config;
    this.samplingKey = halfSipKey(config.samplingSeed);
    this.nowUs = config.genesisTimeUs;
    this.transfers = new Recent(config.retention.transfersPerSubaccount);
    this.vaultSnapshots = new Recent(config.retention.vaultSnapshotsPerHolder);
    const open = this.accounts;
    this.vault = open.open(config.clsAccount, 0, this.nowUs, 'vault');
    this.insurance = open.open(config.insuranceAccount, 0, this.nowUs, 'insurance');
    this.treasury = open.open(config.treasuryAccount, 0, this.nowUs, 'treasury');
    this.houseMaker = open.open(HOUSE_MAKER, 0, this.nowUs, 'house');
    this.houseTaker = open.open(HOUSE_TAKER, 0, this.nowUs, 'house');
    this.shortfall = open.open(config.shortfallAccount, 0, this.nowUs, 'shortfall');
  }

  /** What sets the events off from now on. */
  get cause(): Cause {
    return this.causeName;
  }

  set cause(cause: Cause) {
    if (cause === this.causeName) return;
    this.causeName = cause;
    this.causeCode = codeOf(CAUSES, cause);
  }

  market(id: MarketId): Market {
    return must(this.markets[id], 'market ids are dense');
  }

  subaccount(id: SubaccountId): Subaccount {
    return this.accounts.subaccount(id);
  }

  /** The subaccount's cash fell, or a position of its changed: its bounds in the liquidation index hold no more. */
  markForRiskCheck(subaccount: Subaccount): void {
    if (subaccount.riskCheckPending) return;
    subaccount.riskCheckPending = true;
    this.riskCheckPending.push(subaccount);
  }

  get anyRiskCheckPending(): boolean {
    return this.riskCheckPending.length > 0;
  }

  /** Those in doubt, who now count as sure, in ascending id. */
  drainRiskChecks(): readonly Subaccount[] {
    const taken = this.riskCheckPending;
    this.riskCheckPending = [];
    for (const subaccount of taken) subaccount.riskCheckPending = false;
    return taken.sort((a, b) => a.id - b.id);
  }

  /** Whether the address is the exchange's own: nobody transfers to it, signs for it or acts for it as a user does. */
  isSystem(account: Address): boolean {
    const { clsAccount, insuranceAccount, treasuryAccount, shortfallAccount } = this.config;
    return (
      account === clsAccount ||
      account === insuranceAccount ||
      account === treasuryAccount ||
      account === shortfallAccount ||
      account === HOUSE_MAKER ||
      account === HOUSE_TAKER
    );
  }

  /** Number of the next engine order among those of this command. */
  nextEngineOrder(): number {
    return this.engineOrders++;
  }

  /** Notes that the market's book or last price changed. */
  markBookChanged(market: Market): void {
    market.bookSeq = this.seq;
    if (market.bookChanged) return;
    market.bookChanged = true;
    this.changedBooks[this.changedBookCount++] = market;
  }

  /** Triggers and trailing stops of the market are to be held against what was just recomputed. */
  noteSource(market: Market, what: TriggerSource): void {
    if (what === 'mark') market.markRecomputed = true;
    else if (what !== this.config.triggerSource) return;
    if (what === this.config.triggerSource) market.triggersDue = true;
    this.triggersDue = true;
  }

  /** Starts the events of one command. */
  begin(commandUs: TimeUs, sink: EventSink | undefined): void {
    this.sink = sink;
    this.eventIndex = 0;
    this.engineOrders = 0;
    this.hashedUs = commandUs;
    this.cause = 'command';
  }

  /** Place of the next event among those of this command. */
  nextIndex(): number {
    return this.eventIndex++;
  }

  /** Whether anybody hears of this command's events: only then are those that every fill has made into objects. */
  get hasSink(): boolean {
    return this.sink !== undefined;
  }

  /** The cause of the next event, as the hash has it. */
  get causeInHash(): number {
    return this.causeCode;
  }

  /** The chain hash, for the next event. Events of one instant share its time: it enters when it changes. */
  hashing(): RollingHash {
    if (this.nowUs !== this.hashedUs) {
      this.hashedUs = this.nowUs;
      this.hash.intNum(-1, this.nowUs);
    }
    return this.hash;
  }

  /** Hands an event that is hashed to whoever listens. */
  deliver(event: EngineEvent): void {
    if (this.sink !== undefined) this.sink(event);
  }

  /**
   * Hashes the event and hands it to whoever listens. The hash of its kind comes from the caller, which knows it: so no place
   * has to ask fifteen shapes of objects for their kind.
   */
  emit<E extends EngineEvent>(
    hashEvent: (hash: RollingHash, cause: number, event: E) => void,
    event: E,
  ): void {
    hashEvent(this.hashing(), this.causeCode, event);
    this.deliver(event);
  }
}
