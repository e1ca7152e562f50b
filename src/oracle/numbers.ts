/**
 * Numbers of the oracle (§1). Ticks, lots, Quanta and microseconds are bigints. A rate is a decimal
 * fraction; its product with an amount is exact in decimal.js and then rounded.
 */
import { Decimal } from 'decimal.js';

/** 90 digits: products of any two amounts of the exchange are exact. */
const Exact = Decimal.clone({ precision: 90, toExpNeg: -100, toExpPos: 100 });
export type Rate = Decimal;

/** Sums of lots of one price, and of one subaccount and side, are at most this (D-4). */
export const MOST_LOTS = 2n ** 53n - 1n;

export const abs = (n: bigint): bigint => (n < 0n ? -n : n);
export const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
export const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
export const sign = (n: bigint): bigint => (n > 0n ? 1n : n < 0n ? -1n : 0n);
export const sum = (terms: readonly bigint[]): bigint => terms.reduce((a, b) => a + b, 0n);

/** A rate from parts per million. */
export const ofPpm = (ppm: number): Rate => new Exact(ppm).div(1_000_000);

/** For amounts that a user pays or must hold. */
export const roundedUp = (amount: bigint, rate: Rate): bigint =>
  BigInt(new Exact(amount).times(rate).ceil().toFixed());

/** For amounts that a user receives. */
export const roundedDown = (amount: bigint, rate: Rate): bigint =>
  BigInt(new Exact(amount).times(rate).floor().toFixed());

/** ⌊n ÷ d⌋; bigint division rounds toward zero. */
export function shareDown(n: bigint, d: bigint): bigint {
  const quotient = n / d;
  return quotient * d !== n && n < 0n !== d < 0n ? quotient - 1n : quotient;
}

/** ⌈n ÷ d⌉. */
export const shareUp = (n: bigint, d: bigint): bigint => -shareDown(-n, d);

/** The median of three, the floor of the mean of two, the only one, or null. */
export function median(values: readonly bigint[]): bigint | null {
  const sorted = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const [first, second, third] = sorted;
  if (first === undefined || second === undefined) return first ?? null;
  return third === undefined ? shareDown(first + second, 2n) : second;
}
