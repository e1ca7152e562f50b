/** Orders in states that random runs reach rarely. */
import { expect, test } from 'vitest';
import { DEFAULT_EXCHANGE_CONFIG } from '../../../src/gateway/exchange-config.ts';
import { nextExpiryUs } from '../../../src/engine/orders/expiry.ts';
import { nextSliceUs, sliceDueUs } from '../../../src/engine/orders/twap.ts';
import { lots, marketId, orderId, priceTicks, subaccountId } from '../../../src/num/units.ts';
import { stateOf } from '../invariants/planted.ts';
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

test.each([
  { ms: 9_007_199_254_740n, due: 9_007_199_254_740_001 },
  { ms: 9_007_199_254_741n, due: Infinity },
])('an expiry of $ms has a timer at $due (R-11.3)', ({ ms, due }) => {
  const world = new GroupWorld();
  world.group(ANN, { size: 1, price: 990, expiresAtMs: ms });
  expect(world.shown(world.last)).toBe('new 0');
  expect(nextExpiryUs(stateOf(world.engine))).toBe(due);
  expect(nextExpiryUs(stateOf(world.engine.fork()))).toBe(due);
});

test('the time of a slice is exact up to the last one, and the timer of ended slices is dropped', () => {
  expect(sliceDueUs(991, 9_007_199_254_740n, 1)).toBe(Number.MAX_SAFE_INTEGER);
  expect(sliceDueUs(992, 9_007_199_254_740n, 1)).toBe(Infinity);
  const world = new GroupWorld();
  const slice: Draft = { size: 2, price: 990, orderType: 'twap', periodMs: 30_000n };
  expect(world.group(ANN, slice, slice, slice)).toBe('ok');
  const state = stateOf(world.engine);
  const from = world.atUs;
  expect(nextSliceUs(state)).toBeGreaterThan(from);
  for (let id = world.last - 2; id <= world.last; id++) {
    if (world.order(id).status === 'pending') world.cancel(id);
  }
  expect(nextSliceUs(state)).toBe(Infinity);
});

/** Ann's parent for 10 has filled 4 at 1,000; both legs of a pair protect it. */
function halfFilled(profit: Partial<Draft>, loss: Partial<Draft>): GroupWorld {
  const world = new GroupWorld({}, { markSource: 'index' });
  const leg = { ...stop, attached: true };
  world.group(BOB, { size: -4, price: 1000 });
  const placed = world.group(
    ANN,
    { size: 10, price: 1000 },
    { ...leg, orderType: 'takeProfit', ...profit },
    { ...leg, ...loss },
  );
  expect([placed, world.position(ANN)]).toEqual(['ok', 4]);
  return world;
}

test('a leg whose sibling filled all of its cover leaves the book while the parent may fill', () => {
  const world = halfFilled(
    { price: 1010, ioc: false, triggerTicks: priceTicks(1005) },
    { triggerTicks: priceTicks(995) },
  );
  const [profit, loss] = [world.last - 1, world.last];
  world.index(0, 1005);
  expect(world.shown(profit)).toBe('new 0');
  world.group(CAT, { size: 4, price: 1001 });
  world.index(0, 995);
  expect([world.shown(loss), world.position(ANN)]).toEqual(['pending -4', 0]);
  expect(world.shown(profit)).toBe('pending 0');
  const state = stateOf(world.engine);
  const armed = (id: number): unknown =>
    state.orders.conditional(state.orders.slotOf(orderId(id)))?.armed;
  expect([armed(profit), armed(loss)]).toEqual([false, false]);
  // The next fill of the parent arms both.
  world.index(0, 1000);
  world.group(BOB, { size: -3, price: 1000 });
  expect([armed(profit), armed(loss)]).toEqual([true, true]);
  world.index(0, 1005);
  world.group(CAT, { size: 3, price: 1010 });
  expect([world.shown(profit), world.position(ANN)]).toEqual(['pending -3', 0]);
});

test('of two legs that are due in one instant the stop-loss fires, and the other waits unarmed', () => {
  const world = halfFilled({ triggerTicks: priceTicks(1005) }, { triggerTicks: priceTicks(1010) });
  const [profit, loss] = [world.last - 1, world.last];
  const state = stateOf(world.engine);
  const armed = (id: number): unknown =>
    state.orders.conditional(state.orders.slotOf(orderId(id)))?.armed;
  world.group(CAT, { size: 4, price: 1001 });
  world.index(0, 1007);
  expect([world.shown(profit), world.shown(loss)]).toEqual(['pending 0', 'pending -4']);
  expect([armed(profit), armed(loss)]).toEqual([false, false]);
});

test('a stop and a trailing stop at the same distance fire in the order of their ids (R-4.3)', () => {
  const world = new GroupWorld({}, { markSource: 'index' });
  world.group(BOB, { size: -10, price: 1000 });
  world.group(ANN, { size: 10, price: 1000 });
  world.group(CAT, { size: 10, price: 950 });
  world.group(ANN, { ...stop, size: -1, triggerTicks: priceTicks(980) });
  world.group(ANN, {
    ...stop,
    size: -2,
    orderType: 'trailingStop',
    triggerTicks: null,
    trailingPpm: 20_000,
  });
  world.group(ANN, { ...stop, size: -3, triggerTicks: priceTicks(980) });
  const from = world.events.length;
  world.index(0, 970);
  const fills = world.events
    .slice(from)
    .flatMap((event) => (event.kind === 'orderFilled' && event.lots < 0 ? [event.lots] : []));
  expect(fills).toEqual([-1, -2, -3]);
});

test('the end of a leg that is not in the index leaves the others in it', () => {
  const world = new GroupWorld({}, { markSource: 'index' });
  const { prices, selling } = stateOf(world.engine).market(marketId(0)).triggers;
  world.group(ANN, { ...stop, triggerTicks: priceTicks(900), reduceOnly: false });
  world.group(ANN, {
    ...stop,
    orderType: 'trailingStop',
    triggerTicks: null,
    trailingPpm: 500_000,
    reduceOnly: false,
  });
  // Its legs wait for its first fill.
  world.group(ANN, { size: 10, price: 950 }, { ...stop, attached: true });
  world.cancel(world.last);
  expect(world.shown(world.last)).toBe('cancelled 0 user');
  expect(prices.mayWaitWithin(890, 900)).toBe(true);
  expect(selling.isEmpty).toBe(false);
});

test('an order that leaves the book leaves no fraction of its queue behind', () => {
  const world = new GroupWorld();
  world.checks = false;
  const { carry } = stateOf(world.engine).market(marketId(0)).tape;
  world.group(ANN, { size: 1, price: 990 });
  const kept = world.last;
  world.group(ANN, { size: 1, price: 991 });
  carry.set(kept, 5);
  carry.set(world.last, 7);
  world.cancel(world.last);
  expect([...carry]).toEqual([[kept, 5]]);
});

test('bounds of resting prices contain every order, and start again with an empty side', () => {
  const world = new GroupWorld();
  const exposure = stateOf(world.engine).subaccount(subaccountId(ANN)).exposure(marketId(0));
  const none = stateOf(new GroupWorld().engine).subaccount(subaccountId(ANN)).exposure(marketId(0));
  const bounds = ({ highestBid, lowestAsk, highestPrice }: typeof exposure): number[] => [
    highestBid,
    lowestAsk,
    highestPrice,
  ];
  const place = (size: number, price: number): number => {
    world.group(ANN, { size, price });
    return world.last;
  };
  const [, start = 0] = bounds(none);
  expect(bounds(none)).toEqual([0, start, 0]);
  const first = place(2, 980);
  const second = place(1, 970);
  expect(bounds(exposure)).toEqual([980, start, 980]);
  const ask = place(-1, 1020);
  const further = place(-1, 1030);
  expect(bounds(exposure)).toEqual([980, 1020, 1030]);
  // Bounds only widen while an order is left.
  world.cancel(first);
  world.cancel(ask);
  expect(bounds(exposure)).toEqual([980, 1020, 1030]);
  world.cancel(second);
  expect(bounds(exposure)).toEqual([0, 1020, 1030]);
  place(1, 960);
  world.cancel(further);
  expect(bounds(exposure)).toEqual([960, start, 1030]);
  world.cancel(world.last);
  expect(bounds(exposure)).toEqual([0, start, 0]);
});
