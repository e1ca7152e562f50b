/** A host under test: requests for accounts whose wallets it has, and simulation control. */
import type { EndpointId } from '../../contract/endpoints.ts';
import type { PageInfo } from '../../gateway/context.ts';
import type { Address } from '../../num/units.ts';

export interface HostReply {
  readonly status: number;
  /** The record, or the error text. */
  readonly body: unknown;
  /** Headers of a list; absent: not compared. */
  readonly page?: PageInfo;
}

export type SimVerb = 'deposit' | 'withdraw' | 'oracle' | 'mark' | 'funding' | 'clock';

/** Levels as decimal text, best first, without sizes of 0. */
export interface BookLevels {
  readonly bids: readonly BookLevel[];
  readonly asks: readonly BookLevel[];
}
interface BookLevel {
  readonly price: string;
  readonly quantity: string;
}

export interface TwinHost {
  /** `account` null: public endpoints only. */
  call(
    endpoint: EndpointId,
    request: Readonly<Record<string, unknown>>,
    account: Address | null,
  ): Promise<HostReply>;
  sim(verb: SimVerb, fields: Readonly<Record<string, unknown>>): Promise<HostReply>;
  /**
   * A market's book as rebuilt from its feed. Waits briefly until `isThere` accepts the book, then
   * returns it. Absent or null: feeds are not compared.
   */
  bookOfFeed?(symbol: string, isThere: (book: BookLevels) => boolean): Promise<BookLevels | null>;
  /** What is wrong with the messages of these feeds so far, such as a sequence number; or null. */
  feedFault?(): string | null;
}
