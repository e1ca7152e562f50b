/**
 * Exact arithmetic at its edges: signs, exact multiples, neighbours of multiples, and the limits of
 * doubles.
 */
import { describe, expect, it, test } from 'vitest';
import {
  absBig,
  assertLittleEndian,
  bigOf,
  ceilDivInt,
  ceilDivBig,
  doubleOf,
  floorDivBig,
  floorDivInt,
  floorTo,
  maxBig,
  minBig,
} from '../../src/num/arithmetic.ts';
import { ExactSum } from '../../src/num/exact-sum.ts';

const MOST = Number.MAX_SAFE_INTEGER;

describe('division rounds in the direction of its name', () => {
  it.each([
    // n, d, floor, ceil
    [0n, 3n, 0n, 0n],
    [1n, 3n, 0n, 1n],
    [3n, 3n, 1n, 1n],
    [4n, 3n, 1n, 2n],
    [6n, 3n, 2n, 2n],
    [-1n, 3n, -1n, 0n],
    [-3n, 3n, -1n, -1n],
    [-4n, 3n, -2n, -1n],
    [-6n, 3n, -2n, -2n],
    [10n ** 30n + 1n, 10n, 10n ** 29n, 10n ** 29n + 1n],
    [-(10n ** 30n) - 1n, 10n, -(10n ** 29n) - 1n, -(10n ** 29n)],
  ])('%d ÷ %d', (n, d, floor, ceil) => {
    expect(floorDivBig(n, d)).toBe(floor);
    expect(ceilDivBig(n, d)).toBe(ceil);
  });

  it.each([
    [0, 3, 0, 0],
    [1, 3, 0, 1],
    [3, 3, 1, 1],
    [5, 3, 1, 2],
    [-1, 3, -1, 0],
    [-3, 3, -1, -1],
    [-5, 3, -2, -1],
    [7, 1, 7, 7],
    // Beyond 2^52 a product could round.
    [2 ** 52, 3, 1_501_199_875_790_165, 1_501_199_875_790_166],
    [2 ** 52 + 1, 2, 2 ** 51, 2 ** 51 + 1],
    [-(2 ** 52) - 1, 2, -(2 ** 51) - 1, -(2 ** 51)],
    [-(2 ** 52) - 2, 2, -(2 ** 51) - 1, -(2 ** 51) - 1],
    [MOST, MOST, 1, 1],
    [-MOST, MOST, -1, -1],
    [MOST - 1, MOST, 0, 1],
    [1 - MOST, MOST, -1, 0],
    [1, MOST, 0, 1],
    [-1, MOST, -1, 0],
    [0, MOST, 0, 0],
    // Quotients as near to an integer as those of safe integers come.
    [MOST, 2, 2 ** 52 - 1, 2 ** 52],
    [-MOST, 2, -(2 ** 52), 1 - 2 ** 52],
    [MOST - 1, 3, 3_002_399_751_580_330, 3_002_399_751_580_330],
    [MOST, 3, 3_002_399_751_580_330, 3_002_399_751_580_331],
    [-MOST, 3, -3_002_399_751_580_331, -3_002_399_751_580_330],
    [MOST, 94_906_267, 94_906_264, 94_906_265],
    [MOST - 2, MOST - 1, 0, 1],
  ])('%d ÷ %d of doubles', (a, b, floor, ceil) => {
    expect(floorDivInt(a, b) + 0).toBe(floor);
    expect(ceilDivInt(a, b) + 0).toBe(ceil);
    expect(floorTo(a, b) + 0).toBe(floor * b);
  });

  it('a rounded quotient stays on its side of an integer', () => {
    // One more and one less than a multiple: the nearest that a quotient comes to an integer.
    for (const b of [3, 7, 94_906_267, 2 ** 26 + 1, 2 ** 31 - 1]) {
      const most = Math.floor((MOST - 1) / b);
      for (const q of [1, 1000, Math.floor(2 ** 52 / b), most - 1, most]) {
        for (const by of [-1, 0, 1]) {
          const a = q * b + by;
          const exact = floorDivBig(BigInt(a), BigInt(b));
          expect(BigInt(floorDivInt(a, b)), `${String(a)} ÷ ${String(b)}`).toBe(exact);
          expect(BigInt(floorDivInt(-a, b))).toBe(floorDivBig(BigInt(-a), BigInt(b)));
        }
      }
    }
  });
});

it('magnitudes and extremes of bigints', () => {
  expect([absBig(-3n), absBig(3n), absBig(0n)]).toEqual([3n, 3n, 0n]);
  expect([maxBig(1n, 2n), maxBig(2n, 1n), maxBig(-1n, -2n)]).toEqual([2n, 2n, -1n]);
  expect([minBig(1n, 2n), minBig(2n, 1n), minBig(-1n, -2n)]).toEqual([1n, 1n, -2n]);
});

describe('bigints and doubles', () => {
  const values = [0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, 2 ** 52, MOST];
  it.each(values.flatMap((n) => [n, -n]))('%d survives a round trip', (value) => {
    expect(bigOf(value)).toBe(BigInt(value));
    expect(doubleOf(BigInt(value))).toBe(value + 0);
  });

  it('beyond 2^53 gives the nearest double', () => {
    for (const value of [2n ** 53n + 1n, 2n ** 62n - 1n, -(2n ** 62n) + 1n, 2n ** 63n - 1n]) {
      expect(doubleOf(value)).toBe(Number(value));
    }
  });
});

describe('a sum is exact at any size', () => {
  const sumOf = (...values: readonly number[]): bigint => {
    const sum = new ExactSum();
    for (const value of values) sum.add(value);
    return sum.total;
  };
  it.each([
    [[], 0n],
    [[1, 2, 3], 6n],
    [[MOST], 2n ** 53n - 1n],
    [[MOST, 1], 2n ** 53n],
    [[MOST, 2], 2n ** 53n + 1n],
    [[MOST, MOST, MOST, 1], 3n * (2n ** 53n - 1n) + 1n],
  ])('%j', (values, total) => {
    expect(sumOf(...values)).toBe(total);
  });

  it('accepts bigints, too', () => {
    const sum = new ExactSum();
    sum.add(5);
    sum.addBig(2n ** 60n);
    sum.add(MOST);
    sum.add(7);
    expect(sum.total).toBe(2n ** 60n + BigInt(MOST) + 12n);
  });
});

test('a machine whose low half comes second is refused', () => {
  const little = new DataView(new ArrayBuffer(8));
  little.setBigInt64(0, 1n, true);
  expect(() => {
    assertLittleEndian(little.buffer);
  }).not.toThrow();
  const big = new DataView(new ArrayBuffer(8));
  big.setBigInt64(0, 1n, false);
  expect(() => {
    assertLittleEndian(big.buffer);
  }).toThrow('little-endian');
});
