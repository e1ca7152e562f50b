/** Orders that the engine's closing order meets on the book. */
import { expect, test } from 'vitest';
import { marketId, priceTicks, quanta, subaccountId } from '../../../src/num/units.ts';
import { ANN, BOB, CAT, GroupWorld, type Draft } from '../../tables/group-world.ts';
import { stateOf } from '../invariants/planted.ts';
import { RiskWorld } from '../risk-world.ts';

/** Ann is long 10 from 100 and bankrupt at 90; bob is short as much. */
function opened(): RiskWorld {
  const world = new RiskWorld([{}]);
  world.fund({ ann: '100', bob: '1000000', cat: '1000000', dan: '1000000' });
  world.price('100');
  world.trade('ann', 'bob', '10', '100');
  return world;
}

/** The last two orders that ended. */
const ended = (world: RiskWorld, who: string): unknown[] =>
  world.events
    .flatMap((event) =>
      event.kind === 'orderEnded' && event.subaccount === world.idOf(who)
        ? [[event.status, event.reason, event.remainingLots]]
        : [],
    )
    .slice(-2);

const buy = { flags: { ioc: false, postOnly: false, reduceOnly: true } };

test('a reduce-only order fills up to its position, and a second one ends without a fill', () => {
  const world = opened();
  world.trade('dan', 'cat', '-4', '100');
  expect(world.order('dan', '3', '96', buy)).toMatchObject({ status: 'new' });
  expect(world.order('dan', '3', '95', buy)).toMatchObject({ status: 'new' });
  world.order('cat', '50', '94');
  world.price('94');
  // Three at 96, one more at the second order, six at 94.
  expect(world.position('dan')).toBeUndefined();
  expect(world.position('ann')).toBeUndefined();
  expect(ended(world, 'dan')).toEqual([
    ['filled', null, 0],
    ['cancelled', 'reduceOnly', 2000],
  ]);
  const fills = world.events.flatMap((event) =>
    event.kind === 'orderFilled' && event.role === 'maker' ? [event.lots] : [],
  );
  expect(fills.slice(-3).map(Math.abs)).toEqual([3000, 1000, 6000]);
});

test('a reduce-only order behind one that closed its position ends without a fill', () => {
  const world = opened();
  world.trade('dan', 'cat', '-4', '100');
  world.order('dan', '4', '96', buy);
  world.order('dan', '4', '95', buy);
  world.order('cat', '50', '94');
  world.price('94');
  expect(world.position('dan')).toBeUndefined();
  expect(ended(world, 'dan')).toEqual([
    ['filled', null, 0],
    ['cancelled', 'reduceOnly', 4000],
  ]);
});

test('it fills orders at its limit, and none beyond', () => {
  // Within half of 5 % below the settlement price of 94: at 91.65 or above.
  const world = opened();
  world.order('cat', '4', '92');
  world.order('cat', '50', '91');
  world.price('94');
  const fills = world.events.flatMap((event) =>
    event.kind === 'orderFilled' && event.subaccount === world.idOf('cat')
      ? [event.priceTicks]
      : [],
  );
  expect(world.steps()[0]).toBe('ann order');
  expect(new Set(fills)).toEqual(new Set([92]));
});

test('a short is bought back at its limit, and not beyond', () => {
  const world = new RiskWorld([{}]);
  world.fund({ ann: '100', bob: '1000000', cat: '1000000' });
  world.price('100');
  world.trade('ann', 'bob', '-10', '100');
  // Within half of 5 % above the settlement price of 106: at 108.65 or below.
  world.order('cat', '-4', '108');
  world.order('cat', '-50', '109');
  world.price('106');
  const fills = world.events.flatMap((event) =>
    event.kind === 'orderFilled' && event.subaccount === world.idOf('cat')
      ? [event.priceTicks]
      : [],
  );
  expect(world.steps()[0]).toBe('ann order');
  expect(new Set(fills)).toEqual(new Set([108]));
});

test('the second leg of a pair ends when the first one filled its cover (R-3.5)', () => {
  const world = new GroupWorld({}, { markSource: 'index', maintenanceMargin: '0.05' });
  world.group(BOB, { size: -5, price: 1000 });
  world.group(CAT, { size: -3, price: 1000 });
  world.group(ANN, { size: 8, price: 1000 });
  const leg = (orderType: 'takeProfit' | 'stopLoss', price: number, trigger: number): Draft => ({
    size: 5,
    price,
    reduceOnly: true,
    orderType,
    triggerTicks: priceTicks(trigger),
  });
  world.group(BOB, leg('takeProfit', 985, 995), leg('stopLoss', 984, 1005));
  const [profit, loss] = [world.last - 1, world.last];
  world.index(0, 995);
  world.index(0, 1005);
  world.group(CAT, { size: 3, price: 983 });
  expect([world.shown(profit), world.shown(loss)]).toEqual(['new 0', 'new 0']);
  world.checks = false;
  const state = stateOf(world.engine);
  const ann = state.subaccount(subaccountId(ANN));
  // The requirement is 5 % of 8,000.
  ann.cash = quanta(BigInt(state.market(marketId(0)).spec.quantaPerTickLot) * 320n);
  state.markForRiskCheck(ann);
  world.index(0, 1000);
  expect([world.position(ANN), world.position(BOB), world.position(CAT)]).toEqual([0, 0, 0]);
  expect([world.shown(profit), world.shown(loss)]).toEqual(['filled 5', 'cancelled 0 ocoSibling']);
});

/** A lot at one tick is worth one Quantum, so what is left above bankruptcy is a fraction of it. */
test.each([
  { size: '0.01', side: 1, cash: 169n, price: '0.493', fee: 19n },
  { size: '-0.01', side: -1, cash: 194n, price: '0.509', fee: 20n },
])('the fee of a slice of $size is at most the whole Quanta above bankruptcy', (row) => {
  const market = { tickSize: '0.001', lotSize: '0.001' };
  const world = new RiskWorld([market], {
    partialLiquidationNotional: '0.001',
    liquidationFee: '0.02',
  });
  world.fund({ ann: '1', bob: '1000000', cat: '1000000' });
  world.price('0.5');
  world.trade('ann', 'bob', row.size, '0.5');
  world.order('cat', row.side > 0 ? '0.1' : '-0.1', row.price);
  world.checks = false;
  const state = stateOf(world.engine);
  const ann = state.subaccount(world.idOf('ann'));
  ann.cash = quanta(row.cash);
  state.markForRiskCheck(ann);
  const before = state.insurance.cash;
  world.price('0.5');
  expect(world.steps()[0]).toBe('ann order');
  expect(Math.abs(ann.exposure(marketId(0)).positionLots)).toBe(8);
  expect(state.insurance.cash - before).toBe(row.fee);
});
