/** The calls of a served exchange, which go over its own HTTP where that has a route. */
import { HttpMatcherClient, type RequestSigner } from '../../http-client/http-matcher-client.ts';
import type { Host } from '../../http/exchange-host.ts';
import { openJournal } from '../../journal-files/folder-journal.ts';
import { plainJournal } from '../../journal-files/plain-journal.ts';
import { parseDuration } from '../../num/time-text.ts';
import { fail, ServerError, timeOf } from './options.ts';
import type { ExchangeHash, FaultOptions, Server } from './server.ts';

type Body = Readonly<Record<string, unknown>>;

export class ServedHost implements Server {
  readonly url: string;
  readonly feedUrl: string;
  readonly simToken: string;
  private readonly host: Host;
  private readonly end: () => Promise<void>;
  private isClosed = false;

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

  deposit(account: string, amount: string, subaccountIndex = 0, reference?: string): Promise<void> {
    return this.sim('deposit', { account, amount, subaccountIndex, reference });
  }

  withdraw(
    account: string,
    amount: string,
    subaccountIndex = 0,
    reference?: string,
  ): Promise<void> {
    return this.sim('withdraw', { account, amount, subaccountIndex, reference });
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

  async inject(fault: string, options: FaultOptions = {}): Promise<void> {
    if (typeof fault !== 'string') fail('fault', 'must be text, the name of a fault');
    if (typeof options !== 'object' || (options as unknown) === null || Array.isArray(options)) {
      fail('options', 'must be an object');
    }
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
    if (this.isClosed) fail('journal', 'the server is closed');
    const { exchange } = this.host;
    await exchange.durable();
    const journal = openJournal(exchange.path, exchange.durableSeq);
    return Buffer.concat([...plainJournal(journal, exchange.durableSeq)]);
  }

  close(): Promise<void> {
    this.isClosed = true;
    return this.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Sends a request of the simulation's control; throws `ServerError` with its refusal. */
  private async sim(verb: string, body: Body): Promise<void> {
    if (this.isClosed) fail(verb, 'the server is closed');
    for (const [field, value] of Object.entries(body)) {
      // JSON has no other kinds: they would be left out, or end with an error of the language.
      if (value === undefined || ['string', 'boolean'].includes(typeof value)) continue;
      if (!Number.isFinite(value)) fail(field, 'must be text or a finite number');
    }
    const response = await fetch(`${this.url}/sim/${verb}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.simToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new ServerError(`${verb}: ${text.replace(/^"|"$/g, '')}`);
  }
}
