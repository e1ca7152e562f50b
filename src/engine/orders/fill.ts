/**
 * One fill: a resting order or house segment against a taker, at the resting price. Updates
 * money and positions and emits the events of both sides in causal order: trade, maker, taker,
 * ledger, positions, then orders ended by a closed position. The caller has checked both sides.
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
import { applyFill, emitPosition, takeFunding } from '../accounts/positions.ts';
import { settleFill } from '../accounts/settle-fill.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import { NONE } from '../book/order-table.ts';
import type { Market } from '../market/market.ts';
import { distributeFee, type SideFees } from '../accounts/fees.ts';
import { planIsolated } from '../margin/isolated-margin.ts';
import type { State } from '../state.ts';
import { closeReduceOnly } from './close-reduce-only.ts';
import { endOrder } from './end.ts';
import { noteRelatives } from './protective-orders.ts';
import { shrinkResting } from './resting.ts';
import { restNextSlice } from './slices.ts';
import { hashOrderFilled, hashTradePrinted } from '../chain-hash/hash-event.ts';
import { removeSegment } from '../tape/house.ts';

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
  state.markBookChanged(market);
  state.noteSource(market, 'last');
  hashTradePrinted(state.hashing(), state.causeInHash, market.id, id, price, takerLots);
  if (state.hasSink) {
    state.deliver({
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
  }
  return id;
}

/** Executes a fill of `size` lots at the checked fees. `takerSlot` is NONE for a house taker. */
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
  const makerPlan = makerExposure.isolated
    ? planIsolated(makerExposure, market, makerLots, price, makerFees)
    : null;
  // Both plans precede any change of open interest, which may raise the initial rate.
  const takerPlan = takerExposure.isolated
    ? planIsolated(takerExposure, market, takerLots, price, takerFees)
    : null;
  const makerFunding = takeFunding(makerExposure, makerLots);
  const makerPnl = applyFill(market, makerExposure, makerLots, price);
  const takerBefore = takerExposure.positionLots;
  const takerFunding = takeFunding(takerExposure, takerLots);
  const takerPnl = applyFill(market, takerExposure, takerLots, price);

  const trade = printTrade(state, market, price, takerLots);
  if (makerHouse) market.book.reduce(makerSlot, size);
  else {
    shrinkResting(table, makerSlot, size, makerExposure);
    market.book.reduce(makerSlot, size);
    emitFilled(
      state,
      makerSlot,
      trade,
      'maker',
      price,
      makerLots,
      makerFees,
      makerPnl,
      makerFunding,
    );
  }
  if (takerSlot !== NONE) {
    table.reduce(takerSlot, size);
    emitFilled(
      state,
      takerSlot,
      trade,
      'taker',
      price,
      takerLots,
      takerFees,
      takerPnl,
      takerFunding,
    );
  }

  settleFill(state, maker, makerExposure, makerSlot, makerPnl, makerFees, makerPlan);
  settleFill(state, taker, takerExposure, takerSlot, takerPnl, takerFees, takerPlan);
  if (takerFees.others) credit(state, state.insurance, takerFees.liquidation, 'liquidationFee');
  let net = makerFees.protocol + takerFees.protocol;
  if (net < 0n) {
    // If a house taker pays no fee while its maker earns a rebate, the house pays that rebate.
    credit(state, taker, quanta(net), 'fee');
    net = 0n;
  }
  distributeFee(state, quanta(net));

  emitPosition(state, maker, makerExposure, makerBefore);
  emitPosition(state, taker, takerExposure, takerBefore);

  if (table.left(makerSlot) === 0) {
    if (makerHouse) removeSegment(table, market, makerSlot);
    else endMaker(state, market, makerSlot, makerExposure);
  }
  if (!makerHouse) closeReduceOnly(state, maker, makerExposure, makerBefore, takerSlot);
  if (takerSlot !== NONE) closeReduceOnly(state, taker, takerExposure, takerBefore, takerSlot);
}

/** Ends a filled resting order; the next iceberg slice joins the back of the queue. */
function endMaker(state: State, market: Market, slot: number, exposure: Exposure): void {
  const { orders: table } = state;
  const iceberg = table.orderType(slot) === 'iceberg' ? table.conditional(slot) : null;
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
  funding: Quanta,
): void {
  const table = state.orders;
  table.setStatus(slot, table.left(slot) === 0 ? 'filled' : 'partiallyFilled', null);
  table.markBookChanged(slot, state.nowUs, state.seq);
  const id = table.id(slot);
  const remaining = table.remaining(slot);
  const fee = fees.others ? quanta(fees.protocol + fees.liquidation) : fees.protocol;
  hashOrderFilled(
    state.hashing(),
    state.causeInHash,
    id,
    role,
    trade,
    price,
    filled,
    remaining,
    fee,
    fees.originator,
    realized,
    funding,
  );
  if (state.hasSink) {
    state.deliver({
      kind: 'orderFilled',
      seq: state.seq,
      index: state.nextIndex(),
      timeUs: state.nowUs,
      cause: state.cause,
      orderId: id,
      subaccount: table.subaccount(slot),
      market: table.market(slot),
      tradeId: trade,
      role,
      priceTicks: price,
      lots: filled,
      remainingLots: remaining,
      feeQuanta: fee,
      originatorFeeQuanta: fees.originator,
      realizedPnlQuanta: realized,
      realizedFundingQuanta: funding,
    });
  }
  const conditional = table.conditional(slot);
  if (conditional !== null) noteRelatives(state, slot, conditional, Math.abs(filled));
}
