/**
 * Feeds. At the end of a turn in which commands were applied, what they changed is made into messages, each once whatever the number
 * of those who watch it; the messages go out when the journal up to them is on disk, so no feed shows what a crash could take back.
 */
import { FEEDS, type FeedSource } from '../../contract/feeds.ts';
import { encodeOrder, encodeStats } from '../../gateway/encode.ts';
import type { MarketId, SubaccountId } from '../../num/units.ts';
import { stringifyExact } from '../../contract/exact-json.ts';
import { must } from '../../base/assert.ts';
import type { Host } from '../exchange-host.ts';
import { BookFeed } from './book-feed.ts';
import { Changes } from './changes.ts';
import { FeedRecords, sidesOf } from './records.ts';
import type { Subscription } from './subscription.ts';
import { Topics, type Entry } from './topics.ts';

const STATS_EVERY_MS = 5000;
/** Prices and summaries of all markets at once are told so often at most; clients that lost deltas are looked after as often. */
const THROTTLE_MS = 100;

/** Who watches: a connection. */
export interface Watcher {
  /** Whether it may still see this; a private subscription ends with the right to it. */
  allows(subscription: Subscription): boolean;
  /** Messages of one subscription, in their order. */
  send(subscription: Subscription, messages: readonly Buffer[]): void;
  /** Rights may have changed. */
  recheck(): void;
  /** Whether it has lost book deltas of this market. */
  isBehind(market: MarketId): boolean;
  /** Whether it reads again, so that snapshots may take the place of what was lost; from then on it is behind no more. */
  catchesUp(market: MarketId): boolean;
}

export type Held = Entry<Watcher>;

interface Message {
  readonly to: readonly Held[];
  readonly text: string;
}

export class Publisher {
  private readonly host: Host;
  private readonly records: FeedRecords;
  private readonly watchers = new Map<Watcher, Set<Held>>();
  private readonly topics = new Topics<Watcher>();
  private readonly books = new Map<MarketId, BookFeed>();
  private changes: Changes;
  private scheduled = false;
  private readonly throttled = new Set<MarketId>();
  private readonly timers: NodeJS.Timeout[];

  constructor(host: Host) {
    this.host = host;
    this.records = new FeedRecords(host);
    this.changes = this.noChanges();
    host.exchange.onEvent((event) => {
      if (this.watchers.size === 0) return;
      this.changes.note(event);
      this.schedule();
    });
    // What was not on disk was not told, but books were looked at: begin anew.
    host.exchange.onReset(() => {
      this.changes = this.noChanges();
      for (const book of this.books.values()) book.forget();
    });
    this.timers = [
      setInterval(() => {
        this.publishStats();
      }, STATS_EVERY_MS),
      setInterval(() => {
        this.publishThrottled();
      }, THROTTLE_MS),
    ];
    for (const timer of this.timers) timer.unref();
  }

  private noChanges(): Changes {
    const { view } = this.host;
    const id = view.subaccountIdOf(view.config.shortfallAccount, 0);
    return new Changes(must(id, 'every exchange has a shortfall account'));
  }

  close(): void {
    for (const timer of this.timers) clearInterval(timer);
  }

  watch(watcher: Watcher): void {
    this.watchers.set(watcher, new Set());
  }

  unwatch(watcher: Watcher): void {
    for (const held of this.watchers.get(watcher) ?? []) this.topics.remove(held);
    this.watchers.delete(watcher);
  }

  /** Begins a subscription, with its first message where it has one. */
  subscribe(watcher: Watcher, subscription: Subscription): Held {
    // Whoever watches already is told first, so that the next delta fits all.
    this.publish();
    const held: Held = { watcher, subscription, active: true };
    const messages: Message[] = [];
    if (subscription.source === 'stats') this.addStats(messages, held);
    if (subscription.source === 'book') {
      for (const id of this.marketsOf(subscription)) this.addSnapshot(messages, [held], id);
    }
    this.release(messages);
    this.topics.add(held);
    this.watchers.get(watcher)?.add(held);
    return held;
  }

  unsubscribe(held: Held): void {
    this.topics.remove(held);
    this.watchers.get(held.watcher)?.delete(held);
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => {
      this.publish();
    });
  }

  private publish(): void {
    this.scheduled = false;
    const { changes } = this;
    this.changes = this.noChanges();
    if (changes.rights) for (const watcher of this.watchers.keys()) watcher.recheck();
    const messages: Message[] = [];
    this.addTrades(messages, changes);
    this.addLiquidations(messages, changes);
    for (const id of changes.terms) {
      const to = this.publicEntries('market', id);
      add(messages, 'market', to, () => this.records.market(id));
    }
    for (const id of changes.markets) {
      this.throttled.add(id);
      this.addBook(messages, id);
      for (const source of ['price', 'summary'] as const) {
        // All markets at once are told from time to time (publishThrottled).
        const to = this.topics.of(source, id);
        add(messages, source, to, () => this.records.quote(source, id));
      }
    }
    this.addOrders(messages, changes);
    this.addFills(messages, changes);
    for (const [id, markets] of changes.positions) {
      for (const market of markets) {
        this.addPrivate(messages, 'position', id, () => this.records.position(id, market));
      }
    }
    for (const id of changes.balances) {
      this.addPrivate(messages, 'balance', id, () => this.records.balance(id));
    }
    this.release(messages);
  }

  private addTrades(messages: Message[], { trades }: Changes): void {
    const candles = new Set<MarketId>();
    for (const trade of trades) {
      const to = this.publicEntries('trade', trade.market);
      add(messages, 'trade', to, () => this.records.trade(trade));
      candles.add(trade.market);
    }
    for (const id of candles) {
      const to = this.publicEntries('candle', id);
      add(messages, 'candle', to, () => this.records.candle(id));
    }
  }

  /** What belongs to no single market goes to those who follow all. */
  private addLiquidations(messages: Message[], { liquidations }: Changes): void {
    for (const event of liquidations) {
      const id = event.kind === 'balanceChanged' ? null : event.market;
      const to =
        id === null ? this.topics.of('liquidation', 'all') : this.publicEntries('liquidation', id);
      add(messages, 'liquidation', to, () => this.records.liquidation(event));
    }
  }

  /** The delta for who follows the book, a snapshot for who lost one before and reads again. */
  private addBook(messages: Message[], id: MarketId): void {
    const book = this.books.get(id);
    if (book === undefined) return;
    const entries = this.publicEntries('book', id);
    if (entries.length === 0) {
      book.forget();
      return;
    }
    const delta = book.delta(this.host.view);
    if (delta === null) return;
    const behind = entries.filter(({ watcher }) => watcher.isBehind(id));
    const follow = behind.length === 0 ? entries : entries.filter((one) => !behind.includes(one));
    add(messages, 'book', follow, () => delta);
    this.catchUp(messages, behind, id);
  }

  private catchUp(messages: Message[], behind: readonly Held[], id: MarketId): void {
    const ready = behind.filter(({ watcher }) => watcher.catchesUp(id));
    if (ready.length > 0) this.addSnapshot(messages, ready, id);
  }

  private addSnapshot(messages: Message[], to: readonly Held[], id: MarketId): void {
    add(messages, 'book', to, () => this.book(id).snapshot(this.host.view));
  }

  private addOrders(messages: Message[], { orders }: Changes): void {
    const { view } = this.host;
    for (const [id, subaccount] of orders) {
      const order = view.order(id);
      if (order === undefined) continue;
      this.addPrivate(messages, 'order', subaccount, () => encodeOrder(view, this.host.ids, order));
    }
  }

  private addFills(messages: Message[], { fills }: Changes): void {
    for (const fill of fills) {
      for (const side of sidesOf(fill)) {
        this.addPrivate(messages, 'fill', side.subaccount, () => this.records.fill(fill, side));
      }
    }
  }

  /** To those who watch the subaccount and still may. */
  private addPrivate(
    messages: Message[],
    source: FeedSource,
    id: SubaccountId,
    make: () => unknown,
  ): void {
    const { view } = this.host;
    const { account, index } = view.subaccount(id);
    const entries = this.topics.of(source, view.addressOf(account));
    if (entries.length === 0) return;
    const to = entries.filter(
      ({ watcher, subscription }) =>
        subscription.access === 'private' &&
        (subscription.indices === null || subscription.indices.includes(index)) &&
        watcher.allows(subscription),
    );
    add(messages, source, to, make);
  }

  private publicEntries(source: FeedSource, id: MarketId): readonly Held[] {
    const one = this.topics.of(source, id);
    const all = this.topics.of(source, 'all');
    if (all.length === 0) return one;
    return one.length === 0 ? all : [...one, ...all];
  }

  private publishStats(): void {
    const messages: Message[] = [];
    for (const held of this.topics.ofSource('stats')) {
      if (held.watcher.allows(held.subscription)) this.addStats(messages, held);
    }
    this.release(messages);
  }

  private addStats(messages: Message[], held: Held): void {
    const { view } = this.host;
    const { subscription } = held;
    if (subscription.access !== 'private') return;
    for (const { id, index } of view.subaccountsOf(subscription.account)) {
      if (subscription.indices?.includes(index) === false) continue;
      add(messages, 'stats', [held], () => encodeStats(view, id));
    }
  }

  /** Prices and summaries for who wants all markets: the latest of each that changed. And snapshots for who reads again. */
  private publishThrottled(): void {
    const changed = [...this.throttled];
    this.throttled.clear();
    const messages: Message[] = [];
    if (changed.length > 0) {
      for (const source of ['price', 'summary'] as const) {
        const to = this.topics.of(source, 'all');
        add(messages, source, to, () => changed.map((id) => this.records.quote(source, id)));
      }
    }
    for (const id of this.books.keys()) {
      const behind = this.publicEntries('book', id).filter(({ watcher }) => watcher.isBehind(id));
      this.catchUp(messages, behind, id);
    }
    this.release(messages);
  }

  /** Sends once what the messages show is on disk. */
  private release(messages: readonly Message[]): void {
    if (messages.length === 0) return;
    const durable = this.host.exchange.durable();
    if (durable === null) send(messages);
    else {
      durable.then(
        () => {
          send(messages);
        },
        () => {
          // The disk failed: what was not written has not happened.
        },
      );
    }
  }

  private book(id: MarketId): BookFeed {
    let book = this.books.get(id);
    if (book === undefined) {
      book = new BookFeed(id);
      this.books.set(id, book);
    }
    return book;
  }

  private marketsOf(subscription: Subscription): readonly MarketId[] {
    if (subscription.access === 'private') return [];
    return subscription.markets ?? this.host.view.markets().map(({ id }) => id);
  }
}

function add(
  messages: Message[],
  source: FeedSource,
  to: readonly Held[],
  make: () => unknown,
): void {
  if (to.length === 0) return;
  messages.push({ to, text: stringifyExact({ type: FEEDS[source].update, data: make() }) });
}

/** Each message is encoded once, its bytes are shared by all who get it; messages in a row to the same go out together. */
function send(messages: readonly Message[]): void {
  for (let i = 0; i < messages.length;) {
    const { to } = messages[i] as Message;
    const batch: Buffer[] = [];
    for (; messages[i]?.to === to; i++) batch.push(Buffer.from(messages[i]?.text ?? ''));
    for (const { active, watcher, subscription } of to) {
      if (active) watcher.send(subscription, batch);
    }
  }
}
