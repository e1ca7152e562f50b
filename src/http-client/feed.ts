/** One subscription of `FeedClient` and its consumer: an iterator, or a listener. */
import { UserError } from '../base/user-error.ts';
import { FEEDS, type FeedSource } from '../contract/feeds.ts';
import { LateOverlap, withoutOverlap } from './overlap.ts';
import type { LastSeen } from './repair.ts';
import type { Data } from './same-record.ts';
import type { FeedParams } from './requests.ts';

/** Max buffered updates per subscriber; beyond it the subscription fails. */
const MAX_QUEUE = 100_000;

export class FeedError extends UserError {
  override readonly name = 'FeedError';
  readonly code = 'feed';
  /** HTTP status of the error; null if there was no reply. */
  readonly status: number | null;

  constructor(message: string, status: number | null = null) {
    super(message);
    this.status = status;
  }
}

/** A connection that was lost and is there again. Times are those of this computer, in ms. */
export interface Resumed {
  readonly lostMs: number;
  readonly resumedMs: number;
  /**
   * Why updates of that time may be missing in a feed of fills, trades or orders; null if all were
   * delivered. Orders are delivered in their current state.
   */
  readonly unknown: string | null;
  /** The same of a feed of fills; null in other feeds. */
  readonly unknownFills: string | null;
}

/** Receives updates as they arrive. */
export interface FeedListener<T = Data> {
  readonly onUpdate: (data: T) => void;
  /** Called when the server has ended the subscription; no update follows. */
  readonly onError: (error: Error) => void;
  /**
   * Called after a lost connection, once the missed updates are delivered. Without it a feed ends
   * with `FeedError` where fills, trades or orders may be missing.
   */
  readonly onResumed?: (resumed: Resumed) => void;
}

/** The place of a lost connection among the updates that no consumer has taken. */
class Loss {
  readonly resumed: Resumed;

  constructor(resumed: Resumed) {
    this.resumed = resumed;
  }
}

/** One subscription and its consumer. */
export class Feed implements AsyncIterableIterator<Data> {
  readonly source: FeedSource;
  readonly params: FeedParams;
  /** Last sequence number of each book; undefined until its snapshot. */
  readonly sequences = new Map<string, unknown>();
  /** True once the server has confirmed the subscription; a new connection then repeats it. */
  established = false;
  /** Last delivered update, from which catch-up reads continue; null without catch-up. */
  lastSeen: LastSeen | null = null;
  /** Updates held back until missed updates are delivered; null if none are held back. */
  private behind: Data[] | null = null;
  /** Updates that were read already and may arrive; null: none. */
  private late: LateOverlap | null = null;
  private readonly queue: (Data | Loss)[] = [];
  private readonly takers: {
    readonly resolve: (result: IteratorResult<Data>) => void;
    readonly reject: (error: Error) => void;
  }[] = [];
  private listener: FeedListener | null = null;
  private ended: Error | 'done' | null = null;
  private consumer: Pick<FeedListener, 'onResumed'>;
  private readonly onEnd: (feed: Feed) => void;

  constructor(
    source: FeedSource,
    params: FeedParams,
    consumer: Pick<FeedListener, 'onResumed'>,
    onEnd: (feed: Feed) => void,
  ) {
    this.source = source;
    this.params = params;
    this.consumer = consumer;
    this.onEnd = onEnd;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Data>> {
    let item = this.queue.shift();
    while (item instanceof Loss) {
      this.consumer.onResumed?.(item.resumed);
      item = this.queue.shift();
    }
    if (item !== undefined) return Promise.resolve({ done: false, value: item });
    if (this.ended === 'done') return Promise.resolve({ done: true, value: undefined });
    if (this.ended !== null) return Promise.reject(this.ended);
    return new Promise((resolve, reject) => {
      this.takers.push({ resolve, reject });
    });
  }

  return(): Promise<IteratorResult<Data>> {
    this.end('done');
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Delivers pending updates, and every later one immediately. */
  listen(listener: FeedListener): void {
    this.consumer = listener;
    for (const item of this.queue.splice(0)) {
      if (item instanceof Loss) listener.onResumed?.(item.resumed);
      else listener.onUpdate(item);
    }
    this.listener = listener;
    if (this.ended instanceof Error) listener.onError(this.ended);
  }

  push(data: Data): void {
    if (this.behind !== null) this.behind.push(data);
    else if (this.late?.wasRead(data) !== true) this.deliver(data);
  }

  /**
   * Holds back updates until `catchUp`, if missed ones will be read. Those of a connection that was
   * lost before are among the missed.
   */
  hold(): void {
    if (this.lastSeen?.reads(this.source) === true) this.behind = [];
  }

  /** Delivers missed updates, then those held back. `lags`: the connection may be behind them. */
  catchUp(missed: readonly Data[], lags: boolean): void {
    const live = this.behind ?? [];
    this.behind = null;
    this.late = lags ? new LateOverlap(this.source, missed) : null;
    for (const data of missed) this.deliver(data);
    const rest = lags ? live : withoutOverlap(this.source, missed, live);
    for (const data of rest) this.push(data);
  }

  /**
   * Reports a lost connection, after the updates before it. A feed without `onResumed` ends where
   * fills, trades or orders may be missing.
   */
  resume(lostMs: number, resumedMs: number): void {
    if (this.ended !== null) return;
    const { source } = this;
    const unknown = this.lastSeen?.unknown ?? null;
    const unknownFills = source === 'fill' ? unknown : null;
    const resumed: Resumed = { lostMs, resumedMs, unknown, unknownFills };
    if (this.consumer.onResumed === undefined) {
      if (unknown !== null) this.end(new FeedError(lossText(source, lostMs, resumedMs, unknown)));
    } else if (this.queue.length > 0) this.queue.push(new Loss(resumed));
    else this.consumer.onResumed(resumed);
  }

  private deliver(data: Data): void {
    if (this.ended !== null) return;
    this.lastSeen?.note(this.source, data);
    if (this.listener !== null) this.listener.onUpdate(data);
    else if (this.takers.length > 0) this.takers.shift()?.resolve({ done: false, value: data });
    else if (this.queue.length < MAX_QUEUE) this.queue.push(data);
    else
      this.end(
        new FeedError(`more than ${String(MAX_QUEUE)} updates of ${this.source} are pending`),
      );
  }

  end(how: Error | 'done'): void {
    if (this.ended !== null) return;
    this.ended = how;
    if (how !== 'done') this.listener?.onError(how);
    for (const { resolve, reject } of this.takers.splice(0)) {
      if (how === 'done') resolve({ done: true, value: undefined });
      else reject(how);
    }
    this.onEnd(this);
  }

  /** True if the update matches the subscription's parameters. */
  wants(data: Data): boolean {
    const { symbols, account, subaccountIndices } = this.params;
    if (FEEDS[this.source].access === 'private') {
      const index = data['subaccountIndex'] as number;
      if (data['account'] !== account?.toLowerCase()) return false;
      return !subaccountIndices?.length || subaccountIndices.includes(index);
    }
    return !symbols?.length || symbols.includes(String(data['symbol']));
  }
}

function lossText(source: FeedSource, lostMs: number, resumedMs: number, reason: string): string {
  const [from, to] = [lostMs, resumedMs].map((ms) => new Date(ms).toISOString());
  return `${source}s from ${String(from)} to ${String(to)} may be missing: ${reason}`;
}
