/**
 * A set of 128-bit keys: open addressing with linear probing in one typed array, 16 bytes a slot,
 * at most two thirds full. The key of four zeros is kept beside it.
 */
import { assert } from '../../base/assert.ts';
import { KEY_WORDS } from './state-key.ts';

const FIRST_SLOTS = 1 << 10;
/** 4 GiB of keys. */
const MOST_SLOTS = 1 << 28;

export class KeySet {
  private slots = new Int32Array(FIRST_SLOTS * KEY_WORDS);
  private mask = FIRST_SLOTS - 1;
  private used = 0;
  private hasZero = false;

  get size(): number {
    return this.used + (this.hasZero ? 1 : 0);
  }

  /** Adds the key at `at`; false if the set had it. */
  add(words: Int32Array, at = 0): boolean {
    const a = words[at] ?? 0;
    const b = words[at + 1] ?? 0;
    const c = words[at + 2] ?? 0;
    const d = words[at + 3] ?? 0;
    if ((a | b | c | d) === 0) {
      const added = !this.hasZero;
      this.hasZero = true;
      return added;
    }
    const { slots, mask } = this;
    for (let slot = (a ^ (c >>> 7)) & mask; ; slot = (slot + 1) & mask) {
      const place = slot * KEY_WORDS;
      if (
        slots[place] === a &&
        slots[place + 1] === b &&
        slots[place + 2] === c &&
        slots[place + 3] === d
      ) {
        return false;
      }
      if (!isEmpty(slots, place)) continue;
      slots[place] = a;
      slots[place + 1] = b;
      slots[place + 2] = c;
      slots[place + 3] = d;
      this.used += 1;
      if (this.used * 3 > (mask + 1) * 2) this.grow();
      return true;
    }
  }

  clear(): void {
    this.slots.fill(0);
    this.used = 0;
    this.hasZero = false;
  }

  /** All keys, one after the other, in the order of their slots. */
  words(): Int32Array {
    const all = new Int32Array(this.size * KEY_WORDS);
    let at = this.hasZero ? KEY_WORDS : 0;
    const { slots } = this;
    for (let place = 0; place < slots.length; place += KEY_WORDS) {
      if (isEmpty(slots, place)) continue;
      for (let word = 0; word < KEY_WORDS; word += 1) all[at + word] = slots[place + word] ?? 0;
      at += KEY_WORDS;
    }
    return all;
  }

  private grow(): void {
    const old = this.words();
    const size = (this.mask + 1) * 2;
    assert(size <= MOST_SLOTS, 'a set has at most 178 million keys');
    this.slots = new Int32Array(size * KEY_WORDS);
    this.mask = size - 1;
    this.used = 0;
    for (let at = 0; at < old.length; at += KEY_WORDS) this.add(old, at);
  }
}

function isEmpty(slots: Int32Array, place: number): boolean {
  const low = (slots[place] ?? 0) | (slots[place + 1] ?? 0);
  return (low | (slots[place + 2] ?? 0) | (slots[place + 3] ?? 0)) === 0;
}
