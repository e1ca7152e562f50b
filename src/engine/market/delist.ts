/**
 * Delisting. Every order of the market ends. The given price (or the index, or the mark)
 * becomes its last mark and index. Units below zero at that price are cleared as in R-6.2 (4) and
 * (5). All other positions close at that price, longs against shorts in ascending subaccount id.
 */
import { floorDivInt } from '../../num/arithmetic.ts';
import { lots, PPM, type PriceTicks } from '../../num/units.ts';
import type { DelistMarket } from '../commands.ts';
import { hashMarketDelisted } from '../chain-hash/hash-event.ts';
import { logOperator } from '../operator-log.ts';
import { endOrder } from '../orders/end.ts';
import type { Outcome, Refusal } from '../refusals.ts';
import { clearBelowZero, settleFlatDebts } from '../liquidation/clearing.ts';
import { recallDebts } from '../liquidation/clearing-debt.ts';
import { holdersOf } from '../liquidation/adl.ts';
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

  const { context } = state;
  const outer = context.cause;
  context.cause = 'delisting';
  changeStatus(state, market, 'delisted');
  endOrders(state, market);
  const { frozen } = market;
  setLastPrice(state, market, price);
  if (frozen) recallDebts(state, market);
  markHoldersForRiskCheck(state, market);
  clearBelowZero(state);
  context.cause = 'delisting';
  closeAll(state, market, price);
  settleFlatDebts(state);
  context.emit(hashMarketDelisted, {
    kind: 'marketDelisted',
    seq: state.seq,
    index: context.nextIndex(),
    timeUs: state.nowUs,
    cause: context.cause,
    market: market.id,
    priceTicks: price,
  });
  context.cause = outer;
  logOperator(state, 'delistMarket', { market: market.id, detail: String(price) });
  return 'ok';
}

/** The settlement price, or the refusal if there is none. */
function priceOf(market: Market, requested: PriceTicks | null): PriceTicks | Refusal {
  if (market.status === 'delisted') return { code: 'market_delisted' };
  const last = market.indexTicks ?? market.markTicks;
  if (last === null) return { code: 'index_not_fresh' };
  if (requested === null) return last;
  if (requested <= 0) return { code: 'price_not_positive', field: 'price' };
  const band = floorDivInt(last * market.spec.priceBandPpm, PPM);
  return Math.abs(requested - last) > band ? { code: 'price_outside_band' } : requested;
}

/** Ends users' orders of the market, in ascending id. */
function endOrders(state: State, market: Market): void {
  const table = state.orders;
  for (const slot of table.orderSlots()) {
    if (table.market(slot) === market.id) endOrder(state, slot, 'cancelled', 'delisted');
  }
}

/** Sets the market's last mark and index and stops its price timers. */
function setLastPrice(state: State, market: Market, price: PriceTicks): void {
  market.indexTicks = price;
  moveMark(state, market, price);
  endFreeze(state, market);
  stopPriceTimers(market);
  market.nextSpec = null;
  market.termsDueUs = Infinity;
  emitMark(state, market, price);
}

/** Closes longs against shorts, which sum to zero. */
function closeAll(state: State, market: Market, price: PriceTicks): void {
  const shorts = holdersOf(state, market, -1);
  let next = 0;
  for (const long of holdersOf(state, market, 1)) {
    while (long.positionLots > 0) {
      const short = shorts[next];
      if (short === undefined) return;
      const closed = Math.min(long.positionLots, -short.positionLots);
      transferPosition(state, long, short, {
        lots: lots(closed),
        priceTicks: price,
        money: 0n,
        reason: 'delisting',
      });
      if (short.positionLots === 0) next += 1;
    }
  }
}
