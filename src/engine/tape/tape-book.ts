/**
 * Tape state of one market besides the house segments in the real book.
 *
 * Per price level of a side: `taken`, lots of history's size that users took; `displaced`, those
 * that the impact model keeps out of the book; `credit`, a decrease that arrived before its trade;
 * and fractions carried by queue models. A level without such values is not part of the state. Such
 * levels are dropped periodically, so memory does not grow with the tape.
 */
import type { Archive } from '../../base/archive.ts';
import { archiveList } from '../../base/archive.ts';
import { RowValues } from '../../base/row-values.ts';
import { timeUs, type TimeUs } from '../../num/units.ts';

export interface TapeLevelState {
  /** Lots that users took and history has not removed since. They never fill a resting order. */
  taken: number;
  /** Part of `taken` that history states again: what diverges from the strategies' own impact. */
  restated: number;
  displaced: number;
  /** Time at which `displaced` last grew or halved, for the halving impact model. */
  displacedAtUs: TimeUs;
  /** Decrease without a trade so far, from ahead of the first user order and from elsewhere. */
  creditFront: number;
  creditBack: number;
  creditUntilUs: TimeUs;
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
  /** Lots and levels of history, ever, that contradict what users took. */
  divergedLots = 0;
  divergedLevels = 0;

  /** The state of a level, if any. */
  find(side: 1 | -1, price: number): TapeLevelState | undefined {
    return (side > 0 ? this.bids : this.asks).find(price);
  }

  level(side: 1 | -1, price: number, nowUs: TimeUs): TapeLevelState {
    return (side > 0 ? this.bids : this.asks).level(price, nowUs);
  }

  forget(side: 1 | -1, price: number): void {
    (side > 0 ? this.bids : this.asks).forget(price);
  }

  /** The state of a level of which users took lots; also of some where none are left. */
  findTaken(side: 1 | -1, price: number): TapeLevelState | undefined {
    return (side > 0 ? this.bids : this.asks).findTaken(price);
  }

  /** The state of a level of which users take lots. */
  takenLevel(side: 1 | -1, price: number, nowUs: TimeUs): TapeLevelState {
    return (side > 0 ? this.bids : this.asks).takenLevel(price, nowUs);
  }

  /** Users took no lots that this level still has. */
  endTaken(side: 1 | -1, price: number): void {
    (side > 0 ? this.bids : this.asks).endTaken(price);
  }

  /** Prices of a side at which users took lots that history still has. */
  takenPrices(side: 1 | -1): number[] {
    return (side > 0 ? this.bids : this.asks).takenPrices();
  }

  /** Drops the state of all levels. */
  forgetLevels(): void {
    // Clearing an empty map allocates its table again.
    if (this.bids.size > 0) this.bids.clear();
    if (this.asks.size > 0) this.asks.clear();
  }

  /** Number of levels in memory, for tests of its bound. */
  get levelCount(): number {
    return this.bids.size + this.asks.size;
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
    this.stale = io.bool(this.stale);
    this.bids.archive(io, nowUs);
    this.asks.archive(io, nowUs);
    const carried = archiveList(io, sorted(this.carry), (entry) => {
      const key = io.int(entry?.[0] ?? 0);
      return [key, io.int(entry?.[1] ?? 0)] as const;
    });
    if (io.loading) for (const [key, value] of carried) this.carry.set(key, value);
  }
}

/** Min number of levels for a sweep; later sweeps run when the number has doubled. */
const LEAST_SWEEP = 1 << 14;

/** Entries up to which deleting each is faster than `clear`, which allocates a table. */
const FEW_LEVELS = 16;

function emptied(levels: Map<number, TapeLevelState>): void {
  if (levels.size > FEW_LEVELS) levels.clear();
  else if (levels.size > 0) levels.forEach((_level, price) => levels.delete(price));
}

class TapeLevels {
  private readonly byPrice = new Map<number, TapeLevelState>();
  /** Those of which users took lots. Few, so that each update of history finds them fast. */
  private readonly taken = new Map<number, TapeLevelState>();
  /** Dropped records for reuse: fresh ones would become garbage in the old generation. */
  private readonly spare: TapeLevelState[] = [];
  private sweepAt = LEAST_SWEEP;

  get size(): number {
    return this.byPrice.size;
  }

  find(price: number): TapeLevelState | undefined {
    return this.byPrice.get(price);
  }

  level(price: number, nowUs: TimeUs): TapeLevelState {
    const found = this.byPrice.get(price);
    if (found !== undefined) return found;
    if (this.byPrice.size >= this.sweepAt) this.sweep(nowUs);
    const spare = this.spare.pop();
    const made = spare === undefined ? emptyLevel() : Object.assign(spare, NOTHING);
    this.byPrice.set(price, made);
    return made;
  }

  findTaken(price: number): TapeLevelState | undefined {
    return this.taken.size === 0 ? undefined : this.taken.get(price);
  }

  takenLevel(price: number, nowUs: TimeUs): TapeLevelState {
    const level = this.level(price, nowUs);
    this.taken.set(price, level);
    return level;
  }

  endTaken(price: number): void {
    this.taken.delete(price);
  }

  forget(price: number): void {
    this.byPrice.delete(price);
    this.taken.delete(price);
  }

  takenPrices(): number[] {
    const prices: number[] = [];
    this.taken.forEach((level, price) => {
      if (level.taken > 0) prices.push(price);
    });
    return prices.sort((a, b) => a - b);
  }

  clear(): void {
    if (this.byPrice.size === 0 && this.taken.size === 0) return;
    this.byPrice.forEach((level) => this.spare.push(level));
    emptied(this.byPrice);
    emptied(this.taken);
  }

  /** Canonical: credit that no trade claimed in time counts as none. */
  archive(io: Archive, nowUs: TimeUs): void {
    const remembered = io.loading ? [] : this.remembered(nowUs);
    const items = archiveList(io, remembered, (entry) => {
      const price = io.int(entry?.[0] ?? 0);
      const level = entry?.[1];
      const credited = level !== undefined && hasCredit(level, nowUs);
      const { taken, displaced } = archiveTaken(io, level);
      const displacedAtUs = io.int(displaced === 0 ? 0 : (level?.displacedAtUs ?? 0));
      const creditFront = io.int(credited ? level.creditFront : 0);
      const creditBack = io.int(credited ? level.creditBack : 0);
      const creditUntilUs = timeUs(io.int(credited ? level.creditUntilUs : 0));
      return [
        price,
        {
          taken,
          restated: 0,
          displaced,
          displacedAtUs: timeUs(displacedAtUs),
          creditFront,
          creditBack,
          creditUntilUs,
        },
      ] as const;
    });
    if (!io.loading) return;
    for (const [price, level] of items) {
      this.byPrice.set(price, level);
      if (level.taken > 0) this.taken.set(price, level);
    }
  }

  archiveRestated(io: Archive): void {
    const prices = io.loading ? [] : this.takenPrices();
    archiveList(io, prices, (saved) => {
      const level = this.find(io.int(saved ?? 0));
      const restated = io.int(level?.restated ?? 0);
      if (level !== undefined) level.restated = restated;
      return restated;
    });
  }

  private remembered(nowUs: TimeUs): (readonly [number, TapeLevelState])[] {
    const entries: (readonly [number, TapeLevelState])[] = [];
    this.byPrice.forEach((level, price) => {
      if (isRemembered(level, nowUs)) entries.push([price, level]);
    });
    return entries.sort((a, b) => a[0] - b[0]);
  }

  private sweep(nowUs: TimeUs): void {
    this.byPrice.forEach((level, price) => {
      if (isRemembered(level, nowUs)) return;
      this.forget(price);
      this.spare.push(level);
    });
    this.sweepAt = Math.max(LEAST_SWEEP, 2 * this.byPrice.size);
  }
}

const NOTHING: Readonly<TapeLevelState> = emptyLevel();

function emptyLevel(): TapeLevelState {
  return {
    taken: 0,
    restated: 0,
    displaced: 0,
    displacedAtUs: timeUs(0),
    creditFront: 0,
    creditBack: 0,
    creditUntilUs: timeUs(0),
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

function isRemembered(level: TapeLevelState, nowUs: TimeUs): boolean {
  return level.taken > 0 || hasCredit(level, nowUs);
}

function hasCredit({ creditFront, creditBack, creditUntilUs }: TapeLevelState, nowUs: TimeUs) {
  return creditFront + creditBack > 0 && nowUs <= creditUntilUs;
}

/** Entries by ascending key: insertion order is not part of the state. */
function sorted<V>(map: Map<number, V>): (readonly [number, V])[] {
  return [...map].sort((a, b) => a[0] - b[0]);
}
