/**
 * @license MIT
 * Copyright (C) 2010 by Johannes Baagøe. A TypeScript port, with the same values, of `alea` in
 * seedrandom 3.0.5. See THIRD_PARTY_LICENSES.md.
 */

const TWO32 = 0x100000000;
const TWO_MINUS_32 = 2.3283064365386963e-10;

/** The state that a generator resumes from; JSON keeps it exactly. */
export interface AleaState {
  readonly c: number;
  readonly s0: number;
  readonly s1: number;
  readonly s2: number;
}

/** Uniform values in [0, 1) of 32 random bits. */
export class Alea {
  private c: number;
  private s0: number;
  private s1: number;
  private s2: number;

  constructor(from: AleaState) {
    this.c = from.c;
    this.s0 = from.s0;
    this.s1 = from.s1;
    this.s2 = from.s2;
  }

  static fromSeed(seed: string): Alea {
    const mash = new Mash();
    const [a, b, c] = [mash.next(' '), mash.next(' '), mash.next(' ')];
    const s0 = wrapped(a - mash.next(seed));
    const s1 = wrapped(b - mash.next(seed));
    const s2 = wrapped(c - mash.next(seed));
    return new Alea({ c: 1, s0, s1, s2 });
  }

  next(): number {
    const t = 2091639 * this.s0 + this.c * TWO_MINUS_32;
    this.s0 = this.s1;
    this.s1 = this.s2;
    this.c = t | 0;
    this.s2 = t - this.c;
    return this.s2;
  }

  state(): AleaState {
    const { c, s0, s1, s2 } = this;
    return { c, s0, s1, s2 };
  }
}

/** Hash of the texts so far as a fraction. */
class Mash {
  private n = 0xefc8249d;

  next(text: string): number {
    for (let i = 0; i < text.length; i++) {
      this.n += text.charCodeAt(i);
      let h = 0.02519603282416938 * this.n;
      this.n = h >>> 0;
      h = (h - this.n) * this.n;
      this.n = h >>> 0;
      this.n += (h - this.n) * TWO32;
    }
    return (this.n >>> 0) * TWO_MINUS_32;
  }
}

function wrapped(value: number): number {
  return value < 0 ? value + 1 : value;
}
