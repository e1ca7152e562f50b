/**
 * Frames read some at a time: by turns, frame by frame, reading and applying would drive each other out of the processor's caches,
 * and a replayed command would cost a tenth more. What is wrong with a journal is said after the frames before it.
 */
import type { JournalFrame, JournalSource } from './frames.ts';

const AHEAD = 64;

export class ReadAhead {
  /** What `fill` read. */
  readonly frames: JournalFrame[] = [];
  private readonly source: JournalSource;
  private failure: Error | null = null;

  constructor(source: JournalSource) {
    this.source = source;
  }

  /** Reads the next frames, none beyond the first command after `untilSeq`; false when there are none. Throws as the source does. */
  fill(untilSeq = Infinity): boolean {
    const { frames, source, failure } = this;
    if (failure !== null) throw failure;
    frames.length = 0;
    try {
      while (frames.length < AHEAD) {
        const frame = source.next();
        if (frame === null) break;
        frames.push(frame);
        if (frame.kind === 'command' && frame.seq > untilSeq) break;
      }
    } catch (error) {
      if (frames.length === 0 || !(error instanceof Error)) throw error;
      this.failure = error;
    }
    return frames.length > 0;
  }
}
