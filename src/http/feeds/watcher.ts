/** Connections as the feeds know them. */
import type { MarketId } from '../../num/units.ts';
import type { Subscription } from './subscription.ts';
import type { Entry } from './topics.ts';

/** A subscribed connection. */
export interface Watcher {
  /** True if the watcher may see this subscription; a private one ends with its rights. */
  allows(subscription: Subscription): boolean;
  /** Adds messages of one subscription, as frames (`text-frames.ts`); `flush` sends them. */
  send(subscription: Subscription, frames: Buffer): void;
  /** Sends all that was added, in one system call. */
  flush(): void;
  /** Called when rights may have changed. */
  recheck(): void;
  /** True if the watcher has lost book deltas of this market. */
  isBehind(market: MarketId): boolean;
  /** Sends a message that is not an update. */
  notify(message: string): void;
  /** True if the watcher reads again and can take a snapshot; clears its `isBehind`. */
  catchesUp(market: MarketId): boolean;
}

export type Held = Entry<Watcher>;
