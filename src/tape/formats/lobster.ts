/**
 * Decodes LOBSTER's message files: every change of a NASDAQ book as single orders. The optional
 * order book file has, line by line, the best levels after each message. Prices are dollars ×
 * 10,000; times are seconds after midnight of the day in the file's name.
 *
 * Messages: 1 new order, 2 partial cancellation, 3 deletion, 4 execution of a visible order, 5
 * execution of a hidden order (a trade that moves no visible order). 6 (cross trade) and 7 (trading
 * halt) are outside the book and skipped. The direction is that of the resting order; 1 buys.
 *
 * With the order book file, the recording starts with the book of its first line. If the book that
 * follows from a message differs from the file's, corrections are emitted, so that the rebuilt book
 * equals the file level by level. Orders below the recorded levels become visible without a
 * message: their volume is a depth update without order ids. Orders there are also cancelled
 * without a message: the youngest of the level are removed, so a user's order never moves forward
 * in the queue by it.
 */
import type { TapeLevel } from '../../engine/commands.ts';
import { lots, priceTicks, timeUs, type TimeUs } from '../../num/units.ts';
import { TapeError, type OrderAction } from '../record.ts';
import { integerOf, shown, type NumberReader } from './numbers.ts';
import type { DecoderContext, Row } from './row-decoder.ts';

export const LOBSTER_TICK = '0.0001';
const NOTHING = 9_999_999_999;
const ACTIONS: Readonly<Record<number, OrderAction>> = {
  1: 'add',
  2: 'reduce',
  3: 'remove',
  4: 'execute',
};

interface Order {
  readonly ref: number;
  readonly side: TapeLevel['side'];
  readonly price: number;
  left: number;
}

export class LobsterDecoder {
  private readonly context: DecoderContext;
  private readonly midnightUs: number;
  /** Book that follows from the messages so far. */
  private readonly bids = new Map<number, number>();
  private readonly asks = new Map<number, number>();
  private readonly orders = new Map<number, Order>();
  /** The same orders by price, oldest first. */
  private readonly queues = {
    bid: new Map<number, Set<Order>>(),
    ask: new Map<number, Set<Order>>(),
  };
  private lastId = 0;
  private started = false;

  /** `midnightUs`: start of the day of recording, in the clock of the file's times. */
  constructor(context: DecoderContext, midnightUs: number) {
    this.context = context;
    this.midnightUs = midnightUs;
  }

  /** A message, and its line of the order book file if there is one. */
  row({ fields, line }: Row, bookRow: readonly string[] | null): void {
    if (fields.length < 6) throw new TapeError(`${String(fields.length)} fields; a message has 6`);
    const at = this.timeOf(fields[0]);
    const type = integerOf(fields[1], 'type');
    if (type < 1 || type > 7) throw new TapeError(`\`type\` is ${String(type)}, not from 1 to 7`);
    const book = bookRow === null ? null : bookLevels(bookRow, this.context.numbers);
    const base = { timeUs: at, localUs: at, line };
    if (!this.started) {
      this.started = true;
      if (book !== null) this.start(book, base);
      // The first line's book is after its message, so the snapshot includes the message.
      if (book !== null) return;
    }
    if (type < 6) this.message(type, fields, base);
    if (book !== null) this.correct(book, base);
  }

  private start(book: readonly TapeLevel[], base: Base): void {
    for (const { side, priceTicks: price, lots: size } of book) this.of(side).set(price, size);
    this.lastId += 1;
    this.context.emit({ kind: 'snapshot', ...base, lastId: this.lastId, levels: book });
  }

  private message(type: number, fields: readonly string[], base: Base): void {
    const action = ACTIONS[type];
    // Hidden orders have no order id.
    const ref = action === undefined ? 0 : integerOf(fields[2], 'order ID');
    const size = this.context.numbers.size(fields[3], 'size');
    const price = this.context.numbers.price(dollars(fields[4], 'price'), 'price');
    const direction = fields[5];
    if (direction !== '1' && direction !== '-1') {
      throw new TapeError(`\`direction\` is ${shown(direction)}, not 1 or -1`);
    }
    if (size === 0) throw new TapeError('`size` is 0');
    const side = direction === '1' ? ('bid' as const) : ('ask' as const);
    if (action === undefined) {
      this.context.emit({
        kind: 'trade',
        ...base,
        tradeId: base.line,
        priceTicks: price,
        lots: lots(side === 'bid' ? -size : size),
      });
      return;
    }
    this.change(action, ref, side, price, size);
    this.context.emit({
      kind: 'order',
      ...base,
      action,
      ref,
      side,
      priceTicks: priceTicks(price),
      lots: lots(size),
    });
  }

  private change(
    action: OrderAction,
    ref: number,
    side: TapeLevel['side'],
    price: number,
    size: number,
  ): void {
    const level = this.of(side);
    const standing = level.get(price) ?? 0;
    if (action === 'add') {
      const order = { ref, side, price, left: size };
      this.orders.set(ref, order);
      const queue = this.queues[side].get(price);
      if (queue === undefined) this.queues[side].set(price, new Set([order]));
      else queue.add(order);
      level.set(price, standing + size);
      return;
    }
    const order = this.orders.get(ref);
    const gone =
      order === undefined
        ? Math.min(size, standing - this.namedAt(side, price))
        : action === 'remove'
          ? order.left
          : Math.min(size, order.left);
    if (order !== undefined) {
      order.left -= gone;
      if (order.left === 0) this.forget(order);
    }
    const left = Math.max(0, standing - gone);
    if (left === 0) level.delete(price);
    else level.set(price, left);
  }

  /** Emits corrections for levels of the order book file that do not follow from the messages. */
  private correct(book: readonly TapeLevel[], base: Base): void {
    const levels: TapeLevel[] = [];
    for (const side of ['bid', 'ask'] as const) {
      const ours = this.of(side);
      const theirs = book.filter((level) => level.side === side);
      const named = new Set<number>(theirs.map(({ priceTicks: price }) => price));
      const last = theirs.at(-1)?.priceTicks ?? null;
      const deep = last !== null && theirs.length === this.depth(book);
      for (const price of ours.keys()) {
        const beyond = deep && (side === 'bid' ? price < last : price > last);
        if (beyond || named.has(price)) continue;
        levels.push({ side, priceTicks: priceTicks(price), lots: lots(0) });
      }
      for (const level of theirs) {
        if (ours.get(level.priceTicks) !== level.lots) levels.push(level);
      }
    }
    for (const { side, priceTicks: price, lots: size } of levels)
      this.cancel(side, price, size, base);
    if (levels.length === 0) return;
    for (const { side, priceTicks: price, lots: size } of levels) {
      if (size === 0) this.of(side).delete(price);
      else this.of(side).set(price, size);
    }
    const prevId = this.lastId;
    this.lastId += 1;
    const ids = { firstId: this.lastId, lastId: this.lastId, prevId };
    this.context.emit({ kind: 'depth', ...base, ...ids, levels });
  }

  private forget(order: Order): void {
    const { ref, side, price } = order;
    this.orders.delete(ref);
    const queue = this.queues[side].get(price);
    queue?.delete(order);
    if (queue?.size === 0) this.queues[side].delete(price);
  }

  private namedAt(side: TapeLevel['side'], price: number): number {
    let sum = 0;
    for (const { left } of this.queues[side].get(price) ?? []) sum += left;
    return sum;
  }

  /**
   * Removes the youngest orders of a level until at most `size` remains, as far as the level has
   * orders.
   */
  private cancel(side: TapeLevel['side'], price: number, size: number, base: Base): void {
    let excess = (this.of(side).get(price) ?? 0) - size;
    if (excess <= 0) return;
    for (const { ref, left } of [...(this.queues[side].get(price) ?? [])].reverse()) {
      if (excess <= 0) return;
      const gone = Math.min(excess, left);
      const action = gone === left ? 'remove' : 'reduce';
      this.change(action, ref, side, price, gone);
      const order = { side, priceTicks: priceTicks(price), lots: lots(gone) };
      this.context.emit({ kind: 'order', ...base, action, ref, ...order });
      excess -= gone;
    }
  }

  /** Levels a side in the file, taken from the fuller side. */
  private depth(book: readonly TapeLevel[]): number {
    const bids = book.filter(({ side }) => side === 'bid').length;
    return Math.max(bids, book.length - bids);
  }

  private of(side: TapeLevel['side']): Map<number, number> {
    return side === 'bid' ? this.bids : this.asks;
  }

  private timeOf(text: string | undefined): TimeUs {
    const match = /^([0-9]{1,6})(?:\.([0-9]{1,12}))?$/.exec(text ?? '');
    if (match === null)
      throw new TapeError(`\`time\` ${shown(text)} is not seconds after midnight`);
    const [, seconds = '', fraction = ''] = match;
    return timeUs(
      this.midnightUs + Number(seconds) * 1e6 + Number(fraction.padEnd(6, '0').slice(0, 6)),
    );
  }
}

interface Base {
  readonly timeUs: TimeUs;
  readonly localUs: TimeUs;
  readonly line: number;
}

/** A price of the file, which is dollars × 10,000, as decimal text. */
function dollars(text: string | undefined, field: string): string {
  const digits = /^[0-9]{1,10}$/.exec(text ?? '')?.[0].padStart(5, '0');
  if (digits === undefined) throw new TapeError(`\`${field}\` ${shown(text)} is not an integer`);
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`;
}

/**
 * `ask price, ask size, bid price, bid size` per level; an empty level has the price ±9999999999.
 */
function bookLevels(fields: readonly string[], numbers: NumberReader): TapeLevel[] {
  if (fields.length < 4 || fields.length % 4 !== 0) {
    throw new TapeError(`${String(fields.length)} fields of the order book; a level has 4`);
  }
  const bids: TapeLevel[] = [];
  const asks: TapeLevel[] = [];
  for (let i = 0; i < fields.length; i += 2) {
    const side = i % 4 === 0 ? ('ask' as const) : ('bid' as const);
    const name = `${side} ${String(Math.floor(i / 4) + 1)}`;
    const size = numbers.size(fields[i + 1], `${name} size`);
    if (Math.abs(Number(fields[i])) === NOTHING || size === 0) continue;
    const price = numbers.price(dollars(fields[i], `${name} price`), `${name} price`);
    (side === 'bid' ? bids : asks).push({ side, priceTicks: price, lots: size });
  }
  return [...bids, ...asks];
}
