/**
 * @license Apache-2.0 AND BSL-1.0
 * Copyright (c) 2018 The Stdlib Authors. A TypeScript port, with the same bits, of
 * @stdlib/stats-base-dists-normal-{cdf,quantile} 0.3.1 for a mean of 0 and a deviation of 1, and of
 * @stdlib/math-base-special-{erfc 0.2.5,erfinv 0.3.1}, which follow FreeBSD's s_erf.c and Boost's
 * erf_inv.hpp: Copyright (C) 1993 by Sun Microsystems, Inc. (C) Copyright John Maddock 2006.
 * Changed: modules joined, fixed parameters. See THIRD_PARTY_LICENSES.md.
 */
import { exp } from './exp.ts';
import { polynomial, withoutLowWord } from './float-bits.ts';
import { ln } from './ln.ts';

interface Rational {
  readonly p: readonly number[];
  /** As many as in `p`. */
  readonly q: readonly number[];
}

/** Below it 1 − erfc(x) rounds to x. */
const SMALL = 1.3877787807814457e-17;
const ERX = 8.45062911510467529297e-1;
const ERFC_TO_0_84: Rational = {
  p: [
    1.28379167095512558561e-1, -0.3250421072470015, -0.02848174957559851, -0.005770270296489442,
    -0.000023763016656650163,
  ],
  q: [
    1, 0.39791722395915535, 0.0650222499887673, 0.005081306281875766, 0.00013249473800432164,
    -0.000003960228278775368,
  ],
};
const ERFC_TO_1_25: Rational = {
  p: [
    -2.36211856075265944077e-3, 0.41485611868374833, -0.3722078760357013, 0.31834661990116175,
    -0.11089469428239668, 0.035478304325618236, -0.002166375594868791,
  ],
  q: [
    1, 0.10642088040084423, 0.540397917702171, 0.07182865441419627, 0.12617121980876164,
    0.01363708391202905, 0.011984499846799107,
  ],
};
const ERFC_TO_2_86: Rational = {
  p: [
    -9.86494403484714822705e-3, -0.6938585727071818, -10.558626225323291, -62.375332450326006,
    -162.39666946257347, -184.60509290671104, -81.2874355063066, -9.814329344169145,
  ],
  q: [
    1, 19.651271667439257, 137.65775414351904, 434.56587747522923, 645.3872717332679,
    429.00814002756783, 108.63500554177944, 6.570249770319282, -0.0604244152148581,
  ],
};
const ERFC_TO_28: Rational = {
  p: [
    -9.86494292470009928597e-3, -0.799283237680523, -17.757954917754752, -160.63638485582192,
    -637.5664433683896, -1025.0951316110772, -483.5191916086514,
  ],
  q: [
    1, 30.33806074348246, 325.7925129965739, 1536.729586084437, 3199.8582195085955,
    2553.0504064331644, 474.52854120695537, -22.44095244658582,
  ],
};
const ERFINV_TO_HALF: Rational = {
  p: [
    -0.0005087819496582806, -0.008368748197417368, 0.03348066254097446, -0.012692614766297404,
    -0.03656379714117627, 0.02198786811111689, 0.008226878746769157, -0.005387729650712429, 0, 0,
  ],
  q: [
    1, -0.9700050433032906, -1.5657455823417585, 1.5622155839842302, 0.662328840472003,
    -0.7122890234154284, -0.05273963823400997, 0.07952836873415717, -0.0023339375937419,
    0.0008862163904564247,
  ],
};
const ERFINV_TO_3_QUARTERS: Rational = {
  p: [
    -0.20243350835593876, 0.10526468069939171, 8.3705032834312, 17.644729840837403,
    -18.851064805871424, -44.6382324441787, 17.445385985570866, 21.12946554483405,
    -3.6719225470772936,
  ],
  q: [
    1, 6.242641248542475, 3.971343795334387, -28.66081804998, -20.14326346804852,
    48.560921310873994, 10.826866735546016, -22.643693341313973, 1.7211476576120028,
  ],
};
const ERFINV_TAIL_TO_3: Rational = {
  p: [
    -0.1311027816799519, -0.16379404719331705, 0.11703015634199525, 0.38707973897260434,
    0.3377855389120359, 0.14286953440815717, 0.029015791000532906, 0.0021455899538880526,
    -6.794655751811263e-7, 2.8522533178221704e-8, -6.81149956853777e-10,
  ],
  q: [
    1, 3.4662540724256723, 5.381683457070069, 4.778465929458438, 2.5930192162362027,
    0.848854343457902, 0.15226433829533179, 0.011059242293464892, 0, 0, 0,
  ],
};
const ERFINV_TAIL_TO_6: Rational = {
  p: [
    -0.0350353787183178, -0.0022242652921344794, 0.018557330651423107, 0.009508047013259196,
    0.0018712349281955923, 0.00015754461742496055, 0.00000460469890584318, -2.304047769118826e-10,
    2.6633922742578204e-12,
  ],
  q: [
    1, 1.3653349817554064, 0.7620591645536234, 0.22009110576413124, 0.03415891436709477,
    0.00263861676657016, 0.00007646752923027944, 0, 0,
  ],
};
const ERFINV_TAIL: Rational = {
  p: [
    -0.016743100507663373, -0.0011295143874558028, 0.001056288621524929, 0.00020938631748758808,
    0.000014962478375834237, 4.4969678992770644e-7, 4.625961635228786e-9, -2.811287356288318e-14,
    9.905570997331033e-17,
  ],
  q: [
    1, 0.5914293448864175, 0.1381518657490833, 0.016074608709367652, 0.0009640118070051656,
    0.000027533547476472603, 2.82243172016108e-7, 0, 0,
  ],
};

/** Probability that a standard normal value is at most x. */
export function normalCdf(x: number): number {
  return Number.isNaN(x) ? NaN : 0.5 * erfc(-x / Math.SQRT2);
}

/** The x whose `normalCdf` is p; NaN outside 0 to 1. */
export function normalQuantile(p: number): number {
  if (Number.isNaN(p) || p < 0 || p > 1) return NaN;
  return 0 + Math.SQRT2 * erfinv(2 * p - 1);
}

function erfc(x: number): number {
  const ax = Math.abs(x);
  if (ax < 0.84375) return erfcNearZero(x, ax);
  if (ax < 1.25) {
    const s = ax - 1;
    const ratio = polynomial(ERFC_TO_1_25.p, s) / polynomial(ERFC_TO_1_25.q, s);
    return x < 0 ? 1 + ERX + ratio : 1 - ERX - ratio;
  }
  if (ax >= 28 || x < -6) return x < 0 ? 2 : 0;
  const s = 1 / (ax * ax);
  const { p, q } = ax < 2.857142857142857 ? ERFC_TO_2_86 : ERFC_TO_28;
  const ratio = polynomial(p, s) / polynomial(q, s);
  const z = withoutLowWord(ax);
  const r = exp(-(z * z) - 0.5625) * exp((z - ax) * (z + ax) + ratio);
  return x < 0 ? 2 - r / ax : r / ax;
}

function erfcNearZero(x: number, ax: number): number {
  if (ax < SMALL) return 1 - x;
  const z = x * x;
  const y = polynomial(ERFC_TO_0_84.p, z) / polynomial(ERFC_TO_0_84.q, z);
  return x < 0.25 ? 1 - (x + x * y) : 0.5 - (x * y + (x - 0.5));
}

/** Of a value from −1 to 1. */
function erfinv(x: number): number {
  if (Math.abs(x) === 1) return x * Infinity;
  if (x === 0) return x;
  const sign = x < 0 ? -1 : 1;
  const ax = Math.abs(x);
  const q = 1 - ax;
  if (ax <= 0.5) {
    const g = ax * (ax + 10);
    return sign * (g * 8.91314744949340820313e-2 + g * rational(ERFINV_TO_HALF, ax));
  }
  if (q >= 0.25) {
    const g = Math.sqrt(-2 * ln(q));
    return sign * (g / (2.249481201171875 + rational(ERFINV_TO_3_QUARTERS, q - 0.25)));
  }
  const tail = Math.sqrt(-ln(q));
  if (tail < 3) return sign * tailOf(ERFINV_TAIL_TO_3, 8.07220458984375e-1, tail, 1.125);
  if (tail < 6) return sign * tailOf(ERFINV_TAIL_TO_6, 9.3995571136474609375e-1, tail, 3);
  return sign * tailOf(ERFINV_TAIL, 9.8362827301025390625e-1, tail, 6);
}

function tailOf(of: Rational, y: number, tail: number, from: number): number {
  return y * tail + rational(of, tail - from) * tail;
}

/** p(x) ÷ q(x); beyond 1 by powers of 1 ÷ x, which do not overflow. */
function rational({ p, q }: Rational, x: number): number {
  if (x <= 1) return polynomial(p, x) / polynomial(q, x);
  return polynomial([...p].reverse(), 1 / x) / polynomial([...q].reverse(), 1 / x);
}
