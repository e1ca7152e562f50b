/**
 * Runs to a breakpoint, forwards or backwards, in parts that the caller chooses. A breakpoint is
 * hit by the command after which its predicate is true, when it was false before (`rise`), or by
 * every command after which it is true (`every`). Each scan has an exchange of its own.
 *
 * Predicates are not monotone, so a run backwards re-executes: the part from the last keyframe
 * before its place, of which the last hit counts, then the part before that.
 */
import type { EngineEvent } from '../engine/events.ts';
import { assert } from '../base/assert.ts';
import type { Predicate } from './expression/compile.ts';
import { ExpressionError } from './expression/expression-error.ts';
import { scopeOf } from './expression/scope.ts';
import type { RunCursor } from './run-cursor.ts';
import type { Timeline } from './timeline.ts';

export interface ScanOptions {
  readonly direction: 'forward' | 'backward';
  /** Hits are after this command, or before it when running backwards. */
  readonly from: number;
  readonly edge?: 'rise' | 'every';
}

export interface ScanResult {
  /** The command that hits; null if none was found yet. */
  readonly hit: number | null;
  /** True if a hit was found or no command is left. */
  readonly done: boolean;
  /** Last command that was executed. */
  readonly at: number;
}

/** Whether a predicate holds after a command. Throws `ExpressionError`, which names the command. */
export function holdsAfter(predicate: Predicate, step: Parameters<typeof scopeOf>[0]): boolean {
  try {
    return predicate.test(scopeOf(step));
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw error.afterCommand(step.engine.seq);
  }
}

export class Scan {
  private readonly timeline: Timeline;
  private readonly predicate: Predicate;
  private readonly options: ScanOptions;
  private cursor: RunCursor;
  private wasTrue = false;
  /** When running backwards: end of the part, its start, and its last hit so far. */
  private partEnd: number;
  private partStart: number;
  private lastHit: number | null = null;
  private result: ScanResult | null = null;

  /** Throws `TimelineError` if the journal lacks the command `from`. */
  constructor(timeline: Timeline, predicate: Predicate, options: ScanOptions) {
    assert(Number.isSafeInteger(options.from), 'a scan starts at a command');
    this.timeline = timeline;
    this.predicate = predicate;
    this.options = options;
    this.partEnd = options.from;
    this.partStart = options.from;
    if (options.direction === 'backward') this.partStart = timeline.partBefore(options.from);
    this.cursor = this.cursorAfter(this.partStart);
  }

  /** An exchange after a command, which is judged with its own events. */
  private cursorAfter(seq: number): RunCursor {
    const { baseSeq } = this.timeline;
    const cursor = this.timeline.cursorAt(Math.max(baseSeq, seq - 1));
    this.cursor = cursor;
    if (seq > baseSeq) this.step();
    else this.wasTrue = this.isTrue();
    return cursor;
  }

  /** Executes up to `commands` more. Throws `ExpressionError` if the predicate takes too long. */
  run(commands: number): ScanResult {
    for (let i = 0; i < commands && this.result === null; i++) {
      if (this.options.direction === 'forward') this.forward();
      else this.backward();
    }
    return this.result ?? { hit: null, done: false, at: this.cursor.seq };
  }

  private forward(): void {
    const hit = this.step();
    if (hit === null) this.result = { hit: null, done: true, at: this.cursor.seq };
    else if (hit) this.result = { hit: this.cursor.seq, done: true, at: this.cursor.seq };
  }

  private backward(): void {
    if (this.cursor.seq < this.partEnd - 1) {
      if (this.step() === true) this.lastHit = this.cursor.seq;
      return;
    }
    if (this.lastHit !== null || this.partStart <= this.timeline.baseSeq) {
      this.result = { hit: this.lastHit, done: true, at: this.partStart };
      return;
    }
    // The first command of this part is judged with the part before it.
    this.partEnd = this.partStart + 1;
    this.partStart = this.timeline.partBefore(this.partStart);
    this.cursor = this.cursorAfter(this.partStart);
  }

  /** Whether the next command hits; null at the end of the journal. */
  private step(): boolean | null {
    const { cursor, predicate } = this;
    const events: EngineEvent[] = [];
    const command = cursor.peek();
    if (command === null) return null;
    const outcome = cursor.step(predicate.usesEvents ? (event) => events.push(event) : undefined);
    const { engine } = cursor;
    const isTrue = holdsAfter(predicate, { engine, command, outcome: outcome ?? 'ok', events });
    const isHit = isTrue && (this.options.edge === 'every' || !this.wasTrue);
    this.wasTrue = isTrue;
    return isHit;
  }

  private isTrue(): boolean {
    const { engine } = this.cursor;
    return holdsAfter(this.predicate, { engine, command: null, outcome: 'ok', events: [] });
  }
}
