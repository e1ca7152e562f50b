/**
 * A journal as a timeline: the state of its exchange after any command.
 *
 * `Timeline.open` reads the header only. `index` then executes the journal once, in as many calls
 * as the caller likes: it verifies recorded hashes, fills the index (`steps`) and keeps snapshots.
 * `seek` works at once for any command, indexed or not: it restores the nearest earlier snapshot,
 * or returns to a mark near by, and applies the commands that follow. Every state is that of a
 * straight replay; only the history that serves readers (trades, candles, ended orders) is kept
 * shorter, which no hash includes.
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
import { BEGINNING, earlierRelease, type JournalHeader } from '../journal/format/header.ts';
import { StepIndex } from './index/step-index.ts';
import { flagsOfCommand, flagsOfEvent, STEP_FLAGS } from './index/step-flags.ts';
import { Cursors } from './cursors.ts';
import { Keyframes, type Keyframe } from './keyframes.ts';
import { RunCursor } from './run-cursor.ts';
import { FrameStream, type StreamPlace } from './source/frame-stream.ts';
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
  /** Memory for snapshots over the whole journal; 160 MB by default. */
  readonly keyframeBytes?: number;
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
  /** Release by whose rules the journal begins; null if these are the present rules. */
  readonly release: string | null;
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
/** Commands between two kept places of the journal. */
const PLACE_EVERY = 256;

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
  private readonly cursors: Cursors;
  private readonly indexer: RunCursor;
  private current: Instant | null = null;
  /** From where each `PLACE_EVERY`th command can be read. */
  private readonly places: StreamPlace[];
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
    const { keyframeBytes = 160 * MEGABYTE, spacing = 2048 } = options;
    const keyframes = new Keyframes(frame, keyframeBytes, spacing);
    this.keyframes = keyframes;
    this.places = [stream.place];
    this.cursors = new Cursors({
      baseSeq: start.seq,
      restore: (target) => new RunCursor(parts, keyframes.before(target)),
      restoredSeq: (target) => keyframes.seqBefore(target),
    });
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
        if (indexer.seq === this.baseSeq + PLACE_EVERY * this.places.length) {
          this.places.push(indexer.stream.place);
        }
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
    // A segment may begin before the snapshot of its folder.
    if (frame.seq < this.baseSeq) return;
    if (frame.kind === 'checkpoint') {
      const actual = engine.stateHash();
      if (actual === frame.stateHash) this.checkpoints += 1;
      else this.mismatch ??= this.mismatchOf('stateHash', frame.stateHash, actual);
    } else if (frame.kind === 'chain' || frame.kind === 'end') {
      const actual = engine.chainHash();
      if (actual === frame.chainHash) this.chainHashes += 1;
      else this.mismatch ??= this.mismatchOf('chainHash', frame.chainHash, actual);
    }
  }

  private mismatchOf(what: HashMismatch['what'], expected: string, actual: string): HashMismatch {
    const { seq } = this.indexer.engine;
    return { what, seq, expected, actual, release: earlierRelease(this.header) };
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
    if (this.current?.seq === seq) return this.current;
    this.current = null;
    const target = Math.max(this.baseSeq, seq - 1);
    const cursor = this.cursors.before(target);
    try {
      this.current = cursor.advanceTo(target) ? stepTo(cursor, seq) : null;
    } catch (error) {
      // Its exchange may have applied a part of a command.
      this.cursors.drop();
      throw error;
    }
    if (this.current === null) {
      this.cursors.drop();
      throw new TimelineError(
        `command ${String(seq)} is not in this journal: its last is ${String(cursor.seq)}`,
        { field: 'seq' },
      );
    }
    return this.current;
  }

  /** The exchange after the last command at or before a time; without one, before the first. */
  seekTime(timeUs: number): Instant {
    let seq = this.steps.seqBefore(timeUs);
    // The cursor moves on beyond the instant that it gave.
    this.current = null;
    const cursor = this.cursors.before(seq);
    try {
      cursor.advanceTo(seq);
      for (let command = cursor.peek(); command !== null; command = cursor.peek()) {
        if (command.timeUs > timeUs) break;
        cursor.step();
        seq = cursor.seq;
      }
    } catch (error) {
      this.cursors.drop();
      throw error;
    }
    return this.seek(seq);
  }

  /**
   * The first command after which a condition holds that, once true, stays true; the command after
   * the last one if it never does. Seeks a few times.
   */
  firstSeq(holds: (engine: ExchangeView) => boolean): number {
    let low = this.baseSeq;
    let high = this.steps.lastSeq + 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (holds(this.seek(middle).engine)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The chain hash after a command. */
  hashAt(seq: number): string {
    return this.seek(seq).chainHash;
  }

  /**
   * Makes the next single steps backwards fast. To be called when nothing else is to do, until it
   * returns false: a call takes at most as long as a restore.
   */
  prepare(): boolean {
    return this.cursors.prepare();
  }

  /**
   * An exchange of its own after command `seq`, which the caller may change: for scans and forks.
   */
  cursorAt(seq: number): RunCursor {
    const cursor = new RunCursor(this.parts, this.keyframes.before(seq));
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
    const stream = this.framesAfter(seq - 1);
    for (let frame = stream.next(); frame !== null; frame = stream.next()) {
      if (frame.kind === 'command' && frame.seq === seq) return frame.command;
    }
    return null;
  }

  /** Frames from at or before the one that follows command `seq`. */
  framesAfter(seq: number): FrameStream {
    const at = Math.floor((seq - this.baseSeq) / PLACE_EVERY);
    const place = this.places[Math.min(Math.max(0, at), this.places.length - 1)];
    return new FrameStream(this.parts, place);
  }

  /** Command of the last keyframe before command `seq`: a run backwards re-executes from there. */
  partBefore(seq: number): number {
    return this.keyframes.seqBefore(Math.max(this.baseSeq, seq - 1));
  }

  /** Snapshot of the exchange after command `seq`. */
  snapshotAt(seq: number): Uint8Array {
    return this.cursorAt(seq).engine.snapshot();
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

/** The exchange before the first command, with little history. */
function startOf({ config, after }: JournalHeader, base: Uint8Array | null): Exchange {
  if (base !== null) return Exchange.restore(base);
  if (after.seq === BEGINNING.seq) return new Exchange({ ...config, retention: LEAN });
  throw new JournalError(
    `journal: starts after command ${String(after.seq)}; open it with the snapshot of its folder`,
  );
}
