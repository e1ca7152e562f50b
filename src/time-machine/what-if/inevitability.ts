/**
 * From which command on was a liquidation certain? The curve has, for commands before it, the part
 * of futures in which the account is liquidated if it does nothing more. Futures are resampled
 * from the price moves of the whole journal (`resampled`), or are the commands of all others as
 * they were (`recorded`: one future, certain or not).
 *
 * Method: instants on a grid over the window before the liquidation, and around each command of
 * the account itself; then bisection between the last instant below the threshold and the first
 * from which all are at or above it. The decisive command is the first after which the liquidation
 * was certain. Limits: docs/TIME-MACHINE.md.
 */
import type { Command } from '../../engine/commands.ts';
import { must } from '../../base/assert.ts';
import type { SubaccountId } from '../../num/units.ts';
import type { Keyframe } from '../keyframes.ts';
import type { RunCursor } from '../run-cursor.ts';
import { subaccountOf } from '../step-context.ts';
import { TimelineError, type Timeline } from '../timeline.ts';
import { FutureRuns, isLiquidated, type FutureSettings, type FuturesJob } from './future-runs.ts';
import { MoveCollector, type PriceMoves } from './price-moves.ts';

export interface InevitabilityOptions {
  readonly subaccount: number;
  /** A command with a liquidation step of the account. */
  readonly liquidationSeq: number;
  readonly futures?: 'resampled' | 'recorded';
  readonly seed?: string;
  /** Commands before the liquidation that are examined; 400 by default. */
  readonly window?: number;
  /** Price moves of each future; 60 by default. */
  readonly horizon?: number;
  /** Consecutive moves that stay together; 5 by default. */
  readonly blockMoves?: number;
  /** Most forks in all; 1,000 by default. */
  readonly forks?: number;
  /** Part of the futures from which on the liquidation counts as certain; 0.95 by default. */
  readonly threshold?: number;
}

export interface InevitabilityPoint {
  /** The state after this command. */
  readonly seq: number;
  readonly liquidated: number;
  readonly futures: number;
}

export interface InevitabilityCurve {
  /** Ascending. */
  readonly points: readonly InevitabilityPoint[];
  /** First command after which the liquidation was certain; null if it was not before it came. */
  readonly decisiveSeq: number | null;
  readonly liquidationSeq: number;
  readonly windowFromSeq: number;
  readonly horizon: number;
  readonly forks: number;
  readonly done: boolean;
}

/** An instant whose futures are being executed. */
interface OpenInstant {
  readonly seq: number;
  readonly state: Uint8Array;
  readonly prices: readonly (number | null)[];
  /** Futures that were handed out, and those that came back. */
  handed: number;
  returned: number;
  liquidated: number;
}

/** Moves below which a resampled future would only repeat them. */
const MIN_MOVES = 20;
const GRID = 16;
const OWN = 12;

export class Inevitability {
  private readonly timeline: Timeline;
  private readonly options: Required<Omit<InevitabilityOptions, 'subaccount'>> & {
    readonly subaccount: SubaccountId;
  };
  private readonly from: number;
  private readonly points = new Map<number, InevitabilityPoint>();
  private readonly queue: number[];
  private readonly perInstant: number;
  /** State at the begin of the window, where each instant is reached from. */
  private readonly start: Keyframe;
  /** The last instant that was reached; the next one is often after it. */
  private cursor: RunCursor | null = null;
  private collecting: {
    readonly collector: MoveCollector;
    readonly cursor: RunCursor;
    isReading: boolean;
  } | null;
  private moves: PriceMoves | null = null;
  private runs: FutureRuns | null = null;
  /** The newest is the last; its futures are handed out first. */
  private open: OpenInstant[] = [];
  private forks = 0;
  private done = false;

  /** Throws `TimelineError` if the journal has no such liquidation. */
  constructor(timeline: Timeline, options: InevitabilityOptions) {
    this.timeline = timeline;
    this.options = {
      futures: 'resampled',
      seed: 'inevitability',
      window: 400,
      horizon: 60,
      blockMoves: 5,
      forks: 1000,
      threshold: 0.95,
      ...options,
      subaccount: options.subaccount as SubaccountId,
    };
    const { liquidationSeq, window, forks, futures } = this.options;
    const { step } = timeline.seek(liquidationSeq);
    const isLiquidated = step?.events.some(
      (event) => event.kind === 'liquidationStep' && event.subaccount === options.subaccount,
    );
    if (isLiquidated !== true) {
      throw new TimelineError(
        `command ${String(liquidationSeq)} does not liquidate account ${String(options.subaccount)}`,
        { field: 'liquidationSeq' },
      );
    }
    this.from = Math.max(timeline.baseSeq, liquidationSeq - window);
    this.start = timeline.cursorAt(this.from).keyframe();
    const collector = new MoveCollector(this.options.blockMoves, {
      from: this.from,
      to: liquidationSeq,
    });
    this.collecting =
      futures === 'recorded'
        ? null
        : { collector, cursor: timeline.cursorAt(timeline.baseSeq), isReading: false };
    this.queue = this.instants();
    // A part of the forks is for the bisection.
    const planned = this.queue.length + window.toString(2).length + 4;
    this.perInstant = futures === 'recorded' ? 1 : Math.max(1, Math.floor(forks / planned));
  }

  /**
   * Reads up to `commands` more of the journal for its price moves; false when all are read. Throws
   * `TimelineError` if there are too few.
   */
  collect(commands: number): boolean {
    if (this.collecting === null) return false;
    const { collector, cursor } = this.collecting;
    // Those that the index has kept, unless the journal is being read already.
    const kept = this.collecting.isReading ? null : this.timeline.priceCommands;
    if (kept === null) {
      this.collecting.isReading = true;
      if (collector.read(cursor, commands)) return true;
    } else for (const { seq, command } of kept) collector.add(seq, command);
    const moves = collector.finish();
    if (moves.moves.length < MIN_MOVES) {
      throw new TimelineError(
        `the journal has only ${String(moves.moves.length)} price moves; resampling needs ${String(MIN_MOVES)}; use recorded futures`,
        { field: 'futures' },
      );
    }
    this.collecting = null;
    this.moves = moves;
    this.runs = new FutureRuns(moves, this.settings);
    return false;
  }

  /**
   * Moves and settings with which another thread executes the same futures; null before they are
   * collected, and for recorded futures.
   */
  get shared(): { readonly moves: PriceMoves; readonly settings: FutureSettings } | null {
    const { moves, settings } = this;
    return moves === null ? null : { moves, settings };
  }

  private get settings(): FutureSettings {
    const { subaccount, horizon, seed } = this.options;
    return { subaccount, horizon, seed };
  }

  /** A grid, and the instants before and after commands of the account. */
  private instants(): number[] {
    const { liquidationSeq, subaccount } = this.options;
    const last = liquidationSeq - 1;
    const seqs = new Set<number>([this.from, last]);
    for (let i = 1; i < GRID; i++) {
      seqs.add(Math.round(this.from + ((last - this.from) * i) / GRID));
    }
    const own: number[] = [];
    const cursor = this.cursorTo(this.from);
    for (let command = cursor.peek(); command !== null && cursor.seq < last;) {
      if (subaccountOf(cursor.engine, command) === subaccount) own.push(cursor.seq + 1);
      cursor.step();
      command = cursor.peek();
    }
    for (const seq of own.slice(-OWN)) {
      seqs.add(seq - 1);
      seqs.add(seq);
    }
    return [...seqs].sort((a, b) => a - b);
  }

  /** Examines up to `instants` more; returns the curve so far. */
  run(instants: number): InevitabilityCurve {
    while (this.collect(Infinity));
    const before = this.points.size;
    while (this.points.size < before + instants && !this.done) {
      const job = this.takeJob();
      if (job !== null) this.give(job, this.execute(job));
    }
    return this.curve();
  }

  /**
   * The next part of the work: an instant, or a half of the last ones, which two threads share.
   * null while parts that were taken are needed to go on, and at the end.
   */
  takeJob(): FuturesJob | null {
    const instant = this.nextInstant();
    if (instant === null) return null;
    const first = instant.handed;
    const most = Math.ceil(this.perInstant / (this.queue.length > 0 ? 1 : 2));
    instant.handed = Math.min(this.perInstant, first + most);
    const { seq, state, prices, handed } = instant;
    return { seq, state, prices, first, end: handed };
  }

  /** Liquidations in the futures of a part. */
  execute(job: FuturesJob): number {
    if (this.options.futures === 'recorded') return this.recordedFuture(job.seq) ? 1 : 0;
    return must(this.runs ?? undefined, 'moves are collected').run(job);
  }

  /** Takes the result of a part. Parts may come back in any order. */
  give({ seq, first, end }: FuturesJob, liquidated: number): void {
    const instant = must(
      this.open.find((one) => one.seq === seq),
      'its instant is open',
    );
    instant.returned += end - first;
    instant.liquidated += liquidated;
    this.forks += end - first;
    if (instant.returned < this.perInstant) return;
    this.open = this.open.filter((one) => one !== instant);
    this.points.set(seq, { seq, liquidated: instant.liquidated, futures: this.perInstant });
    if (this.queue.length === 0 && this.open.length === 0 && this.nextOfBisection() === null) {
      this.done = true;
    }
  }

  /** An instant with futures that were not handed out. */
  private nextInstant(): OpenInstant | null {
    const newest = this.open.at(-1);
    if (newest !== undefined && newest.handed < this.perInstant) return newest;
    // A middle is known once all parts are back.
    const seq = this.queue.shift() ?? (this.open.length > 0 ? null : this.nextOfBisection());
    if (seq === null) return null;
    const { engine } = this.cursorTo(seq);
    const isRecorded = this.options.futures === 'recorded';
    const instant = {
      seq,
      state: isRecorded ? new Uint8Array() : engine.snapshotForPrices(),
      prices: isRecorded ? [] : this.pricesAt(seq),
      handed: 0,
      returned: 0,
      liquidated: 0,
    };
    this.open.push(instant);
    return instant;
  }

  private cursorTo(seq: number): RunCursor {
    if (this.cursor === null || this.cursor.seq > seq) {
      this.cursor = this.timeline.cursorFrom(this.start);
    }
    this.cursor.advanceTo(seq);
    return this.cursor;
  }

  /** Middle between the last uncertain instant and the first certain one; null when adjacent. */
  private nextOfBisection(): number | null {
    const { low, high } = this.bracket();
    if (low === null || high === null || high - low <= 1) return null;
    if (this.forks + this.perInstant > this.options.forks) return null;
    return Math.floor((low + high) / 2);
  }

  /** Last instant below the threshold, and the first after it. */
  private bracket(): { readonly low: number | null; readonly high: number | null } {
    let low: number | null = null;
    let high: number | null = null;
    for (const { seq, liquidated, futures } of this.sorted()) {
      if (liquidated < this.options.threshold * futures) {
        low = seq;
        high = null;
      } else high ??= seq;
    }
    return { low, high };
  }

  private sorted(): InevitabilityPoint[] {
    return [...this.points.values()].sort((a, b) => a.seq - b.seq);
  }

  curve(): InevitabilityCurve {
    const { liquidationSeq, horizon } = this.options;
    const { low, high } = this.bracket();
    return {
      points: this.sorted(),
      decisiveSeq: this.done ? (high ?? (low === null ? null : liquidationSeq)) : null,
      liquidationSeq,
      windowFromSeq: this.from,
      horizon,
      forks: this.forks,
      done: this.done,
    };
  }

  /** The commands of others as they were, up to and including the liquidation. */
  private recordedFuture(seq: number): boolean {
    const { subaccount, liquidationSeq } = this.options;
    const base = this.timeline.cursorFrom(this.start);
    base.advanceTo(seq);
    const engine = base.engine.fork();
    function* others(): Generator<Command> {
      for (let command = base.peek(); command !== null && base.seq < liquidationSeq;) {
        if (subaccountOf(base.engine, command) !== subaccount) yield command;
        base.step();
        command = base.peek();
      }
    }
    return isLiquidated(engine, subaccount, others());
  }

  /** Reference prices after a command. */
  private pricesAt(seq: number): readonly (number | null)[] {
    const { moves, last } = must(this.moves ?? undefined, 'moves are collected');
    return moves.find((move) => move.seq > seq)?.before ?? last;
  }
}
