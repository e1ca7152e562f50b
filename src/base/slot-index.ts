/**
 * An open-addressing hash index from keys to table slots. Keys stay in the table: the caller passes
 * a 32-bit hash and a predicate that compares the key of a slot. Linear probing with load ≤ 1/2 and
 * backward-shift deletion, so there are no tombstones. 8 to 16 bytes per entry.
 */
import { assert } from './assert.ts';

const EMPTY = -1;

export class SlotIndex {
  /** Pairs of slot and hash. */
  private pairs: Int32Array;
  private mask: number;
  private size = 0;

  constructor(capacity = 64) {
    assert((capacity & (capacity - 1)) === 0, 'capacity is a power of two');
    this.pairs = new Int32Array(capacity * 2).fill(EMPTY);
    this.mask = capacity - 1;
  }

  get count(): number {
    return this.size;
  }

  add(hash: number, slot: number): void {
    if ((this.size + 1) * 4 > this.pairs.length) this.grow();
    this.put(hash | 0, slot);
    this.size += 1;
  }

  /** The slot with this hash for which `holds` is true, or −1. */
  find(hash: number, holds: (slot: number) => boolean): number {
    const wanted = hash | 0;
    for (let at = wanted & this.mask; ; at = (at + 1) & this.mask) {
      const slot = this.pairs[2 * at] ?? EMPTY;
      if (slot === EMPTY) return -1;
      if (this.pairs[2 * at + 1] === wanted && holds(slot)) return slot;
    }
  }

  /** Removes the entry of this slot, which must exist. */
  remove(hash: number, slot: number): void {
    let at = (hash | 0) & this.mask;
    for (;;) {
      const found = this.pairs[2 * at] ?? EMPTY;
      assert(found !== EMPTY, 'the slot is in the index');
      if (found === slot) break;
      at = (at + 1) & this.mask;
    }
    let hole = at;
    for (let next = (at + 1) & this.mask; ; next = (next + 1) & this.mask) {
      const moved = this.pairs[2 * next] ?? EMPTY;
      if (moved === EMPTY) break;
      const home = (this.pairs[2 * next + 1] ?? 0) & this.mask;
      // An entry may fill the hole only if its home is not between the hole and itself.
      if (((next - home) & this.mask) >= ((next - hole) & this.mask)) {
        this.pairs[2 * hole] = moved;
        this.pairs[2 * hole + 1] = this.pairs[2 * next + 1] ?? 0;
        hole = next;
      }
    }
    this.pairs[2 * hole] = EMPTY;
    this.size -= 1;
  }

  private put(hash: number, slot: number): void {
    let at = hash & this.mask;
    while (this.pairs[2 * at] !== EMPTY) at = (at + 1) & this.mask;
    this.pairs[2 * at] = slot;
    this.pairs[2 * at + 1] = hash;
  }

  /** Grows once to this capacity: intermediate tables would become garbage. */
  reserve(entries: number): void {
    let length = this.pairs.length;
    while (entries * 4 > length) length *= 2;
    if (length > this.pairs.length) this.grow(length);
  }

  private grow(length = this.pairs.length * 2): void {
    const old = this.pairs;
    this.pairs = new Int32Array(length).fill(EMPTY);
    this.mask = length / 2 - 1;
    for (let i = 0; i < old.length; i += 2) {
      const slot = old[i] ?? EMPTY;
      if (slot !== EMPTY) this.put(old[i + 1] ?? 0, slot);
    }
  }
}

/** Hashes a safe integer ≥ 0 to 32 bits; 16 consecutive ids stay adjacent, to share cache lines. */
export function hashNumber(value: number): number {
  const block = Math.floor(value / 16);
  const mixed = Math.imul(block ^ Math.imul((block / 0x100000000) | 0, 0x85ebca6b), 0x9e3779b1);
  return ((mixed ^ (mixed >>> 15)) << 4) | (value & 15);
}

/** FNV-1a over UTF-16 units, seeded with a number. */
export function hashText(seed: number, text: string): number {
  let hash = hashStart(seed);
  for (let i = 0; i < text.length; i++) hash = hashUnit(hash, text.charCodeAt(i));
  return hashEnd(hash);
}

/** The steps of `hashText`, for texts that are not strings. */
export function hashStart(seed: number): number {
  return seed ^ 0x811c9dc5;
}
export function hashUnit(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, 0x01000193);
}
export function hashEnd(hash: number): number {
  return hash ^ (hash >>> 15);
}
