/**
 * State of an exchange, and the context of the command being applied. Rules are functions over this
 * record that change it and `emit` events.
 *
 * Invariant: `live` parts (accounts, markets, live orders, expiry) determine every future command.
 * History (ended orders, trades, candles, transfers) determines none and is outside the state hash.
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

/** The tape's two accounts; no key signs for their addresses. */
export const HOUSE_MAKER = address('0x0000000000000000000000000000000000000001');
export const HOUSE_TAKER = address('0x0000000000000000000000000000000000000002');

/** Queued effect of an end or a fill: a leg, the legs of an ended parent, or later slices. */
export type FollowUp =
  | { readonly kind: 'leg'; readonly orderId: OrderId }
  | { readonly kind: 'parent'; readonly legs: readonly OrderId[] }
  | { readonly kind: 'slices'; readonly after: OrderId; readonly last: OrderId }
  | { readonly kind: 'nextSlice'; readonly after: OrderId; readonly last: OrderId };

/** @internal */
export class State {
  readonly config: ExchangeConfig;
  /** Key of the price sampling times; derived from the configuration. */
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
  /**
   * (expiry time, order id) of live orders that can expire; stale entries are skipped at the top.
   */
  readonly expiries = new TimerHeap();
  /** (time, order id) of pending TWAP slices. */
  readonly slices = new TimerHeap();
  /** Number of live orders with an entry in `expiries`. */
  expiring = 0;

  /** Deposits less withdrawals: the total supply of money. */
  supply: Quanta = quanta(0n);

  /**
   * Σ of all vault shares, in 1e-6, and the next snapshot time; Infinity without holders.
   */
  vaultShares = 0n;
  vaultSnapshotUs = Infinity;

  readonly vault: Subaccount;
  readonly insurance: Subaccount;
  readonly treasury: Subaccount;
  readonly houseMaker: Subaccount;
  readonly houseTaker: Subaccount;
  /** Uncovered deficits: its cash is never above zero. */
  readonly shortfall: Subaccount;

  /** Number and start of the newest shortfall, and insurance's next payment time. */
  shortfallEpoch = 0;
  shortfallSinceUs: TimeUs = timeUs(0);
  shortfallDueUs = Infinity;
  /** Σ of remaining exempt deposits, and their epoch; older ones have expired. */
  exemptTotal: Quanta = quanta(0n);
  exemptTotalEpoch = 0;
  /** The UTC hour of the insurance limit: its start, its base, and payments since. */
  insuranceHourUs: TimeUs = timeUs(0);
  insuranceBase: Quanta = quanta(0n);
  insurancePaid: Quanta = quanta(0n);
  /** Time of the vault's next offer of its positions; Infinity without any. */
  vaultLeaveUs = Infinity;

  /** History. */
  readonly endedOrders = new EndedOrders();
  readonly transfers: Recent<TransferView>;
  readonly vaultSnapshots: Recent<VaultSnapshotView>;
  /** Accepted commands of the operator, oldest first. */
  readonly operatorLog: OperatorEntry[] = [];

  readonly hash = new RollingHash();
  /** Dirty set: markets whose book or last price changed since quotes were last settled. */
  readonly changedBooks: Market[] = [];
  /** Length of the used prefix of `changedBooks`; the array is reused. */
  changedBookCount = 0;
  /** Effects of ends and fills on other orders, applied before the command ends. */
  readonly pendingEffects: FollowUp[] = [];
  /** Triggers accepted by this command: they fire at once if their condition already holds. */
  readonly newTriggers: OrderId[] = [];
  /** Triggers about to fire: removed from the index and excluded from rearming. */
  readonly firing = new Set<OrderId>();
  /** Whether some market's trigger source was recomputed. */
  triggersDue = false;
  /** Whether a mark moved, funding was settled, or a pause ended: a risk check is due. */
  liquidationDue = false;
  /** (time, subaccount id) of pauses between slices; derived from exposures. */
  readonly liquidationPauses = new TimerHeap();
  /**
   * Subaccounts whose distance to liquidation is stale (`Subaccount.riskCheckPending`); derived.
   */
  private riskCheckPending: Subaccount[] = [];
  /** Number of the current step (§6): one command, or one timer instant. Not part of the state. */
  step = 0;
  /** Disables the fast path of bars, for testing it; not part of the state. */
  playsBarsInFull = false;
  /** Engine orders of the command being applied. */
  private engineOrders = 0;
  /** Context of the command being applied. */
  private causeName: Cause = 'command';
  private causeCode = codeOf(CAUSES, 'command');
  private eventIndex = 0;
  /** The event time already in the hash: the command's own, or a timer's. */
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

  /** Cause of the events that follow. */
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

  /** Marks the subaccount's liquidation bounds stale: its cash fell or its position changed. */
  markForRiskCheck(subaccount: Subaccount): void {
    if (subaccount.riskCheckPending) return;
    subaccount.riskCheckPending = true;
    this.riskCheckPending.push(subaccount);
  }

  get anyRiskCheckPending(): boolean {
    return this.riskCheckPending.length > 0;
  }

  /** Returns subaccounts marked for a risk check, in ascending id, and clears the marks. */
  drainRiskChecks(): readonly Subaccount[] {
    const taken = this.riskCheckPending;
    this.riskCheckPending = [];
    for (const subaccount of taken) subaccount.riskCheckPending = false;
    return taken.sort((a, b) => a.id - b.id);
  }

  /** Whether the address is a system account: it has no signer and no user access. */
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

  /** Index of the next engine order among those of this command. */
  nextEngineOrder(): number {
    return this.engineOrders++;
  }

  /** Adds the market to the dirty set: its book or last price changed. */
  markBookChanged(market: Market): void {
    market.bookSeq = this.seq;
    if (market.bookChanged) return;
    market.bookChanged = true;
    this.changedBooks[this.changedBookCount++] = market;
  }

  /** Makes triggers and trailing stops of the market due: their source was recomputed. */
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

  /** Index of the next event among those of this command. */
  nextIndex(): number {
    return this.eventIndex++;
  }

  /** True if a sink is attached; without one, per-fill events are hashed but not allocated. */
  get hasSink(): boolean {
    return this.sink !== undefined;
  }

  /** The code of the current cause in the hash. */
  get causeInHash(): number {
    return this.causeCode;
  }

  /** The chain hash, for the next event. The time of an instant enters once, when it changes. */
  hashing(): RollingHash {
    if (this.nowUs !== this.hashedUs) {
      this.hashedUs = this.nowUs;
      this.hash.intNum(-1, this.nowUs);
    }
    return this.hash;
  }

  /** Passes an already hashed event to the sink. */
  deliver(event: EngineEvent): void {
    if (this.sink !== undefined) this.sink(event);
  }

  /**
   * Hashes the event and passes it to the sink; `hash` is per kind, to avoid a megamorphic call.
   */
  emit<E extends EngineEvent>(
    hashEvent: (hash: RollingHash, cause: number, event: E) => void,
    event: E,
  ): void {
    hashEvent(this.hashing(), this.causeCode, event);
    this.deliver(event);
  }
}
