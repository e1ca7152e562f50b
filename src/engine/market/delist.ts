/**
 * Delisting: every order of the market ends, the price given (or the index, or the mark) becomes its last mark and index,
 * units that are below zero there are cleared as in R-6.2 (4) and (5), and all other positions are closed at that price, longs
 * against shorts in the order of subaccount ids. The market is closed for good.
 */
import { floorDivInt } from '../../num/arithmetic.ts';
import { lots, PPM, type PriceTicks } from '../../num/units.ts';
import type { DelistMarket } from '../commands.ts';
import { hashMarketDelisted } from '../chain-hash/hash-event.ts';
import { logOperator } from '../operator-log.ts';
import { endOrder } from '../orders/end.ts';
import type { Outcome, Refusal } from '../refusals.ts';
import { clearBelowZero, settleFlatDebts } from '../liquidation/clearing.ts';
import { emitMark, moveMark } from '../pricing/recompute-mark.ts';
import { transferPosition } from '../liquidation/position-transfer.ts';
import { endFreeze, stopPriceTimers } from '../pricing/freshness.ts';
import type { State } from '../state.ts';
import type { Market } from './market.ts';
import { markHoldersForRiskCheck } from '../margin/mark-holders-for-risk-check.ts';
import { changeStatus } from './set-status.ts';

export function delistMarket(state: State, command: DelistMarket): Outcome {
  const market = state.markets[command.market];
  if (market === undefined) return { code: 'market_not_found' };
  const price = priceOf(market, command.priceTicks);
  if (typeof price === 'object') return price;

  const outer = state.cause;
  state.cause = 'delisting';
  changeStatus(state, market, 'delisted');
  endOrders(state, market);
  setLastPrice(state, market, price);
  markHoldersForRiskCheck(state, market);
  clearBelowZero(state);
  state.cause = 'delisting';
  closeAll(state, market, price);
  settleFlatDebts(state);
  state.emit(hashMarketDelisted, {
    kind: 'marketDelisted',
    seq: state.seq,
    index: state.nextIndex(),
    timeUs: state.nowUs,
    cause: state.cause,
    market: market.id,
    priceTicks: price,
  });
  state.cause = outer;
  logOperator(state, 'delistMarket', { market: market.id, detail: String(price) });
  return 'ok';
}

/** The price of the settlement, or why there is none. */
function priceOf(market: Market, given: PriceTicks | null): PriceTicks | Refusal {
  if (market.status === 'delisted') return { code: 'market_delisted' };
  const last = market.indexTicks ?? market.markTicks;
  if (last === null) return { code: 'index_not_fresh' };
  if (given === null) return last;
  if (given <= 0) return { code: 'price_not_positive', field: 'price' };
  const room = floorDivInt(last * market.spec.priceBandPpm, PPM);
  return Math.abs(given - last) > room ? { code: 'price_outside_band' } : given;
}

/** Users' orders of the market end, in ascending id. */
function endOrders(state: State, market: Market): void {
  const table = state.orders;
  for (const slot of table.orderSlots()) {
    if (table.market(slot) === market.id) endOrder(state, slot, 'cancelled', 'delisted');
  }
}

/** The market's last mark and index; no timer of its prices runs again. */
function setLastPrice(state: State, market: Market, price: PriceTicks): void {
  market.indexTicks = price;
  moveMark(state, market, price);
  endFreeze(state, market);
  stopPriceTimers(market);
  market.nextSpec = null;
  market.termsDueUs = Infinity;
  emitMark(state, market, price);
}

/** Longs and shorts cancel out, so every position is closed against another. */
function closeAll(state: State, market: Market, price: PriceTicks): void {
  const holders = [...market.holders].map((id) => state.subaccount(id).exposure(market.id));
  const shorts = holders.filter(({ positionLots }) => positionLots < 0);
  let next = 0;
  for (const long of holders.filter(({ positionLots }) => positionLots > 0)) {
    while (long.positionLots > 0) {
      const short = shorts[next];
      if (short === undefined) return;
      const closed = Math.min(long.positionLots, -short.positionLots);
      transferPosition(state, long, short, lots(closed), price, 0n, 'delisting');
      if (short.positionLots === 0) next += 1;
    }
  }
}
