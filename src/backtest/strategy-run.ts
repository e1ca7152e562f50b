/**
 * One strategy in a run: its account, context, deliveries and pending handlers.
 *
 * A handler that returns a promise is pending until the promise settles. Promises that it creates
 * without awaiting them do not make it pending, but run in its virtual time. Promises settle only
 * in virtual time: by the client, `sleep`, or the virtual timers of its globals.
 */
import type { Unanswered } from './output.ts';
import { timeUs, type Address, type Quanta, type SubaccountId } from '../num/units.ts';
import type { FaultModel, SavedFaults } from '../virtual-time/faults.ts';
import type { LatencyModel } from '../virtual-time/latency.ts';
import type { RandomStream } from '../virtual-time/rng.ts';
import { PRIORITY, type Scheduler, type Work } from '../virtual-time/scheduler.ts';
import { assert } from '../base/assert.ts';
import type { Keeps, ParameterValues } from '../strategy/definition.ts';
import { keptHandlers, Observations } from '../strategy/observations.ts';
import { actionsOf, termsIn } from '../strategy/actions.ts';
import { PendingHandler } from '../strategy/pending-handler.ts';
import { StrategyFault, type Failure } from '../strategy/strategy-fault.ts';
import type {
  DataUpdate,
  MarketTerms,
  PlotOptions,
  Strategy,
  StrategyContext,
} from '../strategy/strategy.ts';
import type { VirtualClient } from './virtual-client.ts';

/** Clock and random numbers of a strategy's globals (`Date`, `setTimeout`). */
export interface VirtualClock {
  nowUs(): number;
  /** Schedules a callback; returns the id for `cancel`. */
  after(us: number, run: () => void): number;
  cancel(id: number): void;
  /** Uniform in [0, 1). */
  random(): number;
  log(text: string): void;
  /** Notes the tag of the order that will have this nonce. */
  tag(nonce: number | bigint, text: string): void;
}

/** A strategy and its settings in a run. */
export interface StrategyEntry {
  /** Name in the output, of its random stream and in messages; unique in a run. */
  readonly id: string;
  readonly name: string;
  readonly parameters: ParameterValues;
  readonly strategy: Strategy;
  readonly account: Address;
  readonly subaccountIndex: number;
  readonly deposit: Quanta;
  readonly latency: LatencyModel;
  readonly faults: FaultModel | null;
  /** Markets that it subscribes to; null for all. */
  readonly symbols: readonly string[] | null;
  /** Lengths of the bars that it receives, µs. */
  readonly barsUs: readonly number[];
  /** Levels per side in `onBook`. */
  readonly bookDepth: number;
  /** Updates that its context keeps without a handler. */
  readonly keeps?: Keeps;
  /** Whether the output includes it. */
  readonly reports: boolean;
  /** Connects its globals to a clock. */
  readonly bindClock?: (clock: VirtualClock) => void;
}

/** Handlers that receive updates. */
export type UpdateHandler =
  | ('onBook' | 'onTrade' | 'onBar' | 'onFill' | 'onOrder' | 'onFunding')
  | ('onMark' | 'onIndex' | 'onLiquidation' | 'onAccount' | 'onData');

/** Updates that a lost connection drops; others arrive when it is back. */
const PUBLIC: readonly UpdateHandler[] = ['onBook', 'onTrade', 'onBar', 'onMark', 'onIndex'];

export interface SavedUpdate {
  readonly kind: 'update';
  readonly strategy: number;
  readonly handler: UpdateHandler;
  readonly update: unknown;
}

export interface SavedTimer {
  readonly kind: 'timer';
  readonly strategy: number;
  readonly name: string;
  readonly id: number;
}

export interface StrategyRunPorts {
  readonly scheduler: Scheduler;
  readonly client: VirtualClient;
  readonly random: RandomStream;
  readonly markets: readonly MarketTerms[];
  readonly warmingUp: () => boolean;
  readonly log: (text: string) => void;
  readonly plot: (name: string, value: number, options: PlotOptions) => void;
  readonly tag: (nonce: number | bigint, text: string) => void;
  /** Signals that promises may have queued callbacks. */
  readonly touch: () => void;
  /** Number of promises created or settled. */
  readonly promises: () => number;
}

/** A handler that has not ended, and the time of its call. */
type Pending = Omit<Failure, 'error'>;

/** Rings of timers in a second of virtual time; more are a loop that never ends. */
const MOST_RINGS = 500_000;
const SECOND_US = 1_000_000;

interface SavedRun {
  readonly strategy: unknown;
  readonly observations: unknown;
  readonly client: unknown;
  readonly nonce: number;
  readonly lastFeedUs: number;
  readonly timerId: number;
  readonly timers: ReadonlyMap<string, number>;
  readonly latency: number | null;
  readonly faults: SavedFaults | null;
}

export class StrategyRun {
  readonly index: number;
  readonly entry: StrategyEntry;
  readonly subaccount: SubaccountId;
  private readonly ports: StrategyRunPorts;
  private readonly context: StrategyContext;
  private readonly symbols: readonly string[];
  /** Other strategies receive the same objects; a realm of its own copies them. */
  private readonly sharesUpdates: boolean;
  private readonly kept: readonly (keyof Strategy)[];
  private readonly observations: Observations;
  /** Handlers that have not ended. */
  private readonly pending = new Set<Pending>();
  private sleeping = 0;
  private failure: Failure | null = null;
  private nonce = 0;
  private stopped = false;
  /** After `onStop`, which follows the end of the data: no delay ends any more. */
  private isOver = false;
  private lastFeedUs = 0;
  private timerId = 0;
  /** Start of the second in which rings are counted. */
  private ringsFromUs = 0;
  private rings = 0;
  private timers = new Map<string, number>();
  /** Pending timers of its globals. */
  private readonly pendingTimers = new Set<number>();

  constructor(
    index: number,
    entry: StrategyEntry,
    subaccount: SubaccountId,
    ports: StrategyRunPorts,
  ) {
    this.index = index;
    this.entry = entry;
    this.subaccount = subaccount;
    this.ports = ports;
    this.symbols = entry.symbols ?? ports.markets.map(({ symbol }) => symbol);
    this.sharesUpdates = entry.bindClock === undefined;
    this.kept = keptHandlers(entry.keeps);
    const has = (name: keyof Strategy): boolean => entry.strategy[name] !== undefined;
    this.observations = new Observations(entry.keeps, entry.barsUs, has);
    this.context = this.makeContext();
    entry.bindClock?.(this.clock());
  }

  wants(handler: UpdateHandler, symbol: string): boolean {
    return this.handles(handler) && this.symbols.includes(symbol);
  }

  /** Of updates that belong to no market. */
  handles(handler: UpdateHandler): boolean {
    return this.entry.strategy[handler] !== undefined || this.kept.includes(handler);
  }

  /** Whether all of its pending work can be saved. */
  get isQuiet(): boolean {
    return this.pending.size === 0 && this.sleeping === 0 && this.ports.client.outstanding === 0;
  }

  get awaitsAnswer(): boolean {
    return this.ports.client.outstanding > 0 || this.sleeping > 0;
  }

  /** Requests of a strategy with a report that have no answer. */
  get unanswered(): Unanswered[] {
    const { outstanding, onTheWay } = this.ports.client;
    const { id, reports } = this.entry;
    return outstanding === 0 || !reports ? [] : [{ id, onTheWay, arrived: outstanding - onTheWay }];
  }

  get canBeSaved(): boolean {
    const { strategy } = this.entry;
    return strategy.save !== undefined && strategy.load !== undefined;
  }

  /** Throws the error of a handler; throws if a handler can never continue. */
  check(): void {
    if (this.failure !== null) {
      throw new StrategyFault(this.entry.id, this.failure);
    }
    const [first] = this.pending;
    if (first !== undefined && !this.awaitsAnswer) {
      throw new StrategyFault(this.entry.id, {
        ...first,
        error: new Error('it awaits something outside virtual time, such as a promise of its own'),
      });
    }
  }

  start(): void {
    this.at('onStart');
  }

  /** End of the data: runs the last handler and cancels timers. */
  stop(): void {
    this.timers.clear();
    this.stopped = true;
    this.at('onStop');
  }

  /** Delivers an update after the feed latency; updates keep their order. */
  publish(handler: UpdateHandler, update: unknown, recordedUs: number | null): void {
    const { latency, faults } = this.entry;
    const nowUs = this.ports.scheduler.nowUs;
    let atUs: number = nowUs;
    if (faults !== null) {
      atUs = faults.backAtUs(nowUs);
      if (atUs > nowUs && PUBLIC.includes(handler)) return;
    }
    atUs = Math.max(this.lastFeedUs, atUs + latency.feedUs(nowUs, recordedUs));
    this.lastFeedUs = atUs;
    this.schedule(atUs, handler, update);
  }

  /** Reschedules a saved entry. */
  restore(atUs: number, what: SavedUpdate | SavedTimer): void {
    if (what.kind === 'update') this.schedule(atUs, what.handler, what.update);
    else this.scheduleTimer(atUs, what.name, what.id);
  }

  private schedule(atUs: number, handler: UpdateHandler, update: unknown): void {
    if (this.sharesUpdates) freeze(update);
    const delivery = new Delivery(this, handler, update);
    this.ports.scheduler.add(timeUs(atUs), PRIORITY.delivery, delivery);
  }

  /** Calls the handler of an update. */
  deliver(handler: UpdateHandler, update: unknown): void {
    if (handler === 'onData') {
      const { timeUs: availableUs } = update as DataUpdate;
      assert(availableUs <= this.ports.scheduler.nowUs, 'data arrive after they are available');
    }
    // A realm of its own keeps its own.
    if (this.sharesUpdates) this.observations.take(handler, update);
    // The update has the type of this handler.
    const handlers = this.entry.strategy as Partial<Record<UpdateHandler, HandlerOf<unknown>>>;
    this.handle(handler, handlers[handler], update);
  }

  private at(name: 'onStart' | 'onStop'): void {
    const { scheduler } = this.ports;
    const { strategy } = this.entry;
    scheduler.at(scheduler.nowUs, PRIORITY.delivery, () => {
      this.handle(name, (_update, context) => strategy[name]?.(context), null);
    });
  }

  /** Ends the run at the next check; only the first failure is kept. */
  fail(handler: string, error: unknown): void {
    this.failure ??= { error, handler, timeUs: this.ports.scheduler.nowUs };
  }

  /** `name`: handler name for error messages. */
  private handle<U>(name: string, handler: HandlerOf<U> | undefined, update: U): void {
    if (handler === undefined) return;
    const { promises } = this.ports;
    const before = promises();
    let result: void | Promise<void> | undefined;
    try {
      result = handler.call(this.entry.strategy, update, this.context);
    } catch (error) {
      this.fail(name, error);
      this.ports.touch();
      return;
    }
    if (result === undefined) {
      this.isOver ||= name === 'onStop';
      // It may have created promises that it does not await.
      if (promises() !== before) this.ports.touch();
      return;
    }
    const pending = { handler: name, timeUs: this.ports.scheduler.nowUs };
    this.pending.add(pending);
    this.ports.touch();
    const ended = (): void => {
      this.pending.delete(pending);
      this.isOver ||= name === 'onStop';
    };
    const failed = (error: unknown): void => {
      this.pending.delete(pending);
      this.fail(name, error);
    };
    if (result instanceof PendingHandler) result.onEnd(ended, failed);
    else result.then(ended, failed);
  }

  private makeContext(): StrategyContext {
    const { scheduler, client, markets, random, warmingUp, log } = this.ports;
    const { account, subaccountIndex } = this.entry;
    const [symbol = ''] = this.symbols;
    const nextNonce = (): number => this.nonce++;
    return {
      client,
      account,
      subaccountIndex,
      symbol,
      symbols: this.symbols,
      get warmingUp() {
        return warmingUp();
      },
      random,
      now: () => scheduler.nowUs,
      ...actionsOf(client, { account, subaccountIndex }, symbol, termsIn(markets), {
        nextNonce,
        tag: this.ports.tag,
      }),
      ...this.observations.reads(this.symbols),
      plot: (name, value, options = {}) => {
        if (options.symbol !== undefined && !this.symbols.includes(options.symbol)) {
          throw new RangeError(`no market ${options.symbol} in this run`);
        }
        this.ports.plot(name, value, { symbol, ...options });
      },
      setTimer: (name, afterUs) => {
        if (this.stopped) return;
        const id = ++this.timerId;
        this.timers.set(name, id);
        this.scheduleTimer(scheduler.nowUs + wholeUs(afterUs), name, id);
      },
      sleep: (us) => {
        this.sleeping += 1;
        return new Promise((resolve) => {
          scheduler.at(timeUs(scheduler.nowUs + wholeUs(us)), PRIORITY.timer, () => {
            if (this.isOver) return;
            this.sleeping -= 1;
            this.countRing('sleep');
            resolve();
            this.ports.touch();
          });
        });
      },
      nextNonce,
      log,
    };
  }

  private scheduleTimer(atUs: number, name: string, id: number): void {
    const saved: SavedTimer = { kind: 'timer', strategy: this.index, name, id };
    const ring = (): void => {
      if (this.timers.get(name) !== id) return;
      this.timers.delete(name);
      this.countRing('onTimer');
      // Called with its receiver.
      // eslint-disable-next-line @typescript-eslint/unbound-method
      this.handle('onTimer', this.entry.strategy.onTimer, name);
    };
    this.ports.scheduler.at(timeUs(atUs), PRIORITY.timer, ring, saved);
  }

  /** Timers without a delay would ring again and again, and the run would not end. */
  private countRing(kind: string): void {
    const { nowUs } = this.ports.scheduler;
    if (nowUs - this.ringsFromUs >= SECOND_US) {
      this.ringsFromUs = nowUs;
      this.rings = 0;
    }
    this.rings += 1;
    if (this.rings <= MOST_RINGS) return;
    const text = `its timers rang more than ${String(MOST_RINGS)} times in a second; a delay of setTimer and sleep is in microseconds`;
    this.fail(kind, new RangeError(text));
    this.ports.touch();
  }

  private clock(): VirtualClock {
    const { scheduler, random, log, tag } = this.ports;
    return {
      log,
      tag,
      nowUs: () => scheduler.nowUs,
      random: () => random.next(),
      after: (us, run) => {
        const id = ++this.timerId;
        this.pendingTimers.add(id);
        this.sleeping += 1;
        scheduler.at(timeUs(scheduler.nowUs + wholeUs(us)), PRIORITY.timer, () => {
          if (this.isOver || !this.pendingTimers.delete(id)) return;
          this.sleeping -= 1;
          this.countRing('setTimeout');
          this.handle('a timer', run, null);
          this.ports.touch();
        });
        return id;
      },
      cancel: (id) => {
        if (this.pendingTimers.delete(id)) this.sleeping -= 1;
      },
    };
  }

  save(): SavedRun {
    return {
      strategy: this.entry.strategy.save?.(),
      observations: this.observations.save(),
      client: this.ports.client.save(),
      nonce: this.nonce,
      lastFeedUs: this.lastFeedUs,
      timerId: this.timerId,
      timers: this.timers,
      latency: this.entry.latency.save?.() ?? null,
      faults: this.entry.faults?.save() ?? null,
    };
  }

  load(saved: unknown): void {
    const from = saved as SavedRun;
    this.observations.load(from.observations);
    this.entry.strategy.load?.(from.strategy);
    this.ports.client.load(from.client);
    this.nonce = from.nonce;
    this.lastFeedUs = from.lastFeedUs;
    this.timerId = from.timerId;
    this.timers = new Map(from.timers);
    if (from.latency !== null) this.entry.latency.load?.(from.latency);
    if (from.faults !== null) this.entry.faults?.load(from.faults);
  }
}

type HandlerOf<U> = (update: U, context: StrategyContext) => void | Promise<void> | undefined;

/** Delivery of an update to a strategy. */
class Delivery implements Work {
  private readonly to: StrategyRun;
  private readonly handler: UpdateHandler;
  private readonly update: unknown;

  constructor(to: StrategyRun, handler: UpdateHandler, update: unknown) {
    this.to = to;
    this.handler = handler;
    this.update = update;
  }

  run(): void {
    this.to.deliver(this.handler, this.update);
  }

  describe(): SavedUpdate {
    const { to, handler, update } = this;
    return { kind: 'update', strategy: to.index, handler, update };
  }
}

/** Several strategies receive the same update, so it is frozen. */
function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const field of Object.values(value)) freeze(field);
}

function wholeUs(us: number): number {
  if (!Number.isFinite(us)) throw new RangeError(`${String(us)} is not a duration in µs`);
  return Math.max(1, Math.floor(us));
}
