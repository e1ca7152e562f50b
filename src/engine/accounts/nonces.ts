/**
 * Nonce windows: of each signing identity the 1,024 highest used nonces are kept. A nonce is usable when it
 * is in none of its scope's windows and above its own identity's floor, which is −1 until the window is full and then
 * the highest nonce that was dropped.
 *
 * A window is a ring sorted ascending. In-order use appends in O(1); late use inserts by shifting.
 */
import type { Archive } from '../../base/archive.ts';

export const NONCE_WINDOW = 1024;

/** A nonce as its high and low 32 bits, which compare without making a bigint. */
const whole = new BigInt64Array(1);
const halves = new Int32Array(whole.buffer);
const LOW = 0;
const HIGH = 1;

export class NonceWindow {
  /** The highest nonce ever used here, in halves: what is above it needs no search. */
  private topHigh = -1;
  private topLow = -1;
  private start = 0;
  private length = 0;
  /** Nonces are int64; the ring starts small, since most identities use few. Its length is a power of two. */
  private ring = new BigInt64Array(8);
  private floorNonce = -1n;

  get floor(): bigint {
    return this.floorNonce;
  }

  get highest(): bigint {
    halves[HIGH] = this.topHigh;
    halves[LOW] = this.topLow;
    return whole[0] ?? -1n;
  }

  /** Whether the nonce is above all that were ever used here, and so above the floor. */
  isAbove(nonce: bigint): boolean {
    whole[0] = nonce;
    const high = halves[HIGH] ?? 0;
    if (high !== this.topHigh) return high > this.topHigh;
    return (halves[LOW] ?? 0) >>> 0 > this.topLow >>> 0;
  }

  has(nonce: bigint): boolean {
    if (this.length === 0 || this.isAbove(nonce)) return false;
    const place = this.place(nonce);
    return place < this.length && this.at(place) === nonce;
  }

  /** Takes in a nonce that is above the floor and not in the window. */
  add(nonce: bigint): void {
    if (this.length === this.ring.length && this.length < NONCE_WINDOW) this.grow();
    if (this.length === NONCE_WINDOW) {
      const lowest = this.at(0);
      // What drops out is the lowest: the new nonce itself, or one that was used before. A revocation may have set the floor above it.
      const dropped = nonce < lowest ? nonce : lowest;
      if (dropped > this.floorNonce) this.floorNonce = dropped;
      if (nonce < lowest) return;
      this.start = (this.start + 1) & (this.ring.length - 1);
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
      if (this.length === this.ring.length) this.grow();
      this.put(i, nonce);
      this.length += 1;
    }
    if (io.loading) this.setTop(this.length === 0 ? this.floorNonce : this.at(this.length - 1));
  }

  private setTop(nonce: bigint): void {
    whole[0] = nonce;
    this.topHigh = halves[HIGH] ?? 0;
    this.topLow = halves[LOW] ?? 0;
  }

  private place(nonce: bigint): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.at(middle) < nonce) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private at(i: number): bigint {
    return this.ring[(this.start + i) & (this.ring.length - 1)] ?? 0n;
  }

  private put(i: number, nonce: bigint): void {
    this.ring[(this.start + i) & (this.ring.length - 1)] = nonce;
  }

  private grow(): void {
    const larger = new BigInt64Array(this.ring.length * 2);
    for (let i = 0; i < this.length; i++) larger[i] = this.at(i);
    this.ring = larger;
    this.start = 0;
  }
}

/** One scope, an account's requests or a subaccount's orders: the window of its owner's signer set, with those of delegates. */
export class NonceScope extends NonceWindow {
  /** By delegate's account id, in order of first use; most scopes have none. */
  private delegates: Map<number, NonceWindow> | null = null;

  /** Why the nonce may not be used by this identity (null: the owner's signer set), or null when it may. */
  check(delegate: number | null, nonce: bigint): 'nonce_used' | 'nonce_too_low' | null {
    const { delegates } = this;
    if (delegate === null && delegates === null && this.isAbove(nonce)) return null;
    if (this.has(nonce)) return 'nonce_used';
    if (delegates !== null) {
      for (const window of delegates.values()) if (window.has(nonce)) return 'nonce_used';
    }
    const own = delegate === null ? this : delegates?.get(delegate);
    return own !== undefined && nonce <= own.floor ? 'nonce_too_low' : null;
  }

  use(delegate: number | null, nonce: bigint): void {
    if (delegate === null) {
      this.add(nonce);
      return;
    }
    this.delegates ??= new Map();
    let window = this.delegates.get(delegate);
    if (window === undefined) {
      window = new NonceWindow();
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
        const window = new NonceWindow();
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
