/**
 * Context of the command being applied: its events, and the work due before it ends. Nothing here
 * is archived or hashed.
 */
import { codeOf } from '../base/code-of.ts';
import type { RollingHash } from '../base/rolling-hash.ts';
import { timeUs, type OrderId, type PriceTicks, type TimeUs } from '../num/units.ts';
import { FilledSide } from './accounts/filled-side.ts';
import { OrderFees } from './accounts/order-fees.ts';
import type { TriggerSource } from './config.ts';
import { DueChecks } from './due-checks.ts';
import type { Cause, EngineEvent, EventSink } from './events.ts';
import type { ExchangeState } from './exchange-state.ts';
import type { Market } from './market/market.ts';
import { CAUSES } from './schema/event-schema.ts';

/** Queued effect of an end or a fill: a leg, the legs of an ended parent, or later slices. */
export type FollowUp =
  | { readonly kind: 'leg'; readonly orderId: OrderId }
  | { readonly kind: 'parent'; readonly legs: readonly OrderId[] }
  | { readonly kind: 'slices'; readonly after: OrderId; readonly last: OrderId }
  | { readonly kind: 'nextSlice'; readonly after: OrderId; readonly last: OrderId };

/** @internal */
export class CommandContext {
  private readonly state: ExchangeState;
  /** Dirty set: markets whose book or last price changed since quotes were last settled. */
  readonly changedBooks: Market[] = [];
  /** Length of the used prefix of `changedBooks`; the array is reused. */
  changedBookCount = 0;
  /** Whether `changedBooks` has the market, by its id. */
  private readonly isBookChanged: boolean[] = [];
  /** Effects of ends and fills on other orders, applied before the command ends. */
  readonly pendingEffects: FollowUp[] = [];
  /** Triggers accepted by this command: they fire at once if their condition already holds. */
  readonly newTriggers: OrderId[] = [];
  /** Triggers about to fire: removed from the index and excluded from rearming. */
  readonly firing = new Set<OrderId>();
  /** Checks that changes of prices have made due. */
  readonly due = new DueChecks();
  /** Records of the fill in progress; one ends before the next begins. */
  readonly makerFees = new OrderFees('maker');
  readonly takerFees = new OrderFees('taker');
  readonly maker = new FilledSide();
  readonly taker = new FilledSide();
  /** Number of the current step (§6): one command, or one timer instant. */
  private step = 0;
  /** By market id: the last step that moved the mark, and the mark before it. */
  private readonly markSteps: number[] = [];
  private readonly marksBefore: PriceTicks[] = [];
  /** Engine orders of this command. */
  private engineOrders = 0;
  private causeName: Cause = 'command';
  private causeCode = codeOf(CAUSES, 'command');
  private eventIndex = 0;
  /** The event time already in the hash: the command's own, or a timer's. */
  private hashedUs = 0;
  /** Time of the command. */
  commandUs = timeUs(0);
  private sink: EventSink | undefined;

  constructor(state: ExchangeState) {
    this.state = state;
  }

  /** Starts the events of one command. */
  begin(commandUs: TimeUs, sink: EventSink | undefined): void {
    this.sink = sink;
    this.eventIndex = 0;
    this.engineOrders = 0;
    this.hashedUs = commandUs;
    this.commandUs = commandUs;
    this.cause = 'command';
  }

  /** Starts a step: marks of earlier ones are no longer relevant. */
  nextStep(): void {
    this.step += 1;
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

  /** Index of the next engine order among those of this command. */
  nextEngineOrder(): number {
    return this.engineOrders++;
  }

  /** Adds the market to the dirty set: its book or last price changed. */
  markBookChanged(market: Market): void {
    market.bookSeq = this.state.seq;
    if (this.isBookChanged[market.id] === true) return;
    this.isBookChanged[market.id] = true;
    this.changedBooks[this.changedBookCount++] = market;
  }

  /** Removes the market from the dirty set. */
  settleBook(market: Market): void {
    this.isBookChanged[market.id] = false;
  }

  /** Makes triggers and trailing stops of the market due: their source was recomputed. */
  noteSource(market: Market, what: TriggerSource): void {
    this.due.noteRecomputed(market, what, this.state.config.triggerSource);
  }

  /** Before the mark moves. All marks of a step, also those of a bar, are relative to the first. */
  noteMarkBefore(market: Market, mark: PriceTicks): void {
    if (this.markSteps[market.id] === this.step) return;
    this.markSteps[market.id] = this.step;
    this.marksBefore[market.id] = mark;
  }

  /** The mark before this step; null if the step has not moved it. */
  markBefore(market: Market): PriceTicks | null {
    return this.markSteps[market.id] === this.step ? (this.marksBefore[market.id] ?? null) : null;
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
    const { hash, nowUs } = this.state;
    if (nowUs !== this.hashedUs) {
      this.hashedUs = nowUs;
      hash.intNum(-1, nowUs);
    }
    return hash;
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
