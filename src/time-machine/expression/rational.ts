/** Exact numbers of expressions: fractions of whole numbers in lowest terms, denominator > 0. */
export interface Rational {
  readonly n: bigint;
  readonly d: bigint;
}

function gcd(a: bigint, b: bigint): bigint {
  let x = a < 0n ? -a : a;
  let y = b;
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

/** `d` must not be 0. */
export function rational(n: bigint, d = 1n): Rational {
  if (d === 1n) return { n, d };
  const sign = d < 0n ? -1n : 1n;
  const common = gcd(n, d * sign);
  return { n: (sign * n) / common, d: (sign * d) / common };
}

/** A whole number of 10^−scale. */
export const scaled = (digits: bigint, scale: number): Rational =>
  rational(digits, 10n ** BigInt(scale));

export const add = (a: Rational, b: Rational): Rational =>
  rational(a.n * b.d + b.n * a.d, a.d * b.d);
export const subtract = (a: Rational, b: Rational): Rational =>
  rational(a.n * b.d - b.n * a.d, a.d * b.d);
export const multiply = (a: Rational, b: Rational): Rational => rational(a.n * b.n, a.d * b.d);
/** null for a division by 0. */
export const divide = (a: Rational, b: Rational): Rational | null =>
  b.n === 0n ? null : rational(a.n * b.d, a.d * b.n);
/** −1, 0 or 1. */
export function compare(a: Rational, b: Rational): number {
  const difference = a.n * b.d - b.n * a.d;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Work of an operation with this result: 0 for 64 bits, else the square of its 64-bit words. */
export function workOf({ n, d }: Rational): number {
  const words = Math.max(wordsOf(n), wordsOf(d));
  return words === 1 ? 0 : words * words;
}

const wordsOf = (value: bigint): number =>
  BigInt.asIntN(64, value) === value ? 1 : Math.ceil(value.toString(16).length / 16);
