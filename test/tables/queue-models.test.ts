/**
 * The queue models' tables against the literature's formulas (hftbacktest, models/queue.rs), in
 * decimal arithmetic.
 */
import { Decimal } from 'decimal.js';
import { expect, test } from 'vitest';
import { LOG_AHEAD_PPB } from '../../src/engine/tape/log-table.ts';
import { QUEUE_STEPS, splitDecrease } from '../../src/engine/tape/queue-models.ts';

const Exact = Decimal.clone({ precision: 40 });

test('every entry of the logarithm table is ln(1+a) ÷ (ln(1+a) + ln(1+b)), rounded down', () => {
  expect(LOG_AHEAD_PPB).toHaveLength(QUEUE_STEPS + 1);
  for (let step = 0; step <= QUEUE_STEPS; step++) {
    const ahead = new Exact(step).div(QUEUE_STEPS).add(1).ln();
    const behind = new Exact(QUEUE_STEPS - step).div(QUEUE_STEPS).add(1).ln();
    const exact = ahead.div(ahead.add(behind)).mul(1e9).floor().toNumber();
    // A double's rounding may have moved an entry by one 1e-9.
    expect(Math.abs((LOG_AHEAD_PPB[step] ?? NaN) - exact), `step ${step}`).toBeLessThanOrEqual(1);
  }
});

test.each([
  ['probPower1', 1],
  ['probPower2', 2],
  ['probPower3', 3],
] as const)('%s takes a^n ÷ (a^n + b^n) of a decrease from ahead', (model, power) => {
  for (const [ahead, behind] of [
    [1024, 3072],
    [2048, 2048],
    [4000, 96],
  ] as const) {
    const a = new Exact(ahead).pow(power);
    const b = new Exact(behind).pow(power);
    const amount = 90;
    const expected = a.div(a.add(b)).mul(1e9).floor().mul(amount);
    const split = splitDecrease(model, ahead, behind, amount, 0);
    expect(split.ahead).toBe(expected.div(1e9).floor().toNumber());
    expect(split.carryPpb).toBe(expected.mod(1e9).toNumber());
  }
});

test('a decrease never takes more than the volume of a side', () => {
  expect(splitDecrease('probPower3', 10, 1, 11, 0).ahead).toBe(10);
  expect(splitDecrease('riskAverse', 10, 4, 4, 0).ahead).toBe(0);
  expect(splitDecrease('riskAverse', 10, 4, 9, 0).ahead).toBe(5);
});
