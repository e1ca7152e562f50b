/**
 * What resting on the book does to an exposure: the lots that margin counts on each side, and the fees that the order
 * can still cost. Reduce-only orders add nothing but their number.
 */
import { notional } from '../../num/notional.ts';
import { lots, ppm, quanta, type Quanta } from '../../num/units.ts';
import type { Exposure } from '../accounts/subaccount.ts';
import type { OrderTable } from '../book/order-table.ts';
import type { Market } from '../market/market.ts';
import { feeOn } from '../risk/fees.ts';

/** Highest fee that what is left of a resting order can cost: it can only be a maker. */
function feeHold(table: OrderTable, slot: number, market: Market): Quanta {
  const rate = ppm(Math.max(market.spec.makerFeePpm, 0) + table.originatorFeePpm(slot));
  const size = lots(table.left(slot));
  return feeOn(notional(size, table.price(slot), market.spec.quantaPerTickLot), rate);
}

/** The order begins to rest. */
export function holdResting(
  table: OrderTable,
  slot: number,
  market: Market,
  exposure: Exposure,
): void {
  exposure.openOrders += 1;
  if (table.isReduceOnly(slot)) {
    exposure.reduceOnlyOrders += 1;
    return;
  }
  exposure.feeHoldQuanta = quanta(exposure.feeHoldQuanta + feeHold(table, slot, market));
  const price = table.price(slot);
  if (table.side(slot) > 0) {
    exposure.bidLots += table.left(slot);
    if (price > exposure.highestBid) exposure.highestBid = price;
  } else {
    exposure.askLots += table.left(slot);
    if (price < exposure.lowestAsk) exposure.lowestAsk = price;
  }
}

/** The order is about to leave the book with what it has left. */
export function releaseResting(
  table: OrderTable,
  slot: number,
  market: Market,
  exposure: Exposure,
): void {
  exposure.openOrders -= 1;
  if (table.isReduceOnly(slot)) {
    exposure.reduceOnlyOrders -= 1;
    return;
  }
  exposure.feeHoldQuanta = quanta(exposure.feeHoldQuanta - feeHold(table, slot, market));
  releaseLots(table.side(slot), table.left(slot), exposure);
}

/** A resting order is about to lose `by` lots to a fill. */
export function shrinkResting(
  table: OrderTable,
  slot: number,
  by: number,
  market: Market,
  exposure: Exposure,
  reduce: () => void,
): void {
  if (table.isReduceOnly(slot)) {
    reduce();
    return;
  }
  const before = feeHold(table, slot, market);
  reduce();
  const after = feeHold(table, slot, market);
  exposure.feeHoldQuanta = quanta(exposure.feeHoldQuanta - before + after);
  releaseLots(table.side(slot), by, exposure);
}

function releaseLots(side: 1 | -1, by: number, exposure: Exposure): void {
  if (side > 0) {
    exposure.bidLots -= by;
    if (exposure.bidLots === 0) exposure.highestBid = 0;
  } else {
    exposure.askLots -= by;
    if (exposure.askLots === 0) exposure.lowestAsk = Infinity;
  }
}
