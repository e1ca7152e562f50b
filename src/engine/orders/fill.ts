/**
 * One fill: a resting order or house segment against a taker, at the resting price. Updates
 * money and positions and emits the events of both sides in causal order: trade, maker, taker,
 * ledger, positions, then orders ended by a closed position. The caller has checked both sides.
 */
import { isNegative, NO_MONEY, plus, quantaOf } from '../../num/money.ts';
import { tradeId, type Lots, type PriceTicks, type TradeId } from '../../num/units.ts';
import { creditMoney } from '../accounts/ledger.ts';
import { applyFill, emitPosition, takeFunding } from '../accounts/positions.ts';
import type { FilledSide } from '../accounts/filled-side.ts';
import { settleFill } from '../accounts/settle-fill.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import { NONE } from '../book/order-table.ts';
import type { Market } from '../market/market.ts';
import { distributeFee } from '../accounts/fees.ts';
import type { SideFees } from '../accounts/order-fees.ts';
import { planIsolated } from '../margin/isolated-margin.ts';
import type { State } from '../state.ts';
import { closeReduceOnly } from './close-reduce-only.ts';
import { endOrder } from './end.ts';
import { noteRelatives } from './protective-orders.ts';
import { shrinkResting } from './resting.ts';
import { restNextSlice } from './slices.ts';
import { hashOrderFilled, hashTradePrinted } from '../chain-hash/hash-event.ts';
import { removeSegment } from '../tape/house.ts';
import { LEDGER_CODES } from '../schema/event-schema.ts';

export function printTrade(
  state: State,
  market: Market,
  price: PriceTicks,
  takerLots: Lots,
): TradeId {
  const id = state.nextTradeId;
  state.nextTradeId = tradeId(id + 1);
  market.lastTicks = price;
  market.trades.add(state, id, price, takerLots);
  market.candles.add(state, price, Math.abs(takerLots));
  const { context } = state;
  context.markBookChanged(market);
  context.noteSource(market, 'last');
  hashTradePrinted(context.hashing(), context.causeInHash, market.id, id, price, takerLots);
  if (context.hasSink) {
    context.deliver({
      kind: 'tradePrinted',
      seq: state.seq,
      index: context.nextIndex(),
      timeUs: state.nowUs,
      cause: context.cause,
      market: market.id,
      tradeId: id,
      priceTicks: price,
      lots: takerLots,
    });
  }
  return id;
}

/** A side of a fill and its checked fees; `slot` is NONE for a house taker. */
interface SideOfFill {
  readonly slot: number;
  readonly fees: SideFees;
}

/** The side that is not resting. */
export interface TakerSide extends SideOfFill {
  readonly subaccount: Subaccount;
}

/** Executes a fill of `size` lots at the checked fees. */
export function executeFill(
  state: State,
  market: Market,
  makerSide: SideOfFill,
  takerSide: TakerSide,
  size: number,
): void {
  const { maker } = state.context;
  const makerSlot = makerSide.slot;
  maker.setDeal(state.orders.side(makerSlot) * size, state.orders.price(makerSlot), makerSide.fees);
  maker.slot = makerSlot;
  const { taker } = state.context;
  taker.setDeal(-maker.lots, maker.priceTicks, takerSide.fees);
  taker.slot = takerSide.slot;
  runFill(state, market, takerSide.subaccount);
}

/** Executes the fill that `context.maker` and `context.taker` describe, by slot and deal. */
export function runFill(state: State, market: Market, takerOwner: Subaccount): void {
  const table = state.orders;
  const { maker, taker } = state.context;
  const makerSlot = maker.slot;
  const takerSlot = taker.slot;
  const price = maker.priceTicks;
  const size = Math.abs(maker.lots);
  const makerHouse = table.isHouse(makerSlot);
  // Both plans precede any change of open interest, which may raise the initial rate.
  const makerOwner = state.subaccount(table.subaccount(makerSlot));
  plan(maker, makerOwner.exposure(market.id), market);
  plan(taker, takerOwner.exposure(market.id), market);
  movePosition(market, maker);
  movePosition(market, taker);

  const trade = printTrade(state, market, price, taker.lots);
  if (makerHouse) market.book.reduce(makerSlot, size);
  else {
    shrinkResting(state, makerSlot, size, maker.exposure);
    market.book.reduce(makerSlot, size);
    emitFilled(state, trade, 'maker', maker);
  }
  if (takerSlot !== NONE) {
    table.reduce(takerSlot, size);
    emitFilled(state, trade, 'taker', taker);
  }

  settleFill(state, maker);
  settleFill(state, taker);
  const takerFees = taker.fees;
  if (takerFees.others) {
    creditMoney(state, state.insurance, takerFees.liquidation, LEDGER_CODES.liquidationFee);
  }
  let net = plus(maker.fees.protocol, takerFees.protocol);
  if (isNegative(net)) {
    // If a house taker pays no fee while its maker earns a rebate, the house pays that rebate.
    creditMoney(state, takerOwner, net, LEDGER_CODES.fee);
    net = NO_MONEY;
  }
  distributeFee(state, net);

  emitPosition(state, makerOwner, maker.exposure, maker.before);
  emitPosition(state, takerOwner, taker.exposure, taker.before);

  if (table.left(makerSlot) === 0) {
    if (makerHouse) removeSegment(table, market, makerSlot);
    else endMaker(state, market, makerSlot, maker.exposure);
  }
  if (!makerHouse) closeReduceOnly(state, maker.exposure, maker.before, takerSlot);
  if (takerSlot !== NONE) {
    closeReduceOnly(state, taker.exposure, taker.before, takerSlot);
  }
}

function plan(side: FilledSide, exposure: Exposure, market: Market): void {
  side.exposure = exposure;
  side.plan = exposure.isolated ? planIsolated(exposure, market, side) : null;
}

function movePosition(market: Market, side: FilledSide): void {
  const { exposure } = side;
  side.before = exposure.positionLots;
  side.funding = takeFunding(exposure, side.lots);
  side.realized = applyFill(market, exposure, side.lots, side.priceTicks);
}

/** Ends a filled resting order; the next iceberg slice joins the back of the queue. */
function endMaker(state: State, market: Market, slot: number, exposure: Exposure): void {
  const { orders: table } = state;
  const iceberg = table.orderType(slot) === 'iceberg' ? table.conditional(slot) : null;
  const id = table.id(slot);
  endOrder(state, slot, 'filled', null);
  if (iceberg !== null) restNextSlice(state, market, exposure, id, iceberg.groupLast);
}

function emitFilled(state: State, trade: TradeId, role: 'maker' | 'taker', side: FilledSide): void {
  const { slot, lots: filled, priceTicks: price, fees, realized, funding } = side;
  const table = state.orders;
  table.noteFilled(slot, state);
  const id = table.id(slot);
  const remaining = table.remaining(slot);
  const fee = fees.others ? plus(fees.protocol, fees.liquidation) : fees.protocol;
  const { context } = state;
  hashOrderFilled(
    context.hashing(),
    context.causeInHash,
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
  if (context.hasSink) {
    context.deliver({
      kind: 'orderFilled',
      seq: state.seq,
      index: context.nextIndex(),
      timeUs: state.nowUs,
      cause: context.cause,
      orderId: id,
      subaccount: table.subaccount(slot),
      market: table.market(slot),
      tradeId: trade,
      role,
      priceTicks: price,
      lots: filled,
      remainingLots: remaining,
      feeQuanta: quantaOf(fee),
      originatorFeeQuanta: quantaOf(fees.originator),
      realizedPnlQuanta: quantaOf(realized),
      realizedFundingQuanta: quantaOf(funding),
    });
  }
  const conditional = table.conditional(slot);
  if (conditional !== null) noteRelatives(state, slot, conditional, Math.abs(filled));
}
