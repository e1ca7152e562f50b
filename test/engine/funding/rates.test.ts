/** Rates and payments of funding as functions: caps, roundings and exactness. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FundingConfig, MarginTier } from '../../../src/engine/config.ts';
import { fundingPayment, fundingRate, payableRate } from '../../../src/engine/funding/funding.ts';
import type { Market } from '../../../src/engine/market/market.ts';
import { durationUs, ppb, ppm, priceTicks, quanta } from '../../../src/num/units.ts';
import { RiskWorld } from '../risk-world.ts';

const BILLION = 1_000_000_000n;
const HOUR_US = 3_600_000_000;

const CONFIG: FundingConfig = {
  source: 'premium',
  sampleIntervalUs: durationUs(HOUR_US / 10),
  intervalUs: durationUs(HOUR_US),
  interestPpb: ppb(0),
  interestClampPpb: ppb(0),
  divisor: 1,
  capPpm: ppm(1_000_000),
  marginCapPpm: ppm(750_000),
  impactNotional: quanta(0n),
};
const tier = (initial: number, maintenance: number): MarginTier => ({
  floorQuanta: quanta(0n),
  initialMarginPpm: ppm(initial),
  maintenanceMarginPpm: ppm(maintenance),
});

describe('the rate of an interval (R-7.2)', () => {
  const premium = 10_000_000n;
  test.each([
    ['no sample', 0, 0],
    ['one sample less than half', 4, 0],
    ['half of the samples', 5, 10_000_000],
    ['all', 10, 10_000_000],
  ])('%s', (_name, samples, rate) => {
    expect(fundingRate(CONFIG, tier(100_000, 50_000), premium * BigInt(samples), samples)).toBe(
      rate,
    );
  });

  test.each([
    // ¾ of initial − maintenance: 5 %.
    ['the margin between the rates', tier(100_000, 50_000), {}, 37_500_000],
    // ¾ of 4⁄3 of the maintenance: its 3 %.
    ['the maintenance', tier(500_000, 30_000), {}, 30_000_000],
    ['the cap of the market', tier(500_000, 30_000), { capPpm: ppm(20_000) }, 20_000_000],
    ['the share of the margin', tier(100_000, 50_000), { marginCapPpm: ppm(10) }, 500],
  ])('%s bounds it on both sides', (_name, first, changes, cap) => {
    const config = { ...CONFIG, ...changes };
    expect(fundingRate(config, first, 900_000_000n * 10n, 10)).toBe(cap);
    expect(fundingRate(config, first, -900_000_000n * 10n, 10)).toBe(-cap);
  });

  test('the mean premium, interest within its clamp, and the divisor round toward zero', () => {
    const config = {
      ...CONFIG,
      ...{ interestPpb: ppb(100), interestClampPpb: ppb(30), divisor: 8 },
    };
    const rate = (sum: bigint) => fundingRate(config, tier(100_000, 50_000), sum, 7);
    // Means of 1 and −1; (1 + 30) ÷ 8 and (−1 + 30) ÷ 8.
    expect([rate(13n), rate(-13n)]).toEqual([3, 3]);
    // A mean of −142: (−142 + 30) ÷ 8, and of −149.
    expect([rate(-142n * 7n), rate(-149n * 7n)]).toEqual([-14, -14]);
    // (−31 + 30) ÷ 8 is no negative zero.
    expect(Object.is(rate(-31n * 7n), 0)).toBe(true);
  });
});

describe('the rate that a position at its maintenance can pay (R-7.2)', () => {
  const market = (index: number | null, mark: number | null, markSource = 'median') =>
    ({ indexTicks: index, markTicks: mark, spec: { markSource } }) as unknown as Market;
  const tested = ({ markTicks }: Market) => ({ markTicks, maintenancePpm: 50_000 });
  test.each([
    ['no index', market(null, 1000), 90_000_000, 90_000_000],
    ['no mark', market(1000, null), 90_000_000, 90_000_000],
    ['mark at the index: all of the maintenance', market(1000, 1000), 90_000_000, 50_000_000],
    ['a lower rate is kept', market(1000, 1000), 40_000_000, 40_000_000],
    // 5 % of 1,010 less 10, of 1,000.
    ['mark above the index', market(1000, 1010), 90_000_000, 40_500_000],
    // 5 % of 990 less 10, of 1,000.
    ['mark below the index', market(1000, 990), -90_000_000, -39_500_000],
    // 5 % of 900 is less than the distance of 100.
    ['mark further away than the maintenance', market(1000, 900), 90_000_000, 0],
    [
      'a recorded mark is the settlement price itself',
      market(1000, 900, 'external'),
      90_000_000,
      45_000_000,
    ],
    ['at most 100 %', market(1, 1_000_000, 'external'), 1_000_000_000, 1_000_000_000],
  ])('%s', (_name, of, rate, payable) => {
    expect(payableRate(of, ppb(rate), tested(of), false)).toBe(payable);
  });

  test.each([
    ['mark at the index: two thirds', market(1000, 1000), 90_000_000, 33_333_333],
    ['a lower rate is kept', market(1000, 1000), 30_000_000, 30_000_000],
    // Two thirds of 5 % of 1,010 less 10, of 1,000.
    ['mark above the index', market(1000, 1010), 90_000_000, 23_666_666],
    // Two thirds of 5 % of 960 are less than the distance of 40.
    ['mark further away than that', market(1000, 960), 90_000_000, 0],
  ])('while a holder waits for its next slice: %s', (_name, of, rate, payable) => {
    expect(payableRate(of, ppb(rate), tested(of), true)).toBe(payable);
  });
});

describe('payments (R-7.3)', () => {
  const exact = (size: number, index: number, unit: number, rate: number): bigint => {
    const product = BigInt(size) * BigInt(index) * BigInt(unit) * BigInt(rate);
    const down = product / BILLION;
    return product > 0n && down * BILLION !== product ? down + 1n : down;
  };

  test.each([
    ['a part of a Quantum is paid as one', 1, 1, 1, 1, 1n],
    ['and not received', -1, 1, 1, 1, 0n],
    ['a whole one is not rounded', 1, 1000, 1000, 1000, 1n],
    ['beyond 2^53, paid', 1_000_001, 1_000_003, 7, 999_999_937, 7_000_027_559_020n],
    ['beyond 2^53, received', -1_000_001, 1_000_003, 7, 999_999_937, -7_000_027_559_019n],
  ])('%s', (_name, size, index, unit, rate, paid) => {
    expect(fundingPayment(size, priceTicks(index), unit, ppb(rate))).toBe(paid);
    expect(paid).toBe(exact(size, index, unit, rate));
  });

  test('are exact for every size of the product', () => {
    const upTo = (max: number) => fc.integer({ min: 1, max });
    const signed = (max: number) => fc.integer({ min: -max, max });
    fc.assert(
      fc.property(
        signed(2 ** 31),
        upTo(2 ** 31),
        fc.oneof(upTo(10), upTo(2 ** 20)),
        fc.oneof(signed(1_000_000_000), fc.constantFrom(1, -1, 1_000_000_000)),
        (size, index, unit, rate) => {
          const paid = fundingPayment(size, priceTicks(index), unit, ppb(rate));
          expect(paid).toBe(exact(size, index, unit, rate));
        },
      ),
      { seed: 703, numRuns: 2000 },
    );
  });
});

test('recorded rates name the market that cannot take them', () => {
  const world = new RiskWorld();
  world.price('100');
  const rate = (market: number) =>
    world.apply({ kind: 'settleFunding', timeUs: world.now, market, ratePpb: ppb(1) } as never);
  expect(rate(7)).toBe('market_not_found');
  expect(
    world.apply({ kind: 'delistMarket', timeUs: world.now, market: 0, priceTicks: null } as never),
  ).toBe('ok');
  expect(rate(0)).toBe('market_delisted');
});
