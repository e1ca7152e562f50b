/** An exchange at a place of a journal: it applies the commands that follow, one at a time. */
import type { Command } from '../engine/commands.ts';
import type { EventSink } from '../engine/events.ts';
import { Exchange } from '../engine/exchange.ts';
import type { Outcome } from '../engine/refusals.ts';
import type { JournalFrame } from '../journal/format/frame.ts';
import type { Keyframe } from './keyframes.ts';
import { FrameStream } from './source/frame-stream.ts';
import type { JournalBytes } from './source/journal-bytes.ts';

export class RunCursor {
  readonly engine: Exchange;
  readonly stream: FrameStream;
  private pending: Command | null = null;

  constructor(parts: readonly JournalBytes[], { state, place }: Keyframe) {
    this.engine = Exchange.restore(state);
    this.stream = new FrameStream(parts, place);
  }

  get seq(): number {
    return this.engine.seq;
  }

  /** The command that `step` would apply; null at the end. Hands other frames to `onFrame`. */
  peek(onFrame?: (frame: JournalFrame) => void): Command | null {
    while (this.pending === null) {
      const frame = this.stream.next();
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
    return { seq: this.engine.seq, state: this.engine.snapshot(), place: this.stream.place };
  }
}
