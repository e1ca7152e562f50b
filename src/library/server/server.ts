/** A served exchange, and the calls by which its owner drives it. */
import type { HttpMatcherClient, RequestSigner } from '../../http-client/http-matcher-client.ts';

/** Which requests a fault affects (docs/API.md, Simulation control). */
export interface FaultOptions {
  /** Requests that it affects [1]; 0 ends it. */
  readonly times?: number;
  /** Of this endpoint only, such as `submitOrder`. [any] */
  readonly endpoint?: string;
  /** Delay of the fault `latency`, from 1 to 60000. */
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

/**
 * A served exchange. Amounts, prices and rates are decimal text. Calls reject with `ServerError`
 * for an argument that is not valid or a request that the exchange refuses.
 */
export interface Server extends AsyncDisposable {
  /** Address of the API, such as `http://127.0.0.1:41873`. */
  readonly url: string;
  /** Address of the feeds. */
  readonly feedUrl: string;
  /** Token of the routes under `/sim`. */
  readonly simToken: string;
  /** Time of the exchange. */
  now(): Date;
  /**
   * Moves a virtual clock by a length such as `8h` or by milliseconds, and resolves with the time
   * after it. Timers on the way run. A market without a price for `config.indexStaleMs` (60 s)
   * freezes: it has no funding, triggers or liquidation until `setPrice`.
   */
  advance(by: string | number): Promise<Date>;
  /** As `advance`, to a time that is not before now. */
  advanceTo(at: Date | string): Promise<Date>;
  /**
   * Credits collateral to a subaccount [0]; the account begins to exist. A call that is repeated
   * with its `reference` (1 to 64 printable ASCII characters) is made once; another one with it is
   * refused.
   */
  deposit(
    account: string,
    amount: string,
    subaccountIndex?: number,
    reference?: string,
  ): Promise<void>;
  /** Debits collateral; `reference` as in a deposit. */
  withdraw(
    account: string,
    amount: string,
    subaccountIndex?: number,
    reference?: string,
  ): Promise<void>;
  /** A price of the oracle: the index of a market. */
  setPrice(symbol: string, price: string): Promise<void>;
  /** Sets the mark of a market whose `markSource` is external. */
  setMark(symbol: string, price: string): Promise<void>;
  /** Settles funding at a rate, in a market with `funding: { source: 'external' }`. */
  settleFunding(symbol: string, rate: string): Promise<void>;
  /**
   * Makes requests fail or wait: `timeout`, `nonceStore`, `rateLimit`, `unavailable`,
   * `internalError`, `lostAnswer` or `latency`.
   */
  inject(fault: string, options?: FaultOptions): Promise<void>;
  /** A client of the API: with a signer it logs in and signs, without one it reads. */
  client(signer?: RequestSigner | null, account?: string): HttpMatcherClient;
  hash(): ExchangeHash;
  /** The journal so far, for `orrery/journal`, `orrery inspect` and `orrery replay`. */
  journal(): Promise<Uint8Array>;
  /** Ends connections and timers, and removes a temporary folder. Can be called twice. */
  close(): Promise<void>;
}
