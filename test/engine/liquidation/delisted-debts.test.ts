/** Units that a delisting takes below zero are cleared first, beside the oracle. */
import { expect, test } from 'vitest';
import { priceTicks, quanta } from '../../../src/num/units.ts';
import { stateOf } from '../invariants/planted.ts';
import { dollars, RiskWorld, usd } from '../risk-world.ts';

/** Ann has 10 in M, cross or isolated, with 20 behind them, and bob is short as much. */
function opened(isolated: boolean, insurance: string): RiskWorld {
  const world = new RiskWorld(
    [
      { symbol: 'M', priceBand: '0.5', initialMargin: '0.1' },
      { symbol: 'N', priceBand: '0.5' },
    ],
    { insuranceHourly: '1' },
  );
  world.fund({ ann: isolated ? '1000' : '110', bob: '100000', cat: '1000' });
  if (insurance !== '0') world.deposit('insurance', insurance);
  for (const symbol of ['M', 'N']) world.price('100', symbol);
  if (isolated) world.setMargin('ann', true, '0.1');
  world.trade('ann', 'bob', '10', '100');
  return world;
}

const delist = (world: RiskWorld, price: number): string =>
  world.apply({
    kind: 'delistMarket',
    timeUs: world.now,
    market: world.marketOf('M'),
    priceTicks: priceTicks(price),
  });

const steps = (world: RiskWorld): string[] =>
  world.events.flatMap((event) =>
    event.kind === 'liquidationStep'
      ? [`${world.nameOf(event.subaccount)} ${event.step} ${dollars(event.amountQuanta)}`]
      : [],
  );

const CLEARED = [
  { isolated: false, insurance: '0', left: '0', found: ['ann adl -90'], bob: '100110' },
  {
    isolated: false,
    insurance: '50',
    left: '0',
    found: ['ann insurance 50', 'ann adl -40'],
    bob: '100160',
  },
  {
    isolated: false,
    insurance: '1000',
    left: '0',
    found: ['ann insurance 90', 'ann adl 0'],
    bob: '100200',
  },
  { isolated: true, insurance: '0', left: '900', found: ['ann adl -100'], bob: '100100' },
  {
    isolated: true,
    insurance: '1000',
    left: '900',
    found: ['ann insurance 100', 'ann adl 0'],
    bob: '100200',
  },
];

test.each(CLEARED)('isolated $isolated, insurance $insurance: $found', (row) => {
  const world = opened(row.isolated, row.insurance);
  expect(delist(world, 80)).toBe('ok');
  expect(world.position('ann')).toBeUndefined();
  expect([world.balance('ann'), world.balance('bob')]).toEqual([row.left, row.bob]);
  expect(steps(world)).toEqual(row.found);
});

/** Debts without a position, which a check of risk or a delisting settles. */
const FLAT = [
  { debt: '70', insurance: '0', found: ['shortfall 70'] },
  { debt: '70', insurance: '50', found: ['insurance 50', 'shortfall 20'] },
  { debt: '70', insurance: '70', found: ['insurance 70'] },
  { debt: '70', insurance: '1000', found: ['insurance 70'] },
  { debt: '0', insurance: '1000', found: [] },
].flatMap((row) => [
  { ...row, by: 'check', isolated: false },
  { ...row, by: 'delisting', isolated: false },
  { ...row, by: 'delisting', isolated: true },
]);

test.each(FLAT)('a debt of $debt, insurance $insurance, isolated $isolated, by $by', (row) => {
  const world = opened(true, row.insurance);
  world.trade('ann', 'bob', '-10', '100');
  world.checks = false;
  const state = stateOf(world.engine);
  const ann = state.subaccount(world.idOf('ann'));
  const exposure = ann.exposure(world.marketOf('M'));
  const cash = ann.cash;
  if (row.isolated) exposure.marginQuanta = quanta(-usd(row.debt));
  else ann.cash = quanta(-usd(row.debt));
  if (row.by === 'check') {
    state.markForRiskCheck(ann);
    world.price('100');
  } else expect(delist(world, 100)).toBe('ok');
  expect(steps(world)).toEqual(row.found.map((step) => `ann ${step}`));
  expect([ann.cash, exposure.marginQuanta]).toEqual([row.isolated ? cash : 0n, 0n]);
  const size = (of: string): bigint =>
    usd(row.found.find((step) => step.startsWith(of))?.split(' ')[1] ?? '0');
  expect(state.insurancePaid).toBe(size('insurance'));
  expect(state.insurance.cash).toBe(usd(row.insurance) - size('insurance'));
  expect(state.shortfall.cash).toBe(-size('shortfall'));
  const market = state.market(world.marketOf('M'));
  expect(market.insurancePaid).toBe(row.isolated ? size('insurance') : 0n);
});

test('debts of the house and of the shortfall stay', () => {
  const world = opened(false, '1000');
  world.checks = false;
  const state = stateOf(world.engine);
  state.houseMaker.cash = quanta(-5n);
  state.shortfall.cash = quanta(-7n);
  expect(delist(world, 100)).toBe('ok');
  expect([state.houseMaker.cash, state.shortfall.cash]).toEqual([-5n, -7n]);
  expect(steps(world)).toEqual([]);
});

test('a unit below zero in cash that still has a position elsewhere owes no flat debt', () => {
  const world = opened(false, '1000');
  world.trade('cat', 'bob', '5', '100', 'N');
  world.price('150', 'N');
  world.checks = false;
  const state = stateOf(world.engine);
  const cat = state.subaccount(world.idOf('cat'));
  cat.cash = quanta(-usd('10'));
  expect(delist(world, 100)).toBe('ok');
  expect(cat.cash).toBe(-usd('10'));
  expect(steps(world)).toEqual([]);
});
