/** A served exchange, and the calls by which its owner drives it. */
import { HttpMatcherClient, type RequestSigner } from '../../http-client/http-matcher-client.ts';
import type { Host } from '../../http/exchange-host.ts';
import { openJournal } from '../../journal-files/folder-journal.ts';
import { plainJournal } from '../../journal-files/plain-journal.ts';
import { parseDuration } from '../../num/time-text.ts';
import { fail, ServerError, timeOf } from './options.ts';

/** Errors and delays that clients must bear (docs/OPERATIONS.md). */
export interface FaultOptions {
  /** Requests that it affects [1]; 0 ends it. */
  readonly times?: number;
  /** Of this endpoint only, such as `submitOrder`. */
  readonly endpoint?: string;
  /** Of the fault `latency`. */
  readonly latencyMs?: number;
}

export interface ExchangeHash {
  /** Commands applied so far. */
  readonly sequenceNumber: number;
  /** Hash of the state. */
  readonly hash: string;
  /** Hash of all commands and events so far. */
  readonly chainHash: string;
}

/** A served exchange. Amounts, prices and rates are decimal text. */
export interface Server extends AsyncDisposable {
  /** Address of the API, such as `http://127.0.0.1:41873`. */
  readonly url: string;
  /** Address of the feeds. */
  readonly feedUrl: string;
  /** Token of the routes under `/sim`. */
  readonly simToken: string;
  /** Time of the exchange. */
  now(): Date;
  /** Moves a virtual clock by a length such as `8h` or by milliseconds; timers on the way run. */
  advance(by: string | number): Promise<Date>;
  /** Moves a virtual clock to a time that is not before now. */
  advanceTo(at: Date | string): Promise<Date>;
  /** Credits collateral to a subaccount [0]; the account begins to exist. */
  deposit(account: string, amount: string, subaccountIndex?: number): Promise<void>;
  withdraw(account: string, amount: string, subaccountIndex?: number): Promise<void>;
  /** A price of the oracle: the index of a market. */
  setPrice(symbol: string, price: string): Promise<void>;
  /** Sets the mark of a market whose `markSource` is external. */
  setMark(symbol: string, price: string): Promise<void>;
  /** Settles funding at a rate, in a market with `funding: { source: 'external' }`. */
  settleFunding(symbol: string, rate: string): Promise<void>;
  /** Makes requests fail or wait, such as `rateLimit`, `lostAnswer` or `latency`. */
  inject(fault: string, options?: FaultOptions): Promise<void>;
  /** A client of the API: with a signer it logs in and signs, without one it reads. */
  client(signer?: RequestSigner | null, account?: string): HttpMatcherClient;
  hash(): ExchangeHash;
  /** The journal so far, for `orrery/journal`, `orrery inspect` and `orrery replay`. */
  journal(): Promise<Uint8Array>;
  /** Ends connections and timers, and removes a temporary folder. Can be called twice. */
  close(): Promise<void>;
}

type Body = Readonly<Record<string, unknown>>;

export class ServedHost implements Server {
  readonly url: string;
  readonly feedUrl: string;
  readonly simToken: string;
  private readonly host: Host;
  private readonly end: () => Promise<void>;

  constructor(host: Host, url: string, simToken: string, end: () => Promise<void>) {
    this.host = host;
    this.url = url;
    this.feedUrl = `${url.replace(/^http/, 'ws')}/ws`;
    this.simToken = simToken;
    this.end = end;
  }

  now(): Date {
    return new Date(Math.floor(this.host.nowUs() / 1000));
  }

  async advance(by: string | number): Promise<Date> {
    const us = typeof by === 'number' ? by * 1000 : parseDuration(by);
    if (us === null || !Number.isSafeInteger(us) || us < 0 || us % 1000 !== 0) {
      fail(
        'advance',
        `'${String(by)}' must be whole milliseconds, or a length such as 8h or 1m30s`,
      );
    }
    await this.sim('clock', { advanceMs: us / 1000 });
    return this.now();
  }

  async advanceTo(at: Date | string): Promise<Date> {
    await this.sim('clock', { toMs: Math.ceil(timeOf('advanceTo', at) / 1000) });
    return this.now();
  }

  deposit(account: string, amount: string, subaccountIndex = 0): Promise<void> {
    return this.sim('deposit', { account, amount, subaccountIndex });
  }

  withdraw(account: string, amount: string, subaccountIndex = 0): Promise<void> {
    return this.sim('withdraw', { account, amount, subaccountIndex });
  }

  setPrice(symbol: string, price: string): Promise<void> {
    return this.sim('oracle', { symbol, price });
  }

  setMark(symbol: string, price: string): Promise<void> {
    return this.sim('mark', { symbol, price });
  }

  settleFunding(symbol: string, rate: string): Promise<void> {
    return this.sim('funding', { symbol, rate });
  }

  inject(fault: string, options: FaultOptions = {}): Promise<void> {
    return this.sim('faults', { fault, ...options });
  }

  client(signer: RequestSigner | null = null, account?: string): HttpMatcherClient {
    return new HttpMatcherClient({
      url: this.url,
      signer,
      ...(account === undefined ? {} : { account }),
    });
  }

  hash(): ExchangeHash {
    const { engine } = this.host.exchange;
    return { sequenceNumber: engine.seq, hash: engine.stateHash(), chainHash: engine.chainHash() };
  }

  async journal(): Promise<Uint8Array> {
    const { exchange } = this.host;
    await exchange.durable();
    const journal = openJournal(exchange.path, exchange.durableSeq);
    return Buffer.concat([...plainJournal(journal, exchange.durableSeq)]);
  }

  close(): Promise<void> {
    return this.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }

  /** Sends a request of the simulation's control; throws `ServerError` with its refusal. */
  private async sim(verb: string, body: Body): Promise<void> {
    const response = await fetch(`${this.url}/sim/${verb}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.simToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new ServerError(`${verb}: ${text.replace(/^"|"$/g, '')}`);
  }
}
