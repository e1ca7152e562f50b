import { expect, it } from 'vitest';
import type { Timeline } from '../../src/time-machine/timeline.ts';
import { Branch, type BranchComparison } from '../../src/time-machine/what-if/branch.ts';
import {
  parameterEdits,
  parametersOf,
  type ParameterChange,
} from '../../src/time-machine/what-if/parameters.ts';
import { World } from './journals.ts';

/** u2 buys with 100 of collateral and is liquidated by the fall to 890. */
function crash(): Timeline {
  const world = new World({ terms: { takerFee: '0.001' } });
  const [maker, taker] = [world.user(1_000_000), world.user(150)];
  world.price(1000);
  world.order(maker, -1, 1000);
  world.order(taker, 1, 1000);
  world.price(890);
  const timeline = world.open();
  timeline.index();
  return timeline;
}

function compare(timeline: Timeline, changes: readonly ParameterChange[]): BranchComparison {
  const branch = new Branch(timeline, parameterEdits(timeline, changes));
  while (!branch.run(64));
  return branch.comparison();
}

const ofMarket = (name: string, value: string): ParameterChange => ({ symbol: 'BTC', name, value });
const ofExchange = (name: string, value: string): ParameterChange => ({
  symbol: null,
  name,
  value,
});

it('lists the parameters as text; each with its own value changes nothing', () => {
  const timeline = crash();
  const { exchange, markets } = parametersOf(timeline);
  expect(markets.map(({ symbol }) => symbol)).toEqual(['BTC']);
  expect(markets[0]?.terms).toMatchObject({ takerFee: '0.001', priceBand: '0.5' });
  const same = [
    ...Object.entries(markets[0]?.terms ?? {}).map(([name, value]) => ofMarket(name, value)),
    ...Object.entries(exchange).map(([name, value]) => ofExchange(name, value)),
  ];
  expect(same.length).toBeGreaterThan(30);
  const { baseHash, branchHash, firstDivergence } = compare(timeline, same);
  expect(firstDivergence).toBe(null);
  expect(branchHash).toBe(baseHash);
});

it('margin tiers decide who is liquidated, fees what a fill costs', () => {
  const timeline = crash();
  const liquidated = ({ liquidations }: BranchComparison) => [
    liquidations.base.some(({ account }) => account === 'u2'),
    liquidations.branch.some(({ account }) => account === 'u2'),
  ];
  const tiers = (maintenance: string): ParameterChange =>
    ofMarket(
      'marginTiers',
      JSON.stringify([
        { notionalFloor: '0', initialMargin: '0.1', maintenanceMargin: maintenance },
      ]),
    );
  expect(liquidated(compare(timeline, [tiers('0.05')]))).toEqual([true, true]);
  expect(liquidated(compare(timeline, [tiers('0.01')]))).toEqual([true, false]);
  // The taker's fee of 0.1 % of 1,000, and the fee of a liquidation at 5 % instead of the default.
  const { accounts } = compare(timeline, [ofMarket('takerFee', '0'), tiers('0.01')]);
  expect(accounts.find(({ account }) => account === 'u2')?.branchPnl).toBe('-110');
  const costly = compare(timeline, [ofExchange('liquidationFee', '0.05')]);
  expect(Number(costly.accounts[0]?.difference)).toBeLessThan(0);
});

it.each([
  [ofMarket('takerFee', '2'), /takerFee/],
  [ofMarket('takerFee', 'much'), /takerFee/],
  [ofMarket('symbol', 'X'), /no parameter is called symbol/],
  [ofMarket('__proto__', '1'), /no parameter is called __proto__/],
  [ofMarket('marginTiers', '[{'), /marginTiers: not JSON/],
  [ofMarket('marginTiers', '[]'), /marginTiers/],
  [ofExchange('liquidationFee', '-1'), /liquidationFee/],
  [ofExchange('samplingSeed', '00'), /no parameter is called samplingSeed/],
  [ofExchange('insuranceFeeShare', '1'), /insuranceFeeShare/],
  [{ symbol: 'ETH', name: 'takerFee', value: '0' }, /no command lists the market ETH/],
] as const)('%j is refused', (change, message) => {
  expect(() => parameterEdits(crash(), [change])).toThrow(message);
});
