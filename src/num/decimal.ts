/**
 * Decimal text ⇄ exact integers: optional `-`, digits, optional point and digits; no
 * exponent, spaces or `+`; at most 38 characters. A number is `digits × 10^−scale`.
 */

/** Max length of decimal text. */
export const MAX_DECIMAL_LENGTH = 38;

export interface Decimal {
  /** Signed; no trailing zeros if scale > 0. */
  readonly digits: bigint;
  /** Digits after the point, ≥ 0. */
  readonly scale: number;
}

const DECIMAL_TEXT = /^-?\d+(?:\.\d+)?$/;

/** The number in lowest scale; null if the text is not decimal or is too long. */
export function parseDecimal(text: string): Decimal | null {
  if (text.length > MAX_DECIMAL_LENGTH || !DECIMAL_TEXT.test(text)) return null;
  const point = text.indexOf('.');
  if (point < 0) return { digits: BigInt(text), scale: 0 };
  let end = text.length;
  while (text.charCodeAt(end - 1) === 48) end -= 1;
  const fraction = text.slice(point + 1, end);
  return { digits: BigInt(text.slice(0, point) + fraction), scale: fraction.length };
}

/** `digits × 10^−scale` without trailing zeros; zero is `0`. */
export function formatDecimal(digits: bigint, scale: number): string {
  const negative = digits < 0n;
  const text = (negative ? -digits : digits).toString().padStart(scale + 1, '0');
  const whole = text.slice(0, text.length - scale);
  let end = text.length;
  while (end > whole.length && text.charCodeAt(end - 1) === 48) end -= 1;
  const fraction = text.slice(whole.length, end);
  const sign = negative ? '-' : '';
  return fraction === '' ? sign + whole : `${sign}${whole}.${fraction}`;
}

/** Max number of digits after the point for which numbers are exact. */
const MAX_SCALE = 15;
const TENS: readonly number[] = Array.from({ length: MAX_SCALE + 1 }, (_, i) =>
  Number(`1e${String(i)}`),
);

/** `formatDecimal` of a safe integer, without a bigint. */
export function formatScaled(digits: number, scale: number): string {
  const ten = TENS[scale];
  if (ten === undefined) return formatDecimal(BigInt(digits), scale);
  const size = Math.abs(digits);
  const sign = digits < 0 ? '-' : '';
  // Exact: the quotient's rounding error is below 1 ÷ ten.
  const whole = Math.floor(size / ten);
  let rest = size - whole * ten;
  if (rest === 0) return `${sign}${String(whole)}`;
  let places = scale;
  for (; rest % 10 === 0; rest /= 10) places -= 1;
  return `${sign}${String(whole)}.${String(rest).padStart(places, '0')}`;
}

/**
 * Gives safe integers × 10^−scale as the nearest double, which is also that of the decimal text;
 * null for scales beyond 15.
 */
export function scaledBy(scale: number): ((digits: number) => number) | null {
  const ten = TENS[scale];
  // Both are exact, so the quotient is rounded once. The sum makes −0 zero.
  return ten === undefined ? null : (digits) => digits / ten + 0;
}

const POWERS_OF_TEN: readonly bigint[] = Array.from({ length: 77 }, (_, i) => 10n ** BigInt(i));

/** 10^exponent for 0 ≤ exponent ≤ 76. */
export function powerOfTen(exponent: number): bigint {
  return POWERS_OF_TEN[exponent] ?? 10n ** BigInt(exponent);
}

/** The number of whole `step`s, or null if the decimal is not a multiple. */
export function stepsExact(value: Decimal, step: Decimal): bigint | null {
  const { numerator, denominator } = ratio(value, step);
  return numerator % denominator === 0n ? numerator / denominator : null;
}

/** The decimal in whole `step`s, rounded toward minus infinity. `step` > 0. */
export function stepsFloor(value: Decimal, step: Decimal): bigint {
  const { numerator, denominator } = ratio(value, step);
  const quotient = numerator / denominator;
  return numerator % denominator < 0n ? quotient - 1n : quotient;
}

/** The decimal in whole `step`s, rounded toward plus infinity. `step` > 0. */
export function stepsCeil(value: Decimal, step: Decimal): bigint {
  const { numerator, denominator } = ratio(value, step);
  const quotient = numerator / denominator;
  return numerator % denominator > 0n ? quotient + 1n : quotient;
}

/** The decimal in whole `step`s, halves rounded up. `step` > 0. */
export function stepsHalfUp(value: Decimal, step: Decimal): bigint {
  const { numerator, denominator } = ratio(value, step);
  const doubled = 2n * numerator + denominator;
  const quotient = doubled / (2n * denominator);
  return doubled % (2n * denominator) < 0n ? quotient - 1n : quotient;
}

function ratio(value: Decimal, step: Decimal): { numerator: bigint; denominator: bigint } {
  return {
    numerator: value.digits * powerOfTen(step.scale),
    denominator: step.digits * powerOfTen(value.scale),
  };
}
