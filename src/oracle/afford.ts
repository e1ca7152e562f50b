/** Affordability of an order or fill (R-5.5, R-5.6, D-6 to D-8, D-25, D-27), by trial. */
import {
  admissionEquity,
  crossMaintenance,
  freeCross,
  initialOfPosition,
  maintenanceOf,
  openingOrders,
  openInterest,
  restingFee,
} from './margin.ts';
import { abs, max, roundedUp, sign, sum } from './numbers.ts';
import { allOf, type Fees } from './fees.ts';
import { dispatch, dealOf, isolatedMoney, type Deal } from './positions.ts';
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

/** Worst-case price loss and fees of resting orders in a market. */
function restingCosts(world: World, sub: Sub, market: Market): bigint {
  const orders = [1n, -1n].flatMap((side) => openingOrders(world, sub, market, side));
  return sum(
    orders.map((order) => {
      const loss = max(0n, sign(order.lots) * (order.price - (market.mark ?? 0n)));
      return restingFee(market, order) + loss * leftOf(order) * market.unit;
    }),
  );
}

/** D-8: together with the resting orders, the order only reduces the position. */
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
  // a subaccount with a clearing debt opens nothing.
  if (sub.clearingDebt > 0n) return false;
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
  // Its own hold already includes its maker fee.
  if (isIsolated(sub, market.id)) free += restingFee(market, asIf);
  else free -= max(0n, side * (limit - mark)) * size * market.unit;
  world.live.pop();
  return free >= 0n;
}

/** One side of a fill of `lots` at `price`; `resting` is its order if it rests. */
export interface Fill {
  readonly lots: bigint;
  readonly price: bigint;
  readonly fees: Fees;
  readonly resting: Order | null;
}

export function affordsFill(world: World, sub: Sub, market: Market, fill: Fill): boolean {
  const { lots, price, fees } = fill;
  const position = positionOf(sub, market.id);
  const deal = dealOf(market, position, lots, price);
  // a subaccount with a clearing debt opens nothing.
  if (deal.opened > 0n && sub.clearingDebt > 0n) return false;
  // The debt's frozen collateral must not leak: no loss against the mark, no originator fee.
  const gives = lots * (price - (market.mark ?? price)) > 0n || fees.originator > 0n;
  const owes = sub.clearingDebt > 0n && !isIsolated(sub, market.id);
  if (owes && market.frozen && gives) return false;
  if (isIsolated(sub, market.id)) return affordsIsolatedFill(world, sub, market, deal, fill);
  const figures = (): readonly [bigint, bigint, bigint] => [
    admissionEquity(world, sub, null),
    crossMaintenance(world, sub),
    freeCross(world, sub),
  ];
  const [equity0, maintenance0] = figures();
  const cash = deal.pnl - allOf(fees);
  const trial = { sub, market, deal, cash, margin: 0n, resting: fill.resting };
  const [equity1, maintenance1, free1] = tried(world, trial, figures);
  if (free1 >= 0n) return true;
  // with a frozen position elsewhere the price may cost half of the released maintenance.
  const isFrozenElsewhere = world.markets.some(
    (other) =>
      other !== market &&
      other.frozen &&
      !isIsolated(sub, other.id) &&
      positionOf(sub, other.id).lots !== 0n,
  );
  const cost = lots * (price - (market.mark ?? price)) * market.unit;
  if (isFrozenElsewhere && cost * 2n > maintenance0 - maintenance1) return false;
  return deal.opened === 0n && equity1 >= 0n && equity1 * maintenance0 >= equity0 * maintenance1;
}

/** A fill and the money it adds to cash and to the isolated margin. */
interface Trial {
  readonly sub: Sub;
  readonly market: Market;
  readonly deal: Deal;
  readonly cash: bigint;
  readonly margin: bigint;
  readonly resting: Order | null;
}

/** Evaluates after the fill, with the open interest from before it. */
function tried<T>(
  world: World,
  { sub, market, deal, cash, margin, resting }: Trial,
  figures: () => T,
): T {
  const position = positionOf(sub, market.id);
  const before = { ...position };
  market.interestTried = openInterest(world, market);
  dispatch(market, position, deal);
  position.margin += margin;
  sub.cash += cash;
  if (resting !== null) resting.filled += abs(deal.lots);
  const seen = figures();
  if (resting !== null) resting.filled -= abs(deal.lots);
  sub.cash -= cash;
  Object.assign(position, before);
  market.interestTried = null;
  return seen;
}

function affordsIsolatedFill(
  world: World,
  sub: Sub,
  market: Market,
  deal: Deal,
  { fees, resting }: Fill,
): boolean {
  const { lots } = positionOf(sub, market.id);
  const money = isolatedMoney(world, sub, market, { deal, fees });
  const equity0 = admissionEquity(world, sub, market);
  const maintenance0 = maintenanceOf(sub, market);
  const margin = deal.pnl - allOf(money.closingFees) - money.returned + money.taken;
  const cash = money.returned - money.taken - allOf(money.openingFees);
  const trial = { sub, market, deal, cash, margin, resting };
  const [equity1, initial1, maintenance1, free1] = tried(world, trial, () => [
    admissionEquity(world, sub, market),
    initialOfPosition(world, sub, market),
    maintenanceOf(sub, market),
    freeCross(world, sub),
  ]);
  if (money.returned < 0n || equity1 < 0n) return false;
  if (deal.opened === 0n) {
    if (deal.closed === abs(lots)) return true;
    if (equity1 >= initial1) return true;
    // D-25: the exchange's rounding does not count.
    const allowed = max(0n, maintenance1 - 1n);
    return equity1 * maintenance0 >= equity0 * allowed;
  }
  if (equity1 < maintenance1) return false;
  return free1 - max(0n, initial1 - equity1) >= 0n;
}
