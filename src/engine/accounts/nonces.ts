/**
 * Nonce windows: the 1,024 highest used nonces of each signing identity. A nonce is usable
 * if no window of its scope contains it and it is above its identity's floor. The floor is −1 until
 * the window is full, then the highest dropped nonce.
 *
 * A window is a ring sorted ascending, in the exchange's cells. In-order use appends in O(1);
 * out-of-order use inserts by shifting.
 */
import { ArchiveError, type Archive } from '../../base/archive.ts';
import type { Refusal } from '../refusals.ts';
import { NonceCells } from './nonce-cells.ts';

export const NONCE_WINDOW = 1024;

/** Rings start small, since most identities use few nonces, and grow by this factor. */
const FIRST_RING = 16;
const GROWTH = 4;

const NO_BYTES = new Uint8Array(0);
/** Halves of a nonce that no other is above. */
const TOP_HIGH = 0x7fffffff;
const TOP_LOW = -1;

/** A nonce as its low and high 32 bits, which compare without allocating a bigint. */
const whole = new BigInt64Array(1);
const halves = new Int32Array(whole.buffer);

/** Compares nonces by their halves. */
function isLess(aHigh: number, aLow: number, bHigh: number, bLow: number): boolean {
  return (aHigh | 0) === (bHigh | 0) ? aLow >>> 0 < bLow >>> 0 : (aHigh | 0) < (bHigh | 0);
}

export class NonceWindow {
  protected readonly cells: NonceCells;
  /** The highest nonce ever used here, in halves; a higher nonce skips the search. */
  private topHigh = -1;
  private topLow = -1;
  /**
   * Index of the ring, its length − 1 as mask, and its used part. A window with nonces and without
   * a ring (mask −1) is encoded still, and `place` is that of its bytes.
   */
  private place = 0;
  private mask = -1;
  private start = 0;
  private length = 0;
  /** The floor in halves. */
  private floorHigh = -1;
  private floorLow = -1;

  constructor(cells: NonceCells) {
    this.cells = cells;
  }

  get floor(): bigint {
    halves[0] = this.floorLow;
    halves[1] = this.floorHigh;
    return whole[0] ?? -1n;
  }

  get highest(): bigint {
    if (this.length === 0) return -1n;
    if (this.mask < 0) this.decode();
    return this.at(this.length - 1);
  }

  /**
   * Whether the nonce is above every nonce ever used here, and so above the floor. Always false
   * while the window is encoded, since `has` then decodes it.
   */
  isAbove(nonce: bigint): boolean {
    whole[0] = nonce;
    return isLess(this.topHigh, this.topLow, halves[1] ?? 0, halves[0] ?? 0);
  }

  has(nonce: bigint): boolean {
    if (this.length === 0 || this.isAbove(nonce)) return false;
    if (this.mask < 0) this.decode();
    const place = this.search(nonce);
    return place < this.length && this.at(place) === nonce;
  }

  /** Adds a nonce that is above the floor and not in the window. */
  add(nonce: bigint): void {
    if (this.length > this.mask) this.makeRoom();
    whole[0] = nonce;
    const newLow = halves[0] ?? 0;
    const newHigh = halves[1] ?? 0;
    const { words } = this.cells;
    if (this.length === NONCE_WINDOW) {
      const lowest = 2 * this.cellOf(0);
      const low = words[lowest] ?? 0;
      const high = words[lowest + 1] ?? 0;
      // Drops the lowest nonce, used or new. A revocation may have set the floor above it.
      if (isLess(newHigh, newLow, high, low)) {
        this.raiseFloor(newHigh, newLow);
        return;
      }
      this.raiseFloor(high, low);
      this.start = (this.start + 1) & this.mask;
      this.length -= 1;
    }
    let place = this.length;
    if (isLess(this.topHigh, this.topLow, newHigh, newLow)) {
      this.topHigh = newHigh;
      this.topLow = newLow;
      const cell = 2 * this.cellOf(place);
      words[cell] = newLow;
      words[cell + 1] = newHigh;
    } else {
      while (place > 0 && this.at(place - 1) > nonce) {
        this.put(place, this.at(place - 1));
        place -= 1;
      }
      this.put(place, nonce);
    }
    this.length += 1;
  }

  /** Revokes a delegate: nonces up to its highest used one become unusable. */
  closeBelowHighest(): void {
    whole[0] = this.highest;
    this.raiseFloor(halves[1] ?? 0, halves[0] ?? 0);
  }

  private raiseFloor(high: number, low: number): void {
    if (!isLess(this.floorHigh, this.floorLow, high, low)) return;
    this.floorHigh = high | 0;
    this.floorLow = low | 0;
  }

  archiveWindow(io: Archive): void {
    whole[0] = io.bigint(this.floor);
    this.floorLow = halves[0] ?? 0;
    this.floorHigh = halves[1] ?? 0;
    const length = io.int(this.length);
    if (io.loading && (length < 0 || length > NONCE_WINDOW)) {
      throw new ArchiveError(`a window has ${String(length)} nonces`);
    }
    if (io.pairBytes === undefined) this.archiveEach(io, length);
    else if (io.loading) this.load(io.pairBytes(NO_BYTES, length), length);
    else if (this.mask < 0) io.pairBytes(this.cells.kept(this.place, length), length);
    else if (io.pairs !== undefined) {
      // The ring's part up to its end, and the part that continues at its beginning.
      const first = Math.min(length, this.mask + 1 - this.start);
      io.pairs(this.cells.words, this.place + this.start, first);
      io.pairs(this.cells.words, this.place, length - first);
    }
  }
  private archiveEach(io: Archive, length: number): void {
    if (io.loading) throw new ArchiveError('windows are loaded as bytes');
    if (this.mask < 0 && length > 0) this.decode();
    for (let i = 0; i < length; i++) io.bigint(this.at(i));
  }

  /** Takes the window's bytes; the first use decodes them. */
  private load(bytes: Uint8Array, length: number): void {
    this.length = length;
    if (length === 0) return;
    this.place = this.cells.keep(bytes);
    this.topHigh = TOP_HIGH;
    this.topLow = TOP_LOW;
  }

  private decode(): void {
    const { cells, length } = this;
    let ring = FIRST_RING;
    while (ring < length) ring *= GROWTH;
    const place = cells.take(ring);
    cells.decode(this.place, length, place);
    this.place = place;
    this.mask = ring - 1;
    this.setTop(this.at(length - 1));
  }

  private makeRoom(): void {
    if (this.mask < 0 && this.length > 0) this.decode();
    if (this.length > this.mask && this.length < NONCE_WINDOW) this.grow();
  }

  private setTop(nonce: bigint): void {
    whole[0] = nonce;
    this.topLow = halves[0] ?? 0;
    this.topHigh = halves[1] ?? 0;
  }

  /** Index of the window's first nonce that is not below this one. */
  private search(nonce: bigint): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.at(middle) < nonce) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private cellOf(i: number): number {
    return this.place + ((this.start + i) & this.mask);
  }

  private at(i: number): bigint {
    return this.cells.whole[this.cellOf(i)] ?? 0n;
  }

  private put(i: number, nonce: bigint): void {
    this.cells.whole[this.cellOf(i)] = nonce;
  }

  private grow(): void {
    const { cells, mask } = this;
    const place = cells.take(mask < 0 ? FIRST_RING : (mask + 1) * GROWTH);
    for (let i = 0; i < this.length; i++) cells.whole[place + i] = this.at(i);
    if (mask >= 0) cells.give(this.place, mask + 1);
    this.mask = mask < 0 ? FIRST_RING - 1 : (mask + 1) * GROWTH - 1;
    this.place = place;
    this.start = 0;
  }
}

/** One scope, an account's requests or a subaccount's orders: windows of owner and delegates. */
export class NonceScope extends NonceWindow {
  /** By delegate account id, in order of first use; null in most scopes. */
  private delegates: Map<number, NonceWindow> | null = null;

  /** Reason why this identity (null: the owner's signers) may not use the nonce; null if it may. */
  check(delegate: number | null, nonce: bigint): Refusal | null {
    const { delegates } = this;
    if (delegate === null && delegates === null && this.isAbove(nonce)) return null;
    if (this.has(nonce)) return { code: 'nonce_used' };
    if (delegates !== null) {
      for (const window of delegates.values()) if (window.has(nonce)) return { code: 'nonce_used' };
    }
    const own = delegate === null ? this : delegates?.get(delegate);
    return own !== undefined && nonce <= own.floor ? { code: 'nonce_too_low' } : null;
  }

  use(delegate: number | null, nonce: bigint): void {
    if (delegate === null) {
      this.add(nonce);
      return;
    }
    this.delegates ??= new Map();
    let window = this.delegates.get(delegate);
    if (window === undefined) {
      window = new NonceWindow(this.cells);
      this.delegates.set(delegate, window);
    }
    window.add(nonce);
  }

  /** Makes every nonce up to the delegate's highest used one unusable. */
  revoke(delegate: number): void {
    this.delegates?.get(delegate)?.closeBelowHighest();
  }

  archive(io: Archive): void {
    if (io.pricesOnly === true) {
      // As an unused scope: floor, no nonces, no delegates.
      io.bigint(-1n);
      io.int(0);
      io.int(0);
      return;
    }
    this.archiveWindow(io);
    const count = io.int(this.delegates?.size ?? 0);
    if (io.loading) {
      if (count > 0) this.delegates = new Map();
      for (let i = 0; i < count; i++) {
        const window = new NonceWindow(this.cells);
        const delegate = io.int(0);
        window.archiveWindow(io);
        this.delegates?.set(delegate, window);
      }
      return;
    }
    for (const [delegate, window] of this.delegates ?? []) {
      io.int(delegate);
      window.archiveWindow(io);
    }
  }
}
