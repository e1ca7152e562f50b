/**
 * Exact arithmetic whose rounding side is in its name. Money is bigint; nothing here touches a float.
 */
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
 * An int64 and its low and high 32 bits: converts between bigint and double without a call. The halves are in
 * little-endian order, which is asserted once.
 */
const whole = new BigInt64Array(1);
const halves = new Int32Array(whole.buffer);

/** Throws on a big-endian machine, where the low half would come second. */
export function assertLittleEndian(bytes: ArrayBuffer): void {
  assert(new Int32Array(bytes)[0] === 1, 'Orrery needs a little-endian machine');
}

whole[0] = 1n;
assertLittleEndian(whole.buffer);

/** The nearest double of a bigint within ±2^63, as `Number` has it. */
export function doubleOf(value: bigint): number {
  whole[0] = value;
  return (halves[1] ?? 0) * 0x100000000 + ((halves[0] ?? 0) >>> 0);
}

/** The nearest double of any bigint, as `Number` has it; within ±2^63 without its call. */
export function nearestDouble(value: bigint): number {
  const about = doubleOf(value);
  return whole[0] === value ? about : Number(value);
}

/** The bigint of a safe integer, as `BigInt` has it. */
export function bigOf(value: number): bigint {
  const high = Math.floor(value / 0x100000000);
  halves[0] = value - high * 0x100000000;
  halves[1] = high;
  return whole[0] ?? 0n;
}

/**
 * ⌊a ÷ b⌋ of safe integers, b > 0, exact although `/` rounds: the rounded quotient is off by at most one, which the remainder
 * tells. (`%` of doubles is a loop in the processor.) Above 2^52 a product could round, so there `%` decides.
 */
export function floorDivInt(a: number, b: number): number {
  if (a > EXACT || a < -EXACT || b > EXACT) {
    const remainder = a % b;
    const whole = (a - remainder) / b;
    return remainder < 0 ? whole - 1 : whole;
  }
  const quotient = Math.floor(a / b);
  const remainder = a - quotient * b;
  if (remainder < 0) return quotient - 1;
  return remainder >= b ? quotient + 1 : quotient;
}

/** ⌈a ÷ b⌉ of safe integers, b > 0. */
export function ceilDivInt(a: number, b: number): number {
  const quotient = floorDivInt(a, b);
  return quotient * b === a ? quotient : quotient + 1;
}

/** The largest multiple of `step` that is not above `a`; safe integers, as is the answer, step > 0. */
export function floorTo(a: number, step: number): number {
  return floorDivInt(a, step) * step;
}

/** Below this a product of a quotient of two such numbers and its divisor is exact. */
const EXACT = 2 ** 52;
