/**
 * Snapshots of a run within a memory budget. They begin dense; each time the budget is exceeded,
 * every other one is dropped and the distance doubles. A seek restores the last one before its
 * target.
 */
import { must } from '../base/assert.ts';
import type { StreamPlace } from './source/frame-stream.ts';

export interface Keyframe {
  /** Commands applied. */
  readonly seq: number;
  /** Snapshot of the engine. */
  readonly state: Uint8Array;
  /** From where the next command can be read. */
  readonly place: StreamPlace;
}

export class Keyframes {
  /** Ascending; the first is the start of the journal and is never dropped. */
  private readonly frames: Keyframe[] = [];
  private readonly budgetBytes: number;
  private bytes = 0;
  private spacing: number;

  constructor(first: Keyframe, budgetBytes: number, spacing: number) {
    this.budgetBytes = budgetBytes;
    this.spacing = spacing;
    this.add(first);
  }

  get count(): number {
    return this.frames.length;
  }
  get usedBytes(): number {
    return this.bytes;
  }
  /** Commands between two keyframes. */
  get distance(): number {
    return this.spacing;
  }

  /** True if a keyframe after this command keeps the distance. */
  isDue(seq: number): boolean {
    const last = must(this.frames.at(-1), 'the first keyframe stays');
    return seq - last.seq >= this.spacing;
  }

  add(frame: Keyframe): void {
    this.frames.push(frame);
    this.bytes += frame.state.length;
    while (this.bytes > this.budgetBytes && this.frames.length > 2) this.thinOut();
  }

  private thinOut(): void {
    const kept = this.frames.filter((_, i) => i % 2 === 0);
    this.frames.splice(0, this.frames.length, ...kept);
    this.bytes = kept.reduce((sum, { state }) => sum + state.length, 0);
    this.spacing *= 2;
  }

  /** The last one at or before a command. */
  before(seq: number): Keyframe {
    let low = 0;
    let high = this.frames.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.frames[middle]?.seq ?? Infinity) <= seq) low = middle + 1;
      else high = middle;
    }
    return must(this.frames[Math.max(0, low - 1)], 'the first keyframe stays');
  }
}
