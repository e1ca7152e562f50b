/** Exact arithmetic with the rounding direction in the name. Money is bigint. */
import { assert } from '../base/assert.ts';

/** ⌈n ÷ d⌉ toward plus infinity; d > 0. */
export function ceilDivBig(n: bigint, d: bigint): bigint {
  const quotient = n / d;
  return n > 0n && quotient * d !== n ? quotient + 1n : quotient;
}

/** ⌊n ÷ d⌋ toward minus infinity; d > 0. */
export function floorDivBig(n: bigint, d: bigint): bigint {
  const quotient = n / d;
  return n < 0n && quotient * d !== n ? quotient - 1n : quotient;
}

export function absBig(n: bigint): bigint {
  return n < 0n ? -n : n;
}

export function maxBig(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

export function minBig(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/**
 * An int64 and its 32-bit halves: converts bigint ⇄ double without a runtime call. The halves are
 * little-endian, which is asserted once.
 */
const whole = new BigInt64Array(1);
const halves = new Int32Array(whole.buffer);

/** Throws on a big-endian machine, where the low half would come second. */
export function assertLittleEndian(bytes: ArrayBuffer): void {
  assert(new Int32Array(bytes)[0] === 1, 'Orrery needs a little-endian machine');
}

whole[0] = 1n;
assertLittleEndian(whole.buffer);

/** The nearest double of a bigint within ±2^63; equals `Number(value)`. */
export function doubleOf(value: bigint): number {
  whole[0] = value;
  return (halves[1] ?? 0) * 0x100000000 + ((halves[0] ?? 0) >>> 0);
}

/** The bigint of a safe integer; equals `BigInt(value)`. */
export function bigOf(value: number): bigint {
  const high = Math.floor(value / 0x100000000);
  halves[0] = value - high * 0x100000000;
  halves[1] = high;
  return whole[0] ?? 0n;
}

/**
 * ⌊a ÷ b⌋ of safe integers, b > 0; exact. A quotient that `/` rounded up to an integer q would lack
 * at least 1 ÷ b of it, which is more than |a| ÷ b × 2^−53, the bound on the rounding.
 */
export function floorDivInt(a: number, b: number): number {
  return Math.floor(a / b);
}

/** ⌈a ÷ b⌉ of safe integers, b > 0. */
export function ceilDivInt(a: number, b: number): number {
  const quotient = floorDivInt(a, b);
  return quotient * b === a ? quotient : quotient + 1;
}

/** The largest multiple of `step` ≤ `a`; safe integers in and out, step > 0. */
export function floorTo(a: number, step: number): number {
  return floorDivInt(a, step) * step;
}
