/**
 * A journal as a timeline: the state of its exchange after any command.
 *
 * `Timeline.open` reads the header only. `index` then executes the journal once, in as many calls
 * as the caller likes: it verifies recorded hashes, fills the index (`steps`) and keeps snapshots.
 * `seek` works at once for any command, indexed or not: it restores the nearest earlier snapshot
 * and applies the commands that follow. Every state is that of a straight replay; only the history
 * that serves readers (trades, candles, ended orders) is kept shorter, which no hash includes.
 *
 * An `Instant` and its `engine` are valid until the next `seek`; views (`views/`) are copies.
 * Nothing here waits or reads a clock, so a worker of a browser, Node and tests run the same code.
 */
import { must } from '../base/assert.ts';
import { UserError } from '../base/user-error.ts';
import type { Command } from '../engine/commands.ts';
import type { ExchangeConfig } from '../engine/config.ts';
import type { EngineEvent } from '../engine/events.ts';
import { Exchange } from '../engine/exchange.ts';
import type { Engine, ExchangeView } from '../engine/read/views.ts';
import type { Outcome } from '../engine/refusals.ts';
import type { JournalFrame } from '../journal/format/frame.ts';
import { JournalError, type TornTail } from '../journal/format/frames.ts';
import { BEGINNING, type JournalHeader } from '../journal/format/header.ts';
import { StepIndex } from './index/step-index.ts';
import { flagsOfCommand, flagsOfEvent, STEP_FLAGS } from './index/step-flags.ts';
import { Keyframes, type Keyframe } from './keyframes.ts';
import { NearStates } from './near-states.ts';
import { RunCursor } from './run-cursor.ts';
import { FrameStream } from './source/frame-stream.ts';
import { bytesInMemory, type JournalBytes } from './source/journal-bytes.ts';
import { contextOf, type StepContext } from './step-context.ts';
import { isPriceCommand, weightOf, type PriceCommand } from './what-if/price-moves.ts';

export interface TimelineSource {
  /** A journal file, or the segments of a data folder in order. */
  readonly parts: readonly JournalBytes[];
  /** Snapshot of the exchange before the first command; null: the journal has its first command. */
  readonly base: Uint8Array | null;
}

export interface TimelineOptions {
  /** Memory for snapshots over the whole journal; 256 MB by default. */
  readonly keyframeBytes?: number;
  /** Memory for snapshots near the last seeks; 32 MB by default. */
  readonly nearBytes?: number;
  /** Commands between two keyframes before any is dropped; 2,048 by default. */
  readonly spacing?: number;
}

/** A journal or a request that the timeline cannot use. */
export class TimelineError extends UserError {
  override readonly name = 'TimelineError';
  readonly code = 'timeline';
}

/** A recorded hash that the re-execution does not reproduce. */
export interface HashMismatch {
  readonly what: 'stateHash' | 'chainHash';
  readonly seq: number;
  readonly expected: string;
  readonly actual: string;
}

export interface TimelineProgress {
  /** Last indexed command and its time. */
  readonly seq: number;
  readonly timeUs: number;
  /** Bytes read, of `totalBytes`. */
  readonly bytes: number;
  readonly totalBytes: number;
  /** True at the end of the journal, at a torn tail, a mismatch or a fault. */
  readonly complete: boolean;
  /** True if the journal was closed by its writer. */
  readonly ended: boolean;
  readonly torn: TornTail | null;
  /** Recorded state hashes and chain hashes that were reproduced. */
  readonly checkpoints: number;
  readonly chainHashes: number;
  readonly mismatch: HashMismatch | null;
  /** Text of the error that the last command, or the bytes after it, caused; null without one. */
  readonly fault: string | null;
}

/** The command of an instant: what it was, what came of it. */
export interface Step {
  readonly command: Command;
  readonly outcome: Outcome;
  readonly events: readonly EngineEvent[];
  /** Facts of the state just before the command. */
  readonly before: StepContext;
}

/** The exchange after a command. */
export interface Instant {
  readonly seq: number;
  readonly timeUs: number;
  readonly chainHash: string;
  /** Read only, and only until the next seek. */
  readonly engine: ExchangeView & Pick<Engine, 'checkInvariants'>;
  /** The last command; null before the first one. */
  readonly step: Step | null;
}

const MEGABYTE = 1 << 20;
/** Price commands and their levels that are kept for what-ifs. */
const KEPT_PRICES = 50_000;
/** Commands up to which the current state is advanced instead of restoring a snapshot. */
const NEARBY = 256;
/** Cursors that wait before the current instant, each for one step back. */
const SPARES = 3;
/** Steps back before the snapshots of `near` are passed. */
const AHEAD = 12;

/** History that only readers need: enough for a view, little to copy. */
const LEAN = {
  tradesPerMarket: 64,
  candleMinutesPerMarket: 0,
  endedOrdersPerAccount: 2,
  transfersPerSubaccount: 0,
  vaultSnapshotsPerHolder: 0,
};

export class Timeline {
  readonly header: JournalHeader;
  readonly steps: StepIndex;
  /** Command before the first one that can be reached. */
  readonly baseSeq: number;
  readonly keyframes: Keyframes;
  private readonly parts: readonly JournalBytes[];
  private readonly near: NearStates;
  private readonly indexer: RunCursor;
  private current: { readonly cursor: RunCursor; readonly instant: Instant } | null = null;
  /** Restored already: a step back takes one and applies few commands. */
  private spares: RunCursor[] = [];
  private prices: { readonly seq: number; readonly command: PriceCommand }[] | null = [];
  private priceWeight = 0;
  private complete = false;
  private checkpoints = 0;
  private chainHashes = 0;
  private mismatch: HashMismatch | null = null;
  private fault: string | null = null;

  /** Throws `TimelineError` or `JournalError` if this is not a journal that can be executed. */
  static open(source: TimelineSource | Uint8Array, options: TimelineOptions = {}): Timeline {
    return new Timeline(
      source instanceof Uint8Array ? { parts: [bytesInMemory(source)], base: null } : source,
      options,
    );
  }

  private constructor({ parts, base }: TimelineSource, options: TimelineOptions) {
    const [first] = parts;
    if (first === undefined || parts.every(({ size }) => size === 0)) {
      throw new TimelineError('the journal is empty');
    }
    this.parts = parts;
    const stream = new FrameStream(parts);
    this.header = stream.header;
    const start = startOf(this.header, base);
    this.baseSeq = start.seq;
    const frame: Keyframe = { seq: start.seq, state: start.snapshot(), place: stream.place };
    const { keyframeBytes = 256 * MEGABYTE, nearBytes = 32 * MEGABYTE, spacing = 2048 } = options;
    this.keyframes = new Keyframes(frame, keyframeBytes, spacing);
    this.near = new NearStates(nearBytes);
    this.steps = new StepIndex(start.seq);
    this.indexer = new RunCursor(parts, frame);
  }

  get config(): ExchangeConfig {
    return this.header.config;
  }

  get progress(): TimelineProgress {
    return {
      seq: this.steps.lastSeq,
      timeUs: this.steps.lastUs,
      bytes: this.indexer.stream.offset,
      totalBytes: this.parts.reduce((sum, { size }) => sum + size, 0),
      complete: this.complete,
      ended: this.indexer.stream.ended,
      torn: this.indexer.stream.torn,
      checkpoints: this.checkpoints,
      chainHashes: this.chainHashes,
      mismatch: this.mismatch,
      fault: this.fault,
    };
  }

  /** Executes and indexes up to `commands` more; returns the progress. */
  index(commands = Infinity): TimelineProgress {
    const { indexer, steps, keyframes } = this;
    let flags = 0;
    const sink = (event: EngineEvent): void => {
      flags |= flagsOfEvent(event);
      steps.addPrice(event);
    };
    for (let i = 0; i < commands && !this.complete; i++) {
      try {
        const command = indexer.peek((frame) => {
          this.verify(frame);
        });
        if (command === null || this.mismatch !== null) {
          this.complete = true;
          break;
        }
        if (keyframes.isDue(indexer.seq)) keyframes.add(indexer.keyframe());
        flags = flagsOfCommand(command);
        const outcome = indexer.step(sink);
        if (outcome !== 'ok') flags |= STEP_FLAGS.refusal;
        if (this.prices !== null && isPriceCommand(command)) this.keepPrice(indexer.seq, command);
        steps.add(indexer.engine.nowUs, flags);
      } catch (error) {
        this.complete = true;
        this.fault = error instanceof Error ? error.message : String(error);
      }
    }
    return this.progress;
  }

  /** Commands that bring prices, in order; null if there are many, or the index is incomplete. */
  get priceCommands(): readonly { readonly seq: number; readonly command: PriceCommand }[] | null {
    return this.complete ? this.prices : null;
  }

  private keepPrice(seq: number, command: PriceCommand): void {
    this.prices?.push({ seq, command });
    this.priceWeight += weightOf(command);
    if (this.priceWeight > KEPT_PRICES) this.prices = null;
  }

  private verify(frame: JournalFrame): void {
    const { engine } = this.indexer;
    if (frame.kind === 'checkpoint') {
      const actual = engine.stateHash();
      if (actual === frame.stateHash) this.checkpoints += 1;
      else this.mismatch ??= mismatchOf('stateHash', frame.stateHash, actual, engine.seq);
    } else if (frame.kind === 'chain' || frame.kind === 'end') {
      const actual = engine.chainHash();
      if (actual === frame.chainHash) this.chainHashes += 1;
      else this.mismatch ??= mismatchOf('chainHash', frame.chainHash, actual, engine.seq);
    }
  }

  /**
   * The exchange after command `seq`. Before the first command: `baseSeq`. Throws `TimelineError`
   * for a command that the journal does not have.
   */
  seek(seq: number): Instant {
    if (!Number.isSafeInteger(seq) || seq < this.baseSeq) {
      throw new TimelineError(
        `command ${String(seq)} is not in this journal: its first is ${String(this.baseSeq + 1)}`,
        { field: 'seq' },
      );
    }
    const { current } = this;
    if (current?.instant.seq === seq) return current.instant;
    const cursor = this.cursorBefore(seq);
    const reached = cursor.advanceTo(Math.max(this.baseSeq, seq - 1));
    const instant = reached ? stepTo(cursor, seq) : null;
    if (instant === null) {
      this.current = null;
      throw new TimelineError(
        `command ${String(seq)} is not in this journal: its last is ${String(cursor.seq)}`,
        { field: 'seq' },
      );
    }
    this.current = { cursor, instant };
    return instant;
  }

  /** The exchange after the last command at or before a time; without one, before the first. */
  seekTime(timeUs: number): Instant {
    let seq = this.steps.seqBefore(timeUs);
    const cursor = this.cursorBefore(seq + 1);
    cursor.advanceTo(seq);
    for (let command = cursor.peek(); command !== null; command = cursor.peek()) {
      if (command.timeUs > timeUs) break;
      cursor.step();
      seq = cursor.seq;
    }
    this.current = null;
    return this.seek(seq);
  }

  /** The chain hash after a command. */
  hashAt(seq: number): string {
    return this.seek(seq).chainHash;
  }

  /**
   * Makes the next single steps backwards fast. To be called when nothing else is to do, until it
   * returns false: each call may take as long as a seek.
   */
  prepare(): boolean {
    const seq = this.current?.instant.seq ?? this.baseSeq;
    const target = Math.max(this.baseSeq, seq - 2);
    if (target >= seq) return false;
    const next = Math.max(this.baseSeq, target - AHEAD);
    this.near.spread(() => this.cursorFor(next), next + 1);
    const useful = (spare: RunCursor): boolean =>
      spare.seq <= target && target - spare.seq <= NEARBY;
    this.spares = this.spares.filter(useful);
    if (this.spares.length === SPARES) return false;
    // A snapshot just before the target serves fewer of the steps that follow.
    const cursor = this.cursorFor(next);
    if (target - cursor.seq > NEARBY) cursor.advanceTo(next);
    this.spares.push(cursor);
    return this.spares.length < SPARES;
  }

  /**
   * An exchange of its own after command `seq`, which the caller may change: for scans and forks.
   */
  cursorAt(seq: number): RunCursor {
    const cursor = new RunCursor(this.parts, this.frameBefore(seq));
    if (cursor.advanceTo(seq)) return cursor;
    throw new TimelineError(`command ${String(seq)} is not in this journal`, { field: 'seq' });
  }

  /** As `cursorAt`, after a keyframe of a cursor of this timeline. */
  cursorFrom(frame: Keyframe): RunCursor {
    return new RunCursor(this.parts, frame);
  }

  /** A command of the journal; null if it does not have it. */
  commandAt(seq: number): Command | null {
    if (seq <= this.baseSeq) return null;
    const stream = new FrameStream(this.parts, this.frameBefore(seq - 1).place);
    for (let frame = stream.next(); frame !== null; frame = stream.next()) {
      if (frame.kind === 'command' && frame.seq === seq) return frame.command;
    }
    return null;
  }

  /** Command of the last keyframe before command `seq`: a run backwards re-executes from there. */
  partBefore(seq: number): number {
    return this.keyframes.before(Math.max(this.baseSeq, seq - 1)).seq;
  }

  /** Snapshot of the exchange after command `seq`. */
  snapshotAt(seq: number): Uint8Array {
    return this.cursorAt(seq).engine.snapshot();
  }

  private frameBefore(seq: number): Keyframe {
    const near = this.near.before(seq);
    const far = this.keyframes.before(seq);
    return near !== null && near.seq > far.seq ? near : far;
  }

  private cursorBefore(seq: number): RunCursor {
    const { current } = this;
    const target = Math.max(this.baseSeq, seq - 1);
    const at = current?.instant.seq ?? Infinity;
    if (current !== null && at <= target) {
      const frame = this.frameBefore(target);
      if (target - at <= NEARBY || frame.seq <= at) return current.cursor;
    }
    const spare = this.spares.findIndex((one) => one.seq <= target && target - one.seq <= NEARBY);
    if (spare >= 0) return must(this.spares.splice(spare, 1)[0], 'it was found');
    if (current !== null && at > target && at - target <= NEARBY) {
      this.near.spread(() => this.cursorFor(target), target + 1);
    }
    return this.cursorFor(target);
  }

  private cursorFor(target: number): RunCursor {
    const seq = Math.max(this.baseSeq, target);
    return new RunCursor(this.parts, this.frameBefore(seq));
  }
}

/** Applies the last command of the way to an instant with its events; null without one. */
function stepTo(cursor: RunCursor, seq: number): Instant | null {
  const { engine } = cursor;
  if (engine.seq === seq) return instantOf(engine, null);
  const command = cursor.peek();
  if (command === null) return null;
  const before = contextOf(engine, command);
  const events: EngineEvent[] = [];
  const outcome = must(
    cursor.step((event) => events.push(event)) ?? undefined,
    'the command was peeked',
  );
  return instantOf(engine, { command, outcome, events, before });
}

function instantOf(engine: Exchange, step: Step | null): Instant {
  const { seq, nowUs } = engine;
  return { seq, timeUs: nowUs, chainHash: engine.chainHash(), engine, step };
}

function mismatchOf(
  what: HashMismatch['what'],
  expected: string,
  actual: string,
  seq: number,
): HashMismatch {
  return { what, seq, expected, actual };
}

/** The exchange before the first command, with little history. */
function startOf({ config, after }: JournalHeader, base: Uint8Array | null): Exchange {
  if (base !== null) return Exchange.restore(base);
  if (after.seq === BEGINNING.seq) return new Exchange({ ...config, retention: LEAN });
  throw new JournalError(
    `journal: starts after command ${String(after.seq)}; open it with the snapshot of its folder`,
  );
}
