/**
 * Feeds as async iterators over one connection. A connection that is lost is made again, with login and subscriptions; a book that
 * misses an update is asked for anew, so its iterator always yields a snapshot and then deltas without a gap.
 */
import { WebSocket } from 'ws';
import { FEEDS, type FeedSource } from '../../contract/feeds.ts';
import { parseExact, stringifyExact } from '../exact-json.ts';

export interface FeedParams {
  /** Of public sources; none means all markets. */
  readonly symbols?: readonly string[];
  /** Of private sources. */
  readonly account?: string;
  /** None means all, for the owner. */
  readonly subaccountIndices?: readonly number[];
}

export interface FeedOptions {
  /** Such as ws://127.0.0.1:8080/ws */
  readonly url: string;
  /** Asked at each connection that has private subscriptions. */
  readonly bearer: (() => Promise<string>) | null;
}

type Data = Readonly<Record<string, unknown>>;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
/** Updates that nobody takes; more is an error of who should. */
const MAX_QUEUE = 100_000;

class FeedError extends Error {
  override readonly name = 'FeedError';
}

/** One subscription and who takes its updates. */
class Feed implements AsyncIterableIterator<Data> {
  readonly source: FeedSource;
  readonly params: FeedParams;
  /** Last sequence number of each book; undefined until its snapshot. */
  readonly sequences = new Map<string, unknown>();
  private readonly queue: Data[] = [];
  private taker: {
    resolve: (result: IteratorResult<Data>) => void;
    reject: (error: Error) => void;
  } | null = null;
  private ended: Error | 'done' | null = null;
  private readonly onReturn: (feed: Feed) => void;

  constructor(source: FeedSource, params: FeedParams, onReturn: (feed: Feed) => void) {
    this.source = source;
    this.params = params;
    this.onReturn = onReturn;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Data>> {
    const data = this.queue.shift();
    if (data !== undefined) return Promise.resolve({ done: false, value: data });
    if (this.ended === 'done') return Promise.resolve({ done: true, value: undefined });
    if (this.ended !== null) return Promise.reject(this.ended);
    return new Promise((resolve, reject) => {
      this.taker = { resolve, reject };
    });
  }

  return(): Promise<IteratorResult<Data>> {
    this.end('done');
    this.onReturn(this);
    return Promise.resolve({ done: true, value: undefined });
  }

  push(data: Data): void {
    if (this.ended !== null) return;
    if (this.taker !== null) {
      const { resolve } = this.taker;
      this.taker = null;
      resolve({ done: false, value: data });
    } else if (this.queue.length < MAX_QUEUE) this.queue.push(data);
    else this.end(new FeedError(`more than ${String(MAX_QUEUE)} updates of ${this.source} wait`));
  }

  end(how: Error | 'done'): void {
    this.ended ??= how;
    const { taker } = this;
    this.taker = null;
    if (taker === null) return;
    if (how === 'done') taker.resolve({ done: true, value: undefined });
    else taker.reject(how);
  }

  /** Whether an update of this source is about what this subscription names. */
  wants(data: Data): boolean {
    const { symbols, account, subaccountIndices } = this.params;
    if (FEEDS[this.source].access === 'private') {
      const index = data['subaccountIndex'] as number;
      if (data['account'] !== account?.toLowerCase()) return false;
      return !subaccountIndices?.length || subaccountIndices.includes(index);
    }
    return !symbols?.length || symbols.includes(String(data['symbol']));
  }
}

export class FeedClient {
  private readonly options: FeedOptions;
  private readonly feeds = new Set<Feed>();
  private readonly waiting = new Map<number, (answer: Data) => void>();
  private socket: Promise<WebSocket> | null = null;
  private nextId = 0;
  private closed = false;

  constructor(options: FeedOptions) {
    this.options = options;
  }

  /** Subscribes; the iterator's first `next` waits for the first update. Rejects when the server refuses. */
  async subscribe(
    source: FeedSource,
    params: FeedParams = {},
  ): Promise<AsyncIterableIterator<Data>> {
    const feed = new Feed(source, params, (ended) => {
      if (this.feeds.delete(ended) && !this.closed) {
        void this.ask('unsubscribe', { source, ...requestOf(ended) }).catch(() => undefined);
      }
    });
    this.feeds.add(feed);
    try {
      await this.ask('subscribe', { source, ...requestOf(feed) });
    } catch (error) {
      this.feeds.delete(feed);
      throw error;
    }
    return feed;
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const feed of this.feeds) feed.end('done');
    const socket = await this.socket?.catch(() => null);
    socket?.close();
  }

  private async ask(method: string, params: unknown): Promise<unknown> {
    this.socket ??= this.connect();
    return this.askOn(await this.socket, method, params);
  }

  private askOn(socket: WebSocket, method: string, params: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.nextId += 1;
      const id = this.nextId;
      const onClose = (): void => {
        this.waiting.delete(id);
        reject(new FeedError('the connection was lost'));
      };
      socket.once('close', onClose);
      this.waiting.set(id, ({ result, error }) => {
        socket.off('close', onClose);
        if (error === undefined) resolve(result);
        else reject(new FeedError((error as { readonly message: string }).message));
      });
      socket.send(stringifyExact({ jsonrpc: '2.0', id, method, params }));
    });
  }

  private async connect(): Promise<WebSocket> {
    const socket = new WebSocket(this.options.url);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', (error) => {
        this.socket = null;
        reject(new FeedError(`${this.options.url}: ${error.message}`));
      });
    });
    socket.on('error', () => undefined);
    socket.on('message', (data: Buffer) => {
      this.take(socket, parseExact(data.toString('utf8')) as Data);
    });
    socket.once('close', () => {
      this.socket = null;
      if (!this.closed && this.feeds.size > 0) void this.reconnect();
    });
    const { bearer } = this.options;
    if (bearer !== null) await this.askOn(socket, 'auth', { bearer: await bearer() });
    return socket;
  }

  /** Until it works: a new connection with every subscription. */
  private async reconnect(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    for (; !this.closed; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
      const waitMs = pauseMs;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      try {
        this.socket ??= this.connect();
        const socket = await this.socket;
        for (const feed of this.feeds) {
          feed.sequences.clear();
          await this.askOn(socket, 'subscribe', { source: feed.source, ...requestOf(feed) });
        }
        return;
      } catch {
        this.socket = null;
      }
    }
  }

  private take(socket: WebSocket, message: Data): void {
    const { id, type, data } = message;
    if (typeof id === 'number') {
      const answer = this.waiting.get(id);
      this.waiting.delete(id);
      answer?.(message);
      return;
    }
    if (message['method'] === 'unsubscribed') {
      const { source, reason } = message['params'] as { source: FeedSource; reason: string };
      for (const feed of this.feeds) {
        if (feed.source === source) feed.end(new FeedError(reason));
      }
      return;
    }
    const items = (Array.isArray(data) ? data : [data]) as readonly Data[];
    for (const feed of this.feeds) {
      if (FEEDS[feed.source].update !== type) continue;
      for (const item of items) {
        if (!feed.wants(item)) continue;
        if (feed.source !== 'book' || this.follows(socket, feed, item)) feed.push(item);
      }
    }
  }

  /** Whether this update of a book goes on from the last one; if not, the book is asked for anew. */
  private follows(socket: WebSocket, feed: Feed, book: Data): boolean {
    const symbol = String(book['symbol']);
    const last = feed.sequences.get(symbol);
    if (book['snapshot'] === true || last === book['previous_sequence_number']) {
      feed.sequences.set(symbol, book['sequence_number']);
      return true;
    }
    // Without a snapshot yet there is nothing to go on from; one is on its way.
    if (last === undefined) return false;
    feed.sequences.delete(symbol);
    const params = { source: feed.source, ...requestOf(feed) };
    void this.askOn(socket, 'unsubscribe', params)
      .then(() => this.askOn(socket, 'subscribe', params))
      .catch(() => socket.close());
    return false;
  }
}

function requestOf({ source, params }: Feed): Record<string, unknown> {
  if (FEEDS[source].access === 'public') return { symbols: params.symbols ?? [] };
  return { account: params.account, subaccountIndices: params.subaccountIndices ?? [] };
}
