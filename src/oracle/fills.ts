/** One fill: trade, both orders, money, fees, positions, ended orders. */
import type { Resting } from './book.ts';
import { end, signedLeft, touch } from './endings.ts';
import { allOf, handOut, type Fees } from './fees.ts';
import { closeReduceOnly, notifyLegs } from './legs.ts';
import { restNextSlice } from './slices.ts';
import { dispatch, dealOf, isolatedMoney, emitPosition, settleDeal } from './positions.ts';
import {
  book,
  HOUSE_MAKERS,
  isIsolated,
  leftOf,
  must,
  openSub,
  positionOf,
  emit,
  subOf,
  type Market,
  type Order,
  type Sub,
  type World,
} from './world.ts';

/** One side of a fill; the house has no order and pays nothing. */
export interface Party {
  readonly sub: Sub;
  readonly order: Order | null;
  readonly fees: Fees;
}

export const makerOf = (world: World, { order }: Resting): Sub =>
  subOf(world, order === null ? HOUSE_MAKERS : order.sub);

export interface Match {
  readonly maker: Party;
  readonly taker: Party;
  /** 1n if the taker buys. */
  readonly side: bigint;
  readonly size: bigint;
}

export function fill(world: World, market: Market, resting: Resting, match: Match): void {
  const { price } = resting;
  const { maker, taker, side, size } = match;
  // The margin of an opening uses the open interest before the fill.
  const sides = [
    { ...maker, lots: -side * size, role: 'maker' },
    { ...taker, lots: side * size, role: 'taker' },
  ].map((party) => {
    const position = positionOf(party.sub, market.id);
    const deal = dealOf(market, position, party.lots, price);
    const isolated = isIsolated(party.sub, market.id)
      ? isolatedMoney(world, party.sub, market, { deal, fees: party.fees })
      : null;
    return { ...party, before: position.lots, deal, isolated };
  });
  for (const { sub, deal } of sides) dispatch(market, positionOf(sub, market.id), deal);

  printTrade(world, market, price, side * size);
  if (resting.segment !== null) resting.segment.lots -= size;
  market.bookChanged = true;
  for (const { order, role, lots, fees, deal } of sides) {
    if (order === null) continue;
    order.filled += size;
    order.status = leftOf(order) === 0n ? 'filled' : 'partiallyFilled';
    touch(world, order);
    emit(world, {
      kind: 'orderFilled',
      orderId: order.id,
      subaccount: order.sub,
      market: market.id,
      tradeId: world.trades,
      role,
      priceTicks: price,
      lots,
      remainingLots: signedLeft(order),
      feeQuanta: fees.protocol + fees.liquidation,
      originatorFeeQuanta: fees.originator,
      realizedPnlQuanta: deal.pnl,
      realizedFundingQuanta: deal.funding,
    });
    notifyLegs(world, order);
  }
  for (const { sub, order, fees, deal, isolated } of sides) {
    settleDeal(world, sub, market, { deal, fees }, isolated);
    positionOf(sub, market.id).fees += allOf(fees);
    if (fees.originator > 0n) {
      const to = openSub(world, must(order?.originator), 0);
      book(world, to, fees.originator, 'originatorFee');
    }
  }
  handOut(world, maker.fees, taker.sub, taker.fees);
  for (const { sub, before } of sides) emitPosition(world, sub, market, before);

  if (resting.segment?.lots === 0n) market.house.splice(market.house.indexOf(resting.segment), 1);
  if (maker.order !== null && leftOf(maker.order) === 0n) {
    end(world, maker.order, 'filled', null);
    if (maker.order.type === 'iceberg') restNextSlice(world, maker.order);
  }
  for (const { sub, before } of sides) {
    if (!sub.house) closeReduceOnly(world, sub, market, before, { matching: taker.order });
  }
}

/** A print on the public tape; `lots` signed by the taker's side. */
export function printTrade(world: World, market: Market, price: bigint, lots: bigint): void {
  world.trades += 1;
  market.last = price;
  market.prints.push({ id: world.trades, at: world.now, price, lots });
  if (world.config.triggerSource === 'last') market.sourceChanged = true;
  emit(world, {
    kind: 'tradePrinted',
    market: market.id,
    tradeId: world.trades,
    priceTicks: price,
    lots,
  });
}
