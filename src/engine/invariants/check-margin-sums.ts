/**
 * Invariants of the sums that admission reads instead of orders: the same figures by a scan
 * of every order and position.
 */
import { maxBig } from '../../num/arithmetic.ts';
import { moneyOf, NO_MONEY, plus, quantaOf, type Money } from '../../num/money.ts';
import { notional } from '../../num/notional.ts';
import { lots, ppm, priceTicks, type PriceTicks } from '../../num/units.ts';
import { feeOfFill } from '../accounts/fees.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import type { ExchangeState } from '../exchange-state.ts';
import { openingMargin } from '../margin/isolated-margin.ts';
import { MarginSums } from '../margin/margin-part.ts';
import {
  admittedUpnl,
  frozenNotional,
  initialOf,
  maintenanceOf,
  mustMark,
  worstLots,
} from '../margin/requirement.ts';
import { eachSummed } from '../margin/summed-orders.ts';
import type { Market } from '../market/market.ts';

/** Resting orders of one exposure, all but reduce-only. */
interface Scan {
  /** Lots by price. */
  readonly bids: Map<number, number>;
  readonly asks: Map<number, number>;
  fees: Money;
}

function scanOrders(
  state: ExchangeState,
  subaccount: Subaccount,
  market: Market,
  makerPpm: number,
): Scan {
  const table = state.orders;
  const scan: Scan = { bids: new Map(), asks: new Map(), fees: NO_MONEY };
  eachSummed(state, subaccount.exposure(market.id), (slot) => {
    const price = table.price(slot);
    const left = table.left(slot);
    const byPrice = table.side(slot) > 0 ? scan.bids : scan.asks;
    byPrice.set(price, (byPrice.get(price) ?? 0) + left);
    const rate = ppm(makerPpm + table.originatorFeePpm(slot));
    const fee = feeOfFill(left, price, market.spec.quantaPerTickLot, rate);
    scan.fees = plus(scan.fees, moneyOf(fee));
  });
  return scan;
}

/** lots by price, and fees, of resting orders. */
export function restingSumsMatch(state: ExchangeState): string | null {
  const pool = state.restingPrices;
  for (const subaccount of state.accounts.subaccounts) {
    if (!subaccount.sumsOrders) continue;
    for (const exposure of subaccount.opened) {
      const market = state.market(exposure.market);
      const { resting } = exposure;
      const makerPpm = resting?.makerPpm ?? Math.max(market.spec.makerFeePpm, 0);
      const scan = scanOrders(state, subaccount, market, makerPpm);
      const where = `subaccount ${String(subaccount.id)} market ${String(market.id)}`;
      if (resting === null) {
        if (scan.bids.size + scan.asks.size > 0) return `${where}: orders without sums`;
        continue;
      }
      const entries = { bids: pool.entries(resting.bids), asks: pool.entries(resting.asks) };
      for (const side of ['bids', 'asks'] as const) {
        for (const { price, lots: size, value } of entries[side]) {
          if (size !== scan[side].get(price) || value !== BigInt(size) * BigInt(price)) {
            return `${where}: ${side} at ${String(price)}`;
          }
        }
        if (entries[side].length !== scan[side].size) return `${where}: prices of ${side}`;
        const total = entries[side].reduce((sum, { lots: size }) => sum + size, 0);
        pool.sumAll(resting[side]);
        if (pool.foundLots !== total) return `${where}: total of ${side}`;
      }
      if (resting.fees !== scan.fees) return `${where}: fees`;
    }
  }
  return null;
}

/** parts that admission would use, and their sums. */
export function marginSumsMatch(state: ExchangeState): string | null {
  for (const subaccount of state.accounts.subaccounts) {
    if (subaccount.margin === null) continue;
    const total = new MarginSums();
    for (const exposure of subaccount.opened) {
      const { part } = exposure;
      if (part === null) continue;
      total.add(part);
      const market = state.market(exposure.market);
      if (!part.isCurrent(exposure, market)) continue;
      const field = differing(part, scannedPart(state, subaccount, exposure, market));
      if (field === null) continue;
      return `subaccount ${String(subaccount.id)} market ${String(market.id)}: ${field}`;
    }
    const field = differing(subaccount.margin, total);
    if (field !== null) return `subaccount ${String(subaccount.id)}: sum of ${field}`;
  }
  return null;
}

function differing(a: MarginSums, b: MarginSums): string | null {
  for (const field of ['upnl', 'frozen', 'taken', 'cost', 'maintenance'] as const) {
    if (a[field] !== b[field]) return `${field} ${String(a[field])} ≠ ${String(b[field])}`;
  }
  return null;
}

/** The part of an exposure in its subaccount's margin, from its position and every order. */
export function scannedPart(
  state: ExchangeState,
  subaccount: Subaccount,
  exposure: Exposure,
  market: Market,
): MarginSums {
  const part = new MarginSums();
  const scan = scanOrders(state, subaccount, market, Math.max(market.spec.makerFeePpm, 0));
  if (exposure.isolated) {
    if (exposure.openOrders > 0) part.taken = moneyOf(scannedHold(exposure, market, scan));
    return part;
  }
  part.upnl = moneyOf(admittedUpnl(exposure, market));
  part.frozen = moneyOf(frozenNotional(exposure, market));
  part.maintenance = moneyOf(maintenanceOf(market, exposure.positionLots));
  const sum = (byPrice: Map<number, number>): number =>
    [...byPrice.values()].reduce((total, size) => total + size, 0);
  const worst = worstLots(exposure.positionLots, sum(scan.bids), sum(scan.asks));
  part.taken = moneyOf(initialOf(exposure, market, worst));
  let cost: bigint = quantaOf(scan.fees);
  for (const [side, byPrice] of [[1, scan.bids] as const, [-1, scan.asks] as const]) {
    for (const [price, size] of byPrice) {
      const distance = side * (price - mustMark(market));
      if (distance <= 0) continue;
      cost += notional(lots(size), priceTicks(distance), market.spec.quantaPerTickLot);
    }
  }
  part.cost = moneyOf(cost);
  return part;
}

/** Cash reserved by the orders of an isolated market. */
function scannedHold(exposure: Exposure, market: Market, scan: Scan): bigint {
  const mark = mustMark(market);
  const { quantaPerTickLot } = market.spec;
  const valueOf = (byPrice: Map<number, number>): bigint => {
    let value = 0n;
    for (const [price, size] of byPrice) {
      const at: PriceTicks = price > mark ? priceTicks(price) : mark;
      value += notional(lots(size), at, quantaPerTickLot);
    }
    return value;
  };
  const { positionLots: position } = exposure;
  const value = notional(lots(Math.abs(position)), mark, quantaPerTickLot);
  const same = valueOf(position > 0 ? scan.bids : scan.asks);
  const against = valueOf(position > 0 ? scan.asks : scan.bids) - value;
  const margin = maxBig(
    openingMargin(exposure, market, value, same),
    openingMargin(exposure, market, 0n, against),
  );
  return margin + quantaOf(scan.fees);
}
