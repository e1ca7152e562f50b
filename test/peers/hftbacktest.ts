/**
 * Fills and queue positions of hftbacktest by its published rules (models/queue.rs,
 * proc/nopartialfillexchange.rs, proc/partialfillexchange.rs, December 2025), written for orders
 * that rest and a lot of 1. Shares nothing with the exchange.
 */

/** One line of a tape: a level's size after an update, or a trade; `side` is the taker's. */
export type TapeLine =
  | {
      readonly at: number;
      readonly level: 'bid' | 'ask';
      readonly price: number;
      readonly size: number;
    }
  | {
      readonly at: number;
      readonly trade: 'buy' | 'sell';
      readonly price: number;
      readonly size: number;
    };

export interface RestingOrder {
  readonly name: string;
  readonly at: number;
  readonly side: 'buy' | 'sell';
  readonly price: number;
  readonly size: number;
}

export interface PeerFill {
  readonly order: string;
  readonly at: number;
  readonly size: number;
  /** Time from resting to this fill. */
  readonly waited: number;
}

/** Probability that a decrease was behind the order; null: never ahead of it (risk averse). */
type Probability = ((front: number, back: number) => number) | null;

export const PROBABILITIES: Readonly<Record<string, Probability>> = {
  riskAverse: null,
  ...Object.fromEntries(
    [1, 2, 3].map((n) => [
      `probPower${String(n)}`,
      (front: number, back: number) => back ** n / (back ** n + front ** n),
    ]),
  ),
  probLog: (front, back) => Math.log1p(back) / (Math.log1p(back) + Math.log1p(front)),
};

interface Live extends RestingOrder {
  left: number;
  front: number;
  traded: number;
}

/** Fills of orders on a tape. `partial`: PartialFillExchange, else NoPartialFillExchange. */
export function peerFills(
  tape: readonly TapeLine[],
  orders: readonly RestingOrder[],
  probability: Probability,
  partial: boolean,
): PeerFill[] {
  const book = { bid: new Map<number, number>(), ask: new Map<number, number>() };
  const fills: PeerFill[] = [];
  const live: Live[] = [];
  const fill = (order: Live, at: number, size: number): void => {
    fills.push({ order: order.name, at, size, waited: at - order.at });
    order.left -= size;
    if (order.left === 0) live.splice(live.indexOf(order), 1);
  };
  const best = (side: 'bid' | 'ask'): number =>
    side === 'bid' ? Math.max(0, ...book.bid.keys()) : Math.min(Infinity, ...book.ask.keys());
  const place = (order: RestingOrder): void => {
    const front = book[order.side === 'buy' ? 'bid' : 'ask'].get(order.price) ?? 0;
    live.push({ ...order, left: order.size, front, traded: 0 });
  };
  const level = (at: number, side: 'bid' | 'ask', price: number, size: number): void => {
    const before = book[side].get(price) ?? 0;
    if (size === 0) book[side].delete(price);
    else book[side].set(price, size);
    const own = side === 'bid' ? 'buy' : 'sell';
    for (const order of live.filter((one) => one.side === own && one.price === price)) {
      queueAfter(order, before, size, probability);
    }
    for (const order of live.filter((one) => one.side !== own)) {
      const crosses = side === 'bid' ? order.price <= best('bid') : order.price >= best('ask');
      if (crosses) fill(order, at, order.left);
    }
  };
  const trade = (at: number, taker: 'buy' | 'sell', price: number, size: number): void => {
    const sign = taker === 'buy' ? 1 : -1;
    for (const order of live.filter((one) => one.side !== taker)) {
      if (sign * order.price < sign * price) fill(order, at, order.left);
      else if (order.price === price) {
        order.front -= size;
        order.traded += size;
        const executed = Math.round(-order.front);
        if (executed <= 0) continue;
        order.front = 0;
        fill(order, at, partial ? Math.min(executed, order.left) : order.left);
      }
    }
  };
  const waiting = [...orders];
  for (const line of tape) {
    while ((waiting[0]?.at ?? Infinity) < line.at) place(waiting.shift()!);
    if ('level' in line) level(line.at, line.level, line.price, line.size);
    else trade(line.at, line.trade, line.price, line.size);
  }
  return fills;
}

function queueAfter(order: Live, before: number, after: number, probability: Probability): void {
  if (probability === null) {
    order.front = Math.min(order.front, after);
    return;
  }
  const change = before - after - order.traded;
  order.traded = 0;
  if (change < 0) {
    order.front = Math.min(order.front, after);
    return;
  }
  const { front } = order;
  const back = before - front;
  const behind = probability(front, back);
  const moved = front - (1 - behind) * change + Math.min(back - behind * change, 0);
  order.front = Math.min(moved, after);
}
