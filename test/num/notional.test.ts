/**
 * Conversion of ticks × lots to money: exact on both sides of 2^53; fractions round
 * in the direction of their name.
 */
import { expect, it } from 'vitest';
import { moneyOf, ppmFloor, quantaOf } from '../../src/num/money.ts';
import { notional, ppmOfCeil } from '../../src/num/notional.ts';
import { lots, ppm, priceTicks, quanta } from '../../src/num/units.ts';

it.each([
  [0, 5, 10],
  [3, 5, 10],
  [-3, 5, 10],
  [Number.MAX_SAFE_INTEGER, 1, 1],
  [-Number.MAX_SAFE_INTEGER, 1, 1],
  // Just beyond 2^53, where a double would round.
  [2 ** 52 + 1, 3, 1],
  [-(2 ** 52) - 1, 3, 1],
  [Number.MAX_SAFE_INTEGER, 3, 1],
  [123_456_789_123, 2_147_483_647, 10],
  [-123_456_789_123, 2_147_483_647, 10],
])('R-1.7 %d lots at %d ticks of %d', (size, price, unit) => {
  const exact = BigInt(size) * BigInt(price) * BigInt(unit);
  expect(notional(lots(size), priceTicks(price), unit)).toBe(exact);
});

it.each([
  // amount, rate, floor, ceil
  [0n, 350, 0n, 0n],
  [1n, 350, 0n, 1n],
  [1_000_000n, 350, 350n, 350n],
  [1_000_001n, 350, 350n, 351n],
  [999_999n, 350, 349n, 350n],
  [10n ** 30n, 1, 10n ** 24n, 10n ** 24n],
  [10n ** 30n + 1n, 1, 10n ** 24n, 10n ** 24n + 1n],
])('R-1.6 a fraction of %d at %d ppm', (amount, rate, floor, ceil) => {
  expect(quantaOf(ppmFloor(moneyOf(amount), rate))).toBe(floor);
  expect(ppmOfCeil(quanta(amount), ppm(rate))).toBe(ceil);
});

it.each([
  [-1n, 350, -1n],
  [-1_000_000n, 350, -350n],
  [1_000_001n, -100, -101n],
  [1_000_000n, -100, -100n],
])('R-1.6 a receipt is rounded down below zero, too: %d at %d ppm', (amount, rate, floor) => {
  expect(quantaOf(ppmFloor(moneyOf(amount), rate))).toBe(floor);
});
