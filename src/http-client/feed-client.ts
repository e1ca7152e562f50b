/**
 * Feeds as async iterators over one WebSocket connection, and orders over the same
 * connection. A lost connection is re-established, with login and subscriptions. Updates missed
 * meanwhile are read over HTTP and delivered in order. After a gap in a book's sequence numbers the
 * client resubscribes, so an iterator yields a snapshot followed by contiguous deltas.
 */
import { WebSocket } from 'ws';
import { FEEDS, type FeedSource } from '../contract/feeds.ts';
import type { RequestOf, ResponseOf } from '../contract/endpoints.ts';
import { MatcherError, type MatcherClient } from '../gateway/matcher-client.ts';
import type { UpdateOf } from '../contract/asyncapi.ts';
import { parseExact, stringifyExact } from '../contract/exact-json.ts';
import { allReceived } from './all-received.ts';
import { Feed, FeedError, type FeedListener } from './feed.ts';
import { LastSeen, type FillsSince, type FreshReads } from './repair.ts';
import type { Data } from './same-record.ts';
import type { FeedParams, Unsigned } from './requests.ts';
import { REPLICA_HEADERS } from '../contract/replica-headers.ts';
import { shownSinceMs } from './shown-since.ts';
import { watchPings } from './watch-pings.ts';

export interface FeedOptions {
  /** Example: ws://127.0.0.1:8080/ws */
  readonly url: string;
  /** Bearer token per connection (`true`: the cached one expired); null: public feeds only. */
  readonly bearer: ((fresh: boolean) => Promise<string>) | null;
  /** Reads updates missed during a lost connection; without it they are not delivered. */
  readonly client?: MatcherClient;
  /** Reads fills missed during a lost connection; without it they are not delivered. */
  readonly fillsSince?: FillsSince;
  /** Where replicas answer: reads that show all that was committed before a time. */
  readonly readsSince?: ReadsSince;
  /** Fills in nonces and signatures of orders. */
  readonly sign?: (
    endpoint: 'submitOrder' | 'submitOrders',
    request: Record<string, unknown>,
  ) => Promise<Record<string, unknown>>;
}

/** `sinceMs`: a time of `performance.now()`. */
export type ReadsSince = (sinceMs: number) => FreshReads;

/** Endpoints available over the socket as well as over HTTP. */
type SocketEndpoint = 'submitOrder' | 'submitOrders' | 'cancelOrder' | 'cancelOrders';
type SocketRequest<E extends SocketEndpoint> = E extends 'submitOrder' | 'submitOrders'
  ? Unsigned<E>
  : RequestOf<E>;

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
const HANDSHAKE_MS = 10_000;
/** Time in which a server may answer the end of a connection. */
const CLOSE_MS = 2000;
/** Statuses of a refusal that another attempt would get as well. */
const LASTING: ReadonlySet<number> = new Set([400, 403, 404]);

/** Times are µs. `lingerUs`: time to play on after the first update. */
export interface AdvanceRequest {
  readonly token: string;
  readonly untilUs: number;
  readonly lingerUs?: number;
  readonly pastEnd?: boolean;
}

/** A subscription that the server has ended with its rights. */
interface RevokedFeed {
  readonly source: FeedSource;
  readonly account?: string;
  /** Empty: all. */
  readonly subaccountIndices?: readonly number[];
  readonly reason: string;
}

export class FeedClient {
  /** Gaps in the sequence numbers of books so far; each was repaired by a new snapshot. */
  gaps = 0;
  private readonly options: FeedOptions;
  private readonly feeds = new Set<Feed>();
  private readonly waiting = new Map<number, (answer: Data) => void>();
  /** The connection, once it is open and logged in. */
  private socket: Promise<WebSocket> | null = null;
  /** The last connection that was begun; one before it may close later. */
  private newest: WebSocket | null = null;
  /** Every connection that is open or opening. */
  private readonly connections = new Set<WebSocket>();
  private reconnecting = false;
  private lostMs: number | null = null;
  /** The same as a time of `performance.now()`. */
  private lostHereMs = 0;
  /** True if the connection is one with a follower, which may be behind what is read. */
  private isFollower = false;
  /** All that was delivered was committed before this time of `performance.now()`. */
  private deliveredMs = -Infinity;
  private nextId = 0;
  private closed = false;
  private noticed: (method: string, params: Data) => void = () => undefined;
  /** The connection that moves a replay. */
  private driving: WebSocket | null = null;

  constructor(options: FeedOptions) {
    this.options = options;
  }

  /**
   * When the connection was lost, in ms of this computer; null while there is one and all missed
   * updates are delivered.
   */
  get lostSinceMs(): number | null {
    return this.lostMs;
  }

  /**
   * Subscribes; the first `next` waits for the first update. Rejects if the server refuses.
   * `onResumed` is called after a lost connection, when the iterator has given the updates before
   * it. Without it an iterator rejects with `FeedError` where fills, trades or orders may be
   * missing.
   */
  async subscribe<S extends FeedSource>(
    source: S,
    params: FeedParams = {},
    consumer: Pick<FeedListener, 'onResumed'> = {},
  ): Promise<AsyncIterableIterator<UpdateOf<S>>> {
    if (!Object.hasOwn(FEEDS, source)) {
      throw new FeedError(`feed '${source}': must be one of ${Object.keys(FEEDS).join(', ')}`);
    }
    const feed = new Feed(source, params, consumer, (ended) => {
      if (this.feeds.delete(ended) && !this.closed && this.socket !== null) {
        void this.ask('unsubscribe', { source, ...requestOf(ended) }).catch(() => undefined);
      }
    });
    this.feeds.add(feed);
    try {
      const { client, readsSince } = this.options;
      let unread: Error | null = null;
      if (client !== undefined) {
        const reads: Partial<FreshReads> = readsSince?.(-Infinity) ?? this.options;
        const beganMs = await (reads.timeMs?.() ?? timeOf(client));
        feed.lastSeen = new LastSeen(beganMs);
        unread = await feed.lastSeen.before(source, params, reads).then(
          () => null,
          (error: unknown) => error as Error,
        );
      }
      // A refusal has the message of the subscription, not that of a read.
      await this.ask('subscribe', { source, ...requestOf(feed) });
      feed.established = true;
      if (unread !== null) throw unread;
      if (client !== undefined) await feed.lastSeen?.begin(source, params, client);
    } catch (error) {
      if (feed.established) feed.end('done');
      this.feeds.delete(feed);
      throw error;
    }
    // The feed table defines the payload types; tests validate every update against its schema.
    return feed as AsyncIterableIterator<Data> as AsyncIterableIterator<UpdateOf<S>>;
  }

  /** Like `subscribe`, with a callback per update, in the server's order across sources. */
  async listen<S extends FeedSource>(
    source: S,
    params: FeedParams,
    listener: FeedListener<UpdateOf<S>>,
  ): Promise<void> {
    const feed = await this.subscribe(source, params, listener);
    (feed as unknown as Feed).listen(listener as FeedListener);
  }

  /**
   * Places or cancels over the socket; fills in nonces and signatures as over HTTP. Rejects with
   * `MatcherError` on a refusal and with `FeedError` if the connection is lost. In the latter case
   * the order may have been placed: query its clientId.
   */
  async send<E extends SocketEndpoint>(
    endpoint: E,
    request: SocketRequest<E>,
  ): Promise<ResponseOf<E>> {
    const { sign } = this.options;
    const places = endpoint === 'submitOrder' || endpoint === 'submitOrders';
    const fields = request as Record<string, unknown>;
    const body = places && sign !== undefined ? await sign(endpoint, fields) : fields;
    const params = endpoint === 'submitOrders' ? { ...body, type: 'batchOrders' } : body;
    try {
      return (await this.ask(places ? 'create' : 'cancel', params)) as ResponseOf<E>;
    } catch (error) {
      if (!(error instanceof FeedError) || error.status === null) throw error;
      throw new MatcherError(endpoint, error.status, error.message);
    }
  }

  /**
   * Moves a replay on a virtual clock (`orrery serve --replay`) and resolves with the time that it
   * reached, after the updates up to it. Times are µs; see docs/API.md. Rejects with `FeedError`,
   * also after a lost connection: updates may be missing then.
   */
  async advance(
    request: AdvanceRequest,
  ): Promise<{ timeUs: number; ended: boolean; orders: number }> {
    const socket = await (this.socket ??= this.connect());
    this.driving ??= socket;
    if (this.driving !== socket) throw new FeedError('connection lost');
    const answer = await this.askOn(socket, 'advance', request);
    return answer as { timeUs: number; ended: boolean; orders: number };
  }

  /** Logs in with a new token, before the current one expires. */
  async renewToken(): Promise<void> {
    const { bearer } = this.options;
    if (bearer !== null) await this.ask('auth', { bearer: await bearer(true) });
  }

  /** Receives the notifications of a replay, in the order of the updates. */
  onNotice(listener: (method: string, params: Data) => void): void {
    this.noticed = listener;
  }

  /** Ends all feeds; requests that have no response yet reject, as do later ones. */
  async close(): Promise<void> {
    this.closed = true;
    for (const feed of this.feeds) feed.end('done');
    for (const socket of this.connections) {
      socket.close();
      // A server that does not answer would hold the process for 30 s.
      const cut = setTimeout(() => {
        socket.terminate();
      }, CLOSE_MS);
      socket.once('close', () => {
        clearTimeout(cut);
      });
    }
    await this.socket?.catch(() => null);
  }

  private async ask(method: string, params: unknown): Promise<unknown> {
    this.socket ??= this.connect();
    return this.askOn(await this.socket, method, params);
  }

  private askOn(socket: WebSocket, method: string, params: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (socket.readyState !== socket.OPEN) {
        reject(new FeedError('connection lost'));
        return;
      }
      this.nextId += 1;
      const id = this.nextId;
      const onClose = (): void => {
        this.waiting.delete(id);
        reject(new FeedError('connection lost'));
      };
      socket.once('close', onClose);
      this.waiting.set(id, ({ result, error }) => {
        socket.off('close', onClose);
        if (error === undefined) resolve(result);
        else {
          const { message, data } = error as {
            readonly message: string;
            readonly data?: { readonly status: number };
          };
          reject(new FeedError(message, data?.status ?? 400));
        }
      });
      socket.send(stringifyExact({ jsonrpc: '2.0', id, method, params }));
    });
  }

  private async connect(): Promise<WebSocket> {
    if (this.closed) throw new FeedError('this client is closed');
    const socket = new WebSocket(this.options.url, { handshakeTimeout: HANDSHAKE_MS });
    this.newest = socket;
    this.connections.add(socket);
    socket.once('close', () => {
      this.connections.delete(socket);
    });
    const sentMs = performance.now();
    let shownMs = sentMs;
    socket.once('upgrade', ({ headers }) => {
      shownMs = shownSinceMs(sentMs, headers[REPLICA_HEADERS.lag]);
      this.isFollower = headers[REPLICA_HEADERS.role] === 'follower';
    });
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', (error) => {
        this.socket = null;
        reject(new FeedError(`${this.options.url}: ${error.message}`));
      });
    });
    socket.on('error', () => undefined);
    // It would repeat updates that another replica has sent.
    if (shownMs < this.deliveredMs) {
      this.socket = null;
      socket.close();
      throw new FeedError(`${this.options.url}: this replica is behind the one before`);
    }
    socket.on('message', (data: Buffer) => {
      this.take(socket, parseExact(data.toString('utf8')) as Data);
    });
    watchPings(socket);
    socket.once('close', () => {
      if (this.newest !== socket) return;
      this.socket = null;
      if (this.closed || this.feeds.size === 0) return;
      this.deliveredMs = performance.now();
      if (this.lostMs === null) this.lostHereMs = this.deliveredMs;
      this.lostMs ??= Date.now();
      void this.reconnect();
    });
    try {
      await this.logIn(socket);
    } catch (error) {
      socket.close();
      throw error;
    }
    return socket;
  }

  /** Logs in with the cached token, or with a new one if it has expired. */
  private async logIn(socket: WebSocket): Promise<void> {
    const { bearer } = this.options;
    if (bearer === null) return;
    try {
      await this.askOn(socket, 'auth', { bearer: await bearer(false) });
    } catch (error) {
      if (!(error instanceof FeedError) || error.status !== 401) throw error;
      await this.askOn(socket, 'auth', { bearer: await bearer(true) });
    }
  }

  /** Retries until connected, then resubscribes and delivers missed updates. */
  private async reconnect(): Promise<void> {
    if (this.reconnecting) return;
    this.reconnecting = true;
    let pauseMs = FIRST_PAUSE_MS;
    for (; !this.closed && this.reconnecting; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
      const waitMs = pauseMs;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      let socket: WebSocket | null = null;
      const opening = (this.socket ??= this.connect());
      try {
        socket = await opening;
        const feeds = [...this.feeds].filter(({ established }) => established);
        for (const feed of feeds) await this.repeat(socket, feed);
        // What is read has all that the socket does not send.
        const reads = this.options.readsSince?.(performance.now()) ?? this.options;
        const missed = new Map<Feed, readonly Data[]>();
        for (const feed of feeds) {
          if (this.feeds.has(feed)) missed.set(feed, await this.missedBy(feed, reads));
        }
        await allReceived(socket, HANDSHAKE_MS);
        for (const [feed, updates] of missed) {
          if (this.feeds.has(feed)) feed.catchUp(updates, this.isFollower);
        }
        this.reconnecting = socket.readyState !== socket.OPEN;
        if (!this.reconnecting) this.reportLoss(feeds);
      } catch (error) {
        socket?.terminate();
        // A request may have begun another one meanwhile.
        if (this.socket === opening) this.socket = null;
        if (isRefusedLogin(error)) this.endRefused(error);
      }
    }
    this.reconnecting = false;
  }

  /** The wallet may act for the account no more, and without a login there is no connection. */
  private endRefused({ status, message }: MatcherError): void {
    for (const feed of this.feeds) {
      if (feed.established) feed.end(new FeedError(`login: ${message}`, status));
    }
    this.reconnecting = false;
    this.lostMs = null;
  }

  private reportLoss(feeds: readonly Feed[]): void {
    const { lostMs } = this;
    this.lostMs = null;
    if (lostMs === null) return;
    const resumedMs = Date.now();
    for (const feed of feeds) feed.resume(lostMs, resumedMs);
  }

  /** Subscribes again. A refusal ends this feed; the others go on. */
  private async repeat(socket: WebSocket, feed: Feed): Promise<void> {
    if (!this.feeds.has(feed)) return;
    feed.sequences.clear();
    feed.hold();
    try {
      await this.askOn(socket, 'subscribe', { source: feed.source, ...requestOf(feed) });
    } catch (error) {
      if (!(error instanceof FeedError) || !LASTING.has(error.status ?? 0)) throw error;
      this.feeds.delete(feed);
      feed.end(error);
    }
  }

  private async missedBy(feed: Feed, reads: Partial<FreshReads>): Promise<readonly Data[]> {
    const { client, fillsSince } = reads;
    if (client === undefined || feed.lastSeen === null) return [];
    feed.lastSeen.lostHereMs = this.lostMs === null ? performance.now() : this.lostHereMs;
    return feed.lastSeen.missed(feed.source, feed.params, client, fillsSince);
  }

  private take(socket: WebSocket, message: Data): void {
    const { id, type, data } = message;
    if (typeof id === 'number') {
      const answer = this.waiting.get(id);
      this.waiting.delete(id);
      answer?.(message);
      return;
    }
    if (typeof message['method'] === 'string' && message['method'] !== 'unsubscribed') {
      this.noticed(message['method'], message['params'] as Data);
      return;
    }
    if (message['method'] === 'unsubscribed') {
      this.endRevoked(message['params'] as RevokedFeed);
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

  private endRevoked({ source, account, subaccountIndices, reason }: RevokedFeed): void {
    const indices = keyOf(subaccountIndices);
    for (const feed of this.feeds) {
      const { params } = feed;
      const isOther =
        params.account?.toLowerCase() !== account || keyOf(params.subaccountIndices) !== indices;
      // A server of an earlier release names no account.
      if (feed.source !== source || (account !== undefined && isOther)) continue;
      this.feeds.delete(feed);
      feed.end(new FeedError(reason));
    }
  }

  /** True if this book update follows the last one; otherwise resubscribes to the book. */
  private follows(socket: WebSocket, feed: Feed, book: Data): boolean {
    const symbol = String(book['symbol']);
    const last = feed.sequences.get(symbol);
    // The first update of another subscription to this book.
    if (book['snapshot'] === true && last === book['sequence_number']) return false;
    if (book['snapshot'] === true || last === book['previous_sequence_number']) {
      feed.sequences.set(symbol, book['sequence_number']);
      return true;
    }
    // No snapshot yet; the subscription will deliver one.
    if (last === undefined) return false;
    this.gaps += 1;
    feed.sequences.delete(symbol);
    const params = { source: feed.source, ...requestOf(feed) };
    void this.askOn(socket, 'unsubscribe', params)
      .then(() => this.askOn(socket, 'subscribe', params))
      .catch(() => socket.close());
    return false;
  }
}

const timeOf = async (client: MatcherClient): Promise<number> =>
  (await client.call('getTime', {})).time;

const isRefusedLogin = (error: unknown): error is MatcherError =>
  error instanceof MatcherError && error.endpoint === 'postAuth' && LASTING.has(error.status);

/** Of the same subaccounts in any order. */
function keyOf(indices: readonly number[] = []): string {
  return [...new Set(indices)].sort((a, b) => a - b).join();
}

function requestOf({ source, params }: Feed): Record<string, unknown> {
  if (FEEDS[source].access === 'public') return { symbols: params.symbols ?? [] };
  return { account: params.account, subaccountIndices: params.subaccountIndices ?? [] };
}
