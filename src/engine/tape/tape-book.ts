/**
 * What the tape remembers of one market beside the house segments that stand in the real book (DESIGN §6).
 *
 * Per price level of a side: `displaced` lots, house liquidity that users took and that history does not know is gone;
 * `credit`, a decrease that arrived before its trade; and the fractions that queue models carry over. Levels are
 * forgotten when history removes them.
 */
import type { Archive } from '../../base/archive.ts';
import { archiveList } from '../../base/archive.ts';
import { timeUs, type TimeUs } from '../../num/units.ts';

export interface TapeLevelState {
  displaced: number;
  /** When `displaced` last grew or halved, for the halving impact model. */
  displacedAtUs: TimeUs;
  /** Decrease without a trade so far, taken from ahead of the first user order and from elsewhere. */
  creditFront: number;
  creditBack: number;
  creditUntilUs: TimeUs;
}

/** Fractions in 1e-9 lots that a queue model carries from one decrease to the next, by user order id. */
export class TapeBook {
  readonly bids = new Map<number, TapeLevelState>();
  readonly asks = new Map<number, TapeLevelState>();
  readonly carry = new Map<number, number>();
  /** Segments that are one historical order each, by the venue's number of it, and back (L3). */
  readonly orders = new Map<number, number>();
  readonly refs = new Map<number, number>();
  /** After a gap, until the next snapshot: no house fills. */
  stale = false;

  levels(side: 1 | -1): Map<number, TapeLevelState> {
    return side > 0 ? this.bids : this.asks;
  }

  level(side: 1 | -1, price: number): TapeLevelState {
    const levels = this.levels(side);
    const found = levels.get(price);
    if (found !== undefined) return found;
    const made: TapeLevelState = {
      displaced: 0,
      displacedAtUs: timeUs(0),
      creditFront: 0,
      creditBack: 0,
      creditUntilUs: timeUs(0),
    };
    levels.set(price, made);
    return made;
  }

  /** The segment is a historical order. */
  nameOrder(slot: number, ref: number): void {
    this.orders.set(ref, slot);
    this.refs.set(slot, ref);
  }

  /** The segment left the book. */
  forgetOrder(slot: number): void {
    if (this.refs.size === 0) return;
    const ref = this.refs.get(slot);
    if (ref === undefined) return;
    this.refs.delete(slot);
    this.orders.delete(ref);
  }

  /** The orders themselves are archived with the queues that they stand in. */
  archive(io: Archive): void {
    io.section('tape');
    this.stale = io.bool(this.stale);
    archiveLevels(io, this.bids);
    archiveLevels(io, this.asks);
    const carried = archiveList(io, sorted(this.carry), (entry) => {
      const key = io.int(entry?.[0] ?? 0);
      return [key, io.int(entry?.[1] ?? 0)] as const;
    });
    if (io.loading) for (const [key, value] of carried) this.carry.set(key, value);
  }
}

function archiveLevels(io: Archive, levels: Map<number, TapeLevelState>): void {
  const items = archiveList(io, sorted(levels), (entry) => {
    const price = io.int(entry?.[0] ?? 0);
    const level = entry?.[1];
    return [
      price,
      {
        displaced: io.int(level?.displaced ?? 0),
        displacedAtUs: timeUs(io.int(level?.displacedAtUs ?? 0)),
        creditFront: io.int(level?.creditFront ?? 0),
        creditBack: io.int(level?.creditBack ?? 0),
        creditUntilUs: timeUs(io.int(level?.creditUntilUs ?? 0)),
      },
    ] as const;
  });
  if (io.loading) for (const [price, level] of items) levels.set(price, level);
}

/** Entries by ascending key: the order of insertion is no part of the state. */
function sorted<V>(map: Map<number, V>): (readonly [number, V])[] {
  return [...map].sort((a, b) => a[0] - b[0]);
}
