/**
 * @license Apache-2.0
 * Copyright (c) 2018 The Stdlib Authors. A TypeScript port, with the same bits, of
 * @stdlib/math-base-special-pow 0.3.1, which follows FreeBSD's s_pow.c:
 * Copyright (C) 2004 by Sun Microsystems, Inc.
 * Changed: modules joined, special cases in functions of their own. See THIRD_PARTY_LICENSES.md.
 */
import { expPolynomial } from './exp.ts';
import {
  ABS_MASK,
  EXPONENT_BIAS,
  highWord,
  ldexp,
  lowWord,
  polynomial,
  withHighWord,
  withoutLowWord,
} from './float-bits.ts';

const HIGH_MAX_NEAR_ONE = 0x3fefffff;
const HIGH_OF_TWO_31 = 0x41e00000;
const HIGH_OF_TWO_64 = 0x43f00000;
const HIGH_OF_1024 = 0x40900000;
const HIGH_OF_ONE = 0x3ff00000;
const HIGH_OF_1075 = 0x4090cc00;
const HIGH_OF_MINUS_1075 = 0xc090cc00;
const HIGH_MIN_NORMAL = 0x00100000;
const HIGH_OF_HALF = 0x3fe00000;
const HIGH_OF_TWO_MINUS_511 = 0x20000000;
const HIGH_SIGNIFICAND_HALF = 0x00080000;
const SIGNIFICAND_MASK = 0x000fffff;
const SIGNIFICAND_BITS = 20;
/** −(1024 − log2(overflow + 0.5 ulp)) */
const OVERFLOW_TAIL = 8.008566259537294e-17;
const TWO53 = 9007199254740992;
/** 2 ÷ (3·ln 2), and its head and tail. */
const CP = 9.61796693925975554329e-1;
const CP_HIGH = 9.61796700954437255859e-1;
const CP_LOW = -7.02846165095275826516e-9;
const DP_HIGH = 5.84962487220764160156e-1;
const DP_LOW = 1.35003920212974897128e-8;
const INVERSE_LN2 = 1.442695040888963387;
const INVERSE_LN2_HIGH = 1.44269502162933349609;
const INVERSE_LN2_LOW = 1.92596299112661746887e-8;
const LN2 = 0.6931471805599453;
const LN2_HIGH = 6.93147182464599609375e-1;
const LN2_LOW = -1.90465429995776804525e-9;
const L: readonly number[] = [
  0.5999999999999946, 0.4285714285785502, 0.33333332981837743, 0.272728123808534,
  0.23066074577556175, 0.20697501780033842,
];
const W: readonly number[] = [0.5, -0.3333333333333333, 0.25];

/** A number as a head whose low word is clear, and the rest. */
interface Split {
  readonly head: number;
  readonly tail: number;
}

/** x^y, the same bits on every JavaScript engine, which `Math.pow` is not. */
export function pow(x: number, y: number): number {
  if (Number.isNaN(x) || Number.isNaN(y)) return NaN;
  const special = lowWord(y) === 0 ? ofSpecialExponent(x, y) : null;
  const known = special ?? (lowWord(x) === 0 ? ofSpecialBase(x, y) : null);
  if (known !== null) return known;
  if (x < 0 && !isWhole(y)) return NaN;
  return ofOrdinary(x, y);
}

function ofSpecialExponent(x: number, y: number): number | null {
  switch (y) {
    case 0:
      return 1;
    case 1:
      return x;
    case -1:
      return 1 / x;
    case 0.5:
      return Math.sqrt(x);
    case -0.5:
      return 1 / Math.sqrt(x);
    case 2:
      return x * x;
    case 3:
      return x * x * x;
    case 4:
      return x * x * (x * x);
    case Infinity:
    case -Infinity:
      if (x === -1) return NaN;
      if (x === 1) return 1;
      return Math.abs(x) < 1 === (y === Infinity) ? 0 : Infinity;
    default:
      return null;
  }
}

function ofSpecialBase(x: number, y: number): number | null {
  if (highWord(x) === 0) return ofZero(x, y);
  if (x === 1) return 1;
  if (x === -1 && isOdd(y)) return -1;
  if (x === -Infinity) return pow(-0, -y);
  if (x === Infinity) return y < 0 ? 0 : Infinity;
  return null;
}

function ofZero(x: number, y: number): number {
  if (y > 0) return isOdd(y) ? x : 0;
  return isOdd(y) ? 1 / x : Infinity;
}

function ofOrdinary(x: number, y: number): number {
  const highX = highWord(x);
  const highY = highWord(y);
  const absX = highX & ABS_MASK;
  const absY = highY & ABS_MASK;
  const sign = highX >>> 31 === 1 && isOdd(y) ? -1 : 1;
  const isNegativeY = highY >>> 31 === 1;
  const overflow = sign * Infinity;
  const underflow = sign * 0;
  let log: Split;
  if (absY > HIGH_OF_TWO_31) {
    if (absY > HIGH_OF_TWO_64) return absX <= HIGH_MAX_NEAR_ONE === y < 0 ? Infinity : 0;
    if (absX < HIGH_MAX_NEAR_ONE) return isNegativeY ? overflow : underflow;
    if (absX > HIGH_OF_ONE) return isNegativeY ? underflow : overflow;
    log = log2NearOne(Math.abs(x));
  } else {
    log = log2Of(Math.abs(x), absX);
  }
  const headY = withoutLowWord(y);
  const low = (y - headY) * log.head + y * log.tail;
  const high = headY * log.head;
  const z = low + high;
  const j = highWord(z) | 0;
  const i = lowWord(z) | 0;
  if (j >= HIGH_OF_1024) {
    if (((j - HIGH_OF_1024) | i) !== 0 || low + OVERFLOW_TAIL > z - high) return overflow;
  } else if ((j & ABS_MASK) >= HIGH_OF_1075) {
    if (((j - HIGH_OF_MINUS_1075) | i) !== 0 || low <= z - high) return underflow;
  }
  return sign * pow2(j, high, low);
}

/** log2(x) of x > 0; `high` is the high word of x. */
function log2Of(x: number, high: number): Split {
  let ax = x;
  let word = high;
  let n = 0;
  if (word < HIGH_MIN_NORMAL) {
    ax *= TWO53;
    n -= 53;
    word = highWord(ax);
  }
  n += (word >> SIGNIFICAND_BITS) - EXPONENT_BIAS;
  const j = word & SIGNIFICAND_MASK;
  word = j | HIGH_OF_ONE;
  let k = 0;
  if (j > 0x3988e) {
    if (j < 0xbb67a) {
      k = 1;
    } else {
      n += 1;
      word -= HIGH_MIN_NORMAL;
    }
  }
  ax = withHighWord(ax, word);
  // The logarithm of ax ÷ bp by its odd series in (ax − bp) ÷ (ax + bp).
  const bp = k === 0 ? 1 : 1.5;
  const difference = ax - bp;
  const inverse = 1 / (ax + bp);
  const ss = difference * inverse;
  const headS = withoutLowWord(ss);
  const middle = ((word >> 1) | HIGH_OF_TWO_MINUS_511) + HIGH_SIGNIFICAND_HALF + (k << 18);
  const headT = withHighWord(0, middle);
  const tailT = ax - (headT - bp);
  const tailS = inverse * (difference - headS * headT - headS * tailT);
  const square = ss * ss;
  const r = square * square * polynomial(L, square) + tailS * (headS + ss);
  const headSquare = headS * headS;
  const headSum = withoutLowWord(3 + headSquare + r);
  const tailSum = r - (headSum - 3 - headSquare);
  const u = headS * headSum;
  const v = tailS * headSum + tailSum * ss;
  const headP = withoutLowWord(u + v);
  const tailP = v - (headP - u);
  const headZ = CP_HIGH * headP;
  const tailZ = CP_LOW * headP + tailP * CP + (k === 0 ? 0 : DP_LOW);
  const dp = k === 0 ? 0 : DP_HIGH;
  const head = withoutLowWord(headZ + tailZ + dp + n);
  return { head, tail: tailZ - (head - n - dp - headZ) };
}

/** log2(x) of |x − 1| ≤ 2^-20. */
function log2NearOne(x: number): Split {
  const t = x - 1;
  const w = t * t * polynomial(W, t);
  const u = INVERSE_LN2_HIGH * t;
  const v = t * INVERSE_LN2_LOW - w * INVERSE_LN2;
  const head = withoutLowWord(u + v);
  return { head, tail: v - (head - u) };
}

/** 2^(high + low); `word` is the high word of the sum, signed. */
function pow2(word: number, high: number, low: number): number {
  const i = word & ABS_MASK;
  let k = (i >> SIGNIFICAND_BITS) - EXPONENT_BIAS;
  let n = 0;
  let rest = high;
  if (i > HIGH_OF_HALF) {
    // The integer nearest the sum goes to the exponent.
    n = (word + (HIGH_MIN_NORMAL >> (k + 1))) >>> 0;
    k = ((n & ABS_MASK) >> SIGNIFICAND_BITS) - EXPONENT_BIAS;
    rest -= withHighWord(0, (n & ~(SIGNIFICAND_MASK >> k)) >>> 0);
    n = (((n & SIGNIFICAND_MASK) | HIGH_MIN_NORMAL) >> (SIGNIFICAND_BITS - k)) >>> 0;
    if (word < 0) n = -n;
  }
  const t = withoutLowWord(low + rest);
  const u = t * LN2_HIGH;
  const v = (low - (t - rest)) * LN2 + t * LN2_LOW;
  const z = u + v;
  const w = v - (z - u);
  const square = z * z;
  const t1 = z - square * expPolynomial(square);
  const r = (z * t1) / (t1 - 2) - (w + z * w);
  const fraction = 1 - (r - z);
  const exponent = (highWord(fraction) | 0) + ((n << SIGNIFICAND_BITS) >>> 0);
  return exponent >> SIGNIFICAND_BITS <= 0 ? ldexp(fraction, n) : withHighWord(fraction, exponent);
}

function isWhole(x: number): boolean {
  return Math.floor(x) === x;
}

function isOdd(x: number): boolean {
  return isWhole((x > 0 ? x - 1 : x + 1) / 2);
}
