/**
 * @license Apache-2.0
 * Copyright (c) 2016-2026 The Stdlib Authors. A TypeScript port, with the same bits, of
 * @stdlib/math-base-special-ldexp 0.2.5 and of @stdlib/number-float64-base-*.
 * Changed: modules joined, words read through one DataView. See THIRD_PARTY_LICENSES.md.
 */

export const EXPONENT_BIAS = 1023;
export const ABS_MASK = 0x7fffffff;

const MAX_EXPONENT = 1023;
const MAX_SUBNORMAL_EXPONENT = -1023;
const MIN_SUBNORMAL_EXPONENT = -1074;
const SMALLEST_NORMAL = 2.2250738585072014e-308;
const TWO52 = 4503599627370496;
const TWO52_INVERSE = 2.220446049250313e-16;
const CLEAR_EXPONENT_MASK = 0x800fffff;

/** Big-endian on every platform, so that the high word is at 0 and the low word at 4. */
const view = new DataView(new ArrayBuffer(8));

/** Sign, exponent and the upper 20 bits of the significand, unsigned. */
export function highWord(x: number): number {
  view.setFloat64(0, x);
  return view.getUint32(0);
}

export function lowWord(x: number): number {
  view.setFloat64(0, x);
  return view.getUint32(4);
}

export function withHighWord(x: number, high: number): number {
  view.setFloat64(0, x);
  view.setUint32(0, high);
  return view.getFloat64(0);
}

/** The value with the low word of its significand cleared. */
export function withoutLowWord(x: number): number {
  view.setFloat64(0, x);
  view.setUint32(4, 0);
  return view.getFloat64(0);
}

/** c[0] + c[1]·x + c[2]·x² + … by Horner's rule. */
export function polynomial(coefficients: readonly number[], x: number): number {
  let sum = 0;
  for (let i = coefficients.length - 1; i >= 0; i--) sum = (coefficients[i] ?? 0) + x * sum;
  return sum;
}

/** fraction · 2^exponent; a result below the smallest subnormal is a zero with the sign. */
export function ldexp(fraction: number, exponent: number): number {
  if (exponent === 0 || fraction === 0 || !Number.isFinite(fraction)) return fraction;
  const isSubnormal = Math.abs(fraction) < SMALLEST_NORMAL;
  const normal = isSubnormal ? fraction * TWO52 : fraction;
  const high = highWord(normal);
  let sum = exponent + (isSubnormal ? -52 : 0) + (((high & 0x7ff00000) >>> 20) - EXPONENT_BIAS);
  if (sum < MIN_SUBNORMAL_EXPONENT) return fraction < 0 ? -0 : 0;
  if (sum > MAX_EXPONENT) return fraction < 0 ? -Infinity : Infinity;
  let scale = 1;
  if (sum <= MAX_SUBNORMAL_EXPONENT) {
    sum += 52;
    scale = TWO52_INVERSE;
  }
  return scale * withHighWord(normal, (high & CLEAR_EXPONENT_MASK) | ((sum + EXPONENT_BIAS) << 20));
}
