/**
 * Premium samples of a book with more levels or orders than a walk takes (R-7.1, decision 0156): a
 * second walk leaves out users' orders that are worth less than 1/256 of the impact notional.
 *
 * A part of the notional is 10 USD here. Cat quotes 100.50 and 200, with the index at 100.
 */
import { describe, expect, test } from 'vitest';
import { RandomStreams } from '../../../src/virtual-time/rng.ts';
import { RiskWorld } from '../risk-world.ts';

const PART = 10;
const OF_CAT = 5_000_000;
const REDUCE_ONLY = { flags: { ioc: false, postOnly: false, reduceOnly: true } };

function quoted(cat = '50'): RiskWorld {
  const funding = { source: 'premium', impactNotional: String(256 * PART) };
  const market = { markSource: 'index', tickSize: '0.01', maxOpenOrders: 20_000, funding };
  const world = new RiskWorld([market]);
  world.fund({ ann: '1000000', bob: '1000000', cat: '1000000' });
  world.price('100');
  world.order('cat', cat, '100.5');
  world.order('cat', '-50', '200');
  return world;
}

/** Premium of the next sample in 1e-9; null without one. */
function sampled(world: RiskWorld): number | null {
  world.events.length = 0;
  world.wait(5000);
  const sample = world.events.find(({ kind }) => kind === 'fundingSampled');
  return sample?.kind === 'fundingSampled' ? sample.premiumPpb : null;
}

function levels(world: RiskWorld, count: number, lots: string): void {
  for (let i = 1; i <= count; i++) world.order('ann', lots, (100.5 + i / 100).toFixed(2));
}

/** Of all orders while the walk ends within 256 levels. */
test('255 small orders above the quote count, 256 do not', () => {
  const world = quoted();
  levels(world, 255, '0.001');
  expect(sampled(world)).toBeGreaterThan(OF_CAT);
  world.order('ann', '0.001', '103.06');
  expect(sampled(world)).toBe(OF_CAT);
});

test('an order that is worth a part of the notional counts', () => {
  const world = quoted();
  levels(world, 256, '0.001');
  world.order('bob', '0.09', '105');
  expect(sampled(world)).toBe(OF_CAT);
  // 10.5 USD.
  world.order('bob', '0.1', '105');
  expect(sampled(world)).toBeGreaterThan(OF_CAT);
});

describe('orders at one price', () => {
  test('1,000 small orders count with the rest, more of them are left out', () => {
    const world = quoted();
    world.checks = false;
    for (let i = 0; i < 999; i++) world.order('ann', '0.001', '101');
    expect(sampled(world)).toBeGreaterThan(OF_CAT);
    world.order('ann', '0.001', '101');
    expect(sampled(world)).toBe(OF_CAT);
  });

  test('with more than 16,384 small orders on the way, the side is too thin', () => {
    const world = quoted();
    world.checks = false;
    for (let i = 0; i < 16_384; i++) world.order('ann', '0.001', '101');
    expect(sampled(world)).toBe(OF_CAT);
    world.order('ann', '0.001', '101');
    expect(sampled(world)).toBeNull();
  });
});

test.each([
  { lots: '0.1', premium: 4_985_671 },
  { lots: '0.099', premium: null },
])('$lots at 100 complete a notional of 2,560: $premium', ({ lots, premium }) => {
  // 2,552.70 at 100.50 and 7.30 at 100: 2,560 ÷ 25.473 is the mean. 9.90 at 100 are no part.
  const world = quoted('25.4');
  levels(world, 256, '0.001');
  world.order('bob', lots, '100');
  expect(sampled(world)).toBe(premium);
});

test('a level without lots that count is none of the 256', () => {
  const world = quoted();
  world.trade('bob', 'ann', '-0.001', '100');
  for (let i = 1; i <= 300; i++) {
    world.order('bob', '0.1', (103.6 - i / 100).toFixed(2), REDUCE_ONLY);
  }
  // One lot at 103.59.
  expect(sampled(world)).toBe(5_001_213);
});

/** Remaining risk: orders that no taker could fill are large, and at most 1,000 are examined. */
test('1,000 large orders that no taker could fill end the samples', () => {
  const world = quoted();
  world.trade('bob', 'ann', '-0.001', '100');
  world.checks = false;
  for (let i = 0; i < 999; i++) world.order('bob', '0.1', '101', REDUCE_ONLY);
  expect(sampled(world)).toBeGreaterThan(OF_CAT);
  world.order('bob', '0.1', '101', REDUCE_ONLY);
  expect(sampled(world)).toBeNull();
});

/** The lockstep of the world compares each sample with the oracle. */
test.each(['a', 'b', 'c', 'd'])('random books of 600 orders, seed %s', (seed) => {
  const draws = new RandomStreams(seed).stream('orders');
  const world = quoted();
  world.fund({ poor: '60', eve: '300' });
  world.trade('ann', 'bob', '1', '100');
  const owners = ['ann', 'bob', 'poor', 'eve'] as const;
  let samples = 0;
  for (let batch = 0; batch < 12; batch++) {
    const who = owners[draws.below(4)]!;
    const isBid = draws.below(4) > 0;
    const reduceOnly = draws.below(4) === 0;
    const orders = Array.from({ length: 50 }, () => {
      const price = isBid ? 100.5 + draws.below(500) / 100 : 110 + draws.below(500) / 100;
      const lots = (draws.below(4) === 0 ? 60 + draws.below(80) : 1 + draws.below(20)) / 1000;
      return world.orderBody(who, {
        price: price.toFixed(2),
        quantity: (isBid ? lots : -lots).toFixed(3),
        flags: { ioc: false, postOnly: false, reduceOnly },
      });
    });
    world.call('submitOrders', { orders }, who);
    samples += sampled(world) === null ? 0 : 1;
  }
  expect(samples).toBeGreaterThan(8);
});
