/**
 * New terms that lower margins bind at once. Quotes hold the mark 1 % above a constant index of
 * 40,000 when rates of 4 % and 2 % become 0.5 % and 0.25 %. The mark followed at the next whole
 * second: within it Pat bought 100 A from Quinn at the mark, with 0.52 % of margin. At the index Pat
 * was 19,000 below zero, which insurance paid to Quinn, of the same owner.
 *
 * Now the mark is recomputed when terms come into force (R-5.3a, decision 0146).
 */
import { afterAll, expect, test } from 'vitest';
import type { MarginTier, MarketSpec } from '../../src/engine/config.ts';
import { ppm, quanta } from '../../src/num/units.ts';
import { dollars } from '../engine/risk-world.ts';
import { coalition } from './coalition.ts';
import { AttackWorld, expectOracleAgrees } from './world.ts';

afterAll(expectOracleAgrees);

const OWNER = ['pat', 'quinn', 'eve', 'ed'];

/** The mark stands 1 % above the index, held by quotes of Eve and Ed. */
function pushed(pat: string, config: Record<string, unknown> = {}): AttackWorld {
  const rates = { initialMargin: '0.04', maintenanceMargin: '0.02' };
  const world = new AttackWorld([{ symbol: 'A', ...rates }], config);
  world.fund({ pat, quinn: '1000000', eve: '1000000', ed: '1000000' });
  world.deposit('insurance', '100000');
  world.price('40000', 'A');
  world.trade('eve', 'ed', '1', '40000', 'A');
  world.quote('eve', 'ed', '2', '40800', '40801', 'A');
  for (let i = 0; i < 40; i++) world.run(30_000, { A: '40000' });
  expect(world.markOf('A')).toBe(40_399.9);
  return world;
}

function changeTerms(world: AttackWorld, tiers: MarginTier[], deviation: number): void {
  const market = world.marketOf('A');
  const old: MarketSpec = world.engine.market(market).spec;
  const spec = { ...old, tiers, maxMarkDeviationPpm: ppm(deviation) };
  expect(world.apply({ kind: 'setMarketTerms', timeUs: world.now, market, spec })).toBe('ok');
}

function tier(floor: string, initial: number, maintenance: number): MarginTier {
  const floorQuanta = quanta(BigInt(floor) * 1_000_000n);
  return { floorQuanta, initialMarginPpm: ppm(initial), maintenanceMarginPpm: ppm(maintenance) };
}

/** Pat buys 100 A of Quinn at this price, before the next whole second. */
function buy(world: AttackWorld, price: string): string | null {
  world.cancelAll('eve');
  world.cancelAll('ed');
  world.order('quinn', '-100', price, { symbol: 'A' });
  const bought = world.order('pat', '100', price, { symbol: 'A' });
  if (typeof bought === 'string') throw new Error(bought);
  return bought.reason;
}

test.each([
  { price: '40400', reason: 'insufficientMargin', worth: 21_000n },
  { price: '40050', reason: null, worth: 16_000n },
])('margins that are cut at once: an order at $price', ({ price, reason, worth }) => {
  const world = pushed('21000');
  changeTerms(world, [tier('0', 5000, 2500)], 1250);
  expect(world.markOf('A')).toBe(40_050);
  expect(buy(world, price)).toBe(reason);
  world.run(1000, { A: '40000' });
  expect(world.worthAt(world.idOf('pat'), () => 400_000)).toBe(worth * 1_000_000n);
  expect(dollars(coalition(world, OWNER).loot)).toBe('0');
});

test('margins that fall at the end of a notice', () => {
  const world = pushed('22000', { termsNoticeMs: 30_500 });
  // The first tier rises, so all tiers and the deviation wait.
  changeTerms(world, [tier('0', 50_000, 25_000), tier('1000', 5000, 2500)], 1250);
  world.run(30_000, { A: '40000' });
  expect(world.markOf('A')).toBe(40_399.9);
  world.wait(500);
  expect(world.markOf('A')).toBe(40_050);
  expect(buy(world, '40400')).toBe('insufficientMargin');
  world.run(1000, { A: '40000' });
  expect(dollars(coalition(world, OWNER).loot)).toBe('0');
});

test('a deviation that waits leaves the mark in place', () => {
  const world = pushed('41000');
  changeTerms(world, [tier('0', 30_000, 20_000)], 2500);
  expect(world.markOf('A')).toBe(40_399.9);
});
