/**
 * The CLS vault closes its positions. At each whole minute, for each fresh market with a
 * vault position, one reduce-only order for a part of the position replaces that of the previous
 * minute. It sells above and buys below both mark and index, by at least the rate of its fee.
 *
 * The order is post-only unless it would cross. Then it is a plain limit order that takes what the
 * book offers beyond its taker fee. If it were omitted, quotes far from the index could raise the
 * funding that the vault pays and keep it from leaving at the same time.
 *
 * Invariant: `state.vaultLeaveUs` is finite exactly while the vault has a position (and offers
 * any). It is the first whole minute after the vault got one. A position acquired within that
 * instant is offered in it if the vault has held another one all along.
 *
 * These orders have engine identity but match like a user's: they rest, queue and pay fees.
 */
import { ceilDivInt, floorDivInt, floorTo } from '../../num/arithmetic.ts';
import { lots, orderId, PPM, ppm, priceTicks, type PriceTicks } from '../../num/units.ts';
import type { Exposure } from '../accounts/subaccount.ts';
import { NONE } from '../book/order-table.ts';
import type { OrderTerms } from '../commands.ts';
import { NO_LEVEL } from '../book/price-ladder.ts';
import { MINUTE_US } from '../market/candles.ts';
import type { Market } from '../market/market.ts';
import { endOrder } from '../orders/end.ts';
import { accept, addOrder } from '../orders/place.ts';
import { execute } from '../orders/execute.ts';
import { Special } from '../orders/conditional.ts';
import type { State } from '../state.ts';
import { mustMark } from '../margin/requirement.ts';

/** The order does not expire; the next one replaces it. */
const NEVER_MS = 9_007_199_254_741n;

/** At a whole minute, after the vault's snapshots. */
export function runVaultLeave(state: State): void {
  if (state.vaultLeaveUs > state.nowUs) return;
  state.vaultLeaveUs = Infinity;
  for (const exposure of state.vault.exposures) {
    if (exposure === undefined || exposure.positionLots === 0) continue;
    state.vaultLeaveUs = floorTo(state.nowUs, MINUTE_US) + MINUTE_US;
    const market = state.market(exposure.market);
    if (market.frozen || market.status === 'halted') continue;
    endLast(state, market);
    offer(state, market, exposure);
  }
}

/** Ends the order of the previous minute, if it still rests. */
function endLast(state: State, market: Market): void {
  if (market.vaultOrder === 0) return;
  const slot = state.orders.slotOf(orderId(market.vaultOrder));
  market.vaultOrder = 0;
  if (slot !== NONE) endOrder(state, slot, 'expired', 'expired');
}

function offer(state: State, market: Market, exposure: Exposure): void {
  const side = exposure.positionLots > 0 ? -1 : 1;
  const { vaultQuotePpm, makerFeePpm, takerFeePpm } = market.spec;
  const distance = Math.max(vaultQuotePpm, makerFeePpm);
  const quote = leavePrice(market, side, distance);
  const takes = crosses(market, side, quote);
  const price = takes ? leavePrice(market, side, Math.max(distance, takerFeePpm)) : quote;
  if (price > market.spec.maxPriceTicks) return;
  const size = leaveLots(Math.abs(exposure.positionLots), state.config.vaultLeavePpm);
  const id = state.nextOrderId;
  state.nextOrderId = orderId(id + 1);
  const terms: OrderTerms = {
    subaccount: state.vault.id,
    market: market.id,
    orderType: 'limit',
    lots: lots(side * size),
    priceTicks: price,
    ioc: false,
    postOnly: !takes,
    reduceOnly: true,
    // Not its index in the command: state must not depend on how time is split into commands.
    nonce: BigInt(id),
    expiresAtMs: NEVER_MS,
    delegate: null,
    clientId: null,
    originator: null,
    originatorFeePpm: ppm(0),
  };
  const slot = addOrder(state, terms, id, state.vault);
  const conditional = new Special();
  conditional.attached = 'engine';
  state.orders.setSpecial(slot, conditional);
  accept(state, terms, id, slot, state.vault);
  execute(state, slot, market, state.vault, exposure);
  if (state.orders.isResting(slot)) market.vaultOrder = id;
}

/** Part of the position, rounded up. */
function leaveLots(size: number, sharePpm: number): number {
  return Number((BigInt(size) * BigInt(sharePpm) + BigInt(PPM - 1)) / BigInt(PPM));
}

/** Beyond mark and index by `distancePpm`, rounded outward; exact below 2^31. */
function leavePrice(market: Market, side: 1 | -1, distancePpm: number): PriceTicks {
  const mark = mustMark(market);
  const index = market.indexTicks ?? mark;
  if (side < 0) return priceTicks(ceilDivInt(Math.max(mark, index) * (PPM + distancePpm), PPM));
  return priceTicks(Math.max(1, floorDivInt(Math.min(mark, index) * (PPM - distancePpm), PPM)));
}

function crosses(market: Market, side: 1 | -1, price: number): boolean {
  const opposite = market.book.ladder(side > 0 ? -1 : 1);
  const level = opposite.bestLevel();
  if (level === NO_LEVEL) return false;
  return side > 0 ? opposite.price(level) <= price : opposite.price(level) >= price;
}
