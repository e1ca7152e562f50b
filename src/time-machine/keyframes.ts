/**
 * Snapshots of a run within a memory budget. They begin dense; each time the budget is exceeded,
 * every other one is dropped and the distance doubles. A seek restores the last one before its
 * target.
 *
 * Most of a snapshot is equal to the one before, so most are kept as the difference to an earlier
 * one. By its place in the list, a snapshot depends on the one whose place lacks its lowest bit: 7
 * on 6, 6 on 4, and 4 on 0. So no snapshot that is kept depends on one that is dropped, and at most
 * six differences lead to any snapshot. Every 64th is whole.
 */
import { must } from '../base/assert.ts';
import { applyDelta, deltaOf } from './byte-delta.ts';
import type { StreamPlace } from './source/frame-stream.ts';

export interface Keyframe {
  /** Commands applied. */
  readonly seq: number;
  /** Snapshot of the engine. */
  readonly state: Uint8Array;
  /** From where the next command can be read. */
  readonly place: StreamPlace;
}

/** A keyframe whose state is whole, or the difference to that of another one. */
interface KeptFrame {
  readonly seq: number;
  readonly place: StreamPlace;
  readonly bytes: Uint8Array;
  readonly base: KeptFrame | null;
}

/** Places between two whole snapshots. */
const GROUP = 64;
/** A difference of more than this part of the snapshot is not worth its way. */
const WORTH = 0.5;

export class Keyframes {
  /** Ascending; the first is the start of the journal and is never dropped. */
  private readonly frames: KeptFrame[] = [];
  private readonly budgetBytes: number;
  private bytes = 0;
  private spacing: number;
  /** The whole state of the newest one, on which every other next one depends. */
  private newest: Keyframe;

  constructor(first: Keyframe, budgetBytes: number, spacing: number) {
    this.budgetBytes = budgetBytes;
    this.spacing = spacing;
    this.newest = first;
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
    const kept = this.packed(frame);
    this.frames.push(kept);
    this.newest = frame;
    this.bytes += kept.bytes.length;
    while (this.bytes > this.budgetBytes && this.frames.length > 2) this.thinOut();
  }

  private packed({ seq, place, state }: Keyframe): KeptFrame {
    const at = this.frames.length;
    // Without its lowest bit.
    const base = at % GROUP === 0 ? undefined : this.frames[at & (at - 1)];
    if (base === undefined) return { seq, place, bytes: state, base: null };
    const before = base.seq === this.newest.seq ? this.newest.state : stateOf(base);
    const bytes = deltaOf(before, state);
    const isWorth = bytes.length < WORTH * state.length;
    return isWorth ? { seq, place, bytes, base } : { seq, place, bytes: state, base: null };
  }

  private thinOut(): void {
    const kept = this.frames.filter((_, i) => i % 2 === 0);
    this.frames.splice(0, this.frames.length, ...kept);
    this.bytes = kept.reduce((sum, { bytes }) => sum + bytes.length, 0);
    this.spacing *= 2;
  }

  /** The command of the last one at or before a command. */
  seqBefore(seq: number): number {
    return this.find(seq).seq;
  }

  /** The last one at or before a command. */
  before(seq: number): Keyframe {
    const found = this.find(seq);
    return { seq: found.seq, place: found.place, state: stateOf(found) };
  }

  private find(seq: number): KeptFrame {
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

function stateOf({ bytes, base }: KeptFrame): Uint8Array {
  return base === null ? bytes : applyDelta(stateOf(base), bytes);
}
