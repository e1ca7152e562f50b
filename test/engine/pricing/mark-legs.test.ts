/**
 * The `median` mark and its EMA, sampled at pseudorandom instants; the open-interest limit
 * in money.
 */
import { describe, expect, test } from 'vitest';
import type { EngineEvent } from '../../../src/engine/events.ts';
import { timeUs } from '../../../src/num/units.ts';
import { GENESIS, RiskWorld } from '../risk-world.ts';

const MEDIAN = {
  markSource: 'median',
  tickSize: '0.01',
  initialMargin: '0.05',
  maintenanceMargin: '0.025',
  maxMarkDeviation: '0.01',
  funding: { source: 'premium', impactNotional: '1000' },
};

function opened(): RiskWorld {
  const world = new RiskWorld([MEDIAN]);
  world.fund({ ann: '1000000', bob: '1000000', cat: '1000000' });
  world.price('100');
  return world;
}

const markOf = (world: RiskWorld): number | null =>
  world.engine.market(world.marketOf('M')).markTicks;

describe('legs of the median', () => {
  test.each([
    ['no book and no trade: the index', [], null, 10_000],
    ['a side too thin: index and EMA, whose sample is 0', ['100.5'], '100.5', 10_000],
    ['a book above: the last price is clipped to it', ['100.5', '100.7'], '100.2', 10_050],
    ['a book below: the last price is clipped to it', ['99.3', '99.5'], '100.2', 9950],
    ['a last price inside the book', ['99.8', '101.2'], '100.4', 10_040],
  ] as const)('%s', (_name, quotes, last, mark) => {
    const world = opened();
    if (last !== null) world.trade('ann', 'bob', '1', last);
    for (const [i, price] of quotes.entries()) world.order('cat', i === 0 ? '20' : '-20', price);
    world.wait(2000);
    // Now the newest sample weighs 150 / 150: the EMA is 0.6, −0.6 or 0.5, beyond the last price.
    world.wait(198_000);
    world.price('100');
    expect(markOf(world)).toBe(mark);
  });

  test('the deviation limits it', () => {
    const world = opened();
    world.order('cat', '20', '105');
    world.order('cat', '-20', '106');
    world.wait(1000);
    for (let i = 0; i < 400; i++) {
      world.wait(1000);
      world.price('100');
    }
    expect(markOf(world)).toBeLessThanOrEqual(10_100);
    expect(markOf(world)).toBeGreaterThan(10_000);
  });
});

/** D-55: without a new price the present mark is clamped to the new index. */
test.each([
  { markSource: 'mid', why: 'an empty side of the book' },
  { markSource: 'last', why: 'no trade' },
])('a mark made of $markSource stays near the index with $why', ({ markSource }) => {
  const world = new RiskWorld([{ ...MEDIAN, markSource, initialMark: '100' }]);
  world.fund({ ann: '1000000' });
  world.order('ann', '-1', '99');
  world.price('100');
  expect(markOf(world)).toBe(10_000);
  world.price('90');
  expect(markOf(world)).toBe(9090);
  world.price('90.5');
  expect(markOf(world)).toBe(9090);
});

describe('instants', () => {
  const samples = (world: RiskWorld): number[] =>
    world.events
      .filter((event): event is Extract<EngineEvent, { kind: 'fundingSampled' }> => {
        return event.kind === 'fundingSampled';
      })
      .map((event) => event.timeUs - GENESIS);

  function sampled(seed: string): RiskWorld {
    const world = new RiskWorld([{ ...MEDIAN, markSource: 'index' }], { samplingSeed: seed });
    world.fund({ cat: '1000000' });
    world.price('100');
    world.order('cat', '50', '99.9');
    world.order('cat', '-50', '100.1');
    world.wait(600_000);
    return world;
  }

  test('one in each interval, inside it, dependent on the seed', () => {
    const first = samples(sampled('0000000000000001'));
    expect(first.map((at) => Math.floor(at / 5e6))).toEqual(first.map((_, i) => i));
    expect(first).toHaveLength(120);
    expect(first.every((at) => at % 5e6 > 0)).toBe(true);
    expect(new Set(first.map((at) => at % 5e6)).size).toBeGreaterThan(100);
    expect(samples(sampled('0000000000000002'))).not.toEqual(first);
  });

  test('advancing at once or in pieces gives the same result', () => {
    const run = (pieces: number): string => {
      const world = opened();
      world.trade('ann', 'bob', '1', '100.3');
      world.order('cat', '20', '100.2', { expiresAt: GENESIS / 1000 + 3456 });
      world.order('cat', '-20', '100.6');
      world.order('cat', '20', '100.1');
      for (let i = 0; i < pieces; i++) world.wait(56_000 / pieces);
      world.price('100.1');
      const { markTicks } = world.engine.market(world.marketOf('M'));
      return `${world.engine.stateHash()} ${String(markTicks)}`;
    };
    expect(new Set([1, 2, 7, 56].map(run)).size).toBe(1);
  });

  test('a restored snapshot continues like the original', () => {
    const world = opened();
    world.order('cat', '20', '100.2');
    world.order('cat', '-20', '100.6');
    world.wait(300);
    const fork = world.engine.fork();
    world.wait(10_000);
    fork.apply({ kind: 'advanceTime', timeUs: timeUs(world.atUs) });
    expect(fork.stateHash()).toBe(world.engine.stateHash());
  });
});

describe('limits of open interest in money', () => {
  test('become lots at the first price, and apply from then on', () => {
    const world = new RiskWorld([{ maxOpenInterestNotional: '1000', maxOpenInterest: '100' }]);
    world.fund({ ann: '10000', bob: '10000' });
    world.price('100');
    world.price('50');
    world.trade('ann', 'bob', '10', '50');
    expect(world.order('bob', '-0.001', '50')).toMatchObject({ reason: 'openInterest' });
  });
});
