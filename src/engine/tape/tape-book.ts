/**
 * Tape state of one market besides the house segments in the real book.
 *
 * Per price level of a side: `taken`, lots of history's size that users took; `displaced`, those
 * that the impact model keeps out of the book; `credit`, a decrease that arrived before its trade;
 * and fractions carried by queue models. A level without such values is not part of the state, and
 * memory does not grow with the tape.
 */
import type { Archive } from '../../base/archive.ts';
import { ArchiveError, archiveList } from '../../base/archive.ts';
import { RowValues } from '../../base/row-values.ts';
import { timeUs, type TimeUs } from '../../num/units.ts';
import { Credits, type Credit } from './credits.ts';

/** A level of which users took lots. */
export interface TapeLevelState {
  /** Lots that users took and history has not removed since. They never fill a resting order. */
  taken: number;
  /** Part of `taken` that history states again: what diverges from the strategies' own impact. */
  restated: number;
  displaced: number;
  /** Mean time at which `displaced` were taken, or last halved, for the halving impact model. */
  displacedAtUs: TimeUs;
}

/** Fractions in 1e-9 lots carried to the next decrease, by user order id. */
export class TapeBook {
  private readonly bids = new TapeLevels();
  private readonly asks = new TapeLevels();
  readonly carry = new Map<number, number>();
  /** Segments of single historical orders, by venue order number, and back (L3). */
  readonly orders = new Map<number, number>();
  readonly refs = new RowValues<number>();
  /** After a gap, until the next snapshot: no house fills. */
  stale = false;
  /** The mid of history while users' orders hold its levels away: see `stateMid`. */
  statedHalfTicks: number | null = null;
  /** Lots and levels of history, ever, that contradict what users took. */
  divergedLots = 0;
  divergedLevels = 0;

  /** The state of a level of which users took lots that history still has. */
  findTaken(side: 1 | -1, price: number): TapeLevelState | undefined {
    return (side > 0 ? this.bids : this.asks).findTaken(price);
  }

  /** The state of a level of which users take lots. */
  takenLevel(side: 1 | -1, price: number): TapeLevelState {
    return (side > 0 ? this.bids : this.asks).takenLevel(price);
  }

  /** History has removed all lots of the level that users took. */
  endTaken(side: 1 | -1, price: number): void {
    (side > 0 ? this.bids : this.asks).endTaken(price);
  }

  credits(side: 1 | -1): Credits {
    return (side > 0 ? this.bids : this.asks).credits;
  }

  /** Prices of a side at which users took lots that history still has. */
  takenPrices(side: 1 | -1): number[] {
    return (side > 0 ? this.bids : this.asks).takenPrices();
  }

  /** Drops the state of all levels. */
  forgetLevels(): void {
    this.bids.clear();
    this.asks.clear();
  }

  /** Registers the segment as a historical order. */
  nameOrder(slot: number, ref: number): void {
    this.orders.set(ref, slot);
    this.refs.set(slot, ref);
  }

  /** Unregisters a segment that left the book. */
  forgetOrder(slot: number): void {
    if (this.refs.size === 0) return;
    const ref = this.refs.get(slot);
    if (ref === undefined) return;
    this.refs.delete(slot);
    this.orders.delete(ref);
  }

  /** Figures for readers; they decide nothing. Follows `archive`. */
  archiveHistory(io: Archive): void {
    this.divergedLots = io.int(this.divergedLots);
    this.divergedLevels = io.int(this.divergedLevels);
    this.bids.archiveRestated(io);
    this.asks.archiveRestated(io);
  }

  /** The orders themselves are archived with their queues. */
  archive(io: Archive, nowUs: TimeUs): void {
    io.section('tape');
    // The second bit: a stated mid follows, which most books do not have.
    const flags = io.int((this.stale ? 1 : 0) | (this.statedHalfTicks === null ? 0 : 2));
    if (flags < 0 || flags > 3) {
      throw new ArchiveError(`snapshot: the book of a tape has the unknown flags ${String(flags)}`);
    }
    this.stale = (flags & 1) !== 0;
    this.statedHalfTicks = (flags & 2) === 0 ? null : io.int(this.statedHalfTicks ?? 0);
    this.bids.archive(io, nowUs);
    this.asks.archive(io, nowUs);
    const carried = archiveList(io, sorted(this.carry), (entry) => {
      const key = io.int(entry?.[0] ?? 0);
      return [key, io.int(entry?.[1] ?? 0)] as const;
    });
    if (io.loading) for (const [key, value] of carried) this.carry.set(key, value);
  }
}

/** Entries up to which deleting each is faster than `clear`, which allocates a table. */
const FEW_LEVELS = 16;

function emptied(levels: Map<number, TapeLevelState>): void {
  if (levels.size > FEW_LEVELS) levels.clear();
  else if (levels.size > 0) levels.forEach((_level, price) => levels.delete(price));
}

class TapeLevels {
  /** Few, so that each update of history finds them fast. */
  private readonly taken = new Map<number, TapeLevelState>();
  /** Dropped records for reuse: fresh ones would become garbage in the old generation. */
  private readonly spare: TapeLevelState[] = [];
  readonly credits = new Credits();

  findTaken(price: number): TapeLevelState | undefined {
    return this.taken.size === 0 ? undefined : this.taken.get(price);
  }

  takenLevel(price: number): TapeLevelState {
    const found = this.taken.get(price);
    if (found !== undefined) return found;
    const spare = this.spare.pop();
    const made = spare === undefined ? emptyLevel() : Object.assign(spare, NOTHING);
    this.taken.set(price, made);
    return made;
  }

  endTaken(price: number): void {
    const level = this.taken.get(price);
    if (level === undefined) return;
    this.spare.push(level);
    this.taken.delete(price);
  }

  takenPrices(): number[] {
    return [...this.taken.keys()].sort((a, b) => a - b);
  }

  clear(): void {
    this.credits.clear();
    // A callback is an allocation, also for no entry.
    if (this.taken.size === 0) return;
    this.taken.forEach((level) => this.spare.push(level));
    emptied(this.taken);
  }

  /** Canonical: credit that no trade claimed in time counts as none. */
  archive(io: Archive, nowUs: TimeUs): void {
    const levels = archiveList(io, io.loading ? [] : this.remembered(nowUs), (saved) => {
      const price = io.int(saved?.price ?? 0);
      const { taken, displaced } = archiveTaken(io, saved?.level);
      const displacedAtUs = io.int(displaced === 0 ? 0 : (saved?.level.displacedAtUs ?? 0));
      const front = io.int(saved?.credit.front ?? 0);
      const back = io.int(saved?.credit.back ?? 0);
      const untilUs = io.int(saved?.credit.untilUs ?? 0);
      return {
        price,
        level: { taken, restated: 0, displaced, displacedAtUs: timeUs(displacedAtUs) },
        credit: { price, front, back, untilUs: timeUs(untilUs) },
      };
    });
    if (!io.loading) return;
    for (const { price, level, credit } of levels) {
      if (level.taken > 0) this.taken.set(price, level);
      const { front, back, untilUs } = credit;
      if (front + back > 0) this.credits.add(price, front, back, nowUs, untilUs);
    }
  }

  archiveRestated(io: Archive): void {
    const prices = io.loading ? [] : this.takenPrices();
    archiveList(io, prices, (saved) => {
      const level = this.findTaken(io.int(saved ?? 0));
      const restated = io.int(level?.restated ?? 0);
      if (level !== undefined) level.restated = restated;
      return restated;
    });
  }

  private remembered(nowUs: TimeUs): Remembered[] {
    const credits = new Map(this.credits.alive(nowUs).map((credit) => [credit.price, credit]));
    const prices = new Set([...this.taken.keys(), ...credits.keys()]);
    return [...prices]
      .sort((a, b) => a - b)
      .map((price) => ({
        price,
        level: this.taken.get(price) ?? NOTHING,
        credit: credits.get(price) ?? { price, front: 0, back: 0, untilUs: timeUs(0) },
      }));
  }
}

interface Remembered {
  readonly price: number;
  readonly level: TapeLevelState;
  readonly credit: Credit;
}

const NOTHING: Readonly<TapeLevelState> = emptyLevel();

function emptyLevel(): TapeLevelState {
  return {
    taken: 0,
    restated: 0,
    displaced: 0,
    displacedAtUs: timeUs(0),
  };
}

/**
 * Equal numbers, as under `permanent` impact, are one number. Otherwise it is −1 − displaced, and
 * `taken` follows.
 */
function archiveTaken(
  io: Archive,
  level: TapeLevelState | undefined,
): Pick<TapeLevelState, 'taken' | 'displaced'> {
  const { taken, displaced } = level ?? NOTHING;
  const first = io.int(taken === displaced ? taken : -1 - displaced);
  return first >= 0
    ? { taken: first, displaced: first }
    : { taken: io.int(taken), displaced: -1 - first };
}

/** Entries by ascending key: insertion order is not part of the state. */
function sorted<V>(map: Map<number, V>): (readonly [number, V])[] {
  return [...map].sort((a, b) => a[0] - b[0]);
}
