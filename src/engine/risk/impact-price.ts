/** The average price at which a market order of a given notional would fill, exact as a fraction of ticks. */
import { NO_LEVEL } from '../book/price-ladder.ts';
import type { Market } from '../market/market.ts';

/** `ticks` ÷ `of`, both > 0. */
export interface Fraction {
  readonly ticks: bigint;
  readonly of: bigint;
}

/** Average fill of `notionalQuanta` > 0 against one side of the book (1: its bids); null when the side is too thin. */
export function impactPrice(market: Market, side: 1 | -1, notionalQuanta: bigint): Fraction | null {
  const ladder = market.book.ladder(side);
  const unit = BigInt(market.spec.quantaPerTickLot);
  let filledLots = 0n;
  let filled = 0n;
  for (let level = ladder.bestLevel(); level !== NO_LEVEL; level = ladder.nextLevel(level)) {
    const price = BigInt(ladder.price(level));
    const size = BigInt(ladder.total(level));
    const value = size * price * unit;
    if (filled + value >= notionalQuanta) {
      // The last level fills (notional − filled) ÷ (price × unit) lots, so the average is
      // notional ÷ (unit × (filledLots + that)).
      return {
        ticks: notionalQuanta * price,
        of: unit * filledLots * price + (notionalQuanta - filled),
      };
    }
    filledLots += size;
    filled += value;
  }
  return null;
}
