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

/** Books that are asked for between two subscriptions of one who joins. */
const JOIN_EVERY = 5;

export class BookFeeds {
  private readonly client: FeedClient;
  private readonly newClient: () => FeedClient;
  /** One who joined last, beside the first subscriber. */
  private joined: BookFeeds | null = null;
  private asked = 0;
  private readonly books = new Map<string, KnownBook>();
  private found: string | null = null;

  private constructor(newClient: () => FeedClient) {
    this.newClient = newClient;
    this.client = newClient();
  }

  /** Subscribes to all markets. Rejects if the host has no such feed. */
  static async open(newClient: () => FeedClient): Promise<BookFeeds> {
    const feeds = new BookFeeds(newClient);
    const updates = await feeds.client.subscribe('book', {});
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
    const own = this.found ?? (gaps === 0 ? null : `${String(gaps)} gaps between sequence numbers`);
    return own ?? this.joined?.fault() ?? null;
  }

  /**
   * The book once it satisfies the condition, or as it is at the timeout: that of a subscriber who
   * joined later, if it does not satisfy it there.
   */
  async book(symbol: string, isThere: (book: BookLevels) => boolean): Promise<BookLevels> {
    const until = performance.now() + PATIENCE_MS;
    this.asked += 1;
    if (this.asked % JOIN_EVERY === 0) await this.join();
    for (;;) {
      const book = this.levels(symbol);
      const other = this.joined?.levels(symbol) ?? book;
      const isOne = isThere(book);
      if ((isOne && isThere(other)) || performance.now() > until) return isOne ? other : book;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  /** Another subscriber joins in place of the last one: the first one misses nothing. */
  private async join(): Promise<void> {
    const fault = this.joined?.fault() ?? null;
    await this.joined?.close();
    this.found ??= fault;
    this.joined = await BookFeeds.open(this.newClient).catch((error: unknown) => {
      this.found ??= `another subscriber is refused: ${messageOf(error)}`;
      return null;
    });
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

  async close(): Promise<void> {
    await this.joined?.close();
    await this.client.close();
  }
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

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
