/** Whether an order, or a fill, can be paid for (R-5.5, R-5.6, D-6 to D-8, D-25, D-27): tried on the world, and put back. */
import {
  crossEquity,
  crossInitial,
  crossMaintenance,
  freeCross,
  initialOfPosition,
  isolatedEquity,
  maintenanceOf,
  openingOrders,
  restingFee,
} from './margin.ts';
import { abs, max, roundedUp, sign, sum } from './numbers.ts';
import { allOf, closingLots, dealOf, isolatedMoney, type Fees } from './positions.ts';
import {
  isIsolated,
  leftOf,
  marketOf,
  positionOf,
  subOf,
  type Market,
  type Order,
  type Sub,
  type World,
} from './world.ts';

/** Price loss and highest fees of what rests in a market, in the worst case. */
function restingCosts(world: World, sub: Sub, market: Market): bigint {
  const orders = [1n, -1n].flatMap((side) => openingOrders(world, sub, market, side));
  return sum(
    orders.map((order) => {
      const loss = max(0n, sign(order.lots) * (order.price - (market.mark ?? 0n)));
      return restingFee(market, order) + loss * leftOf(order) * market.unit;
    }),
  );
}

/** D-8: with what rests beside it the order takes lots off the position, and opens none. */
export function onlyReduces(world: World, order: Order): boolean {
  const sub = subOf(world, order.sub);
  const side = sign(order.lots);
  const { lots } = positionOf(sub, order.market);
  const resting = openingOrders(world, sub, marketOf(world, order.market), side);
  return sign(lots) === -side && sum(resting.map(leftOf)) + leftOf(order) <= abs(lots);
}

export function affordsOrder(world: World, order: Order): boolean {
  const sub = subOf(world, order.sub);
  const market = marketOf(world, order.market);
  const side = sign(order.lots);
  const size = leftOf(order);
  if (onlyReduces(world, order)) return true;
  const mark = market.mark ?? 0n;
  // D-7: an ioc order counts its requirement and its fee at the mark.
  const limit = order.ioc ? mark : order.price;
  const { maker, taker } = market.rates;
  const highest = taker.greaterThan(maker) ? taker : maker;
  const fee = roundedUp(
    size * limit * market.unit,
    (highest.isNegative() ? highest.times(0) : highest).plus(order.originatorFee),
  );
  const asIf: Order = { ...order, resting: true, price: limit, filled: abs(order.lots) - size };
  const costs = sum(
    world.markets.map((other) =>
      isIsolated(sub, other.id) ? 0n : restingCosts(world, sub, other),
    ),
  );
  world.live.push(asIf);
  let free = freeCross(world, sub) - costs - fee;
  // Its own hold has taken its fee as a maker already.
  if (isIsolated(sub, market.id)) free += restingFee(market, asIf);
  else free -= max(0n, side * (limit - mark)) * size * market.unit;
  world.live.pop();
  return free >= 0n;
}

/** A fill of `lots` at `price`; `resting` is the order of this side if it rests. */
export function affordsFill(
  world: World,
  sub: Sub,
  market: Market,
  lots: bigint,
  price: bigint,
  fees: Fees,
  resting: Order | null,
): boolean {
  if (isIsolated(sub, market.id)) {
    return affordsIsolatedFill(world, sub, market, lots, price, fees, resting);
  }
  const position = positionOf(sub, market.id);
  const before = position.lots;
  const equity0 = crossEquity(world, sub);
  const maintenance0 = crossMaintenance(world, sub);
  const equity1 = equity0 + lots * ((market.mark ?? 0n) - price) * market.unit - allOf(fees);
  const [initial1, maintenance1] = tried(position, lots, resting, () => [
    crossInitial(world, sub),
    crossMaintenance(world, sub),
  ]);
  if (equity1 >= initial1) return true;
  const reduces = closingLots(before, lots) === abs(lots);
  return reduces && equity1 >= 0n && equity1 * maintenance0 >= equity0 * maintenance1;
}

function tried<T>(
  position: { lots: bigint },
  lots: bigint,
  resting: Order | null,
  look: () => T,
): T {
  position.lots += lots;
  if (resting !== null) resting.filled += abs(lots);
  const seen = look();
  position.lots -= lots;
  if (resting !== null) resting.filled -= abs(lots);
  return seen;
}

function affordsIsolatedFill(
  world: World,
  sub: Sub,
  market: Market,
  lots: bigint,
  price: bigint,
  fees: Fees,
  resting: Order | null,
): boolean {
  const position = positionOf(sub, market.id);
  const deal = dealOf(market, position, lots, price);
  const money = isolatedMoney(sub, market, deal, fees);
  const equity0 = isolatedEquity(sub, market);
  const maintenance0 = maintenanceOf(sub, market);
  const gain = lots * ((market.mark ?? 0n) - price) * market.unit;
  const equity1 = equity0 + gain - allOf(money.closingFees) - money.returned + money.taken;
  if (money.returned < 0n || equity1 < 0n) return false;
  const [initial1, maintenance1, free1] = tried(position, lots, resting, () => [
    initialOfPosition(sub, market),
    maintenanceOf(sub, market),
    freeCross(world, sub),
  ]);
  if (deal.opened === 0n) {
    if (deal.closed === abs(position.lots)) return true;
    if (equity1 >= initial1) return true;
    // D-25: what rounding for the exchange costs does not count.
    const allowed = max(0n, maintenance1 - 1n);
    return equity1 * maintenance0 >= equity0 * allowed;
  }
  if (equity1 < maintenance1) return false;
  const lack = max(0n, initial1 - equity1);
  const cash = money.returned - money.taken - allOf(money.openingFees);
  return free1 + cash - lack >= 0n;
}
