/** The book of a market as a ladder, with the orders of an account and their place in the queue. */
import type { Side } from '../../engine/commands.ts';
import type { ExchangeView, MarketView } from '../../engine/read/views.ts';
import { priceText, sizeText } from '../../gateway/encode.ts';
import type { MarketId, SubaccountId } from '../../num/units.ts';

export interface OwnOrderAt {
  readonly orderId: number;
  readonly remaining: string;
  /** Size ahead of it at its price; null if it does not rest. */
  readonly ahead: string | null;
  readonly aheadLots: number | null;
}

export interface LadderRow {
  readonly price: string;
  readonly ticks: number;
  readonly size: string;
  readonly lots: number;
  /** Sum from the best price to here. */
  readonly cumulative: string;
  readonly own: readonly OwnOrderAt[];
}

export interface BookAt {
  readonly symbol: string;
  /** Best first. */
  readonly bids: readonly LadderRow[];
  readonly asks: readonly LadderRow[];
  readonly spreadTicks: number | null;
  /** Mid in halves of a tick. */
  readonly midHalfTicks: number | null;
}

/** At most `levels` rows of each side; `focus`: the account with own orders. */
export function bookAt(
  view: ExchangeView,
  id: MarketId,
  levels: number,
  focus: SubaccountId | null,
): BookAt {
  const market = view.market(id);
  const own = new Map<string, OwnOrderAt[]>();
  for (const order of focus === null ? [] : view.openOrders(focus)) {
    if (order.market !== id || order.status === 'pending') continue;
    const key = `${order.lots > 0 ? 'bid' : 'ask'} ${String(order.priceTicks)}`;
    const ahead = view.queueAhead(order.orderId);
    const row: OwnOrderAt = {
      orderId: order.orderId,
      remaining: sizeText(market, Math.abs(order.remainingLots)),
      ahead: ahead === null ? null : sizeText(market, ahead),
      aheadLots: ahead,
    };
    own.set(key, [...(own.get(key) ?? []), row]);
  }
  const bids = ladder(view, market, 'bid', levels, own);
  const asks = ladder(view, market, 'ask', levels, own);
  const bid = bids[0]?.ticks ?? null;
  const ask = asks[0]?.ticks ?? null;
  const isTwoSided = bid !== null && ask !== null;
  return {
    symbol: market.spec.symbol,
    bids,
    asks,
    spreadTicks: isTwoSided ? ask - bid : null,
    midHalfTicks: isTwoSided ? ask + bid : null,
  };
}

function ladder(
  view: ExchangeView,
  market: MarketView,
  side: Side,
  levels: number,
  own: ReadonlyMap<string, readonly OwnOrderAt[]>,
): LadderRow[] {
  let sum = 0;
  return view.depth(market.id, side, levels).map(({ priceTicks, lots }) => {
    sum += lots;
    return {
      price: priceText(market, priceTicks),
      ticks: priceTicks,
      size: sizeText(market, lots),
      lots,
      cumulative: sizeText(market, sum),
      own: own.get(`${side} ${String(priceTicks)}`) ?? [],
    };
  });
}
