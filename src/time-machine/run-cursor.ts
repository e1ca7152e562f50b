/** An exchange at a place of a journal: it applies the commands that follow, one at a time. */
import type { Command } from '../engine/commands.ts';
import type { EventSink } from '../engine/events.ts';
import { Exchange } from '../engine/exchange.ts';
import type { Outcome } from '../engine/refusals.ts';
import type { JournalFrame } from '../journal/format/frame.ts';
import type { Keyframe } from './keyframes.ts';
import { FrameStream, type StreamPlace } from './source/frame-stream.ts';
import type { JournalBytes } from './source/journal-bytes.ts';
import { Checkpoint } from './what-if/checkpoint.ts';

/** Where a cursor can return to. */
interface Mark {
  readonly seq: number;
  readonly place: StreamPlace;
  readonly state: Checkpoint;
}

export class RunCursor {
  readonly engine: Exchange;
  private readonly parts: readonly JournalBytes[];
  private frames: FrameStream;
  private pending: Command | null = null;
  private mark: Mark | null = null;

  constructor(parts: readonly JournalBytes[], { state, place }: Keyframe) {
    this.engine = Exchange.restore(state);
    this.parts = parts;
    this.frames = new FrameStream(parts, place);
  }

  get seq(): number {
    return this.engine.seq;
  }
  get stream(): FrameStream {
    return this.frames;
  }
  /** The command to which `rewind` returns; null without one. */
  get markSeq(): number | null {
    return this.mark?.seq ?? null;
  }

  /** The command that `step` would apply; null at the end. Hands other frames to `onFrame`. */
  peek(onFrame?: (frame: JournalFrame) => void): Command | null {
    while (this.pending === null) {
      const frame = this.frames.next();
      if (frame === null) return null;
      if (frame.kind !== 'command') onFrame?.(frame);
      else if (frame.seq > this.engine.seq) this.pending = frame.command;
    }
    return this.pending;
  }

  /** Applies the next command; null at the end. */
  step(sink?: EventSink): Outcome | null {
    const command = this.peek();
    if (command === null) return null;
    this.pending = null;
    return this.engine.apply(command, sink);
  }

  /** Applies commands up to and including `seq`; false if the journal ends before it. */
  advanceTo(seq: number): boolean {
    while (this.engine.seq < seq) if (this.step() === null) return false;
    return true;
  }

  /** A keyframe of this instant. The frame at its place may be applied already; `peek` skips it. */
  keyframe(): Keyframe {
    return { seq: this.engine.seq, state: this.engine.snapshot(), place: this.frames.place };
  }

  /** Copies the state of this instant, so that `rewind` returns to it. */
  setMark(): void {
    this.mark = {
      seq: this.engine.seq,
      place: this.frames.place,
      state: new Checkpoint(this.engine),
    };
  }

  /** Returns to the mark in place, several times as fast as a restore. */
  rewind(): void {
    if (this.mark === null) return;
    this.mark.state.rewind();
    this.frames = new FrameStream(this.parts, this.mark.place);
    this.pending = null;
  }
}
