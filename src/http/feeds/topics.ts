/** Subscription index by source and subject: a change visits only its subscribers. */
import type { FeedSource } from '../../contract/feeds.ts';
import type { Address, MarketId } from '../../num/units.ts';
import type { Subscription } from './subscription.ts';

/** A market, an account, or all markets. */
export type Subject = MarketId | Address | 'all';

/** One subscription of one watcher. */
export interface Entry<Watcher> {
  readonly watcher: Watcher;
  readonly subscription: Subscription;
  /** False once ended; messages created earlier are then dropped. */
  active: boolean;
  /** True once the watcher has had another subscription to the same source. */
  isOneOfSeveral: boolean;
}

interface Topic<Watcher> {
  readonly entries: Set<Entry<Watcher>>;
  /** Cached array that messages share; null after a change. */
  list: readonly Entry<Watcher>[] | null;
}

const NO_ENTRIES: readonly never[] = [];

export class Topics<Watcher> {
  private readonly bySource = new Map<FeedSource, Map<Subject, Topic<Watcher>>>();

  add(entry: Entry<Watcher>): void {
    for (const subject of subjectsOf(entry.subscription)) {
      const topic = this.topic(entry.subscription.source, subject);
      topic.entries.add(entry);
      topic.list = null;
    }
  }

  remove(entry: Entry<Watcher>): void {
    entry.active = false;
    const { source } = entry.subscription;
    const subjects = this.bySource.get(source);
    for (const subject of subjectsOf(entry.subscription)) {
      const topic = subjects?.get(subject);
      if (topic === undefined) continue;
      topic.entries.delete(entry);
      topic.list = null;
      if (topic.entries.size === 0) subjects?.delete(subject);
    }
  }

  /** Current subscribers of a subject; the array is immutable. */
  of(source: FeedSource, subject: Subject): readonly Entry<Watcher>[] {
    const topic = this.bySource.get(source)?.get(subject);
    if (topic === undefined) return NO_ENTRIES;
    topic.list ??= [...topic.entries];
    return topic.list;
  }

  /** All subscribers of a source, each once. */
  ofSource(source: FeedSource): ReadonlySet<Entry<Watcher>> {
    const entries = new Set<Entry<Watcher>>();
    for (const topic of this.bySource.get(source)?.values() ?? []) {
      for (const entry of topic.entries) entries.add(entry);
    }
    return entries;
  }

  private topic(source: FeedSource, subject: Subject): Topic<Watcher> {
    let subjects = this.bySource.get(source);
    if (subjects === undefined) {
      subjects = new Map();
      this.bySource.set(source, subjects);
    }
    let topic = subjects.get(subject);
    if (topic === undefined) {
      topic = { entries: new Set(), list: null };
      subjects.set(subject, topic);
    }
    return topic;
  }
}

function subjectsOf(subscription: Subscription): readonly Subject[] {
  if (subscription.access === 'private') return [subscription.account];
  return subscription.markets ?? ['all'];
}
