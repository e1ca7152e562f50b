/** A host over HTTP for the fuzzer, with its own wallets and the token for simulation control. */
import type { EndpointId } from '../../contract/endpoints.ts';
import { MESSAGES } from '../../contract/messages.ts';
import type {
  BookLevels,
  FeedUpdates,
  HostReply,
  SimVerb,
  TwinHost,
} from '../../fuzz/twin/twin-host.ts';
import { MatcherError } from '../../gateway/matcher-client.ts';
import { NoAnswerError, NotJson } from '../../http-client/client-error.ts';
import { HttpMatcherClient, type FetchLike } from '../../http-client/http-matcher-client.ts';
import type { Address } from '../../num/units.ts';
import { keyOfName } from '../../wallet/crypto-ports.ts';
import { KeyWallet } from '../../wallet/key-wallet.ts';
import { InputError } from '../cli-support.ts';
import { BookFeeds } from './book-feeds.ts';
import { KeptConnections } from './kept-connections.ts';
import { UpdateFeeds } from './update-feeds.ts';

const TIMEOUT_MS = 10_000;
/** Status of a request without a reply, as that of curl. */
const NO_REPLY = 0;

export class HttpHost implements TwinHost {
  readonly users: readonly Address[];
  private readonly url: string;
  private readonly simToken: string;
  private letIn = false;
  private hasAnswered = false;
  /** It has accepted a request without a valid signature. */
  private isTrusting = false;
  private readonly http = new KeptConnections();
  private readonly clients = new Map<Address, HttpMatcherClient>();
  private readonly anyone: HttpMatcherClient;
  private feeds: BookFeeds | null = null;
  private updates: UpdateFeeds | null = null;

  /** `names` determine the wallets: the private key of each is keccak256(name), for tests only. */
  constructor(url: string, simToken: string, names: readonly string[]) {
    this.url = url.replace(/\/+$/, '');
    this.simToken = simToken;
    this.anyone = new HttpMatcherClient({ url, signer: null, retries: 0, fetch: this.http.fetch });
    this.users = names.map((name) => {
      const wallet = new KeyWallet(keyOfName(name));
      const account = wallet.address;
      const signer = {
        address: account,
        signMessage: (text: string) => wallet.signMessage(text),
        // The host trusts signatures and does not verify them.
        signTypedData: () => Promise.resolve('0x'),
      };
      this.clients.set(
        account,
        new HttpMatcherClient({ url, signer, retries: 0, fetch: this.http.fetch }),
      );
      return account;
    });
  }

  async call(
    endpoint: EndpointId,
    request: Readonly<Record<string, unknown>>,
    account: Address | null,
  ): Promise<HostReply> {
    const client = account === null ? this.anyone : this.clients.get(account);
    if (client === undefined) throw new InputError(`no wallet for ${String(account)}`);
    const reply = await this.replyOf(client, endpoint, request);
    if (reply.status === 200) this.isTrusting ||= 'signatures' in request;
    else if (!this.isTrusting && reply.body === MESSAGES.invalidSignature.message) {
      throw new InputError(
        `${this.url}: verifies signatures; start the host with --trust-signatures`,
      );
    }
    return reply;
  }

  private async replyOf(
    client: HttpMatcherClient,
    endpoint: EndpointId,
    request: Readonly<Record<string, unknown>>,
  ): Promise<HostReply> {
    try {
      const { status, body, page } = await client.reply(endpoint, request);
      this.hasAnswered = true;
      if (status !== 200) return { status, body: textOf(body) };
      return page === undefined ? { status, body } : { status, body, page };
    } catch (error) {
      if (error instanceof NoAnswerError && error.cause instanceof NotJson) {
        this.hasAnswered = true;
        return { status: 200, body: error.cause.text };
      }
      // The login of a wallet has errors of its own.
      if (!(error instanceof MatcherError)) return this.noReply(error);
      return { status: error.status, body: error.message };
    }
  }

  async sim(verb: SimVerb, fields: Readonly<Record<string, unknown>>): Promise<HostReply> {
    let response: Awaited<ReturnType<FetchLike>>;
    try {
      response = await this.http.fetch(`${this.url}/sim/${verb}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${this.simToken}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify(fields),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    } catch (error) {
      return this.noReply(error);
    }
    const text = await response.text();
    // With a token, 403 and 404 are responses of the exchange.
    const { status } = response;
    if (status === 401 || (!this.letIn && (status === 403 || status === 404))) {
      throw new InputError(
        `${this.url}/sim/${verb} responds with ${String(status)} ${text}: start the host with --sim-token and give the same token here`,
      );
    }
    this.letIn = true;
    return { status, body: jsonOf(text) };
  }

  /** Commands that the host has executed; null if it has no such request. */
  async commandsSoFar(): Promise<number | null> {
    const { status, text } = await this.http.fetch(`${this.url}/sim/hash`, {
      method: 'GET',
      headers: { authorization: `Bearer ${this.simToken}` },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (status !== 200) return null;
    const found = Object(jsonOf(await text())) as { readonly sequenceNumber?: unknown };
    return typeof found.sequenceNumber === 'number' ? found.sequenceNumber : null;
  }

  async bookOfFeed(symbol: string, isThere: (book: BookLevels) => boolean): Promise<BookLevels> {
    this.feeds ??= await BookFeeds.open(() => this.anyone.feeds()).catch((error: unknown) => {
      throw this.noFeeds(error);
    });
    return this.feeds.book(symbol, isThere);
  }

  async takeUpdates(
    symbols: readonly string[],
    accounts: readonly Address[],
    take: (updates: readonly FeedUpdates[]) => boolean,
  ): Promise<void> {
    if (this.updates === null) {
      this.updates = new UpdateFeeds(accounts, (account) => {
        const client = account === null ? this.anyone : this.clients.get(account);
        return (client ?? this.anyone).feeds();
      });
      await this.updates.open(symbols).catch((error: unknown) => {
        throw this.noFeeds(error);
      });
    }
    await this.updates.take(take);
  }

  async renewUpdates(): Promise<void> {
    await this.updates?.renew();
  }

  feedFault(): string | null {
    return this.feeds?.fault() ?? this.updates?.fault ?? null;
  }

  async close(): Promise<void> {
    await this.feeds?.close();
    await this.updates?.close();
    this.http.close();
  }

  /**
   * A host that has answered before and does not answer now is a difference: the request may have
   * ended it.
   */
  private noReply(error: unknown): HostReply {
    const message = `${this.url}: ${causeOf(error)}`;
    if (!this.hasAnswered) throw new InputError(message);
    return { status: NO_REPLY, body: message };
  }

  /** The first subscriptions fail: something between here and the host may lack WebSockets. */
  private noFeeds(error: unknown): InputError {
    return new InputError(`${this.url}: cannot subscribe to its feeds: ${causeOf(error)}`);
  }
}

const causeOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const textOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body));

/** The text itself if it is not JSON, which no reply of the twin is. */
function jsonOf(text: string): unknown {
  try {
    return text === '' ? null : (JSON.parse(text) as unknown);
  } catch {
    return text;
  }
}
