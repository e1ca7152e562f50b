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

/** Moves `lots`, signed as in the position of `from`, with `money` (below 0: to `from`). */
export function transferPosition(
  world: World,
  market: Market,
  from: Sub,
  to: Sub,
  lots: bigint,
  price: bigint,
  money: bigint,
  reason: Why,
): void {
  const left = settleSide(world, market, from, -lots, price, -money, reason, true);
  const took = settleSide(world, market, to, lots, price, money, reason, false);
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
  lots: bigint,
  price: bigint,
  money: bigint,
  reason: Why,
  leaves: boolean,
): Deal {
  const position = positionOf(sub, market.id);
  const before = position.lots;
  const deal = dealOf(market, position, lots, price);
  const isolated = isIsolated(sub, market.id)
    ? isolatedMoney(world, sub, market, deal, NO_FEES, money, leaves)
    : null;
  dispatch(market, position, deal);
  if (isolated !== null) bookMargin(world, sub, market.id, money, reason);
  settleDeal(world, sub, market, deal, NO_FEES, isolated);
  if (isolated === null) book(world, sub, money, reason);
  emitPosition(world, sub, market, before);
  if (!sub.house) {
    closeReduceOnly(world, sub, market, before, null, reason === 'adl' ? 'adl' : 'reduceOnly');
  }
  return deal;
}
