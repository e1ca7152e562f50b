/** Books of a host from its feed: snapshots and deltas. */
import type { BookLevels } from '../../fuzz/twin/twin-host.ts';
import type { FeedClient } from '../../http-client/feed-client.ts';

/** Max time for a feed to deliver past events. */
const PATIENCE_MS = 3000;
const LOOK_MS = 5;

interface Message {
  readonly symbol: string;
  readonly snapshot: boolean;
  readonly bids: BookLevels['bids'];
  readonly asks: BookLevels['asks'];
  readonly sequence_number: number;
  readonly time: number;
}

interface KnownBook {
  readonly bids: Map<string, string>;
  readonly asks: Map<string, string>;
  seq: number;
  time: number;
}

export class BookFeeds {
  private readonly client: FeedClient;
  private readonly books = new Map<string, KnownBook>();
  private found: string | null = null;

  private constructor(client: FeedClient) {
    this.client = client;
  }

  /** Subscribes to all markets. Rejects if the host has no such feed. */
  static async open(client: FeedClient): Promise<BookFeeds> {
    const feeds = new BookFeeds(client);
    const updates = await client.subscribe('book', {});
    void feeds.follow(updates as AsyncIterable<unknown>);
    return feeds;
  }

  private async follow(updates: AsyncIterable<unknown>): Promise<void> {
    try {
      for await (const update of updates) this.take(update as Message);
    } catch {
      // The connection is closed: the last state stays.
    }
  }

  private take(message: Message): void {
    const { symbol, snapshot, bids, asks, sequence_number: seq, time } = message;
    const last = this.books.get(symbol);
    if (last !== undefined) this.found ??= faultOf(message, last);
    const known = snapshot ? undefined : last;
    const book = known ?? { bids: new Map(), asks: new Map(), seq, time };
    book.seq = seq;
    book.time = time;
    this.books.set(symbol, book);
    for (const [levels, changes] of [
      [book.bids, bids],
      [book.asks, asks],
    ] as const) {
      for (const { price, quantity } of changes) {
        if (quantity === '0') levels.delete(price);
        else levels.set(price, quantity);
      }
    }
  }

  /** The first message that does not follow the one before it; null: none so far. */
  fault(): string | null {
    const { gaps } = this.client;
    return this.found ?? (gaps === 0 ? null : `${String(gaps)} gaps between sequence numbers`);
  }

  /** The book once it satisfies the condition, or as it is at the timeout. */
  async book(symbol: string, isThere: (book: BookLevels) => boolean): Promise<BookLevels> {
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      const book = this.levels(symbol);
      if (isThere(book) || performance.now() > until) return book;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  private levels(symbol: string): BookLevels {
    const book = this.books.get(symbol);
    const sorted = (levels: ReadonlyMap<string, string>, side: 1 | -1): BookLevels['bids'] =>
      [...levels]
        .map(([price, quantity]) => ({ price, quantity }))
        .sort((a, b) => side * (Number(b.price) - Number(a.price)));
    return {
      bids: sorted(book?.bids ?? new Map<string, string>(), 1),
      asks: sorted(book?.asks ?? new Map<string, string>(), -1),
    };
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

/** What is wrong with a message after the last one of its market. */
function faultOf(message: Message, last: KnownBook): string | null {
  const { symbol, snapshot, bids, asks, sequence_number: seq, time } = message;
  if (snapshot ? seq < last.seq : seq <= last.seq) {
    return `${symbol}: sequence number ${String(seq)} after ${String(last.seq)}`;
  }
  if (time < last.time) return `${symbol}: time ${String(time)} after ${String(last.time)}`;
  if (snapshot) return null;
  if (bids.length + asks.length === 0) return `${symbol}: a delta without a level`;
  for (const [levels, changes] of [
    [last.bids, bids],
    [last.asks, asks],
  ] as const) {
    for (const { price, quantity } of changes) {
      if ((levels.get(price) ?? '0') !== quantity) continue;
      return `${symbol}: a delta with ${quantity} at ${price}, as before`;
    }
  }
  return null;
}
