/** All feeds of a host but books, each from its own subscription. */
import { FEEDS, type FeedSource } from '../../contract/feeds.ts';
import type { FeedSubject, FeedUpdates } from '../../fuzz/twin/twin-host.ts';
import type { FeedClient } from '../../http-client/feed-client.ts';
import type { Address } from '../../num/units.ts';

/** Max time for feeds to deliver past events. */
const PATIENCE_MS = 3000;
const LOOK_MS = 5;

type Update = Readonly<Record<string, unknown>>;
type Followed = Pick<FeedUpdates, 'source' | 'subject'>;

/** Sources that are followed: books have a follower of their own, and statistics a clock. */
const SOURCES = (Object.keys(FEEDS) as FeedSource[]).filter(
  (source) => source !== 'book' && source !== 'stats',
);

export class UpdateFeeds {
  private readonly clients: FeedClient[] = [];
  private readonly ofAccounts: FeedClient[] = [];
  private readonly pending = new Map<string, Update[]>();
  private readonly followed = new Map<string, Followed>();
  private readonly accounts: readonly Address[];
  private readonly clientOf: (account: Address | null) => FeedClient;
  private lost: string | null = null;

  /** `clientOf` makes a connection of the account; null: without a login. */
  constructor(accounts: readonly Address[], clientOf: (account: Address | null) => FeedClient) {
    this.accounts = accounts;
    this.clientOf = clientOf;
  }

  /** Subscribes to public feeds of all markets, again by their names, and to those of accounts. */
  async open(symbols: readonly string[]): Promise<void> {
    for (const subject of ['all', 'each'] as const) {
      const client = this.clientOf(null);
      this.clients.push(client);
      for (const source of SOURCES) {
        if (FEEDS[source].access !== 'public') continue;
        await this.follow(client, source, subject, subject === 'each' ? { symbols } : {});
      }
    }
    await this.openAccounts();
  }

  /** Subscribes again to the feeds of accounts, with new tokens. */
  async renew(): Promise<void> {
    await this.openAccounts().catch((error: unknown) => {
      const cause = error instanceof Error ? error.message : String(error);
      this.lost ??= `another subscription is refused: ${cause}`;
    });
  }

  private async openAccounts(): Promise<void> {
    for (const client of this.ofAccounts.splice(0)) await client.close();
    for (const account of this.accounts) {
      const client = this.clientOf(account);
      this.ofAccounts.push(client);
      // The token that the wallet has may end soon.
      await client.renewToken();
      for (const source of SOURCES) {
        if (FEEDS[source].access === 'private') {
          await this.follow(client, source, account, { account });
        }
      }
    }
  }

  private async follow(
    client: FeedClient,
    source: FeedSource,
    subject: FeedSubject,
    params: Parameters<FeedClient['listen']>[1],
  ): Promise<void> {
    const key = `${source} ${subject}`;
    const pending: Update[] = [];
    this.pending.set(key, pending);
    this.followed.set(key, { source, subject });
    await client.listen(source, params, {
      onUpdate: (data) => {
        // Prices and summaries of all markets come in batches.
        for (const update of [data].flat() as unknown[]) {
          if (typeof update === 'object' && update !== null) pending.push(update as Update);
        }
      },
      onError: (error) => {
        this.lost ??= `${key}: ${error.message}`;
      },
    });
  }

  /** Passes new updates until `take` returns true, or until the timeout. */
  async take(take: (updates: readonly FeedUpdates[]) => boolean): Promise<void> {
    const until = performance.now() + PATIENCE_MS;
    while (!take(this.taken()) && performance.now() <= until) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  private taken(): readonly FeedUpdates[] {
    return [...this.followed].flatMap(([key, { source, subject }]) => {
      const updates = this.pending.get(key)?.splice(0) ?? [];
      return updates.length === 0 ? [] : [{ source, subject, updates }];
    });
  }

  /** Why a subscription ended or was refused; null while all live. */
  get fault(): string | null {
    return this.lost;
  }

  async close(): Promise<void> {
    for (const client of [...this.clients, ...this.ofAccounts]) await client.close();
  }
}
