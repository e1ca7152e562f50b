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
}

export class BookFeeds {
  private readonly client: FeedClient;
  private readonly books = new Map<
    string,
    { bids: Map<string, string>; asks: Map<string, string> }
  >();

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

  private take({ symbol, snapshot, bids, asks }: Message): void {
    const known = snapshot ? undefined : this.books.get(symbol);
    const book = known ?? { bids: new Map<string, string>(), asks: new Map<string, string>() };
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
