/**
 * Rolling 128-bit hash of the command chain, in portable integer arithmetic.
 *
 * Each 32-bit word passes a multiply-rotate step on one of four lanes, and the lanes rotate by one.
 * `commit`, called once per command, adds the word count and four finalisation rounds, which spread
 * the last words over all lanes. Every step is a bijection of the state, so histories of equal
 * length that differ in one word do not collide in that step. The hash detects divergence; it is
 * not a cryptographic signature.
 *
 * Numbers are hashed by value: `int` takes a 32-bit integer as one word, `num` an integer up to
 * 2^53 as two words. A call with several values equals separate calls in the same order.
 *
 * Cost: about 1 ns per word, plus about 1 ns per call.
 */
import { assert } from './assert.ts';

/** The word count of a command restarts when the next word would reach this value. */
const CAPACITY = 1 << 14;
/** Finalisation rounds of a command: one per lane. */
const CLOSING = 4;
const CLOSING_WORD = 0x5bd1e995;

/** `lane` after mixing in `word` and the next lane. `| 0` keeps the sums in 32-bit integers. */
function mix(lane: number, word: number, next: number): number {
  const mixed = Math.imul(lane ^ word, 0x9e3779b1);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 0x85ebca6b) + (next | 0)) | 0;
}

/** The high word of a safe integer; the low one is `value | 0`. */
export function highWord(value: number): number {
  const low = value | 0;
  return low === value ? low >> 31 : Math.floor(value / 0x100000000) | 0;
}

export class RollingHash {
  /** The four lanes; `a` is next. */
  private a = 0x6f727265;
  private b = 0x72792d63;
  private c = 0x6c6f636b;
  private d = 0x776f726b;
  /** Words of this command since the last restart of the count. */
  private count = 0;
  private readonly big = new BigInt64Array(1);
  private readonly bigWords = new Int32Array(this.big.buffer);

  /** A 32-bit integer. */
  int(value: number): void {
    if (this.count === CAPACITY) this.count = 0;
    this.count += 1;
    const { a, b } = this;
    this.a = b;
    this.b = this.c;
    this.c = this.d;
    this.d = mix(a, value, b);
  }

  /** Any safe integer. */
  num(value: number): void {
    this.pair(value | 0, highWord(value));
  }

  /** A bigint, modulo 2^64: money and int64 fields stay below that. */
  bigint(value: bigint): void {
    this.big[0] = value;
    this.pair(this.bigWords[0] ?? 0, this.bigWords[1] ?? 0);
  }

  /** `int`, then `num`. */
  intNum(value: number, number: number): void {
    let count = this.count === CAPACITY ? 1 : this.count + 1;
    if (count >= CAPACITY - 1) count = 0;
    this.count = count + 2;
    const { a, b, c, d } = this;
    this.a = d;
    this.b = mix(a, value, b);
    this.c = mix(b, number | 0, c);
    this.d = mix(c, highWord(number), d);
  }

  /** Three times `int`. */
  ints(u: number, v: number, w: number): void {
    const count = this.count + 3;
    this.count = count > CAPACITY ? count - CAPACITY : count;
    const { a, b, c, d } = this;
    this.a = d;
    this.b = mix(a, u, b);
    this.c = mix(b, v, c);
    this.d = mix(c, w, d);
  }

  /** Twice `bigint`. */
  bigints(u: bigint, v: bigint): void {
    let count = this.count >= CAPACITY - 1 ? 2 : this.count + 2;
    if (count >= CAPACITY - 1) count = 0;
    this.count = count + 2;
    const { big, bigWords, a, b, c, d } = this;
    big[0] = u;
    const next = mix(a, bigWords[0] ?? 0, b);
    this.a = next;
    this.b = mix(b, bigWords[1] ?? 0, c);
    big[0] = v;
    this.c = mix(c, bigWords[0] ?? 0, d);
    this.d = mix(d, bigWords[1] ?? 0, next);
  }

  /** Twice `num`: the words are those of `bigints` for the same values. */
  nums(u: number, v: number): void {
    let count = this.count >= CAPACITY - 1 ? 2 : this.count + 2;
    if (count >= CAPACITY - 1) count = 0;
    this.count = count + 2;
    const { a, b, c, d } = this;
    const next = mix(a, u | 0, b);
    this.a = next;
    this.b = mix(b, highWord(u), c);
    this.c = mix(c, v | 0, d);
    this.d = mix(d, highWord(v), next);
  }

  /** Three times `int`, then twice `num`. */
  intsNums(u: number, v: number, w: number, x: number, y: number): void {
    if (!this.takes(7)) {
      this.ints(u, v, w);
      this.nums(x, y);
      return;
    }
    const { a, b, c, d } = this;
    const e = mix(a, u, b);
    const f = mix(b, v, c);
    const g = mix(c, w, d);
    const h = mix(d, x | 0, e);
    const i = mix(e, highWord(x), f);
    this.a = h;
    this.b = i;
    const j = mix(f, y | 0, g);
    this.c = j;
    this.d = mix(g, highWord(y), h);
  }

  /** `int`, `int`, then `num`. */
  intIntNum(u: number, v: number, x: number): void {
    if (!this.takes(4)) {
      this.int(u);
      this.intNum(v, x);
      return;
    }
    const { a, b, c, d } = this;
    const e = mix(a, u, b);
    this.a = e;
    this.b = mix(b, v, c);
    this.c = mix(c, x | 0, d);
    this.d = mix(d, highWord(x), e);
  }

  /** Twice `intNum`. */
  intNumTwice(u: number, x: number, v: number, y: number): void {
    if (!this.takes(6)) {
      this.intNum(u, x);
      this.intNum(v, y);
      return;
    }
    const { a, b, c, d } = this;
    const e = mix(a, u, b);
    const f = mix(b, x | 0, c);
    const g = mix(c, highWord(x), d);
    const h = mix(d, v, e);
    this.a = g;
    this.b = h;
    this.c = mix(e, y | 0, f);
    this.d = mix(f, highWord(y), g);
  }

  /** Five times `num`. */
  numsOfFive(u: number, v: number, w: number, x: number, y: number): void {
    if (!this.takes(10)) {
      this.num(u);
      this.nums(v, w);
      this.nums(x, y);
      return;
    }
    const { a, b, c, d } = this;
    const e = mix(a, u | 0, b);
    const f = mix(b, highWord(u), c);
    const g = mix(c, v | 0, d);
    const h = mix(d, highWord(v), e);
    const i = mix(e, w | 0, f);
    const j = mix(f, highWord(w), g);
    const k = mix(g, x | 0, h);
    const l = mix(h, highWord(x), i);
    this.a = k;
    this.b = l;
    this.c = mix(i, y | 0, j);
    this.d = mix(j, highWord(y), k);
  }

  /** `int` for each word from this place of an array on. */
  words(array: Int32Array, from: number): void {
    const { length } = array;
    if (!this.takes(length - from)) {
      for (let i = from; i < length; i++) this.int(array[i] ?? 0);
      return;
    }
    let { a, b, c, d } = this;
    let i = from;
    for (; i + 3 < length; i += 4) {
      a = mix(a, array[i] ?? 0, b);
      b = mix(b, array[i + 1] ?? 0, c);
      c = mix(c, array[i + 2] ?? 0, d);
      d = mix(d, array[i + 3] ?? 0, a);
    }
    for (; i < length; i++) {
      const next = mix(a, array[i] ?? 0, b);
      a = b;
      b = c;
      c = d;
      d = next;
    }
    this.a = a;
    this.b = b;
    this.c = c;
    this.d = d;
  }

  /**
   * Counts `words` that follow in one step. False if the count might restart among them: then the
   * caller hashes them by smaller steps, which restart it where they have to.
   */
  private takes(words: number): boolean {
    const count = this.count + words;
    if (count >= CAPACITY - 1) return false;
    this.count = count;
    return true;
  }

  /** Text with its length, two UTF-16 units a word. */
  text(value: string): void {
    this.int(value.length);
    let i = 0;
    for (; i + 1 < value.length; i += 2) {
      this.int(value.charCodeAt(i) | (value.charCodeAt(i + 1) << 16));
    }
    if (i < value.length) this.int(value.charCodeAt(i));
  }

  /** Text or null; null differs from every text. */
  optionalText(value: string | null): void {
    if (value === null) this.int(-1);
    else this.text(value);
  }

  /** Finalises one command. */
  commit(): void {
    if (this.count >= CAPACITY - CLOSING - 1) this.count = 0;
    this.int(this.count);
    const { a, b, c, d } = this;
    const next = mix(a, CLOSING_WORD, b);
    this.a = next;
    this.b = mix(b, CLOSING_WORD, c);
    this.c = mix(c, CLOSING_WORD, d);
    this.d = mix(d, CLOSING_WORD, next);
    this.count = 0;
  }

  /** The two words of one number; the count advances once. */
  private pair(low: number, high: number): void {
    if (this.count >= CAPACITY - 1) this.count = 0;
    this.count += 2;
    const { a, b, c, d } = this;
    this.a = c;
    this.b = d;
    this.c = mix(a, low, b);
    this.d = mix(b, high, c);
  }

  /** The state as 32 hex digits. Call only between commands. */
  hex(): string {
    assert(this.count === 0, 'the hash is only read between commands');
    let text = '';
    for (const lane of [this.a, this.b, this.c, this.d]) {
      text += (lane >>> 0).toString(16).padStart(8, '0');
    }
    return text;
  }

  /** Restores a state returned by `hex`. */
  restore(hex: string): void {
    assert(/^[0-9a-f]{32}$/.test(hex), 'a chain hash is 32 hex digits');
    const lane = (i: number): number => Number.parseInt(hex.slice(i * 8, i * 8 + 8), 16) | 0;
    this.a = lane(0);
    this.b = lane(1);
    this.c = lane(2);
    this.d = lane(3);
    this.count = 0;
  }
}
