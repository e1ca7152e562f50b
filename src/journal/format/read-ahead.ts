/**
 * Reads frames in batches: alternating between decoding and applying evicts both from the
 * instruction cache and costs 10 % of a replay. An error is raised after the frames before it.
 */
import type { JournalFrame } from './frame.ts';
import type { JournalSource } from './frames.ts';
import { ReusedFrames } from './reused-frames.ts';

const AHEAD = 64;

export class ReadAhead {
  /** The first `count` are valid until the next `fill`. */
  readonly frames: JournalFrame[] = [];
  count = 0;
  private readonly source: JournalSource;
  private readonly reused = new ReusedFrames(AHEAD);
  private failure: Error | null = null;

  constructor(source: JournalSource) {
    this.source = source;
  }

  /** Reads up to the first command after `untilSeq`; false at the end. Throws like the source. */
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
