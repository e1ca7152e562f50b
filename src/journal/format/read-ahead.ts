/**
 * Frames read some at a time: by turns, frame by frame, reading and applying would drive each other out of the processor's caches,
 * and a replayed command would cost a tenth more. What is wrong with a journal is said after the frames before it.
 */
import type { JournalFrame } from './frame.ts';
import type { JournalSource } from './frames.ts';
import { ReusedFrames } from './reused-frames.ts';

const AHEAD = 64;

export class ReadAhead {
  /** What `fill` read are the first `count` of these, good until it reads again. */
  readonly frames: JournalFrame[] = [];
  count = 0;
  private readonly source: JournalSource;
  private readonly reused = new ReusedFrames(AHEAD);
  private failure: Error | null = null;

  constructor(source: JournalSource) {
    this.source = source;
  }

  /** Reads the next frames, none beyond the first command after `untilSeq`; false when there are none. Throws as the source does. */
  fill(untilSeq = Infinity): boolean {
    const { frames, source, reused, failure } = this;
    if (failure !== null) throw failure;
    let count = 0;
    reused.reuse();
    try {
      while (count < AHEAD) {
        const frame = source.next(reused);
        if (frame === null) break;
        frames[count++] = frame;
        if (frame.kind === 'command' && frame.seq > untilSeq) break;
      }
    } catch (error) {
      if (count === 0 || !(error instanceof Error)) throw error;
      this.failure = error;
    }
    this.count = count;
    return count > 0;
  }
}
