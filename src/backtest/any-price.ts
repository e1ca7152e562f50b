/** Orders without a price: the exchange gets a limit far beyond the market. */

export interface LimitedOrder {
  readonly side: 'buy' | 'sell';
  readonly price: string;
  readonly ioc: boolean;
}

/**
 * True for an immediate order whose limit is over twice, or under half, of `reference`. The price
 * band is tighter, so the limit has no effect.
 */
export function takesAnyPrice(
  { side, price, ioc }: LimitedOrder,
  reference: number | null,
): boolean {
  if (!ioc || reference === null) return false;
  const limit = Number(price);
  return side === 'buy' ? limit > 2 * reference : limit < reference / 2;
}
