/**
 * Initial rates that rise with open notional, and announced terms, in the
 * admission of orders.
 */
import { describe, expect, test } from 'vitest';
import type { MarketSpec } from '../../../src/engine/config.ts';
import { ppm } from '../../../src/num/units.ts';
import { stateOf } from '../invariants/planted.ts';
import { dollars, RiskWorld } from '../risk-world.ts';

/** ann and bob have `open` × 100 of notional; 10 % initial, rising from 1,000 to 3,000. */
function opened(open: string): RiskWorld {
  const world = new RiskWorld([{ openNotionalLower: '1000', openNotionalUpper: '3000' }]);
  world.fund({ ann: '100000', bob: '100000', cat: '1000' });
  world.price('100');
  world.trade('ann', 'bob', open, '100');
  return world;
}

const initial = (world: RiskWorld, who: string): string =>
  dollars(world.margin(who).crossInitialQuanta);

describe('open notional', () => {
  const rows: readonly (readonly [open: string, initial: string])[] = [
    ['10', '100'],
    // A quarter of the interval: 10 % + 22.5 % of 1,500.
    ['15', '487.5'],
    ['20', '1100'],
    ['30', '3000'],
    ['40', '4000'],
  ];
  test.each(rows)('of %s × 100 takes %s', (open, expected) => {
    const world = opened(open);
    expect(initial(world, 'ann')).toBe(expected);
    expect(dollars(world.margin('ann').maintenanceRequirementQuanta)).toBe(
      dollars(BigInt(open) * 5_000_000n),
    );
    expect(world.engine.checkInvariants()).toEqual([]);
  });

  test('an order needs the risen rate: at 55 % 1,000 suffice for 18.181', () => {
    const world = opened('20');
    expect(world.order('cat', '18.182', '100')).toMatchObject({ reason: 'insufficientMargin' });
    expect(world.order('cat', '18.181', '100')).toMatchObject({ status: 'new' });
  });

  test('isolated margin uses the risen rate', () => {
    const world = opened('20');
    world.setMargin('cat', true, '0.1');
    world.order('bob', '-1', '100');
    world.order('cat', '1', '100');
    expect(world.position('cat')!.margin).toBe('55');
  });

  test('both sides of a fill use the open interest before it', () => {
    const world = opened('20');
    world.setMargin('cat', true, '0.1');
    world.order('ann', '10', '100');
    world.order('cat', '-10', '100');
    // 55 % of 1,000; the maker's lots alone would raise it to 100 %, beyond the checked amount.
    expect(world.position('cat')!.margin).toBe('550');
    expect(world.engine.checkInvariants()).toEqual([]);
  });

  test('a falling mark lowers the rate again', () => {
    const world = opened('20');
    // 1,000 of open notional.
    world.price('50');
    expect(initial(world, 'ann')).toBe('100');
  });

  test('the account’s own rate applies while it is higher', () => {
    const world = opened('20');
    world.setMargin('ann', false, '0.6');
    expect(initial(world, 'ann')).toBe('1200');
  });
});

describe('announced terms', () => {
  function announced(initialPpm: number): RiskWorld {
    const world = new RiskWorld([{}]);
    world.fund({ ann: '1000', bob: '100000' });
    world.price('100');
    world.trade('ann', 'bob', '10', '100');
    world.checks = false;
    const market = stateOf(world.engine).market(world.marketOf('M'));
    const next: MarketSpec = {
      ...market.spec,
      tiers: market.spec.tiers.map((tier) => ({
        ...tier,
        initialMarginPpm: ppm(initialPpm),
        maintenanceMarginPpm: ppm(initialPpm / 2),
      })),
    };
    market.nextSpec = next;
    market.highestInitialPpm = Math.max(market.highestInitialPpm, initialPpm);
    return world;
  }

  test('the larger initial requirement applies, and the maintenance in force', () => {
    const world = announced(200_000);
    expect(initial(world, 'ann')).toBe('200');
    expect(dollars(world.margin('ann').maintenanceRequirementQuanta)).toBe('50');
    expect(initial(announced(60_000), 'ann')).toBe('100');
  });

  test('they apply to orders and margin settings at once', () => {
    const world = announced(200_000);
    // 1,000 suffice for 5,000 at 20 %, of which 1,000 are open.
    expect(world.order('ann', '40.001', '100')).toMatchObject({ reason: 'insufficientMargin' });
    expect(world.order('ann', '40', '100')).toMatchObject({ status: 'new' });
    expect(world.setMargin('ann', false, '0.15')).not.toBe('ok');
    expect(world.setMargin('bob', false, '0.2')).toBe('ok');
  });
});
