/**
 * Runs a backtest: recorded history and strategies in the real exchange.
 *
 * One loop over virtual time plays the earliest of: the tape's next command, a scheduled entry
 * (arrival of an order, delivery of a response or update, a strategy's timer), the engine's next
 * timer, the end of a bar, a sample. At equal times the order is: finished bars, engine timers,
 * tape, orders, deliveries, strategies' timers, samples. All commands are journalled, so the
 * journal replays without the strategies.
 *
 * Look-ahead is impossible by construction: an event is delivered one feed latency after it occurs,
 * reads see the exchange at the request's arrival, and strategies have no other input.
 */
import { must } from '../base/assert.ts';
import { pack } from '../strategy/plain-data.ts';
import { Gateway } from '../gateway/gateway.ts';
import { InProcessClient } from '../gateway/in-process-client.ts';
import { TrustOrderIds } from '../gateway/order-ids.ts';
import type { Keccak } from '../gateway/ports.ts';
import { marketId, timeUs, type TimeUs } from '../num/units.ts';
import type { RecordedExchange } from '../journal/replay/recorded-exchange.ts';
import type { RandomStreams } from '../virtual-time/rng.ts';
import { Scheduler } from '../virtual-time/scheduler.ts';
import { Feeds, type BarsEmitted } from './strategy-feeds.ts';
import { marketTerms } from '../strategy/market-terms.ts';
import type { BacktestCheckpoint, BacktestOutput } from './output.ts';
import { openExchange, type ExchangeInput } from './open-exchange.ts';
import { Recorder } from './recording/recorder.ts';
import {
  StrategyRun,
  type SavedTimer,
  type SavedUpdate,
  type StrategyEntry,
} from './strategy-run.ts';
import type { Decision, Playing, PromiseTurns, SavedState, TapeBatch } from './run-ports.ts';
import type { DataUpdate } from '../strategy/strategy.ts';
import { Touches } from './touches.ts';
import { VirtualClient } from './virtual-client.ts';
export type { Decision, PromiseTurns, TapeBatch };

export interface BacktestInput extends ExchangeInput {
  readonly tape: AsyncIterable<TapeBatch>;
  /** Source of all random streams of the run. */
  readonly streams: RandomStreams;
  readonly seed: string;
  readonly keccak: Keccak;
  readonly promises: PromiseTurns;
  /** Delivery time of recorded bars; default: at their end. */
  readonly barsEmitted?: BarsEmitted;
  /** Rows of the user's data, sorted by the time from which they are available. */
  readonly data?: readonly DataUpdate[] | undefined;
  /** Interval between samples of the curves, µs. */
  readonly sampleUs: number;
  /** Start of trading and measurement; earlier, strategies only receive updates. Default: start. */
  readonly tradeFromUs?: number;
  readonly onProgress?: () => void;
  /** Called at each decision until the tape ends. */
  readonly onDecision?: (decision: Decision) => void;
  /** Polled between batches and after an event-loop turn; true stops at the next quiet point. */
  readonly cancelled?: () => boolean;
  /** Polled once cancelled; true stops the run immediately, without the possibility to resume. */
  readonly hurried?: () => boolean;
}

/** Max commands that a cancelled run plays until a quiet point. */
const QUIET_WITHIN = 100_000;
const DRAIN_JOURNAL_AT = 1 << 20;
/** Max time for responses to arrive after the end. */
const DRAIN_US = 60_000_000;

/** Rejects if a strategy throws, or awaits something outside virtual time. */
export async function runBacktest(input: BacktestInput): Promise<BacktestOutput> {
  return new Run(input).complete();
}

class Run {
  private readonly input: BacktestInput;
  private readonly scheduler: Scheduler;
  private readonly exchange: RecordedExchange;
  private readonly touches: Touches;
  private readonly recorder: Recorder;
  private readonly feeds: Feeds;
  private readonly runs: StrategyRun[] = [];
  private readonly tradeFromUs: number;
  private warm = false;
  /** True if promises may have queued callbacks. */
  private touched = false;
  private isOutside = false;
  /** Index of the strategy whose callbacks run next. */
  private touchedBy = 0;
  private tapeCommands = 0;
  private journalBytes = 0;
  private cancelled = false;
  /** Commands that a cancelled run may still play until a quiet point. */
  private untilQuiet = QUIET_WITHIN;
  private deliveredUs: number | null = null;

  constructor(input: BacktestInput) {
    this.input = input;
    const { config, resume = null } = input;
    const startUs = config.genesisTimeUs;
    this.tradeFromUs = Math.max(startUs, input.tradeFromUs ?? startUs);
    this.scheduler = new Scheduler(startUs);
    this.exchange = openExchange(input);
    const { engine } = this.exchange;
    this.touches = new Touches(engine.markets());
    const ids = new TrustOrderIds(engine, input.keccak);
    // If a bar opens at the time the previous one ends, samples use the earlier bar's close.
    const earlyUs = input.barsEmitted === 'nextOpen' ? 1 : 0;
    this.recorder = new Recorder(engine, ids, this.touches, { sampleUs: input.sampleUs, earlyUs });
    const gateway = new Gateway({
      engine,
      submit: (command) => this.exchange.submit(command),
      nowUs: () => this.scheduler.nowUs,
      keccak: input.keccak,
      signatures: 'trust',
      ids,
    });
    const listeners = input.strategies.map((entry, index) =>
      this.addStrategy(entry, index, gateway),
    );
    this.feeds = new Feeds(engine, ids, this.touches, listeners, input);
    this.exchange.onEvent((event) => {
      // Most tape events are mark changes; samples record them.
      if (event.kind === 'markChanged') {
        this.feeds.onMark(event);
        return;
      }
      if (event.kind === 'tapeApplied') {
        this.recorder.onTape(event);
        this.touches.onTape(event);
        return;
      }
      this.touches.onEvent(event);
      this.recorder.onEvent(event);
      this.feeds.onEvent(event);
    });
    if (resume !== null) this.load(resume);
  }

  private addStrategy(
    entry: StrategyEntry,
    index: number,
    gateway: Gateway,
  ): ConstructorParameters<typeof Feeds>[3][number] {
    const { scheduler, recorder, exchange } = this;
    const { engine } = exchange;
    const { account, subaccountIndex } = entry;
    const subaccount = must(
      engine.subaccountIdOf(account, subaccountIndex),
      'a deposit opens the subaccount',
    );
    const record = recorder.add(entry, subaccount);
    // Agents form the market, so they trade from the start.
    const warmingUp = (): boolean => entry.reports && !this.warm;
    const touch = (): void => {
      this.touched = true;
      this.touchedBy = index;
    };
    const caller = { account, signer: account };
    const decided = (text: string): void => {
      const { onDecision } = this.input;
      if (this.deliveredUs !== null || onDecision === undefined) return;
      onDecision({ strategy: entry.id, timeUs: scheduler.nowUs, text });
    };
    const client = new VirtualClient(
      {
        scheduler,
        sent: (endpoint, request) => {
          if (this.input.onDecision !== undefined) decided(`${endpoint} ${pack(request)}`);
        },
        latency: entry.latency,
        faults: entry.faults,
        warmingUp,
        arrive: ({ endpoint, request, sentUs, arrivalUs: arrivedUs, sentMids }, reply) => {
          exchange.advanceTo(timeUs(arrivedUs));
          this.refreshTouches();
          recorder.request = { sentUs, arrivedUs, sentMids };
          const before = engine.seq;
          const handled = gateway.handle(endpoint, request, caller);
          recorder.request = null;
          if (engine.seq !== before) this.refreshTouches();
          reply(handled);
        },
        refused: (endpoint, { status, body }) => {
          record.onRefused(endpoint, status, String(body));
        },
        settled: touch,
      },
      () => engine.markets().map(({ id }) => this.recorder.mid(id)),
    );
    const markets = new InProcessClient(gateway, caller).callSync('getMarkets', {});
    const run = new StrategyRun(index, entry, subaccount, {
      scheduler,
      client,
      random: this.input.streams.stream(`strategy ${entry.id}`),
      markets: markets.map(marketTerms),
      warmingUp,
      log: (text) => {
        record.onLog(scheduler.nowUs, text);
        decided(`log ${text}`);
      },
      plot: (name, value, options) => {
        record.plots.add(scheduler.nowUs, name, value, options);
      },
      tag: (nonce, text) => {
        record.onTag(nonce, text);
      },
      touch,
      promises: this.input.promises.count,
    });
    this.runs.push(run);
    return { run, recorder: record };
  }

  async complete(): Promise<BacktestOutput> {
    const { input, exchange } = this;
    let skip = this.tapeCommands;
    if (input.resume == null) {
      for (const run of this.runs) run.start();
      this.feeds.start();
    } else this.tapeCommands = 0;
    for await (const batch of input.tape) {
      const { length } = batch.commands;
      const from = Math.min(skip, length);
      skip -= from;
      this.tapeCommands += from;
      if (from === length) continue;
      const playing: Playing = { batch, at: from, stopped: false };
      await this.whole(() => this.playBatch(playing));
      if (playing.stopped) break;
      this.handOut();
      input.onProgress?.();
      // If the next batches are there, signals and timers of the process would wait for the end.
      if (input.promises.overdue?.() === true) await this.turn();
      this.cancelled ||= input.cancelled?.() ?? false;
    }
    if (this.cancelled) return this.output(true, this.checkpoint());
    const endUs = exchange.engine.nowUs;
    this.feeds.beforeTape();
    await this.whole(() => this.advance(timeUs(endUs + 1)));
    if (!this.warm) {
      throw new Error('the recording ends before the warm-up: no time to trade');
    }
    this.deliveredUs = endUs + 1;
    for (const run of this.runs) run.stop();
    // Responses in flight are delivered; no new market data are.
    await this.whole(() => this.drain(endUs + DRAIN_US));
    this.recorder.end(endUs, exchange.engine.nowUs);
    return this.output(false, null);
  }

  /** Plays a batch and all events before its commands; false: continues after a turn. */
  private playBatch(playing: Playing): boolean {
    const { scheduler, exchange, feeds } = this;
    const { commands, localUs } = playing.batch;
    for (; playing.at < commands.length; playing.at += 1) {
      const command = must(commands[playing.at], 'there are as many as counted');
      const { timeUs: atUs } = command;
      const isWithin = feeds.beforeTape(command);
      if (this.dueBy(atUs) < atUs && !this.advance(atUs)) return false;
      if (this.cancelled && !isWithin && (this.mayStop() || --this.untilQuiet === 0)) {
        playing.stopped = true;
        return true;
      }
      scheduler.advanceTo(atUs);
      const receivedUs = localUs?.[playing.at];
      feeds.recordedUs = receivedUs === undefined ? null : receivedUs - atUs;
      if (command.kind === 'tapeBar') feeds.onTapeBar(command);
      exchange.submit(command);
      this.touches.refreshChanged(exchange.engine);
      if (this.recorder.awaitsMid) this.recorder.buy();
      feeds.publishTape(command);
      this.tapeCommands += 1;
    }
    return true;
  }

  /**
   * Time of the next event if it precedes the tape's next command, else a time not before it.
   * Events that precede the tape at equal times are half a µs earlier.
   */
  private dueBy(atUs: TimeUs): number {
    const { scheduler, exchange, recorder, feeds } = this;
    return Math.min(
      scheduler.nextUs(),
      exchange.engine.timerDueBy(atUs),
      recorder.dueUs,
      feeds.nextDueUs - 0.5,
      this.warm ? Infinity : this.tradeFromUs - 0.5,
    );
  }

  /** Runs work that returns false where promise callbacks or the event loop must run first. */
  private async whole(work: () => boolean): Promise<void> {
    const { atOnce, overdue } = this.input.promises;
    let isDone = work();
    while (!isDone) {
      if (atOnce !== undefined && this.touched && overdue?.() !== true) {
        isDone = await atOnce.run(() => this.outside(work));
      } else {
        await this.turn();
        isDone = work();
      }
    }
  }

  /** The rest of some work, outside of promise callbacks, which can then run in place. */
  private outside(work: () => boolean): boolean {
    this.isOutside = true;
    try {
      return this.settled() && work();
    } finally {
      this.isOutside = false;
    }
  }

  /** Runs all events that precede the tape at this time; false: continues after a turn. */
  private advance(untilUs: TimeUs): boolean {
    const { scheduler, exchange, recorder, feeds } = this;
    for (;;) {
      feeds.recordedUs = null;
      const beginUs = this.warm ? Infinity : this.tradeFromUs;
      const barUs = feeds.nextDueUs;
      const timerUs = exchange.nextTimerUs();
      const entryUs = scheduler.nextUs();
      const sampleUs = recorder.dueUs;
      const atUs = Math.min(beginUs, barUs, timerUs, entryUs, sampleUs);
      if (beginUs === atUs && atUs <= untilUs) this.beginTrading(timeUs(atUs));
      else if (barUs === atUs && atUs <= untilUs) {
        scheduler.advanceTo(timeUs(atUs));
        feeds.publishDue(atUs);
      } else if (atUs >= untilUs) return true;
      else if (timerUs === atUs) {
        scheduler.advanceTo(timeUs(atUs));
        exchange.advanceTo(timeUs(atUs));
        this.refreshTouches();
        feeds.publishBooks();
      } else if (entryUs === atUs) {
        scheduler.runNext();
        feeds.publishBooks();
        if (!this.settled()) return false;
      } else {
        recorder.takeDue(atUs);
      }
    }
  }

  private beginTrading(atUs: TimeUs): void {
    this.scheduler.advanceTo(atUs);
    this.warm = true;
    this.recorder.begin(atUs);
  }

  private drain(untilUs: number): boolean {
    while (this.scheduler.nextUs() <= untilUs) {
      this.scheduler.runNext();
      if (!this.settled()) return false;
    }
    return true;
  }

  /** Runs the promise callbacks of the last handler; false if that needs a turn. */
  private settled(): boolean {
    const { overdue, atOnce } = this.input.promises;
    // Turns let interrupts arrive, even if handlers never await.
    if (overdue?.() === true) return false;
    if (!this.touched) return true;
    if (atOnce === undefined || !this.isOutside) return false;
    this.touched = false;
    atOnce.drain();
    this.checkRuns();
    return true;
  }

  /** Runs all promise callbacks, and yields to the event loop. */
  private async turn(): Promise<void> {
    const { touched } = this;
    this.touched = false;
    await this.input.promises.drain();
    if (touched) this.checkRuns();
    else this.pollCancelled();
  }

  /** Fails if a handler threw or can never continue. */
  private checkRuns(): void {
    this.pollCancelled();
    for (const error of this.input.promises.lost?.() ?? []) {
      this.runs[this.touchedBy]?.fail('a promise that is not awaited', error);
    }
    for (const run of this.runs) run.check();
  }

  private pollCancelled(): void {
    this.cancelled ||= this.input.cancelled?.() ?? false;
  }

  private refreshTouches(): void {
    const { engine } = this.exchange;
    for (let id = 0; id < this.input.markets.length; id++) {
      this.touches.refresh(engine, marketId(id));
    }
  }

  /** Whether a quiet point is no longer needed, or the limit for it is reached. */
  private mayStop(): boolean {
    const savable = this.runs.every((run) => run.canBeSaved);
    return !savable || this.isQuiet() || (this.input.hurried?.() ?? false);
  }

  private isQuiet(): boolean {
    return this.runs.every((run) => run.isQuiet) && this.scheduler.save() !== null;
  }

  private handOut(): void {
    const { journal } = this.input;
    const { exchange } = this;
    if (typeof journal !== 'function' || exchange.journalSize < DRAIN_JOURNAL_AT) return;
    this.drainJournal(journal);
  }

  private drainJournal(sink: (bytes: Uint8Array) => void): void {
    const bytes = this.exchange.drainJournal();
    this.journalBytes += bytes.length;
    sink(bytes);
  }

  private output(cancelled: boolean, checkpoint: BacktestCheckpoint | null): BacktestOutput {
    const { input, exchange, recorder } = this;
    const { engine } = exchange;
    const { journal } = input;
    let whole: Uint8Array = new Uint8Array();
    if (!cancelled && journal !== 'none') {
      exchange.end();
      if (journal === 'memory') whole = exchange.journalBytes();
      else this.drainJournal(journal);
    }
    return {
      firstUs: this.tradeFromUs,
      lastUs: engine.nowUs,
      deliveredUs: this.deliveredUs ?? engine.nowUs,
      sampleUs: input.sampleUs,
      seed: input.seed,
      markets: recorder.marketOutputs(engine.nowUs),
      strategies: recorder.strategyOutputs(),
      unanswered: this.runs.flatMap((run) => run.unanswered),
      commands: engine.seq,
      chainHash: engine.chainHash(),
      stateHash: engine.stateHash(),
      journal: whole,
      engine,
      cancelled,
      checkpoint,
    };
  }

  /** Null if the run has pending work, or a strategy cannot be saved. */
  private checkpoint(): BacktestCheckpoint | null {
    const { input, exchange, scheduler } = this;
    const waiting = scheduler.save();
    if (waiting === null || !this.runs.every((run) => run.isQuiet && run.canBeSaved)) return null;
    if (typeof input.journal === 'function') this.drainJournal(input.journal);
    const state: SavedState = {
      nowUs: scheduler.nowUs,
      warm: this.warm,
      waiting,
      recorder: this.recorder.save(),
      feeds: this.feeds.save(),
      runs: this.runs.map((run) => run.save()),
    };
    return {
      orrery: 'backtest-checkpoint',
      version: 1,
      tapeCommands: this.tapeCommands,
      engine: exchange.engine.snapshot(),
      journalBytes: this.journalBytes,
      random: input.streams.save(),
      state,
    };
  }

  private load({ tapeCommands, journalBytes, state }: BacktestCheckpoint): void {
    const saved = state as SavedState;
    this.tapeCommands = tapeCommands;
    this.journalBytes = journalBytes;
    this.scheduler.advanceTo(timeUs(saved.nowUs));
    this.warm = saved.warm;
    this.recorder.load(saved.recorder);
    this.feeds.load(saved.feeds);
    this.runs.forEach((run, i) => {
      run.load(saved.runs[i]);
    });
    for (const { atUs, what } of saved.waiting) {
      const entry = what as SavedUpdate | SavedTimer;
      const run = must(this.runs[entry.strategy], 'a saved entry is of a strategy of the run');
      run.restore(atUs, entry);
    }
    this.refreshTouches();
    this.touches.markPublished();
  }
}
