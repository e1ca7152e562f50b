/**
 * Snapshots shortly before the last instants, so that single steps back restore one and apply few
 * commands. Distances grow by a factor: a step beyond the nearest needs the next one only.
 */
import type { Keyframe } from './keyframes.ts';
import type { RunCursor } from './run-cursor.ts';

/** Distances from the target at which a snapshot is wanted, farthest first. */
const DISTANCES = [512, 48] as const;

export class NearStates {
  private readonly budgetBytes: number;
  /** Least recently used first. */
  private frames: Keyframe[] = [];
  private bytes = 0;

  constructor(budgetBytes: number) {
    this.budgetBytes = budgetBytes;
  }

  /** Keeps snapshots before `seq`; `start` makes a cursor before it, if any is missing. */
  spread(start: () => RunCursor, seq: number): void {
    let cursor: RunCursor | null = null;
    for (const distance of DISTANCES) {
      const at = seq - distance;
      // A kept one that is nearer to the target than to this distance is as good.
      const kept = this.before(seq - 1);
      if (kept !== null && kept.seq >= at) continue;
      cursor ??= start();
      if (cursor.seq > at || !cursor.advanceTo(at)) continue;
      this.add(cursor.keyframe());
    }
  }

  private add(frame: Keyframe): void {
    this.frames.push(frame);
    this.bytes += frame.state.length;
    while (this.bytes > this.budgetBytes && this.frames.length > DISTANCES.length) {
      this.bytes -= this.frames.shift()?.state.length ?? 0;
    }
  }

  /** The last kept snapshot at or before a command. */
  before(seq: number): Keyframe | null {
    let best: Keyframe | null = null;
    for (const frame of this.frames) {
      if (frame.seq <= seq && (best === null || frame.seq > best.seq)) best = frame;
    }
    return best;
  }
}
