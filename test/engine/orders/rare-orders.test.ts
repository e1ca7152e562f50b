/** Orders in states that random runs reach rarely. */
import { expect, test } from 'vitest';
import { DEFAULT_EXCHANGE_CONFIG } from '../../../src/gateway/market-config.ts';
import { lots, marketId, priceTicks, subaccountId } from '../../../src/num/units.ts';
import { ANN, BOB, CAT, GroupWorld, type Draft } from '../../tables/group-world.ts';

const ANY = {
  types: null,
  statuses: null,
  market: null,
  createdFromUs: 0,
  createdToUs: Infinity,
  updatedFromUs: 0,
  updatedToUs: Infinity,
};

const stop: Draft = {
  size: -10,
  price: 1,
  orderType: 'stopLoss',
  triggerTicks: priceTicks(900),
  ioc: true,
  reduceOnly: true,
};

test('a leg without a position waits while its parent may fill, and then fires (R-3.6)', () => {
  const world = new GroupWorld({}, { markSource: 'index' });
  world.group(BOB, { size: -4, price: 1000 });
  expect(world.group(ANN, { size: 10, price: 1000 }, { ...stop, attached: true })).toBe('ok');
  const leg = world.last;
  world.group(CAT, { size: 4, price: 1001 });
  world.group(ANN, { size: -4, price: 1001, ioc: true });
  expect(world.position(ANN)).toBe(0);
  world.index(0, 890);
  expect([world.shown(leg - 1), world.shown(leg)]).toEqual(['partiallyFilled 4', 'pending 0']);
  world.index(0, 1000);
  world.group(BOB, { size: -6, price: 1000 });
  world.group(CAT, { size: 6, price: 950 });
  expect([world.shown(leg), world.position(ANN)]).toEqual(['pending 0', 6]);
  world.index(0, 899);
  expect([world.shown(leg), world.position(ANN)]).toEqual(['cancelled -6 positionClosed', 0]);
});

test('all orders of an unknown market are not cancelled', () => {
  const world = new GroupWorld();
  world.group(ANN, { size: 1, price: 990 });
  const cancelAll = (market: number | null): string =>
    world.apply({
      kind: 'cancelAll',
      timeUs: world.now,
      subaccount: subaccountId(ANN),
      market: market === null ? null : marketId(market),
    });
  expect(cancelAll(2)).toBe('market_not_found');
  expect(world.shown(world.last)).toBe('new 0');
  expect(cancelAll(null)).toBe('ok');
  expect(world.shown(world.last)).toBe('cancelled 0 user');
});

test.each([0, 1, 3, 4])('%i ended orders of an account are kept', (endedOrdersPerAccount) => {
  const { retention } = DEFAULT_EXCHANGE_CONFIG;
  const world = new GroupWorld({ retention: { ...retention, endedOrdersPerAccount } });
  for (let i = 0; i < 3; i++) {
    world.group(ANN, { size: 1, price: 990 });
    world.cancel(world.last);
  }
  const found = world.engine.findOrders(subaccountId(ANN), ANY, 500);
  expect(found.total).toBe(Math.min(3, endedOrdersPerAccount));
  // The time since when all are kept, if some are not.
  const isCut = endedOrdersPerAccount === 1;
  expect(found.keptSinceUs).toBe(isCut ? world.atUs : null);
});

test('a trigger at exactly the mark fires at once', () => {
  const world = new GroupWorld({}, { markSource: 'index' });
  world.group(BOB, { size: -3, price: 1000 });
  world.group(ANN, { size: 3, price: 1000 });
  world.group(CAT, { size: 3, price: 990 });
  const at = (ticks: number) => ({ ...stop, size: -1, triggerTicks: priceTicks(ticks) });
  world.group(ANN, at(999));
  expect([world.shown(world.last), world.position(ANN)]).toEqual(['pending 0', 3]);
  world.group(ANN, at(1000));
  expect([world.shown(world.last), world.position(ANN)]).toEqual(['filled -1', 2]);
  world.group(ANN, { ...at(1000), orderType: 'takeProfit' });
  expect([world.shown(world.last), world.position(ANN)]).toEqual(['filled -1', 1]);
});

test('a leg whose sibling fills in the same command ends before its turn (R-3.5)', () => {
  const world = new GroupWorld({}, { markSource: 'index' });
  world.group(BOB, { size: -10, price: 1000 });
  world.group(ANN, { size: 10, price: 1000 });
  const leg = { ...stop, size: -5, ioc: false };
  world.group(
    ANN,
    { ...leg, price: 1010, orderType: 'takeProfit', triggerTicks: priceTicks(1005) },
    { ...leg, price: 1008, triggerTicks: priceTicks(995) },
  );
  const [profit, loss] = [world.last - 1, world.last];
  world.index(0, 1005);
  world.index(0, 995);
  expect([world.shown(profit), world.shown(loss)]).toEqual(['new 0', 'new 0']);
  world.group(BOB, { size: 10, price: 1010 });
  expect([world.shown(profit), world.shown(loss), world.shown(world.last)]).toEqual([
    'cancelled 0 ocoSibling',
    'filled -5',
    'partiallyFilled 5',
  ]);
  expect(world.position(ANN)).toBe(5);
});

test('a fill may reach the cap of open interest, and no further', () => {
  const world = new GroupWorld({}, { maxOpenInterest: '5' });
  world.group(BOB, { size: -5, price: 1000 });
  world.group(ANN, { size: 5, price: 1000 });
  expect([world.shown(world.last), world.position(ANN)]).toEqual(['filled 5', 5]);
  world.group(CAT, { size: 1, price: 1000 });
  expect(world.shown(world.last)).toBe('rejected 0 openInterest');
});

test('an order that turns a position over adds no open interest to a lowered cap', () => {
  const world = new GroupWorld();
  world.group(BOB, { size: -5, price: 1000 });
  world.group(ANN, { size: 5, price: 1000 });
  const market = marketId(0);
  const { spec } = world.engine.market(market);
  const lower = { ...spec, maxOpenInterestLots: lots(3) };
  expect(world.apply({ kind: 'setMarketTerms', timeUs: world.now, market, spec: lower })).toBe(
    'ok',
  );
  world.wait(1000);
  world.group(ANN, { size: -11, price: 1010 });
  expect(world.shown(world.last)).toBe('rejected 0 openInterest');
  world.group(ANN, { size: -10, price: 1010 });
  expect(world.shown(world.last)).toBe('new 0');
  world.group(BOB, { size: 10, price: 1010 });
  expect([world.position(ANN), world.position(BOB)]).toEqual([-5, 5]);
});

test('an order expires in time when a thousand others with an expiry ended before', () => {
  const world = new GroupWorld();
  world.checks = false;
  const inMs = (ms: number): bigint => BigInt(world.atUs / 1000 + ms);
  world.group(ANN, { size: 1, price: 990, expiresAtMs: inMs(5000) });
  const kept = world.last;
  for (let i = 0; i < 1100; i++) {
    world.group(ANN, { size: 1, price: 990, expiresAtMs: inMs(60_000) });
    world.cancel(world.last);
  }
  world.wait(4000);
  expect(world.shown(kept)).toBe('new 0');
  world.wait(2000);
  expect(world.shown(kept)).toBe('expired 0 expired');
});
