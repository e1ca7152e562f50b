/** A position changes hands off the book at one price, optionally with a payment. */
import { NO_FEES } from './fees.ts';
import { closeReduceOnly } from './legs.ts';
import {
  dispatch,
  dealOf,
  isolatedMoney,
  emitPosition,
  settleDeal,
  type Deal,
} from './positions.ts';
import {
  book,
  bookMargin,
  isIsolated,
  positionOf,
  emit,
  type Market,
  type Sub,
  type World,
} from './world.ts';

type Why = 'takeover' | 'adl' | 'delisting';

/** `lots` signed as in the position of the party that gives; `money` below 0 goes to it. */
export interface Transfer {
  readonly lots: bigint;
  readonly price: bigint;
  readonly money: bigint;
  readonly reason: Why;
}

export function transferPosition(
  world: World,
  market: Market,
  from: Sub,
  to: Sub,
  transfer: Transfer,
): void {
  const { lots, price, money, reason } = transfer;
  const left = settleSide(world, market, from, { ...transfer, lots: -lots, money: -money }, true);
  const took = settleSide(world, market, to, transfer, false);
  emit(world, {
    kind: 'positionTransferred',
    market: market.id,
    from: from.id,
    to: to.id,
    reason,
    lots,
    priceTicks: price,
    moneyQuanta: money,
    fromRealizedQuanta: left.pnl,
    toRealizedQuanta: took.pnl,
    fromFundingQuanta: left.funding,
    toFundingQuanta: took.funding,
  });
}

function settleSide(
  world: World,
  market: Market,
  sub: Sub,
  { lots, price, money, reason }: Transfer,
  leaves: boolean,
): Deal {
  const position = positionOf(sub, market.id);
  const before = position.lots;
  const deal = dealOf(market, position, lots, price);
  const terms = { deal, fees: NO_FEES, received: money, gradual: leaves };
  const isolated = isIsolated(sub, market.id) ? isolatedMoney(world, sub, market, terms) : null;
  dispatch(market, position, deal);
  if (isolated !== null) bookMargin(world, sub, market.id, money, reason);
  settleDeal(world, sub, market, terms, isolated);
  if (isolated === null) book(world, sub, money, reason);
  emitPosition(world, sub, market, before);
  if (!sub.house) {
    closeReduceOnly(world, sub, market, before, {
      reason: reason === 'adl' ? 'adl' : 'reduceOnly',
    });
  }
  return deal;
}
