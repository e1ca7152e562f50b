/** A host under test: requests for accounts whose wallets it has, and simulation control. */
import type { EndpointId } from '../../contract/endpoints.ts';
import type { FeedSource } from '../../contract/feeds.ts';
import type { PageInfo } from '../../gateway/context.ts';
import type { Address } from '../../num/units.ts';

export interface HostReply {
  readonly status: number;
  /** The record, or the error text. */
  readonly body: unknown;
  /** Headers of a list; absent: not compared. */
  readonly page?: PageInfo;
}

export const SIM_VERBS = ['deposit', 'withdraw', 'oracle', 'mark', 'funding', 'clock'] as const;
export type SimVerb = (typeof SIM_VERBS)[number];

/** Levels as decimal text, best first, without sizes of 0. */
export interface BookLevels {
  readonly bids: readonly BookLevel[];
  readonly asks: readonly BookLevel[];
}
interface BookLevel {
  readonly price: string;
  readonly quantity: string;
}

/** An account; of a public feed the subscriber of all markets, or one that names each. */
export type FeedSubject = Address | 'all' | 'each';

/** Updates of a feed since the last call, oldest first. */
export interface FeedUpdates {
  readonly source: FeedSource;
  readonly subject: FeedSubject;
  readonly updates: readonly Readonly<Record<string, unknown>>[];
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
  /**
   * Updates of all feeds but books. The first call subscribes. Passes new updates to `take` until
   * it returns true, briefly. Absent: these feeds are not compared.
   */
  takeUpdates?(
    symbols: readonly string[],
    accounts: readonly Address[],
    take: (updates: readonly FeedUpdates[]) => boolean,
  ): Promise<void>;
  /** Subscribes again to the feeds of accounts: their tokens have ended, or end soon. */
  renewUpdates?(): Promise<void>;
  /** A fault of the messages of the books' feeds so far, such as a sequence number; or null. */
  feedFault?(): string | null;
}
