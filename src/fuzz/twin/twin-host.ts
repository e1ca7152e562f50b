/** A host with this contract, as the fuzzer drives it: requests for accounts whose wallets it has, and simulation control. */
import type { EndpointId } from '../../contract/endpoints.ts';
import type { Address } from '../../num/units.ts';

export interface HostReply {
  readonly status: number;
  /** The record, or the error's text. */
  readonly body: unknown;
}

export type SimVerb = 'deposit' | 'withdraw' | 'oracle' | 'mark' | 'funding' | 'clock';

/** Levels as decimal text, best first, sizes of 0 left out. */
export interface BookLevels {
  readonly bids: readonly BookLevel[];
  readonly asks: readonly BookLevel[];
}
interface BookLevel {
  readonly price: string;
  readonly quantity: string;
}

export interface TwinHost {
  /** `account` null: what anyone may read. */
  call(
    endpoint: EndpointId,
    request: Readonly<Record<string, unknown>>,
    account: Address | null,
  ): Promise<HostReply>;
  sim(verb: SimVerb, fields: Readonly<Record<string, unknown>>): Promise<HostReply>;
  /**
   * A market's book as its feed has told it since the first call: snapshot and deltas. Waits a moment for the feed to tell what `isThere` asks for; then
   * answers what there is. Left out, or null: the host has no feeds that are compared.
   */
  bookOfFeed?(symbol: string, isThere: (book: BookLevels) => boolean): Promise<BookLevels | null>;
}
