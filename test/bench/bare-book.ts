/**
 * The engine's book alone: order table, ladders, FIFO queues and a plain match loop, without
 * accounts, margin, events or hashes. Isolates the cost of the ladders.
 */
import { NONE, OrderTable } from '../../src/engine/book/order-table.ts';
import { OrderBook } from '../../src/engine/book/order-book.ts';
import { NO_LEVEL } from '../../src/engine/book/price-ladder.ts';
import {
  lots,
  marketId,
  orderId,
  ppm,
  priceTicks,
  seq,
  subaccountId,
  timeUs,
} from '../../src/num/units.ts';

export class BareBook {
  readonly table = new OrderTable();
  readonly book = new OrderBook(this.table);
  trades = 0;
  private readonly terms = {
    subaccount: subaccountId(0),
    market: marketId(0),
    orderType: 'limit' as const,
    lots: lots(0),
    priceTicks: priceTicks(0),
    ioc: false,
    postOnly: false,
    reduceOnly: false,
    nonce: 0n,
    expiresAtMs: 0n,
    delegate: null,
    clientId: null,
    originator: null,
    originatorFeePpm: ppm(0),
  };

  /** Matches, then rests the remainder unless `ioc`; returns the lots left on the book. */
  place(id: number, signedLots: number, price: number, ioc: boolean): number {
    const { table, book } = this;
    const side = signedLots > 0 ? 1 : -1;
    const opposite = book.ladder(side > 0 ? -1 : 1);
    let left = Math.abs(signedLots);
    while (left > 0) {
      const level = opposite.bestLevel();
      if (level === NO_LEVEL) break;
      const best = opposite.price(level);
      if (side > 0 ? best > price : best < price) break;
      const maker = opposite.head(level);
      const size = Math.min(left, table.left(maker));
      book.reduce(maker, size);
      left -= size;
      this.trades += 1;
      if (table.left(maker) === 0) {
        book.unlink(maker);
        table.remove(maker);
      }
    }
    if (left === 0 || ioc) return 0;
    // One reused object, as a decoder would provide.
    this.terms.lots = lots(side * left);
    this.terms.priceTicks = priceTicks(price);
    const slot = table.add(orderId(id), this.terms, { nowUs: timeUs(0), seq: seq(0) });
    book.append(slot);
    return left;
  }

  cancel(id: number): boolean {
    const slot = this.table.slotOf(orderId(id));
    if (slot === NONE) return false;
    this.book.unlink(slot);
    this.table.remove(slot);
    return true;
  }
}
