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
import { Exchange } from '../../engine/exchange.ts';
import type { SubaccountId } from '../../num/units.ts';
import { RandomStreams } from '../../virtual-time/rng.ts';
import { subaccountOf } from '../step-context.ts';
import { TimelineError, type Timeline } from '../timeline.ts';
import { resampledFuture } from './future.ts';
import { MoveCollector, References, type PriceMoves } from './price-moves.ts';

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
  private readonly moves: PriceMoves;
  private readonly points = new Map<number, InevitabilityPoint>();
  private queue: number[] = [];
  private readonly perInstant: number;
  private forks = 0;
  private done = false;

  /** Throws `TimelineError` if the journal has no such liquidation or too few price moves. */
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
    this.moves = this.collect();
    if (futures === 'resampled' && this.moves.moves.length < MIN_MOVES) {
      throw new TimelineError(
        `the journal has only ${String(this.moves.moves.length)} price moves; resampling needs ${String(MIN_MOVES)}; use recorded futures`,
        { field: 'futures' },
      );
    }
    this.queue = this.instants();
    // A part of the forks is for the bisection.
    const planned = this.queue.length + window.toString(2).length + 4;
    this.perInstant = futures === 'recorded' ? 1 : Math.max(1, Math.floor(forks / planned));
  }

  private collect(): PriceMoves {
    const collector = new MoveCollector(this.options.blockMoves);
    const cursor = this.timeline.cursorAt(this.timeline.baseSeq);
    while (collector.read(cursor, 1 << 16));
    return collector.finish();
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
    const cursor = this.timeline.cursorAt(this.from);
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
    for (let i = 0; i < instants && !this.done; i++) {
      const seq = this.queue.shift() ?? this.nextOfBisection();
      if (seq === null) this.done = true;
      else this.points.set(seq, this.examine(seq));
    }
    return this.curve();
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

  private examine(seq: number): InevitabilityPoint {
    const { futures, horizon, seed } = this.options;
    const cursor = this.timeline.cursorAt(seq);
    if (futures === 'recorded') {
      this.forks += 1;
      return { seq, liquidated: this.recordedFuture(seq) ? 1 : 0, futures: 1 };
    }
    const state = cursor.engine.snapshot();
    const prices = this.pricesAt(seq);
    let liquidated = 0;
    for (let i = 0; i < this.perInstant; i++) {
      // The same futures at every instant: their difference is the state.
      const random = new RandomStreams(seed).stream(`future ${String(i)}`);
      const engine = Exchange.restore(state);
      const commands = resampledFuture(this.moves, horizon, engine.nowUs, prices, random);
      if (this.isLiquidated(engine, commands)) liquidated += 1;
    }
    this.forks += this.perInstant;
    return { seq, liquidated, futures: this.perInstant };
  }

  /** The commands of others as they were, up to and including the liquidation. */
  private recordedFuture(seq: number): boolean {
    const { subaccount, liquidationSeq } = this.options;
    const base = this.timeline.cursorAt(seq);
    const engine = base.engine.fork();
    function* others(): Generator<Command> {
      for (let command = base.peek(); command !== null && base.seq < liquidationSeq;) {
        if (subaccountOf(base.engine, command) !== subaccount) yield command;
        base.step();
        command = base.peek();
      }
    }
    return this.isLiquidated(engine, others());
  }

  private isLiquidated(engine: Exchange, commands: Iterable<Command>): boolean {
    let found = false as boolean;
    for (const command of commands) {
      engine.apply(command, (event) => {
        if (event.kind !== 'liquidationStep' || event.subaccount !== this.options.subaccount)
          return;
        if (event.step !== 'safe') found = true;
      });
      if (found) return true;
    }
    return false;
  }

  /** Reference prices after a command. */
  private pricesAt(seq: number): (number | null)[] {
    const { moves } = this.moves;
    const next = moves.find((move) => move.seq > seq);
    if (next !== undefined) return [...next.before];
    const references = new References();
    for (const { command } of moves) references.take(command);
    return references.prices();
  }
}
