/**
 * One WebSocket client: JSON-RPC 2.0. Requests run in the order of arrival and are
 * answered on completion; each answer carries its arrival and send times. A slow client loses book
 * deltas and gets a snapshot instead; a client that does not read is closed. Every message counts
 * against the caller's limits before it is parsed; a client that repeats refused ones is closed.
 */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { FEEDS, MAX_SUBSCRIPTIONS } from '../../contract/feeds.ts';
import { invalidField, MESSAGES } from '../../contract/messages.ts';
import { rightsOf } from '../../gateway/authorise.ts';
import type { Caller } from '../../gateway/context.ts';
import { Fields } from '../../gateway/fields.ts';
import { RequestError } from '../../gateway/request-error.ts';
import type { MarketId } from '../../num/units.ts';
import { BATCH_BODY, SMALL_BODY } from '../../contract/body-limits.ts';
import { stringifyExact } from '../../contract/exact-json.ts';
import { tooManyRequests, type Admission } from '../admission.ts';
import { expectedParseMs, expectedReplyMs, expectedRequestMs } from '../expected-cost.ts';
import { isLarge, type FairQueue, type WorkCaller } from '../fair-queue.ts';
import type { Faults } from '../injected-faults.ts';
import type { Host } from '../exchange-host.ts';
import type { Metrics } from '../server-metrics.ts';
import { noReplay } from '../replay.ts';
import { callerOfAddress } from '../rate-limit.ts';
import type { WalletAuth } from '../wallet-auth.ts';
import { CLOSE_TOO_LARGE, closeWithin } from './close-within.ts';
import { FrameGate } from './frame-gate.ts';
import type { FrameTurns } from './frame-turns.ts';
import { MessageLimits } from './message-limits.ts';
import { errorOf, methodOf, type Method } from './rpc-error.ts';
import type { Publisher } from './publisher.ts';
import { notText, nowUs, readRequest, type RpcRequest } from './rpc-request.ts';
import { readSubscription, type PrivateSubscription, type Subscription } from './subscription.ts';
import type { Held, Watcher } from './watcher.ts';

/** Unsent bytes beyond which book deltas are dropped (slow) or the connection is closed (dead). */
export const SLOW_BYTES = 1 << 20;
const DEAD_BYTES = 8 << 20;
/** Max pending requests; beyond it the socket is not read until some are answered. */
const MAX_WAITING = 100;
/** Application close codes: invalid token, and a client that does not read. */
export const CLOSE_TOKEN = 4401;
export const CLOSE_SLOW = 4408;
const CLOSE_WAIT_MS = 1000;
/** Time for a client that reads again to reach the close frame behind its unread data. */
const SLOW_CLOSE_WAIT_MS = 10_000;
/** Expected cost of an answer from which it waits for its turn. */
const QUEUED_REPLY_MS = 0.05;

export interface ConnectionServices {
  readonly host: Host;
  readonly auth: WalletAuth;
  readonly publisher: Publisher;
  readonly faults: Faults;
  readonly metrics: Pick<Metrics, 'answered'>;
  /** null: without limits. */
  readonly admission: Admission | null;
  readonly queue: FairQueue;
  /** Of all connections; by default each has its own. */
  readonly frameTurns?: FrameTurns;
  readonly simToken: string | null;
  /** Reports an internal error of a valid request. */
  readonly onError: (error: unknown) => void;
}

export class Connection implements Watcher {
  private readonly socket: WebSocket;
  private readonly stream: Duplex;
  private readonly services: ConnectionServices;
  private readonly address: string;
  private caller: Caller | null = null;
  private bearer = '';
  /** Secrets by which the bearer was verified. */
  private generation = 0;
  private expiresUs = Infinity;
  private readonly held = new Map<string, Held>();
  /** Markets whose deltas were dropped. */
  private readonly behind = new Set<MarketId>();
  /** Login in progress; later messages wait for it. */
  private login: Promise<unknown> | null = null;
  /** Last request that waits for signer recovery; later requests keep their order behind it. */
  private turn: Promise<unknown> | null = null;
  private waitingCount = 0;
  /** Unsent bytes before the updates in progress, which show nothing of the client's speed. */
  private backlogBefore = 0;
  private readonly limits: MessageLimits;
  readonly gate: FrameGate;

  /** `stream`: the underlying stream of the socket. */
  constructor(socket: WebSocket, stream: Duplex, services: ConnectionServices, address: string) {
    this.socket = socket;
    this.stream = stream;
    this.services = services;
    this.address = address;
    this.limits = new MessageLimits(socket, services.admission);
    const rules = {
      maxBytes: () => this.maxBytes,
      delayOf: (bytes: number) => this.limits.delayOf(bytes),
      refuse: () => {
        this.refuseLarge();
      },
    };
    this.gate = new FrameGate(stream, rules, services.frameTurns);
    services.publisher.watch(this);
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      // Messages of the last read follow a close.
      if (socket.readyState !== socket.OPEN) return;
      const usIn = nowUs();
      this.waitingCount += 1;
      if (this.waitingCount === MAX_WAITING) this.gate.hold();
      void this.take(data, isBinary, usIn).then(() => {
        if (this.waitingCount === MAX_WAITING) this.gate.release();
        this.waitingCount -= 1;
      });
    });
    socket.on('close', () => {
      services.publisher.unwatch(this);
    });
    socket.on('error', () => {
      socket.terminate();
    });
  }

  /** A private subscription ends with its rights, the connection with its token (R-9.5a, R-9.6). */
  allows(subscription: Subscription): boolean {
    if (subscription.access === 'public') return true;
    if (!this.holdsToken()) {
      this.recheck();
      return false;
    }
    if (this.mayRead(subscription)) return true;
    this.end(subscription);
    return false;
  }

  /** Closes the connection of an invalid token, and ends subscriptions without rights. */
  recheck(): void {
    if (this.caller === null) return;
    if (!this.holdsToken()) {
      this.rejectToken();
      return;
    }
    if (this.generation !== this.services.auth.generation) void this.verifyAgain();
    for (const { subscription } of [...this.held.values()]) {
      if (subscription.access === 'private' && !this.mayRead(subscription)) this.end(subscription);
    }
  }

  private rejectToken(): void {
    this.socket.close(CLOSE_TOKEN, MESSAGES.invalidToken.message);
  }

  /** The secrets have changed; the one of this token may be gone. */
  private async verifyAgain(): Promise<void> {
    const { auth } = this.services;
    const { bearer } = this;
    this.generation = auth.generation;
    await auth.verify(bearer).catch(() => {
      if (this.bearer === bearer) this.rejectToken();
    });
  }

  /** Of a message; those behind a login are as large as after it. */
  private get maxBytes(): number {
    return this.caller === null && this.login === null ? SMALL_BODY.bytes : BATCH_BODY.bytes;
  }

  /** Answers a message that is too large before its bytes, and closes (1009). */
  private refuseLarge(): void {
    const { socket } = this;
    const error = errorOf(new RequestError(MESSAGES.bodyTooLarge));
    this.reply({ id: null, error }, nowUs());
    this.isWithinRate(SMALL_BODY.bytes);
    closeWithin(socket, CLOSE_WAIT_MS, CLOSE_TOO_LARGE, MESSAGES.bodyTooLarge.message);
  }

  private end({ source, account, indices, key }: PrivateSubscription): void {
    this.release(key);
    const { message: reason } = MESSAGES.notDelegated;
    this.write({
      jsonrpc: '2.0',
      method: 'unsubscribed',
      params: { source, account, subaccountIndices: indices ?? [], reason },
    });
  }

  private release(key: string): boolean {
    const held = this.held.get(key);
    if (held === undefined) return false;
    this.services.publisher.unsubscribe(held);
    return this.held.delete(key);
  }

  /** True if the token is unexpired and its wallet is still a signer or delegate (R-9.5a). */
  private holdsToken(): boolean {
    const { host } = this.services;
    if (this.caller === null || host.nowUs() >= this.expiresUs) return false;
    return rightsOf({ engine: host.view }, this.caller, this.caller.account).may(null);
  }

  private mayRead({ account, indices }: PrivateSubscription): boolean {
    if (this.caller === null) return false;
    const rights = rightsOf({ engine: this.services.host.view }, this.caller, account);
    if (rights.owner) return true;
    return indices?.every((index) => rights.may(index)) === true;
  }

  send(subscription: Subscription, frames: Buffer): void {
    const { socket, stream } = this;
    if (socket.readyState !== socket.OPEN) return;
    if (stream.writableCorked === 0) {
      this.backlogBefore = socket.bufferedAmount;
      stream.cork();
    }
    if (this.backlogBefore > SLOW_BYTES) {
      if (this.backlogBefore > DEAD_BYTES) {
        this.disconnect();
        return;
      }
      if (subscription.source === 'book') {
        for (const { id } of this.services.host.view.markets()) this.behind.add(id);
        return;
      }
    }
    stream.write(frames);
  }

  flush(): void {
    this.stream.uncork();
  }

  get backlog(): number {
    return this.socket.bufferedAmount;
  }

  /** Closes a client that does not read; the second call frees its unsent messages at once. */
  disconnect(): void {
    const { socket } = this;
    if (socket.readyState !== socket.OPEN) socket.terminate();
    else closeWithin(socket, SLOW_CLOSE_WAIT_MS, CLOSE_SLOW, 'Too slow');
  }

  isBehind(market: MarketId): boolean {
    return this.behind.size > 0 && this.behind.has(market);
  }

  catchesUp(market: MarketId): boolean {
    return this.socket.bufferedAmount <= SLOW_BYTES && this.behind.delete(market);
  }

  /** Requests run on arrival and share a disk sync; answers follow once durable. */
  private async take(data: Buffer, isBinary: boolean, usIn: number): Promise<void> {
    while (this.login !== null) await this.login;
    await this.answer(data, isBinary, usIn);
  }

  private async answer(data: Buffer, isBinary: boolean, usIn: number): Promise<void> {
    let id: unknown = null;
    let method: Method | 'none' = 'none';
    let status = 200;
    let begun: (() => void) | null = null;
    try {
      const isWithinRate = this.isWithinRate(data.length);
      if (isWithinRate === null) return;
      if (!isWithinRate) {
        id = this.idOf(data);
        throw tooManyRequests();
      }
      if (isBinary) throw notText();
      const isLarge = data.length > SMALL_BODY.bytes;
      if (isLarge) begun = await this.turnOf(null);
      const request = isLarge
        ? await this.inQueue(() => this.parse(data), expectedParseMs(data.length))
        : this.parse(data);
      id = request.id;
      const known = methodOf(request.method);
      method = known;
      const ready = this.verifyAhead(method, request.params);
      if (begun !== null) await ready;
      else if (ready !== null || this.turn !== null) begun = await this.turnOf(ready);
      const carried = this.inTurn(known, request.params);
      begun?.();
      const result = await carried;
      await this.answerInTurn({ id, result }, usIn, expectedReplyMs(result));
    } catch (thrown) {
      begun?.();
      const error = errorOf(thrown);
      status = error.data?.status ?? 400;
      if (status === 500) this.services.onError(thrown);
      this.reply({ id, error }, usIn);
      if (status === 401) this.recheck();
    }
    this.services.metrics.answered(`ws ${method}`, status, (nowUs() - usIn) / 1000);
  }

  /** Many batches become durable at once, and each answer of one takes as long as many others. */
  private async answerInTurn(
    answer: Record<string, unknown>,
    usIn: number,
    ms: number,
  ): Promise<void> {
    if (ms < QUEUED_REPLY_MS) this.reply(answer, usIn);
    else {
      await this.inQueue(
        () => {
          this.reply(answer, usIn);
        },
        ms,
        true,
      );
    }
  }

  /** Id of a refused message, if it is small and valid. */
  private idOf(data: Buffer): unknown {
    if (data.length > SMALL_BODY.bytes) return null;
    try {
      return this.parse(data).id;
    } catch {
      return null;
    }
  }

  private parse(data: Buffer): RpcRequest {
    return readRequest(data, this.caller === null ? SMALL_BODY : BATCH_BODY);
  }

  /** Counts a message; null once the connection is closed. */
  private isWithinRate(bytes: number): boolean | null {
    const { caller, limits } = this;
    if (caller === null) return limits.accepts(callerOfAddress(this.address), false, bytes);
    return limits.accepts(caller.account, true, bytes);
  }

  /** Recovers signers only for callers that are logged in. */
  private verifyAhead(method: Method, params: unknown): Promise<unknown> | null {
    if (method !== 'create' || this.caller === null) return null;
    const isBatch = typeof params === 'object' && params !== null && Object.hasOwn(params, 'type');
    return this.services.host.verifyAhead(isBatch ? 'submitOrders' : 'submitOrder', params);
  }

  /** Resolves once `ready` is settled and earlier requests have started; call the result next. */
  private async turnOf(ready: Promise<unknown> | null): Promise<() => void> {
    const { turn } = this;
    let begun = (): void => undefined;
    const own = new Promise<void>((resolve) => {
      begun = resolve;
    });
    this.turn = own;
    await turn;
    await ready;
    while (this.login !== null) await this.login;
    if (this.turn === own) this.turn = null;
    return begun;
  }

  private get work(): WorkCaller {
    return this.caller === null ? this : this.caller.account;
  }

  private async inQueue<T>(work: () => T, ms: number, continues = false): Promise<Awaited<T>> {
    const from = isLarge(ms) ? (this.caller?.account ?? callerOfAddress(this.address)) : this.work;
    return await this.services.queue.run(from, work, ms, continues);
  }

  /** Dispatches in the caller's turn. Messages behind a login wait for it. */
  private inTurn(method: Method, params: unknown): Promise<unknown> {
    const work = (): Promise<unknown> => this.dispatch(method, params);
    const carried = this.inQueue(work, expectedRequestMs(params), true);
    if (method === 'auth') {
      this.login = carried
        .catch(() => undefined)
        .then(() => {
          this.login = null;
        });
    }
    return carried;
  }

  private async dispatch(method: Method, params: unknown): Promise<unknown> {
    switch (method) {
      case 'auth':
        return this.authenticate(params);
      case 'subscribe':
        return this.subscribe(params);
      case 'unsubscribe':
        return this.unsubscribe(params);
      case 'create':
        return this.create(params);
      case 'cancel':
        return this.cancel(params);
      case 'advance':
        return this.advance(params);
    }
  }

  private async authenticate(params: unknown): Promise<unknown> {
    const bearer = new Fields(params, ['bearer'], false).text('bearer');
    const { generation } = this.services.auth;
    const { caller, claims } = await this.services.auth.verify(bearer);
    this.caller = caller;
    this.bearer = bearer;
    this.generation = generation;
    this.expiresUs = claims.exp * 1_000_000;
    if (!this.holdsToken()) throw new RequestError(MESSAGES.invalidToken);
    // The new token may have fewer rights than the previous one.
    this.recheck();
    return claims;
  }

  private read(params: unknown): Subscription {
    const names = ['source', 'symbols', 'account', 'subaccountIndices'];
    return readSubscription(new Fields(params, names, false), this.services.host.view);
  }

  private subscribe(params: unknown): unknown {
    const subscription = this.read(params);
    if (subscription.access === 'private') {
      if (this.caller === null) throw new RequestError(MESSAGES.missingToken);
      if (!this.holdsToken()) throw new RequestError(MESSAGES.invalidToken);
      if (!this.mayRead(subscription)) throw new RequestError(MESSAGES.notDelegated);
    }
    if (this.held.has(subscription.key)) {
      throw new RequestError(invalidField('source', 'is already subscribed with these parameters'));
    }
    if (this.held.size >= MAX_SUBSCRIPTIONS) {
      const max = String(MAX_SUBSCRIPTIONS);
      throw new RequestError(
        invalidField('source', `a connection has at most ${max} subscriptions`),
      );
    }
    this.held.set(subscription.key, this.services.publisher.subscribe(this, subscription));
    return { subscribed: subscription.source, update: FEEDS[subscription.source].update };
  }

  private unsubscribe(params: unknown): unknown {
    const subscription = this.read(params);
    if (!this.release(subscription.key)) {
      throw new RequestError(invalidField('source', 'is not subscribed with these parameters'));
    }
    return { unsubscribed: subscription.source };
  }

  /** One order, or `{type: "batchOrders", orders}`. */
  private create(params: unknown): Promise<unknown> {
    const batch = (params as { readonly type?: unknown }).type;
    if (batch === undefined) return this.call('submitOrder', params);
    const fields = new Fields(params, ['type', 'orders'], false);
    if (batch !== 'batchOrders')
      fields.fail('type', 'must be batchOrders, or absent for one order');
    return this.call('submitOrders', { orders: fields.get('orders') });
  }

  /** By `orderId`, or by `clientId` and `account`; several by `orderIds` and `clientIds`. */
  private cancel(params: unknown): Promise<unknown> {
    const many = ['orderIds', 'clientIds'].some((name) => Object.hasOwn(params as object, name));
    return this.call(many ? 'cancelOrders' : 'cancelOrder', params);
  }

  /** Moves a replay; what it publishes precedes the answer. */
  private advance(params: unknown): Promise<unknown> {
    const { publisher, simToken } = this.services;
    if (publisher.replay === null) throw new RequestError(noReplay());
    return publisher.replay.advance(this, params, simToken);
  }

  private async call(
    endpoint: 'submitOrder' | 'submitOrders' | 'cancelOrder' | 'cancelOrders',
    input: unknown,
  ): Promise<unknown> {
    if (typeof input !== 'object' || input === null) {
      throw new RequestError(invalidField('params', 'must be an object'));
    }
    const { faults, host } = this.services;
    const injected = faults.inject(endpoint);
    if (injected !== null) await injected;
    if (this.caller !== null && !this.holdsToken()) throw new RequestError(MESSAGES.invalidToken);
    const { status, body } = await host.handle(endpoint, input, this.caller);
    if (faults.dropsReply(endpoint)) this.socket.terminate();
    if (status !== 200) throw new RequestError({ status, message: String(body) });
    return body;
  }

  private reply(answer: Record<string, unknown>, usIn: number): void {
    const usOut = nowUs();
    this.write({ jsonrpc: '2.0', ...answer, usIn, usOut, usDiff: usOut - usIn });
  }

  private write(message: unknown): void {
    this.notify(stringifyExact(message));
  }

  notify(message: string): void {
    if (this.socket.readyState !== this.socket.OPEN) return;
    this.socket.send(message);
    // A client that sends requests without reading answers.
    if (this.backlog > DEAD_BYTES) this.disconnect();
  }
}
