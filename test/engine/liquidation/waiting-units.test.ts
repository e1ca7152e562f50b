/** Units that clearing leaves alone: safe at their marks, or frozen. */
import { expect, test } from 'vitest';
import { priceTicks, quanta } from '../../../src/num/units.ts';
import { stateOf } from '../invariants/planted.ts';
import { RiskWorld, usd } from '../risk-world.ts';

/** Ann has 10 in M at 100, and 5 in N; the marks follow the index. */
function opened() {
  const world = new RiskWorld(['M', 'N', 'O'].map((symbol) => ({ symbol, markSource: 'index' })));
  world.fund({ ann: '1000', bob: '100000' });
  for (const symbol of ['M', 'N', 'O']) world.price('100', symbol);
  world.trade('ann', 'bob', '10', '100', 'M');
  world.trade('ann', 'bob', '5', '100', 'N');
  world.checks = false;
  const state = stateOf(world.engine);
  const ann = state.subaccount(world.idOf('ann'));
  const check = (): string[] => {
    const { length } = world.events;
    state.markForRiskCheck(ann);
    world.price('100', 'O');
    return world.steps(length);
  };
  return { world, state, ann, check };
}

test('a unit below zero at settlement prices, and safe at its marks, is not cleared', () => {
  const { world, state, ann, check } = opened();
  ann.cash = quanta(usd('100'));
  const market = state.market(world.marketOf('M'));
  market.indexTicks = priceTicks(80);
  expect(check()).toEqual([]);
  // At this mark it has −10.
  market.markTicks = priceTicks(89);
  expect(check()[0]).toBe('ann adl');
});

test('a unit whose positions are all frozen waits; with one that is not, it is cleared', () => {
  const { world, state, ann, check } = opened();
  ann.cash = quanta(-usd('10'));
  const of = (symbol: string) => state.market(world.marketOf(symbol));
  of('M').frozen = true;
  of('N').frozen = true;
  expect(check()).toEqual([]);
  expect([world.position('ann', 'M')?.quantity, world.position('ann', 'N')?.quantity]).toEqual([
    '10',
    '5',
  ]);
  of('N').frozen = false;
  expect(check()[0]).toBe('ann adl');
  expect(ann.exposure(world.marketOf('N')).positionLots).toBe(0);
  // The deficit of a unit with frozen positions is a debt that their thaw repays.
  expect(ann.clearingDebt).toBe(usd('10'));
});
