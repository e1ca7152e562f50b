/** Differences of a book for readers. */
import { priceTicks } from '../../num/units.ts';
import type { BookMark } from '../book/changed-prices.ts';
import type { OrderBook } from '../book/order-book.ts';
import type { BookChanges, ChangedLevel } from './views.ts';

export function bookChanges(book: OrderBook, since: BookMark | null): BookChanges {
  const record = book.followed();
  const mark = record.mark();
  const prices = since?.of === record ? record.since(since) : null;
  if (prices === null) return { mark, levels: null };
  const levels: ChangedLevel[] = [];
  for (const signed of prices) {
    const side = signed > 0 ? 1 : -1;
    const price = priceTicks(Math.abs(signed));
    const name = side > 0 ? 'bid' : 'ask';
    levels.push({ side: name, priceTicks: price, lots: book.lotsAt(side, price) });
  }
  return { mark, levels };
}
