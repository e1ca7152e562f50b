/**
 * @license Apache-2.0
 * Copyright (c) 2018 The Stdlib Authors. A TypeScript port, with the same bits, of
 * @stdlib/math-base-special-ln 0.2.5, which follows FreeBSD's e_log.c:
 * Copyright (C) 1993 by Sun Microsystems, Inc.
 * Changed: modules joined. See THIRD_PARTY_LICENSES.md.
 */
import { EXPONENT_BIAS, highWord, polynomial, withHighWord } from './float-bits.ts';

const LN2_HIGH = 6.9314718036912381649e-1;
const LN2_LOW = 1.90821492927058770002e-10;
const TWO54 = 18014398509481984;
const ONE_THIRD = 0.3333333333333333;
const SIGNIFICAND_MASK = 0x000fffff;
const HIGH_MAX_NORMAL = 0x7ff00000;
const HIGH_MIN_NORMAL = 0x00100000;
const HIGH_OF_ONE = 0x3ff00000;
const P: readonly number[] = [0.3999999999940942, 0.22222198432149784, 0.15313837699209373];
const Q: readonly number[] = [
  0.6666666666666735, 0.2857142874366239, 0.1818357216161805, 0.14798198605116586,
];

/** Natural logarithm, the same bits on every JavaScript engine, which `Math.log` is not. */
export function ln(x: number): number {
  if (x === 0) return -Infinity;
  if (Number.isNaN(x) || x < 0) return NaN;
  let value = x;
  let high = highWord(value);
  let k = 0;
  if (high < HIGH_MIN_NORMAL) {
    k -= 54;
    value *= TWO54;
    high = highWord(value);
  }
  if (high >= HIGH_MAX_NORMAL) return value + value;
  k += (high >> 20) - EXPONENT_BIAS;
  high &= SIGNIFICAND_MASK;
  const carry = (high + 0x95f64) & 0x100000;
  value = withHighWord(value, high | (carry ^ HIGH_OF_ONE));
  k += carry >> 20;
  const f = value - 1;
  if ((SIGNIFICAND_MASK & (2 + high)) < 3) return nearPowerOfTwo(f, k);
  const s = f / (2 + f);
  const z = s * s;
  const w = z * z;
  const r = z * polynomial(Q, w) + w * polynomial(P, w);
  if (((high - 0x6147a) | (0x6b851 - high)) > 0) {
    const half = 0.5 * f * f;
    if (k === 0) return f - (half - s * (half + r));
    return k * LN2_HIGH - (half - (s * (half + r) + k * LN2_LOW) - f);
  }
  if (k === 0) return f - s * (f - r);
  return k * LN2_HIGH - (s * (f - r) - k * LN2_LOW - f);
}

/** For a significand of 1 + f with |f| < 2^-20. */
function nearPowerOfTwo(f: number, k: number): number {
  if (f === 0) return k === 0 ? 0 : k * LN2_HIGH + k * LN2_LOW;
  const r = f * f * (0.5 - ONE_THIRD * f);
  if (k === 0) return f - r;
  return k * LN2_HIGH - (r - k * LN2_LOW - f);
}
