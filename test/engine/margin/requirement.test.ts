/**
 * Requirements at the mark as tables: exact, one
 * Quantum below and one above each limit.
 */
import { describe, expect, test } from 'vitest';
import type { Exposure } from '../../../src/engine/accounts/subaccount.ts';
import type { MarginTier } from '../../../src/engine/config.ts';
import {
  admittedUpnl,
  firstInitialPpm,
  frozenNotional,
  haircutOf,
  initialOf,
  initialOfValue,
  initialRequirement,
  maintenanceOf,
  mustMark,
  rateRise,
  rateRiseOf,
  requirement,
  risenRequirement,
  upnlOf,
  worstLots,
} from '../../../src/engine/margin/requirement.ts';
import type { Market } from '../../../src/engine/market/market.ts';
import { lots, ppm, priceTicks, quanta } from '../../../src/num/units.ts';
import { stateOf } from '../invariants/planted.ts';
import { RiskWorld } from '../risk-world.ts';

const tier = (floor: bigint, initial: number, maintenance: number): MarginTier => ({
  floorQuanta: quanta(floor),
  initialMarginPpm: ppm(initial),
  maintenanceMarginPpm: ppm(maintenance),
});
const TIERS = [
  tier(0n, 100_000, 50_000),
  tier(1000n, 200_000, 100_000),
  tier(3000n, 500_000, 250_000),
];

interface Change {
  readonly size?: number;
  readonly cost?: bigint;
  readonly mark?: number | null;
  readonly frozen?: boolean;
  readonly ownPpm?: number;
  readonly tiers?: readonly MarginTier[];
  readonly nextTiers?: readonly MarginTier[];
  readonly lower?: bigint | null;
  readonly upper?: bigint | null;
  readonly open?: number;
}

/** A market in which a lot at a tick is one Quantum, and a position there. */
function madeUp(change: Change): { readonly exposure: Exposure; readonly market: Market } {
  const world = new RiskWorld([{ lotSize: '0.000001' }]);
  world.fund({ ann: '1' });
  const state = stateOf(world.engine);
  const market = state.market(world.marketOf('M'));
  const { size = 0, cost = 0n, mark = 100, ownPpm = 0, lower = null, upper = null } = change;
  market.markTicks = mark === null ? null : priceTicks(mark);
  market.frozen = change.frozen ?? false;
  market.spec = {
    ...market.spec,
    tiers: change.tiers ?? TIERS,
    openNotionalLower: lower === null ? null : quanta(lower),
    openNotionalUpper: upper === null ? null : quanta(upper),
  };
  market.openInterestLots = lots(change.open ?? 0);
  const { nextTiers } = change;
  if (nextTiers !== undefined) market.nextSpec = { ...market.spec, tiers: nextTiers };
  const exposure = state.subaccount(world.idOf('ann')).exposure(market.id);
  exposure.positionLots = lots(size);
  exposure.costQuanta = quanta(cost);
  exposure.ownMarginPpm = ppm(ownPpm);
  return { exposure, market };
}

// Notional; initial and maintenance requirement. 10 %, from 1,000 20 %, from 3,000 50 %; half of it.
const BY_TIER: readonly (readonly [bigint, bigint, bigint])[] = [
  [0n, 0n, 0n],
  [1n, 1n, 1n],
  [10n, 1n, 1n],
  [11n, 2n, 1n],
  [20n, 2n, 1n],
  [21n, 3n, 2n],
  [999n, 100n, 50n],
  [1000n, 100n, 50n],
  // 100.2 and 50.1.
  [1001n, 101n, 51n],
  [1005n, 101n, 51n],
  [1010n, 102n, 51n],
  [3000n, 500n, 250n],
  [3001n, 501n, 251n],
  [3002n, 501n, 251n],
  [5000n, 1500n, 750n],
  [9_007_199_254_740_993n, 4_503_599_627_369_497n, 2_251_799_813_684_749n],
];

describe('R-5.4 the integral of the tiers', () => {
  test.each(BY_TIER)('of %d', (value, initial, maintenance) => {
    expect(requirement(value, TIERS, 'initialMarginPpm')).toBe(initial);
    expect(requirement(value, TIERS, 'maintenanceMarginPpm')).toBe(maintenance);
    const { market } = madeUp({ mark: 1 });
    expect(initialRequirement(market, value)).toBe(initial);
  });

  test('without tiers nothing is required', () => {
    expect(requirement(1000n, [], 'initialMarginPpm')).toBe(0n);
  });

  test('fractions of several tiers are rounded up once', () => {
    // 15 × 10 % + 1 × 50 % = 2 exactly.
    const tiers = [tier(0n, 100_000, 0), tier(15n, 500_000, 0)];
    expect(requirement(16n, tiers, 'initialMarginPpm')).toBe(2n);
  });
});

test.each([
  ['flat with bids', 0, 7, 0, 7],
  ['flat with asks', 0, 0, 7, 7],
  ['both sides are not added', 0, 5, 7, 7],
  ['a long and its bids', 10, 5, 0, 15],
  ['asks that close a long', 10, 0, 7, 10],
  ['asks that turn it', 10, 0, 21, 11],
  ['a short and its asks', -10, 0, 5, 15],
  ['bids that turn a short', -10, 21, 0, 11],
])('R-5.4 the worst position: %s', (_name, position, bids, asks, worst) => {
  expect(worstLots(position, bids, asks)).toBe(worst);
});

test.each([
  ['a long', { size: 10, cost: 900n }, 100n],
  ['a short', { size: -10, cost: -900n }, -100n],
  ['none', {}, 0n],
  ['none without a mark', { mark: null }, 0n],
  ['beyond 2^53', { size: 2 ** 52 + 1, cost: 1n, mark: 3 }, 13_510_798_882_111_490n],
])('R-5.2 uPnL of %s', (_name, change, upnl) => {
  const { exposure, market } = madeUp(change);
  expect(upnlOf(exposure, market)).toBe(upnl);
});

test.each([
  ['a fresh gain', { size: 10, cost: 900n }, 100n, 0n],
  ['a fresh loss', { size: 10, cost: 1100n }, -100n, 0n],
  ['a frozen gain', { size: 10, cost: 900n, frozen: true }, 0n, 1000n],
  ['a frozen loss', { size: 10, cost: 1001n, frozen: true }, -1n, 1000n],
  ['a frozen short', { size: -10, cost: -1100n, frozen: true }, 0n, 1000n],
  ['no position', { frozen: true, mark: null }, 0n, 0n],
])('R-5.3b, R-5.9 %s: admitted value and haircut base', (_name, change, admitted, base) => {
  const { exposure, market } = madeUp(change);
  expect(admittedUpnl(exposure, market)).toBe(admitted);
  expect(frozenNotional(exposure, market)).toBe(base);
});

test.each([
  [0n, 500_000, 0n],
  [1n, 500_000, 1n],
  [2n, 500_000, 1n],
  [1001n, 500_000, 501n],
  [1001n, 0, 0n],
  [1001n, 1_000_000, 1001n],
])('R-5.9 the haircut on %d at %d ppm', (frozen, rate, haircut) => {
  expect(haircutOf(frozen, ppm(rate))).toBe(haircut);
});

describe('R-13.4 the initial rate rises with open notional', () => {
  const requiredAt = (open: bigint, lower: bigint | null, upper: bigint | null): bigint =>
    risenRequirement(1000n, 100n, rateRise(open, lower, upper));

  test.each([
    ['one below the lower bound', 999n, 100n],
    ['at the lower bound', 1000n, 100n],
    // 100 + ⌈900 ÷ 2,000⌉.
    ['one above it', 1001n, 101n],
    ['half of the way', 2000n, 550n],
    ['one below the upper bound: 999.55', 2999n, 1000n],
    ['ten below it: 995.5', 2990n, 996n],
    ['at the upper bound', 3000n, 1000n],
    ['above it', 9000n, 1000n],
  ])('%s', (_name, open, required) => {
    expect(requiredAt(open, 1000n, 3000n)).toBe(required);
  });

  test.each([
    ['no bounds', null, null],
    ['no upper bound', 1000n, null],
    ['no lower bound', null, 3000n],
    ['equal bounds', 1000n, 1000n],
    ['bounds in reverse', 1000n, 999n],
  ])('not with %s', (_name, lower, upper) => {
    expect(requiredAt(5000n, lower, upper)).toBe(100n);
    const { market } = madeUp({ lower, upper, open: 50 });
    expect(rateRiseOf(market).top).toBe(0n);
    expect(initialRequirement(market, 1000n)).toBe(100n);
  });

  test('by the market’s open interest at its mark', () => {
    const { market } = madeUp({ lower: 1000n, upper: 3000n, open: 20 });
    expect(rateRiseOf(market)).toEqual({ top: 1000n, bottom: 2000n });
    expect(initialRequirement(market, 1000n)).toBe(550n);
  });

  test.each([{}, { lower: 1000n }, { upper: 3000n }])(
    'without both bounds no mark is needed: %o',
    (bounds) => {
      const { market } = madeUp({ mark: null, ...bounds });
      expect(initialRequirement(market, 1000n)).toBe(100n);
    },
  );
});

describe('R-13.1 announced terms', () => {
  const HIGHER = [tier(0n, 300_000, 200_000)];
  const LOWER = [tier(0n, 50_000, 20_000)];
  test.each([
    ['higher ones apply at once', HIGHER, 300n, 300_000],
    ['lower ones wait', LOWER, 100n, 100_000],
    [
      'higher in the second tier only',
      [tier(0n, 50_000, 0), tier(500n, 900_000, 0)],
      475n,
      100_000,
    ],
    ['none at all', [], 100n, 100_000],
  ])('%s', (_name, nextTiers, required, first) => {
    const { exposure, market } = madeUp({ nextTiers, size: 10 });
    expect(initialRequirement(market, 1000n)).toBe(required);
    expect(firstInitialPpm(market)).toBe(first);
    // Maintenance has only the terms in force.
    expect(maintenanceOf(market, exposure.positionLots)).toBe(50n);
  });

  test('a market without tiers has only those announced', () => {
    expect(firstInitialPpm(madeUp({ tiers: [] }).market)).toBe(0);
    expect(firstInitialPpm(madeUp({ tiers: [], nextTiers: HIGHER }).market)).toBe(300_000);
  });
});

test.each([
  ['no own rate', 0, 1001n, 101n],
  ['a lower own rate', 100_000, 3000n, 500n],
  ['a higher own rate, rounded up', 250_000, 1001n, 251n],
  ['one equal to the requirement', 100_000, 1000n, 100n],
])('R-5.7 the initial requirement with %s', (_name, ownPpm, value, required) => {
  const { exposure, market } = madeUp({ mark: 1, ownPpm });
  expect(initialOfValue(market, value, ppm(ownPpm))).toBe(required);
  expect(initialOf(exposure, market, lots(Number(value)))).toBe(required);
});

test('without a position no mark is needed', () => {
  const { exposure, market } = madeUp({ mark: null });
  expect(initialOf(exposure, market, lots(0))).toBe(0n);
  expect(maintenanceOf(market, 0)).toBe(0n);
  expect(() => mustMark(market)).toThrow('a position or an order needs a mark price');
});

test('long and short have the same maintenance', () => {
  const { market } = madeUp({});
  expect([maintenanceOf(market, 11), maintenanceOf(market, -11)]).toEqual([60n, 60n]);
});
