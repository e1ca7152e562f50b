/**
 * Exact arithmetic whose rounding side is in its name. Money is bigint; nothing here touches a float.
 */

/** ⌈n ÷ d⌉ toward plus infinity; d > 0. */
export function divCeil(n: bigint, d: bigint): bigint {
  const quotient = n / d;
  return n > 0n && quotient * d !== n ? quotient + 1n : quotient;
}

/** ⌊n ÷ d⌋ toward minus infinity; d > 0. */
export function floorBig(n: bigint, d: bigint): bigint {
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

/** ⌊a ÷ b⌋ of safe integers, b > 0, exact although `/` rounds. */
export function floorDiv(a: number, b: number): number {
  const remainder = a % b;
  return (remainder < 0 ? a - remainder - b : a - remainder) / b;
}
