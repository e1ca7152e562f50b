/**
 * Shared by all agents: the wake-up timer, the observed market, and orders that may be rejected.
 */
import { MatcherError } from '../gateway/matcher-client.ts';
import { integer, number } from '../strategy/definition.ts';
import type { OrderIntent, StrategyContext } from '../strategy/strategy.ts';

export const WAKE = {
  everyMs: integer(5000, {
    min: 1,
    max: 86_400_000,
    describe: 'mean time between two observations',
  }),
  lots: integer(10, { min: 1, max: 1_000_000, describe: 'smallest order, in lots' }),
} as const;

export const LIMITS = {
  maxLots: integer(1000, { min: 1, max: 1_000_000_000, describe: 'largest position, in lots' }),
} as const;

export const threshold = number(20, {
  min: 0,
  max: 10_000,
  describe: 'threshold, in 1/10,000 of the price',
});

/** Sets the next wake-up, uniform between 0.5 and 1.5 times the interval. */
export function wakeLater(context: StrategyContext, everyMs: number): void {
  context.setTimer('wake', everyMs * 1000 * (0.5 + context.random.next()));
}

export interface Sight {
  /** Mid of the book, or the mark if a side is empty. */
  readonly price: number;
  readonly index: number;
  readonly bid: number | null;
  readonly ask: number | null;
}

/** Observes the market; null before it has a price. */
export async function look(context: StrategyContext): Promise<Sight | null> {
  const { mark, index, bestBid, bestOffer } = await context.client.call('getPrice', {
    symbol: context.symbol,
  });
  if (mark === null || index === null) return null;
  const bid = bestBid === null ? null : Number(bestBid.price);
  const ask = bestOffer === null ? null : Number(bestOffer.price);
  return {
    price: bid === null || ask === null ? Number(mark) : (bid + ask) / 2,
    index: Number(index),
    bid,
    ask,
  };
}

/** Places an order of whole lots; rejections are ignored. */
export async function trade(
  context: StrategyContext,
  side: 'buy' | 'sell',
  lots: number,
  more: Partial<OrderIntent> = {},
): Promise<void> {
  const market = context.market();
  const size = market.size(lots * Number(market.lotSize), 'nearest');
  try {
    await context.submit({ side, size, ...more });
  } catch (error) {
    if (!(error instanceof MatcherError)) throw error;
  }
}

/** Signed lots of its position after a fill. */
export function lotsOf(position: string, context: StrategyContext): number {
  return Math.round(Number(position) / Number(context.market().lotSize));
}

/** Expiry time of an order placed now, in ms as in the API. */
export function expiry(context: StrategyContext, afterMs: number): number {
  return Math.floor(context.now() / 1000 + afterMs);
}
