/**
 * Nonce windows: of each signing identity the 1,024 highest used nonces are kept. A nonce is usable when it
 * is in none of its scope's windows and above its own identity's floor, which is −1 until the window is full and then
 * the highest nonce that was dropped.
 *
 * A window is a ring sorted ascending, in the exchange's cells. In-order use appends in O(1); late use inserts by shifting.
 */
import type { Archive } from '../../base/archive.ts';
import type { Refusal } from '../refusals.ts';
import { NonceCells } from './nonce-cells.ts';

export const NONCE_WINDOW = 1024;

/** Rings start small, since most identities use few, and grow by this factor. */
const FIRST_RING = 16;
const GROWTH = 4;

/** A nonce as its low and high 32 bits, which compare without making a bigint. */
const whole = new BigInt64Array(1);
const halves = new Int32Array(whole.buffer);

export class NonceWindow {
  protected readonly cells: NonceCells;
  /** The highest nonce ever used here, in halves: what is above it needs no look at the ring. */
  private topHigh = -1;
  private topLow = -1;
  /** Where the ring is, its length less one, and the part of it in use. */
  private place = 0;
  private mask = -1;
  private start = 0;
  private length = 0;
  private floorNonce = -1n;

  constructor(cells: NonceCells) {
    this.cells = cells;
  }

  get floor(): bigint {
    return this.floorNonce;
  }

  get highest(): bigint {
    return this.length === 0 ? -1n : this.at(this.length - 1);
  }

  /** Whether the nonce is above all that were ever used here, and so above the floor. */
  isAbove(nonce: bigint): boolean {
    whole[0] = nonce;
    const high = halves[1] ?? 0;
    if (high !== this.topHigh) return high > this.topHigh;
    return (halves[0] ?? 0) >>> 0 > this.topLow >>> 0;
  }

  has(nonce: bigint): boolean {
    if (this.length === 0 || this.isAbove(nonce)) return false;
    const place = this.search(nonce);
    return place < this.length && this.at(place) === nonce;
  }

  /** Takes in a nonce that is above the floor and not in the window. */
  add(nonce: bigint): void {
    if (this.length > this.mask && this.length < NONCE_WINDOW) this.grow();
    if (this.length === NONCE_WINDOW) {
      const lowest = this.at(0);
      // What drops out is the lowest: the new nonce itself, or one that was used before. A revocation may have set the floor above it.
      const dropped = nonce < lowest ? nonce : lowest;
      if (dropped > this.floorNonce) this.floorNonce = dropped;
      if (nonce < lowest) return;
      this.start = (this.start + 1) & this.mask;
      this.length -= 1;
    }
    let place = this.length;
    if (this.isAbove(nonce)) this.setTop(nonce);
    else {
      while (place > 0 && this.at(place - 1) > nonce) {
        this.put(place, this.at(place - 1));
        place -= 1;
      }
    }
    this.put(place, nonce);
    this.length += 1;
  }

  /** Everything up to the highest used is spent for this identity (a delegate's revocation); what was used stays known. */
  closeBelowHighest(): void {
    const { highest } = this;
    if (highest > this.floorNonce) this.floorNonce = highest;
  }

  archiveWindow(io: Archive): void {
    this.floorNonce = io.bigint(this.floorNonce);
    const length = io.int(this.length);
    if (io.loading) {
      this.length = 0;
      this.start = 0;
    }
    for (let i = 0; i < length; i++) {
      const nonce = io.bigint(io.loading ? 0n : this.at(i));
      if (!io.loading) continue;
      if (this.length > this.mask) this.grow();
      this.put(i, nonce);
      this.length += 1;
    }
    if (io.loading) this.setTop(this.highest);
  }

  private setTop(nonce: bigint): void {
    whole[0] = nonce;
    this.topLow = halves[0] ?? 0;
    this.topHigh = halves[1] ?? 0;
  }

  /** First of the window's nonces that is not below this one. */
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

/** One scope, an account's requests or a subaccount's orders: the window of its owner's signer set, with those of delegates. */
export class NonceScope extends NonceWindow {
  /** By delegate's account id, in order of first use; most scopes have none. */
  private delegates: Map<number, NonceWindow> | null = null;

  /** Why the nonce may not be used by this identity (null: the owner's signer set), or null when it may. */
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

  /** What the delegate has used is the least that it may use again: never. */
  revoke(delegate: number): void {
    this.delegates?.get(delegate)?.closeBelowHighest();
  }

  archive(io: Archive): void {
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
