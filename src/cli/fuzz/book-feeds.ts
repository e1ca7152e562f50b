/** The books of a host as its feed tells them: snapshots, and the deltas that change them. */
import type { BookLevels } from '../../fuzz/twin/twin-host.ts';
import type { FeedClient } from '../../http-client/feed-client.ts';

/** How long a feed may take to tell what has happened. */
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

  /** All markets from now on. Rejects when the host has no such feed. */
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
      // The connection is over: what was told until then stands.
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

  /** The book once it is as asked for, or as it is when that has not come in time. */
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
