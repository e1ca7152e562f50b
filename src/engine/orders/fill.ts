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
  type TradeId,
} from '../../num/units.ts';
import { credit } from '../accounts/ledger.ts';
import { applyFill, emitPosition, takeFunding } from '../accounts/positions.ts';
import { settleFill, type FilledSide } from '../accounts/settle-fill.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import { NONE } from '../book/order-table.ts';
import type { Market } from '../market/market.ts';
import { distributeFee, type Deal, type SideFees } from '../accounts/fees.ts';
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

/** The resting side of a fill and its checked fees. */
export interface MakerSide {
  readonly slot: number;
  readonly fees: SideFees;
}

/** The other side; `slot` is NONE for a house taker. */
export interface TakerSide extends MakerSide {
  readonly subaccount: Subaccount;
}

/** Executes a fill of `size` lots at the checked fees. */
export function executeFill(
  state: State,
  market: Market,
  makerSide: MakerSide,
  takerSide: TakerSide,
  size: number,
): void {
  const table = state.orders;
  const { slot: makerSlot } = makerSide;
  const { slot: takerSlot } = takerSide;
  const price = table.price(makerSlot);
  const side = table.side(makerSlot);
  const makerHouse = table.isHouse(makerSlot);
  // Both plans precede any change of open interest, which may raise the initial rate.
  const maker = planned(
    state.subaccount(table.subaccount(makerSlot)).exposure(market.id),
    market,
    makerSlot,
    { lots: lots(side * size), priceTicks: price, fees: makerSide.fees },
  );
  const taker = planned(takerSide.subaccount.exposure(market.id), market, takerSlot, {
    lots: lots(-side * size),
    priceTicks: price,
    fees: takerSide.fees,
  });
  movePosition(market, maker);
  movePosition(market, taker);

  const trade = printTrade(state, market, price, taker.deal.lots);
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
  const { fees: takerFees } = takerSide;
  if (takerFees.others) credit(state, state.insurance, takerFees.liquidation, 'liquidationFee');
  let net = makerSide.fees.protocol + takerFees.protocol;
  if (net < 0n) {
    // If a house taker pays no fee while its maker earns a rebate, the house pays that rebate.
    credit(state, takerSide.subaccount, quanta(net), 'fee');
    net = 0n;
  }
  distributeFee(state, quanta(net));

  const makerOwner = state.subaccount(maker.exposure.subaccount);
  const takerOwner = takerSide.subaccount;
  emitPosition(state, makerOwner, maker.exposure, maker.before);
  emitPosition(state, takerOwner, taker.exposure, taker.before);

  if (table.left(makerSlot) === 0) {
    if (makerHouse) removeSegment(table, market, makerSlot);
    else endMaker(state, market, makerSlot, maker.exposure);
  }
  if (!makerHouse) closeReduceOnly(state, makerOwner, maker.exposure, maker.before, takerSlot);
  if (takerSlot !== NONE) {
    closeReduceOnly(state, takerOwner, taker.exposure, taker.before, takerSlot);
  }
}

function planned(exposure: Exposure, market: Market, slot: number, deal: Deal): FilledSide {
  const plan = exposure.isolated ? planIsolated(exposure, market, deal) : null;
  const none = quanta(0n);
  return { exposure, slot, deal, plan, before: 0, funding: none, realized: none };
}

function movePosition(market: Market, side: FilledSide): void {
  const { exposure, deal } = side;
  side.before = exposure.positionLots;
  side.funding = takeFunding(exposure, deal.lots);
  side.realized = applyFill(market, exposure, deal.lots, deal.priceTicks);
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
  trade: TradeId,
  role: 'maker' | 'taker',
  { slot, deal, realized, funding }: FilledSide,
): void {
  const { lots: filled, priceTicks: price, fees } = deal;
  const table = state.orders;
  table.setStatus(slot, table.left(slot) === 0 ? 'filled' : 'partiallyFilled', null);
  table.markBookChanged(slot, state.nowUs, state.seq);
  const id = table.id(slot);
  const remaining = table.remaining(slot);
  const fee = fees.others ? quanta(fees.protocol + fees.liquidation) : fees.protocol;
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
      feeQuanta: fee,
      originatorFeeQuanta: fees.originator,
      realizedPnlQuanta: realized,
      realizedFundingQuanta: funding,
    });
  }
  const conditional = table.conditional(slot);
  if (conditional !== null) noteRelatives(state, slot, conditional, Math.abs(filled));
}
