/**
 * Friends quote A 6.5 % below its index for an hour, which keeps the mark 0.5 % below and funding
 * at −0.75 %. Pat, short 20 A against Quinn, has slightly more than the maintenance of 1 %. Funding
 * plus the distance from mark to index exceeded it. Pat ended 1,775 below zero, with no
 * counterparty that gained from a mark move, so the shortfall paid Quinn's gain.
 *
 * Now the rate leaves the distance between mark and settlement price in the maintenance requirement
 * (R-7.2).
 */
import { afterAll, expect, test } from 'vitest';
import { ppm } from '../../src/num/units.ts';
import { dollars, RiskWorld } from '../engine/risk-world.ts';
import { coalition } from './coalition.ts';
import { AttackWorld, expectOracleAgrees } from './world.ts';

afterAll(expectOracleAgrees);

const ALL = ['pat', 'quinn', 'eve', 'ed'];

test('funding with a mark away from the index: won 1,775, now nothing', () => {
  const world = new AttackWorld([{ symbol: 'A' }]);
  world.fund({ pat: '16300', quinn: '40000', eve: '1000000', ed: '1000000', dan: '100000' });
  world.price('40000', 'A');
  world.quote('eve', 'ed', '1', '36400', '37400', 'A');
  for (let i = 0; i < 116; i++) world.run(30_000, { A: '40000' });
  world.cancelAll('eve');
  world.cancelAll('ed');
  world.trade('pat', 'quinn', '-20', '39900', 'A');
  world.quote('eve', 'ed', '1', '36400', '37400', 'A');
  world.run(30_000, { A: '40500' });
  expect(world.position('pat', 'A')?.quantity).toBe('-20');
  world.run(120_000, { A: '40500' });
  const rates = world.events.flatMap((event) =>
    event.kind === 'fundingSettled' ? [event.ratePpb] : [],
  );
  // 1 % of the mark of 40,299, less 201 from there to the index, over the index of 40,500.
  expect(rates).toEqual([-4_987_407]);
  expect([world.shortfall(), world.equity('dan')]).toEqual(['0', '100000']);
  // The liquidation of Pat leaves its fee to insurance.
  expect(dollars(coalition(world, ALL).loot)).toBe(`-${world.balance('insurance')}`);
});

test('funding in a market whose tiers fall: cost the shortfall 1,500, now nothing', () => {
  const world = new RiskWorld([
    {
      markSource: 'index',
      marginTiers: [
        { notionalFloor: '0', initialMargin: '0.2', maintenanceMargin: '0.1' },
        { notionalFloor: '1000', initialMargin: '0.02', maintenanceMargin: '0.01' },
      ],
      funding: {
        source: 'premium',
        intervalMs: 60_000,
        divisor: 1,
        interest: '0.04',
        interestClamp: '1',
        impactNotional: '10',
      },
    },
  ]);
  world.fund({ alice: '2500', bob: '1000000', carol: '1000' }).price('100');
  world.order('carol', '1', '99');
  world.order('carol', '-1', '101');
  world.trade('alice', 'bob', '1000', '100');
  world.wait(60_000);
  // 1 % is the lowest rate of maintenance; 4 % would be within the 10 % of the first tier.
  const settled = world.events.find(({ kind }) => kind === 'fundingSettled');
  expect(settled).toMatchObject({ ratePpb: 10_000_000 });
  expect([world.balance('alice'), world.position('alice')?.quantity]).toEqual(['1500', '1000']);
});

/**
 * Friends quote A 34 % above its index for an hour, so funding is at its cap of 4 %. Pat, long 10 A
 * against Quinn, is between two slices of a liquidation at the settlement, with 82 % of the
 * maintenance requirement of 4 %. Funding of the whole requirement left a deficit of 3,528 without
 * any move of the price. The shortfall and insurance paid it to Quinn.
 *
 * While a holder waits, funding is at most two thirds of the requirement, which it has.
 */
test.each([
  ['between two slices', 90_000, 18_000],
  ['at the end of the pause', 75_000, 33_000],
])('funding %s of a liquidation: won 2,983, now nothing', (_when, quotedMs, leftMs) => {
  const rates = { initialMargin: '0.1', maintenanceMargin: '0.04' };
  const world = new AttackWorld([{ symbol: 'A', ...rates }]);
  world.fund({ pat: '40500', quinn: '400000', eve: '10000000', ed: '10000000', dan: '100000' });
  world.price('40000', 'A');
  world.quote('eve', 'ed', '5', '53500', '53600', 'A');
  for (let i = 0; i < 116; i++) world.run(30_000, { A: '40000' });
  world.cancelAll('eve');
  world.cancelAll('ed');
  world.trade('pat', 'quinn', '10', '40000', 'A');
  world.quote('eve', 'ed', '5', '53500', '53600', 'A');
  world.run(quotedMs, { A: '40000' });
  world.wait(10_000);
  world.cancelAll('eve');
  world.cancelAll('ed');
  world.order('quinn', '2', '36332', { symbol: 'A' });
  world.quote('eve', 'ed', '5', '36312', '36980', 'A');
  world.wait(5000);
  world.price('36960', 'A');
  expect(world.position('pat', 'A')?.quantity).toBe('8');
  world.wait(leftMs);
  expect([world.shortfall(), world.equity('dan')]).toEqual(['0', '100000']);
  expect(world.stepsOf('pat')).toEqual(['order', 'adl']);
  expect(dollars(coalition(world, ALL).loot)).toBe(`-${world.balance('insurance')}`);
});

/**
 * As above, but Pat has just its maintenance, at a mark 1 % above the index. Half a second before
 * the settlement, friends take back the quotes that hold the mark there. The mark falls to the index
 * at the instant of the settlement and before it. Funding of 3.97 % then took more than the 3 % that
 * Pat had at the index, and insurance paid 3,436 to Quinn without any move of the index.
 *
 * Now the rate is bounded at the mark of the last test, which is before that instant.
 */
test('funding at the instant at which the mark falls: won 3,436, now nothing', () => {
  const rates = { initialMargin: '0.1', maintenanceMargin: '0.04' };
  const world = new AttackWorld([{ symbol: 'A', ...rates }]);
  world.fund({ pat: '40500', quinn: '400000', eve: '10000000', ed: '10000000' });
  world.deposit('insurance', '20000');
  world.price('40000', 'A');
  world.quote('eve', 'ed', '5', '53500', '53600', 'A');
  for (let i = 0; i < 116; i++) world.run(30_000, { A: '40000' });
  world.cancelAll('eve');
  world.cancelAll('ed');
  world.trade('pat', 'quinn', '10', '40000', 'A');
  world.quote('eve', 'ed', '5', '53500', '53600', 'A');
  world.run(90_000, { A: '40000' });
  world.price('37080', 'A');
  world.wait(29_500);
  world.cancelAll('eve');
  world.cancelAll('ed');
  world.quote('eve', 'ed', '5', '37070', '37090', 'A');
  expect([world.markOf('A'), world.equity('pat')]).toEqual([37_450.8, '15008']);
  world.wait(500);
  expect(world.markOf('A')).toBe(37_090);
  expect(world.stepsOf('pat')).toEqual(['adl']);
  expect(coalition(world, ALL).loot <= 0n).toBe(true);
});

/**
 * Announced terms raise maintenance from 1 % to 4 % at the instant of a settlement, and with it the
 * bound of funding. Pat has slightly more than 1 %. Funding of 4 % took Pat 10,828 below zero.
 */
test('funding at the instant of new terms: cost the shortfall 10,828, now nothing', () => {
  const old = { initialMargin: '0.1', maintenanceMargin: '0.01', markSource: 'index' };
  const world = new AttackWorld([{ symbol: 'A', ...old }], { termsNoticeMs: 3_600_000 });
  const market = world.marketOf('A');
  const { spec } = world.engine.market(market);
  const [tier] = spec.tiers;
  const tiers = [{ ...tier!, maintenanceMarginPpm: ppm(40_000) }];
  const raised = { ...spec, tiers };
  expect(world.apply({ kind: 'setMarketTerms', timeUs: world.now, market, spec: raised })).toBe(
    'ok',
  );
  world.fund({ pat: '40500', quinn: '400000', eve: '10000000', ed: '10000000' });
  world.price('40000', 'A');
  world.trade('pat', 'quinn', '10', '40000', 'A');
  world.quote('eve', 'ed', '5', '53500', '53600', 'A');
  for (let i = 0; i < 119; i++) world.run(30_000, { A: '40000' });
  world.price('36320', 'A');
  expect(world.equity('pat')).toBe('3700');
  world.wait(30_000);
  const settled = world.events.find(({ kind }) => kind === 'fundingSettled');
  expect(settled).toMatchObject({ ratePpb: 10_000_000 });
  expect(world.engine.market(market).spec.tiers).toEqual(tiers);
  expect([world.shortfall(), world.equity('pat'), world.stepsOf('pat')]).toEqual([
    '0',
    '0',
    ['adl'],
  ]);
});
