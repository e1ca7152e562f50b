/**
 * Amounts of money on hot paths: a safe integer is a number, any other amount a bigint. The type
 * `Money` therefore has one form for each value, and `===` compares values.
 *
 * Arithmetic of numbers is exact while operands and result are safe integers: a sum or product of
 * integers is rounded only beyond 2^53, and a rounded result is not safe. Every function here tests
 * its result and computes with bigints otherwise. This is the only place with both forms; the rest
 * of the engine calls it or converts to `Quanta` (decision 0025).
 *
 * V8 keeps numbers in registers and in fields without allocating; a bigint costs an allocation.
 */
import { bigOf, ceilDivBig, ceilDivInt, floorDivBig, floorDivInt } from './arithmetic.ts';
import { PPM, quanta, type Quanta } from './units.ts';

declare const unit: unique symbol;
/** Signed money in 1e-6 of the collateral unit; normalised: a bigint is beyond ±(2^53 − 1). */
export type Money = (number | bigint) & { readonly [unit]: 'Money' };

const LARGEST = Number.MAX_SAFE_INTEGER;
const LARGEST_BIG = BigInt(LARGEST);
const BIG_PPM = BigInt(PPM);

export const NO_MONEY = 0 as unknown as Money;

/** A number that the caller knows to be a safe integer. */
const safe = (value: number): Money => value as unknown as Money;

function isSafe(value: number): boolean {
  return value <= LARGEST && value >= -LARGEST;
}

/** The normalised form of an amount. */
export function moneyOf(value: bigint): Money {
  if (value > LARGEST_BIG || value < -LARGEST_BIG) return value as unknown as Money;
  return safe(Number(value));
}

/** The amount as a bigint. */
export function quantaOf(value: Money): Quanta {
  return quanta(typeof value === 'number' ? bigOf(value) : bigintOf(value));
}

/** The nearest double. */
export function doubleOfMoney(value: Money): number {
  return typeof value === 'number' ? value : Number(value);
}

export function isNothing(value: Money): boolean {
  return value === 0;
}

export function isNegative(value: Money): boolean {
  return typeof value === 'number' ? value < 0 : bigintOf(value) < 0n;
}

export function isPositive(value: Money): boolean {
  return typeof value === 'number' ? value > 0 : bigintOf(value) > 0n;
}

export function negated(value: Money): Money {
  return typeof value === 'number' ? safe(0 - value) : moneyOf(-bigintOf(value));
}

export function plus(a: Money, b: Money): Money {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (isSafe(sum)) return safe(sum);
  }
  return moneyOf(bigintOf(a) + bigintOf(b));
}

export function minus(a: Money, b: Money): Money {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b;
    if (isSafe(difference)) return safe(difference);
  }
  return moneyOf(bigintOf(a) - bigintOf(b));
}

/** lots × ticks × quantaPerTickLot; all are safe integers. */
export function notionalMoney(lots: number, ticks: number, quantaPerTickLot: number): Money {
  const product = lots * ticks * quantaPerTickLot;
  if (isSafe(product)) return safe(product);
  return moneyOf(BigInt(lots) * BigInt(ticks) * BigInt(quantaPerTickLot));
}

/** ⌈amount × part ÷ whole⌉ of safe integers whole > 0. */
export function shareCeil(amount: Money, part: number, whole: number): Money {
  if (typeof amount === 'number') {
    const product = amount * part;
    if (isSafe(product)) return safe(ceilDivInt(product, whole));
  }
  return moneyOf(ceilDivBig(bigintOf(amount) * BigInt(part), BigInt(whole)));
}

/** ⌊amount × part ÷ whole⌋ of safe integers whole > 0. */
export function shareFloor(amount: Money, part: number, whole: number): Money {
  if (typeof amount === 'number') {
    const product = amount * part;
    if (isSafe(product)) return safe(floorDivInt(product, whole));
  }
  return moneyOf(floorDivBig(bigintOf(amount) * BigInt(part), BigInt(whole)));
}

/** ⌈lots × ticks × quantaPerTickLot × rate ÷ 1e6⌉: the fee of a fill of lots ≥ 0. */
export function feeMoney(
  lots: number,
  ticks: number,
  quantaPerTickLot: number,
  ratePpm: number,
): Money {
  const product = lots * ticks * quantaPerTickLot * ratePpm;
  if (isSafe(product)) return safe(ceilDivInt(product, PPM));
  const exact = BigInt(lots) * BigInt(ticks) * BigInt(quantaPerTickLot) * BigInt(ratePpm);
  return moneyOf(ceilDivBig(exact, BIG_PPM));
}

/**
 * ⌈amount × rate ÷ 1e6⌉ for an amount ≥ 0 and a rate up to 1e6. The whole millions and the rest are
 * multiplied apart: neither product exceeds the amount or 1e12.
 */
export function ppmCeil(amount: Money, ratePpm: number): Money {
  if (typeof amount === 'number') {
    const millions = floorDivInt(amount, PPM);
    const rest = amount - millions * PPM;
    return safe(millions * ratePpm + ceilDivInt(rest * ratePpm, PPM));
  }
  return moneyOf(ceilDivBig(bigintOf(amount) * BigInt(ratePpm), BIG_PPM));
}

export function larger(a: Money, b: Money): Money {
  return a > b ? a : b;
}

/** amount × factor of a safe integer. */
export function times(amount: Money, factor: number): Money {
  if (typeof amount === 'number') {
    const product = amount * factor;
    if (isSafe(product)) return safe(product);
  }
  return moneyOf(bigintOf(amount) * BigInt(factor));
}

/** high × 2^32 + low of integers with 0 ≤ low < 2^32. */
export function wideMoney(high: number, low: number): Money {
  const value = high * 0x100000000 + low;
  if (isSafe(value)) return safe(value);
  return moneyOf(BigInt(high) * 0x100000000n + BigInt(low));
}

/** ⌊amount × rate ÷ 1e6⌋. */
export function ppmFloor(amount: Money, ratePpm: number): Money {
  return shareFloor(amount, ratePpm, PPM);
}

function bigintOf(value: Money): bigint {
  return BigInt(value);
}
