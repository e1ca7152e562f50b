/**
 * One fill: a resting order or house segment against a taker, at the resting price. Money, positions and
 * events of both sides, in causal order: trade, maker, taker, ledger, positions; then what a closed position ends.
 * The caller has checked that both sides may trade.
 */
import {
  lots,
  quanta,
  tradeId,
  type Lots,
  type PriceTicks,
  type Quanta,
  type TradeId,
} from '../../num/units.ts';
import { credit } from '../accounts/ledger.ts';
import { applyFill, emitPosition, hasTurned } from '../accounts/positions.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import { NONE } from '../book/order-table.ts';
import type { Market } from '../market/market.ts';
import { distributeFee, feeOfFill } from '../risk/fees.ts';
import type { State } from '../state.ts';
import { endOrder } from './end.ts';
import { legOver, noteRelatives, reducibleLots, retireLeg } from './legs.ts';
import { shrinkResting } from './resting.ts';
import { restNextSlice } from './slices.ts';
import { hashOrderFilled, hashTradePrinted } from '../hash.ts';

/** Fees of one side of one fill. */
export interface SideFees {
  readonly protocol: Quanta;
  readonly originator: Quanta;
}

/** What the house pays. */
export const NO_FEES: SideFees = { protocol: quanta(0n), originator: quanta(0n) };

/** What a user's order would pay for a fill of `size` lots at `price`. */
export function feesOf(
  state: State,
  market: Market,
  slot: number,
  role: 'maker' | 'taker',
  size: number,
  price: PriceTicks,
): SideFees {
  const unit = market.spec.quantaPerTickLot;
  const rate = role === 'maker' ? market.spec.makerFeePpm : market.spec.takerFeePpm;
  const originatorRate = state.orders.originatorFeePpm(slot);
  return {
    protocol: feeOfFill(size, price, unit, rate),
    originator:
      originatorRate === 0 ? NO_FEES.originator : feeOfFill(size, price, unit, originatorRate),
  };
}

export function printTrade(
  state: State,
  market: Market,
  price: PriceTicks,
  takerLots: Lots,
): TradeId {
  const id = state.nextTradeId;
  state.nextTradeId = tradeId(id + 1);
  market.lastTicks = price;
  market.trades.add(id, state.nowUs, price, takerLots);
  market.candles.add(state.nowUs, price, Math.abs(takerLots));
  state.touch(market);
  state.noteSource(market, 'last');
  state.emit(hashTradePrinted, {
    kind: 'tradePrinted',
    seq: state.seq,
    index: state.nextIndex(),
    timeUs: state.nowUs,
    cause: state.cause,
    market: market.id,
    tradeId: id,
    priceTicks: price,
    lots: takerLots,
  });
  return id;
}

/** Executes a fill of `size` lots at the fees that were checked. `takerSlot` is NONE for a house taker. */
export function executeFill(
  state: State,
  market: Market,
  makerSlot: number,
  makerFees: SideFees,
  taker: Subaccount,
  takerSlot: number,
  takerFees: SideFees,
  size: number,
): void {
  const table = state.orders;
  const price = table.price(makerSlot);
  const makerSide = table.side(makerSlot);
  const maker = state.subaccount(table.subaccount(makerSlot));
  const makerHouse = table.isHouse(makerSlot);
  const makerLots = lots(makerSide * size);
  const takerLots = lots(-makerSide * size);

  const makerExposure = maker.exposure(market.id);
  const takerExposure = taker.exposure(market.id);
  const makerBefore = makerExposure.positionLots;
  const makerPnl = applyFill(market, makerExposure, makerLots, price);
  const takerBefore = takerExposure.positionLots;
  const takerPnl = applyFill(market, takerExposure, takerLots, price);

  const trade = printTrade(state, market, price, takerLots);
  if (makerHouse) market.book.reduce(makerSlot, size);
  else {
    shrinkResting(table, makerSlot, size, makerExposure);
    market.book.reduce(makerSlot, size);
    emitFilled(state, makerSlot, trade, 'maker', price, makerLots, makerFees, makerPnl);
  }
  if (takerSlot !== NONE) {
    table.reduce(takerSlot, size);
    emitFilled(state, takerSlot, trade, 'taker', price, takerLots, takerFees, takerPnl);
  }

  settleSide(state, maker, makerExposure, makerSlot, makerPnl, makerFees);
  settleSide(state, taker, takerExposure, takerSlot, takerPnl, takerFees);
  let net = makerFees.protocol + takerFees.protocol;
  if (net < 0n) {
    // Only a house taker pays no fee while its maker earns a rebate: the house pays that rebate itself.
    credit(state, taker, quanta(net), 'fee');
    net = 0n;
  }
  distributeFee(state, quanta(net));

  emitPosition(state, maker, makerExposure, makerBefore);
  emitPosition(state, taker, takerExposure, takerBefore);

  if (table.left(makerSlot) === 0) {
    if (makerHouse) {
      market.book.unlink(makerSlot);
      table.remove(makerSlot);
    } else endMaker(state, market, makerSlot, makerExposure);
  }
  if (!makerHouse) closeReduceOnly(state, maker, makerExposure, makerBefore, takerSlot);
  if (takerSlot !== NONE) closeReduceOnly(state, taker, takerExposure, takerBefore, takerSlot);
}

/** A resting order is filled; of an iceberg the next slice joins the back of the queue at once. */
function endMaker(state: State, market: Market, slot: number, exposure: Exposure): void {
  const { orders: table } = state;
  const iceberg = table.orderType(slot) === 'iceberg' ? table.special(slot) : null;
  const id = table.id(slot);
  endOrder(state, slot, 'filled', null);
  if (iceberg !== null) restNextSlice(state, market, exposure, id, iceberg.groupLast);
}

function emitFilled(
  state: State,
  slot: number,
  trade: TradeId,
  role: 'maker' | 'taker',
  price: PriceTicks,
  filled: Lots,
  fees: SideFees,
  realized: Quanta,
): void {
  const table = state.orders;
  table.setStatus(slot, table.left(slot) === 0 ? 'filled' : 'partiallyFilled', null);
  table.touch(slot, state.nowUs, state.seq);
  state.emit(hashOrderFilled, {
    kind: 'orderFilled',
    seq: state.seq,
    index: state.nextIndex(),
    timeUs: state.nowUs,
    cause: state.cause,
    orderId: table.id(slot),
    subaccount: table.subaccount(slot),
    market: table.market(slot),
    tradeId: trade,
    role,
    priceTicks: price,
    lots: filled,
    remainingLots: table.remaining(slot),
    feeQuanta: fees.protocol,
    originatorFeeQuanta: fees.originator,
    realizedPnlQuanta: realized,
  });
  const special = table.special(slot);
  if (special !== null) noteRelatives(state, slot, special, Math.abs(filled));
}

function settleSide(
  state: State,
  subaccount: Subaccount,
  exposure: Exposure,
  slot: number,
  realized: Quanta,
  fees: SideFees,
): void {
  credit(state, subaccount, realized, 'realizedPnl');
  if (fees === NO_FEES) return;
  credit(state, subaccount, quanta(-fees.protocol), 'fee');
  exposure.feesQuanta = quanta(exposure.feesQuanta + fees.protocol + fees.originator);
  if (fees.originator === 0n) return;
  credit(state, subaccount, quanta(-fees.originator), 'originatorFee');
  const originator = state.orders.originator(slot);
  if (originator === null) return;
  credit(state, state.accounts.open(originator, 0, state.nowUs), fees.originator, 'originatorFee');
}

/**
 * A position that reached or crossed zero ends the reduce-only orders that rest in its market and the legs that protected
 * it, waiting or resting. The order that is being matched sees to itself.
 */
function closeReduceOnly(
  state: State,
  subaccount: Subaccount,
  exposure: Exposure,
  positionBefore: number,
  matching: number,
): void {
  if (exposure.reduceOnlyOrders === 0 && exposure.legs === 0) return;
  if (!hasTurned(positionBefore, exposure.positionLots)) return;
  const table = state.orders;
  for (let slot = subaccount.orders.head; slot !== NONE;) {
    const next = table.nextOfOwner(slot);
    if (
      slot !== matching &&
      table.market(slot) === exposure.market &&
      table.isReduceOnly(slot) &&
      reducibleLots(exposure, table.side(slot)) === 0
    ) {
      if (table.special(slot)?.leg !== true) {
        if (table.isResting(slot)) endOrder(state, slot, 'cancelled', 'reduceOnly');
      } else if (table.isResting(slot)) retireLeg(state, slot, exposure);
      else if (legOver(table, slot, exposure) !== null) {
        endOrder(state, slot, 'cancelled', 'positionClosed');
      }
    }
    slot = next;
  }
}
