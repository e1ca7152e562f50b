/**
 * The exchanges of a timeline's reader: the current one, and one that waits before it for steps
 * back. Each may have a mark to which it returns in place, so most steps restore no snapshot.
 */
import type { RunCursor } from './run-cursor.ts';

/** Costs of a restore and of a return to a mark, in commands that take as long. */
const RESTORE = 1500;
const REWIND = 250;
/** Commands back that count as steps. */
const NEARBY = 256;
/** Distance of a mark to the instant, or to the mark, that it serves. */
const AHEAD = 128;
/** Steps back that a mark must still allow before the next one is prepared. */
const ENOUGH = 48;
/** Commands after a mark from which on a new one is worth its time. */
const FAR = 512;
/** Most commands of one call of `prepare`. */
const SLICE = 512;

export interface CursorSource {
  /** Command before the first one. */
  readonly baseSeq: number;
  /** A restored exchange at or before a command. */
  restore(target: number): RunCursor;
  /** Where `restore` begins. */
  restoredSeq(target: number): number;
}

export class Cursors {
  private readonly source: CursorSource;
  private current: RunCursor | null = null;
  /** It waits at its goal, and has a mark there once it has reached it. */
  private spare: { readonly cursor: RunCursor; readonly goal: number } | null = null;

  constructor(source: CursorSource) {
    this.source = source;
  }

  /** The current exchange, at or before the target. Earlier ones are invalid. */
  before(target: number): RunCursor {
    const { current } = this;
    const cursor = this.cheapest(target);
    if (current !== null && cursor !== current && cursor.markSeq === null) {
      const back = current.seq - target;
      // Steps back without preparation: the next ones return to this mark.
      if (back > 0 && back <= NEARBY) this.markBefore(cursor, target);
    }
    this.current = cursor;
    return cursor;
  }

  /** Forgets the current exchange, which an error may have left anywhere. */
  drop(): void {
    this.current = null;
  }

  private cheapest(target: number): RunCursor {
    const { current, spare, source } = this;
    const distance = (seq: number | null | undefined): number =>
      seq === null || seq === undefined || seq > target ? Infinity : target - seq;
    const forward = distance(current?.seq);
    const rewind = REWIND + distance(current?.markSeq);
    const waiting = spare?.cursor.markSeq === spare?.goal ? distance(spare?.goal) : Infinity;
    const restore = RESTORE + distance(source.restoredSeq(target));
    const least = Math.min(forward, rewind, waiting, restore);
    if (current !== null && forward === least) return current;
    if (current !== null && rewind === least) {
      current.rewind();
      return current;
    }
    if (spare !== null && waiting === least) {
      this.spare = null;
      return spare.cursor;
    }
    return source.restore(target);
  }

  private markBefore(cursor: RunCursor, target: number): void {
    const goal = Math.max(this.source.baseSeq, target - AHEAD);
    if (cursor.seq < goal) cursor.advanceTo(goal);
    cursor.setMark();
  }

  /** A part of what makes the next single steps back fast; false if nothing is left to do. */
  prepare(): boolean {
    const { current, source } = this;
    if (current === null) return false;
    const { seq, markSeq } = current;
    const isServed = markSeq !== null && seq - markSeq <= FAR;
    // Down to here the current exchange returns by itself.
    const low = isServed ? markSeq : seq;
    if (low <= source.baseSeq || seq - low > ENOUGH) return false;
    if (this.spare !== null && (this.spare.goal >= low || low - this.spare.goal > 2 * AHEAD)) {
      this.spare = null;
    }
    const goal = Math.max(source.baseSeq, low - AHEAD);
    if (this.spare === null) {
      this.spare = { cursor: source.restore(goal), goal };
      return true;
    }
    return advance(this.spare.cursor, this.spare.goal);
  }
}

/** False once the cursor waits at its goal. */
function advance(cursor: RunCursor, goal: number): boolean {
  if (cursor.markSeq === goal) return false;
  if (cursor.seq < goal) {
    cursor.advanceTo(Math.min(goal, cursor.seq + SLICE));
    return true;
  }
  cursor.setMark();
  return false;
}
