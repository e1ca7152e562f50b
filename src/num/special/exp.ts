/**
 * @license Apache-2.0
 * Copyright (c) 2018 The Stdlib Authors. A TypeScript port, with the same bits, of
 * @stdlib/math-base-special-exp 0.2.5, which follows Go's exp.go and FreeBSD's e_exp.c:
 * Copyright (c) 2009 The Go Authors. Copyright (C) 2004 by Sun Microsystems, Inc.
 * Changed: modules joined. See THIRD_PARTY_LICENSES.md.
 */
import { ldexp, polynomial } from './float-bits.ts';

const LN2_HIGH = 6.9314718036912381649e-1;
const LN2_LOW = 1.90821492927058770002e-10;
const LOG2_E = 1.442695040888963387;
const OVERFLOW = 7.09782712893383973096e2;
const UNDERFLOW = -7.4513321910194110842e2;
const NEAR_ZERO = 1 / 268435456;
const P: readonly number[] = [
  0.16666666666666602, -0.0027777777777015593, 0.00006613756321437934, -0.0000016533902205465252,
  4.1381367970572385e-8,
];

/** e^x, the same bits on every JavaScript engine, which `Math.exp` is not. */
export function exp(x: number): number {
  if (Number.isNaN(x) || x === Infinity) return x;
  if (x > OVERFLOW) return Infinity;
  if (x < UNDERFLOW) return 0;
  if (x > -NEAR_ZERO && x < NEAR_ZERO) return 1 + x;
  const k = Math.trunc(x < 0 ? LOG2_E * x - 0.5 : LOG2_E * x + 0.5);
  const high = x - k * LN2_HIGH;
  const low = k * LN2_LOW;
  const r = high - low;
  const t = r * r;
  const c = r - t * expPolynomial(t);
  return ldexp(1 - (low - (r * c) / (2 - c) - high), k);
}

/** Remez approximation that `pow` uses as well. */
export function expPolynomial(x: number): number {
  return polynomial(P, x);
}
