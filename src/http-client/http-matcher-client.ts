/**
 * The contract's client over HTTP: logs in with a wallet, signs requests, chooses nonces and
 * retries idempotent requests. It implements the same interface as the in-process client.
 */
import {
  ENDPOINTS,
  PAGE_HEADERS,
  type Endpoint,
  type EndpointId,
  type ListId,
  type RequestOf,
  type ResponseOf,
} from '../contract/endpoints.ts';
import { HISTORY_LISTS } from '../contract/history-lists.ts';
import { MESSAGES } from '../contract/messages.ts';
import { REPLICA_HEADERS } from '../contract/replica-headers.ts';
import type { Reply } from '../gateway/context.ts';
import {
  asPage,
  MatcherError,
  type MatcherClient,
  type PageOf,
} from '../gateway/matcher-client.ts';
import type { SignedRequest } from '../gateway/ports.ts';
import { signingPayload, TypedData, type Domain } from '../wallet/typed-data.ts';
import { parseExact, stringifyExact } from '../contract/exact-json.ts';
import {
  mustBeCall,
  mustBeLimits,
  mustBeSigner,
  mustBeUrl,
  NoAnswerError,
  NotJson,
} from './client-error.ts';
import { FeedClient, type ReadsSince } from './feed-client.ts';
import type { FillsFound, FillsQuery, FreshReads } from './repair.ts';
import type { SignedEndpoint, Unsigned } from './requests.ts';
import { shownSinceMs } from './shown-since.ts';

/** A wallet: an ethers `Wallet`, or a browser wallet through `eip1193Signer`. */
export interface RequestSigner {
  readonly address: string;
  signMessage(text: string): Promise<string>;
  signTypedData(
    domain: Record<string, unknown>,
    types: Record<string, { name: string; type: string }[]>,
    message: Record<string, unknown>,
  ): Promise<string>;
}

export interface HttpClientOptions {
  /** Example: http://127.0.0.1:8080 */
  readonly url: string;
  /** null: public endpoints only. */
  readonly signer: RequestSigner | null;
  /** Account that the wallet acts for; by default its own address. */
  readonly account?: string;
  /** Max retries of an idempotent request after a network error, 429 or 503, from 0. Default 4. */
  readonly retries?: number;
  /** Max time of an attempt in ms, from 1 to 2147483647. Default 10000. */
  readonly timeoutMs?: number;
  /** Sends one request; by default the global `fetch`. */
  readonly fetch?: FetchLike;
}

/** The part of `fetch` that the client uses. */
export type FetchLike = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly signal: AbortSignal;
    readonly body?: string;
  },
) => Promise<{
  readonly status: number;
  readonly headers: { get: (name: string) => string | null };
  readonly text: () => Promise<string>;
}>;

const STRUCTS: Partial<Readonly<Record<EndpointId, SignedRequest['kind']>>> = {
  submitOrder: 'Order',
  submitOrders: 'Order',
  transfer: 'Transfer',
  updateDelegates: 'Delegate',
  updateSigners: 'Signers',
  updateMargin: 'Margin',
};
/** What is sent: an endpoint of the contract, or the fills beside it. */
type RouteId = EndpointId | 'fills';
type Route = Pick<Endpoint, 'method' | 'path' | 'access' | 'signedBy'>;
const FILLS: Route = {
  method: 'GET',
  path: HISTORY_LISTS.fills.path,
  access: ENDPOINTS.getTransfers.access,
  signedBy: 'none',
};
const routeOf = (id: RouteId): Route => (id === 'fills' ? FILLS : ENDPOINTS[id]);
const ORDERS: readonly EndpointId[] = ['submitOrder', 'submitOrders'];
const DEFAULT_RETRIES = 4;
const DEFAULT_TIMEOUT_MS = 10_000;
/** Too many requests, and a server that takes none now. */
const TEMPORARY: readonly number[] = [429, 503];
const FIRST_PAUSE_MS = 100;

type Body = Record<string, unknown>;

interface Outcome {
  readonly status: number;
  readonly body: unknown;
  readonly headers: { get: (name: string) => string | null };
  /** An earlier attempt without a reply that may have reached the server. */
  readonly lost: NoAnswerError | null;
}

/** Errors before a request is sent. */
const NOT_SENT: readonly string[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'];

export class HttpMatcherClient implements MatcherClient {
  private readonly options: HttpClientOptions;
  private readonly url: string;
  private token: Promise<string> | null = null;
  private domain: Promise<Record<string, unknown>> | null = null;
  private lastNonce = 0n;

  constructor(options: HttpClientOptions) {
    this.url = mustBeUrl(options).replace(/\/+$/, '');
    mustBeLimits(options);
    this.options = { ...options, signer: mustBeSigner(options.signer) };
  }

  /** Account of the requests. */
  get account(): string | null {
    return (this.options.account ?? this.options.signer?.address ?? null)?.toLowerCase() ?? null;
  }

  /**
   * Rejects with `MatcherError` on an error reply, and with `NoAnswerError` if there is no reply:
   * the effect is then unknown.
   */
  async call<E extends EndpointId>(endpoint: E, request: RequestOf<E>): Promise<ResponseOf<E>> {
    const { status, body } = await this.reply(endpoint, request);
    if (status === 200) return body as ResponseOf<E>;
    throw new MatcherError(endpoint, status, String(body));
  }

  async page<E extends ListId>(endpoint: E, request: RequestOf<E>): Promise<PageOf<E>> {
    const reply = await this.reply(endpoint, request);
    if (reply.status !== 200) throw new MatcherError(endpoint, reply.status, String(reply.body));
    return asPage<E>(reply);
  }

  /** Like `call`, with any status. Rejects with `NoAnswerError` if there is no reply. */
  async reply<E extends EndpointId>(endpoint: E, request: RequestOf<E>): Promise<Reply> {
    return this.replySince(endpoint, request, -Infinity);
  }

  private async replySince<E extends EndpointId>(
    endpoint: E,
    request: RequestOf<E>,
    sinceMs: number,
  ): Promise<Reply> {
    mustBeCall(endpoint, request);
    const input = await this.complete(endpoint, request as Body);
    const { status, body, headers, lost } = await this.sendWithToken(endpoint, input, sinceMs);
    if (lost !== null && status !== 200 && STRUCTS[endpoint] !== undefined) {
      // The attempt without a reply may have reached the server.
      const result = await this.resultOfLostReply(endpoint, input, status);
      if (result !== undefined) return { status: 200, body: result };
      const isOrder = ORDERS.includes(endpoint);
      if (!isOrder && body === MESSAGES.nonceUsed.message) return { status: 200, body: null };
      if (!isOrder || TEMPORARY.includes(status)) {
        throw new NoAnswerError(`${lost.message}; repeated, it was refused: ${String(body)}`, {
          cause: lost,
        });
      }
    }
    const keptSince = headers.get(PAGE_HEADERS.keptSince);
    const page = {
      next: headers.get(PAGE_HEADERS.next),
      keptSinceMs: keptSince === null ? null : Number(keptSince),
    };
    return { status, body, page };
  }

  /** Like `call`; fills in nonces and signatures. */
  send<E extends SignedEndpoint>(endpoint: E, request: Unsigned<E>): Promise<ResponseOf<E>> {
    return this.call(endpoint, request as unknown as RequestOf<E>);
  }

  /** Bearer token for WebSocket feeds; `fresh` requests a new token. */
  async bearer(fresh = false): Promise<string> {
    if (fresh) this.token = null;
    this.token ??= this.login().catch((error: unknown) => {
      this.token = null;
      throw error;
    });
    return this.token;
  }

  /** Of requests whose token was refused, the first logs in. */
  private async insteadOf(refused: string): Promise<string> {
    const { token } = this;
    const isRefused = (await token) === refused;
    return this.bearer(isRefused && this.token === token);
  }

  /** Feeds of the same exchange with the same login, and orders over their socket. */
  feeds(): FeedClient {
    const url = `${this.url.replace(/^http/, 'ws')}/ws`;
    const bearer = this.options.signer === null ? null : (fresh: boolean) => this.bearer(fresh);
    const sign = (endpoint: EndpointId, request: Body): Promise<Body> =>
      this.complete(endpoint, request);
    const readsSince: ReadsSince = (sinceMs) => this.readsSince(sinceMs);
    return new FeedClient({ url, bearer, client: this, sign, readsSince });
  }

  /** Reads of replicas that show all that was committed before this time of `performance.now()`. */
  private readsSince(sinceMs: number): FreshReads {
    return {
      client: {
        call: async (endpoint, request) => {
          const { status, body } = await this.replySince(endpoint, request, sinceMs);
          if (status === 200) return body as ResponseOf<typeof endpoint>;
          throw new MatcherError(endpoint, status, String(body));
        },
        page: async (endpoint, request) => {
          const reply = await this.replySince(endpoint, request, sinceMs);
          if (reply.status === 200) return asPage<typeof endpoint>(reply);
          throw new MatcherError(endpoint, reply.status, String(reply.body));
        },
      },
      fillsSince: (query) => this.fillsSince(query, sinceMs),
      timeMs: () => this.timeMs(sinceMs),
    };
  }

  /** The clock of a replica may be ahead of the leader's, so its last command counts there. */
  private async timeMs(sinceMs: number): Promise<number> {
    const { status, body, headers } = await this.sendWithToken('getTime', {}, sinceMs);
    if (status !== 200) throw new MatcherError('getTime', status, String(body));
    return Number(headers.get(REPLICA_HEADERS.time) ?? (body as ResponseOf<'getTime'>).time);
  }

  /** Fills of a subaccount from a time on, as far as the server knows them. */
  private async fillsSince(query: FillsQuery, sinceMs: number): Promise<FillsFound> {
    const found: Body[] = [];
    let knownSinceMs: number | null = null;
    let cursor: string | null = null;
    do {
      const page = cursor === null ? {} : { cursor };
      const limit = HISTORY_LISTS.fills.pages.max;
      const request = { ...query, limit, ...page };
      const { status, body, headers } = await this.sendWithToken('fills', request, sinceMs);
      if (status === 404) return { fills: [], knownSinceMs: Infinity };
      if (status !== 200) throw new NoAnswerError(`${FILLS.path}: ${String(body)}`);
      found.push(...(body as Body[]));
      const since = headers.get(PAGE_HEADERS.keptSince);
      if (since !== null) knownSinceMs = Math.max(knownSinceMs ?? 0, Number(since));
      cursor = headers.get(PAGE_HEADERS.next);
    } while (cursor !== null);
    return { fills: found.reverse(), knownSinceMs };
  }

  /** One above the last nonce, and above those of earlier processes: microseconds since 1970. */
  nextNonce(): bigint {
    const now = BigInt(Date.now()) * 1000n;
    this.lastNonce = now > this.lastNonce ? now : this.lastNonce + 1n;
    return this.lastNonce;
  }

  /** Fills in a missing nonce and missing signatures. */
  private async complete(endpoint: EndpointId, request: Body): Promise<Body> {
    const struct = STRUCTS[endpoint];
    if (struct === undefined) return request;
    if (endpoint !== 'submitOrders') return this.sign(struct, request);
    const orders: Body[] = [];
    for (const order of request['orders'] as Body[]) orders.push(await this.sign(struct, order));
    return { ...request, orders };
  }

  private async sign(struct: SignedRequest['kind'], request: Body): Promise<Body> {
    const body: Body = { ...request, nonce: request['nonce'] ?? this.nextNonce() };
    const signatures = request['signatures'] as readonly string[] | undefined;
    if (signatures !== undefined && signatures.length > 0) return body;
    const { signer } = this.options;
    if (signer === null) return { ...body, signatures: signatures ?? [] };
    const { domain, types, message } = signingPayload(await this.readDomain(), struct, body);
    return { ...body, signatures: [await signer.signTypedData(domain, types, message)] };
  }

  private readDomain(): Promise<Record<string, unknown>> {
    this.domain ??= this.call('getConfig', {}).then(
      ({ domain }) => domain,
      (error: unknown) => {
        this.domain = null;
        throw error;
      },
    );
    return this.domain;
  }

  private async login(): Promise<string> {
    const { signer } = this.options;
    const { account } = this;
    if (signer === null || account === null) {
      throw new MatcherError('postAuth', 401, MESSAGES.missingToken.message);
    }
    const { message, server_signature, signing_payload } = await this.call('getAuth', { account });
    const signature = await signer.signMessage(signing_payload);
    const { token } = await this.call('postAuth', { message, signature, server_signature });
    return token;
  }

  /** Sends with a token if required; replaces an expired token once. */
  private async sendWithToken(endpoint: RouteId, input: Body, sinceMs: number): Promise<Outcome> {
    if (routeOf(endpoint).access === 'public') {
      return this.sendRepeatedly(endpoint, input, null, sinceMs);
    }
    const token = await this.bearer();
    const first = await this.sendRepeatedly(endpoint, input, token, sinceMs);
    if (first.body !== MESSAGES.invalidToken.message) return first;
    try {
      const other = await this.insteadOf(token);
      const outcome = await this.sendRepeatedly(endpoint, input, other, sinceMs);
      return { ...outcome, lost: outcome.lost ?? first.lost };
    } catch (error) {
      // The attempt without a reply may have taken the rights of this wallet.
      if (first.lost === null || !(error instanceof MatcherError)) throw error;
      return { ...first, status: error.status, body: error.message };
    }
  }

  /** Retries reads and requests with a nonce; a cancel only after a temporary refusal. */
  private async sendRepeatedly(
    endpoint: RouteId,
    input: Body,
    token: string | null,
    sinceMs: number,
  ): Promise<Outcome> {
    const { method, signedBy } = routeOf(endpoint);
    const mayRepeat = (method === 'GET' && endpoint !== 'getAuth') || signedBy !== 'none';
    let left = this.options.retries ?? DEFAULT_RETRIES;
    let pauseMs = FIRST_PAUSE_MS;
    let lost: NoAnswerError | null = null;
    for (;;) {
      try {
        const sentMs = performance.now();
        const answer = await this.attempt(endpoint, input, token);
        const { status, headers } = answer;
        const isBehind = shownSinceMs(sentMs, headers.get(REPLICA_HEADERS.lag)) < sinceMs;
        if (isBehind && left === 0) throw new NoAnswerError('the replica that answers is behind');
        if (!isBehind && (!TEMPORARY.includes(status) || left === 0)) return { ...answer, lost };
        pauseMs = Math.max(pauseMs, Number(headers.get('retry-after') ?? 0) * 1000);
      } catch (error) {
        if (!(error instanceof NoAnswerError) || !mayRepeat || left === 0) throw error;
        if (!NOT_SENT.includes(codeOf(error))) lost = error;
      }
      left -= 1;
      const waitMs = pauseMs;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      pauseMs *= 2;
    }
  }

  private async attempt(
    endpoint: RouteId,
    input: Body,
    token: string | null,
  ): Promise<Omit<Outcome, 'lost'>> {
    const { method, path } = routeOf(endpoint);
    const post = method === 'POST';
    const target = post ? path : pathWithQuery(path, input);
    let response: Awaited<ReturnType<FetchLike>>;
    let text: string;
    try {
      response = await (this.options.fetch ?? fetch)(this.url + target, {
        method,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(post ? { 'content-type': 'application/json' } : {}),
        },
        signal: AbortSignal.timeout(this.options.timeoutMs ?? DEFAULT_TIMEOUT_MS),
        ...(post ? { body: stringifyExact(input) } : {}),
      });
      text = await response.text();
    } catch (error) {
      throw new NoAnswerError(`${method} ${this.url}${target}: ${causeOf(error)}`, {
        cause: error,
      });
    }
    const body = readBody(text);
    if (body === undefined && response.status === 200) {
      const cause = new NotJson(text);
      throw new NoAnswerError(`${method} ${this.url}${target}: ${cause.message}`, { cause });
    }
    return {
      status: response.status,
      body: body === undefined ? text : body,
      headers: response.headers,
    };
  }

  /** Records of orders whose request had no reply; undefined if not all of them were placed. */
  private async resultOfLostReply(
    endpoint: EndpointId,
    input: Body,
    status: number,
  ): Promise<unknown> {
    if (!ORDERS.includes(endpoint) || TEMPORARY.includes(status)) return undefined;
    const bodies = endpoint === 'submitOrder' ? [input] : (input['orders'] as Body[]);
    const records = [];
    for (const body of bodies) {
      const record = await this.placed(body);
      if (record === null) return undefined;
      records.push(record);
    }
    return endpoint === 'submitOrder' ? records : { orders: records };
  }

  /** By digest; by nonce on a server that trusts signatures, whose ids are others. */
  private async placed(body: Body): Promise<ResponseOf<'getOrder'> | null> {
    const typed = new TypedData((await this.readDomain()) as unknown as Domain);
    try {
      return await this.call('getOrder', { orderId: typed.digestOf('Order', body) });
    } catch (error) {
      if (!(error instanceof MatcherError) || error.status !== 404) throw error;
    }
    const [account, symbol] = [String(body['account']), String(body['symbol'])];
    const subaccountIndex = Number(body['subaccountIndex']);
    const recent = { account, subaccountIndex, symbol, limit: 500 };
    const { asks, bids } = await this.call('listOrders', recent);
    const nonce = String(body['nonce']);
    return [...asks, ...bids].find((order) => String(order.nonce) === nonce) ?? null;
  }
}

function pathWithQuery(path: string, input: Body): string {
  const fields = new Map(Object.entries(input));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = String(fields.get(name));
    fields.delete(name);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams();
  for (const [name, value] of fields) {
    if (value === undefined || value === null) continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
  }
  const text = query.toString();
  return text === '' ? filled : `${filled}?${text}`;
}

/** undefined if it is not JSON. */
function readBody(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

function codeOf({ cause }: NoAnswerError): string {
  const { code, cause: inner } = cause as { code?: unknown; cause?: { code?: unknown } };
  return String(inner?.code ?? code);
}

function causeOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message} (${cause.message})` : message;
}
