/** Money as guarded doubles equals the same arithmetic with bigints, also around ±2^53. */
import { describe, expect, test } from 'vitest';
import seedrandom from 'seedrandom';
import { ceilDivBig, floorDivBig } from '../../src/num/arithmetic.ts';
import {
  doubleOfMoney,
  feeMoney,
  isNegative,
  isNothing,
  isPositive,
  larger,
  minus,
  moneyOf,
  negated,
  notionalMoney,
  plus,
  ppmCeil,
  ppmFloor,
  quantaOf,
  shareCeil,
  shareFloor,
  times,
  wideMoney,
  type Money,
} from '../../src/num/money.ts';
import { EFFORT } from '../setup/effort.ts';

const LIMIT = 2n ** 53n;
const MILLION = 1_000_000n;

/** Amounts where doubles end, and up to the range of all money. */
const EDGES: readonly bigint[] = [0n, 1n, 2n, 999_999n, MILLION, 2n ** 31n, 2n ** 32n, 2n ** 52n]
  .concat([LIMIT, LIMIT / 2n, LIMIT / 3n, 2n ** 54n, 2n ** 62n])
  .flatMap((edge) => [edge - 2n, edge - 1n, edge, edge + 1n, edge + 2n])
  .flatMap((edge) => [edge, -edge]);

/** The one form of a value: a number if it is a safe integer. */
function expectValue(money: Money, value: bigint): void {
  expect(quantaOf(money)).toBe(value);
  expect(typeof money).toBe(value < LIMIT && value > -LIMIT ? 'number' : 'bigint');
}

const pairs = EDGES.flatMap((a) => EDGES.map((b) => [a, b] as const));

describe('money equals its bigints', () => {
  test('in its form, its sign and its double', () => {
    for (const value of EDGES) {
      const money = moneyOf(value);
      expectValue(money, value);
      expect(isNothing(money)).toBe(value === 0n);
      expect(isNegative(money)).toBe(value < 0n);
      expect(isPositive(money)).toBe(value > 0n);
      expect(doubleOfMoney(money)).toBe(Number(value));
      expectValue(negated(money), -value);
    }
  });

  test('in sums and differences', () => {
    for (const [a, b] of pairs) {
      expectValue(plus(moneyOf(a), moneyOf(b)), a + b);
      expectValue(minus(moneyOf(a), moneyOf(b)), a - b);
      expect(moneyOf(a) === moneyOf(b)).toBe(a === b);
    }
  });

  test('in the larger of two, and in wide words', () => {
    for (const [a, b] of pairs) expectValue(larger(moneyOf(a), moneyOf(b)), a > b ? a : b);
    for (const high of [0, 1, 2 ** 20, 2 ** 21 - 1, 2 ** 21, 2 ** 40]) {
      for (const low of [0, 1, 2 ** 32 - 1]) {
        expectValue(wideMoney(high, low), BigInt(high) * 2n ** 32n + BigInt(low));
      }
    }
  });

  test('in shares', () => {
    for (const amount of EDGES) {
      for (const part of [0, 1, 2, 3, 999_999, 1_000_000, 2 ** 31 + 1, Number(LIMIT) - 1]) {
        for (const whole of [1, 2, 3, 1_000_000, 2 ** 31, Number(LIMIT) - 1]) {
          const product = amount * BigInt(part);
          expectValue(shareCeil(moneyOf(amount), part, whole), ceilDivBig(product, BigInt(whole)));
          expectValue(
            shareFloor(moneyOf(amount), part, whole),
            floorDivBig(product, BigInt(whole)),
          );
        }
      }
      expectValue(ppmFloor(moneyOf(amount), 333_333), floorDivBig(amount * 333_333n, MILLION));
      for (const rate of [0, 1, 333_333, 999_999, 1_000_000]) {
        if (amount < 0n) continue;
        expectValue(ppmCeil(moneyOf(amount), rate), ceilDivBig(amount * BigInt(rate), MILLION));
      }
      for (const factor of [0, 1, 3, 2 ** 31, Number(LIMIT) - 1]) {
        expectValue(times(moneyOf(amount), factor), amount * BigInt(factor));
      }
    }
  });

  test('in notionals and fees', () => {
    const random = seedrandom('money');
    const upTo = (bits: number): number => Math.floor(random() * 2 ** Math.floor(random() * bits));
    for (let i = 0; i < 20_000 * EFFORT; i++) {
      const sign = random() < 0.5 ? -1 : 1;
      const [lots, ticks, unit] = [upTo(53), upTo(31), 1 + upTo(20)];
      const rate = sign * upTo(21);
      const value = BigInt(lots) * BigInt(ticks) * BigInt(unit);
      expectValue(notionalMoney(sign * lots, ticks, unit), BigInt(sign) * value);
      expectValue(feeMoney(lots, ticks, unit, rate), ceilDivBig(value * BigInt(rate), MILLION));
    }
    // A product whose factors are safe and whose exact value is 2^53 + 1.
    expectValue(notionalMoney(3_002_399_751_580_331, 3, 1), LIMIT + 1n);
    expectValue(notionalMoney(-3_002_399_751_580_331, 3, 1), -LIMIT - 1n);
    expectValue(feeMoney(3_002_399_751_580_331, 3, 1, 1_000_000), LIMIT + 1n);
  });
});
