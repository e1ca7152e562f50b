/**
 * Feeds. At the end of an event-loop turn with commands, their changes become messages,
 * each encoded once for all subscribers. Messages are sent once the journal up to them is durable,
 * so no feed shows state that a crash could lose.
 */
import { FEEDS, type FeedSource } from '../../contract/feeds.ts';
import { encodeOrder, encodeStats } from '../../gateway/encode.ts';
import type { EngineEvent, TradePrinted } from '../../engine/events.ts';
import type { OrderView } from '../../engine/read/views.ts';
import type { MarketId, SubaccountId } from '../../num/units.ts';
import { stringifyExact } from '../../contract/exact-json.ts';
import { must } from '../../base/assert.ts';
import { StoreStopped } from '../../journal/store-stopped.ts';
import type { Host } from '../exchange-host.ts';
import { BookFeed } from '../../gateway/feeds/book-feed.ts';
import { Changes } from '../../gateway/feeds/changes.ts';
import { MarketWatch } from '../../gateway/feeds/market-watch.ts';
import { ReplayFeed, type Driver } from './replay-feed.ts';
import { FeedRecords, MINUTE_US, sidesOf } from '../../gateway/feeds/feed-records.ts';
import type { Subscription } from './subscription.ts';
import { StatsRounds, type StatsRecord } from './stats-rounds.ts';
import { textFrames } from './text-frames.ts';
import { Topics } from './topics.ts';
import type { Held, Watcher } from './watcher.ts';

const STATS_EVERY_MS = 5000;
/**
 * Min interval of batched prices and summaries of all markets, and of snapshots after lost deltas.
 */
const THROTTLE_MS = 100;

interface Message {
  /** `driver`: the connection that drives the replay. */
  readonly to: readonly Held[] | 'driver';
  readonly text: string;
}

export class Publisher {
  private readonly host: Host;
  private readonly records: FeedRecords;
  private readonly watchers = new Map<Watcher, Set<Held>>();
  private readonly topics = new Topics<Watcher>();
  private readonly books = new Map<MarketId, BookFeed>();
  private changes: Changes;
  private silent: MarketWatch;
  private readonly stats: StatsRounds;
  private scheduled = false;
  /** Of private sources, during a publication: messages to the same readers share a send. */
  private readonly readers = new Map<string, readonly Held[]>();
  private readonly throttled = new Set<MarketId>();
  private readonly timers: NodeJS.Timeout[];
  /** Adds the messages of a replay's events since the last `publish`. */
  private readonly inOrder: ((messages: Message[]) => void)[] = [];
  /** Null unless a replay on a virtual clock is served. */
  readonly replay: ReplayFeed | null;

  constructor(host: Host) {
    this.host = host;
    this.records = new FeedRecords(host);
    this.changes = this.noChanges();
    this.silent = new MarketWatch(host.view);
    this.stats = new StatsRounds({
      view: () => host.view,
      send: (records) => {
        this.sendStats(records);
      },
    });
    const { replay } = host;
    this.replay =
      replay?.speed === null
        ? new ReplayFeed(host, {
            publish: () => this.publish(),
            notify: (message) => {
              this.inOrder.push((messages) => {
                messages.push({ to: 'driver', text: message });
              });
            },
          })
        : null;
    if (replay !== null && this.replay !== null) replay.sink = this.replay;
    host.exchange.onEvent((event) => {
      if (this.watchers.size === 0) return;
      this.changes.note(event);
      this.noteInOrder(event);
      this.schedule();
    });
    host.exchange.onReset(() => {
      this.reset();
    });
    this.timers = [
      setInterval(() => {
        if (!this.isOutdated) this.stats.all(this.topics.ofSource('stats'));
      }, STATS_EVERY_MS),
      setInterval(() => {
        this.publishThrottled();
      }, THROTTLE_MS),
    ];
    for (const timer of this.timers) timer.unref();
  }

  /**
   * Changes that were not durable are lost and were never published. A book's next delta would
   * follow on a lost one, so its subscribers get a snapshot.
   */
  private reset(): void {
    this.changes = this.noChanges();
    this.silent = new MarketWatch(this.host.view);
    this.stats.drop();
    this.inOrder.length = 0;
    const messages: Message[] = [];
    const listed = new Set(this.host.view.markets().map(({ id }) => id));
    // A listing may be among what is lost.
    for (const id of this.throttled) if (!listed.has(id)) this.throttled.delete(id);
    for (const [id, book] of this.books) {
      if (!listed.has(id)) {
        this.books.delete(id);
        continue;
      }
      book.reset();
      this.addSnapshot(messages, this.publicEntries('book', id), id);
    }
    this.release(messages);
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
    this.replay?.leave(watcher);
  }

  /** Whether the lease of this leader has run out: another server may lead. */
  private get isOutdated(): boolean {
    const { replica } = this.host.exchange;
    return replica?.role === 'leader' && replica.lagMs > 0;
  }

  /** Starts a subscription and sends its first message, if it has one. Throws `StoreStopped`. */
  subscribe(watcher: Watcher, subscription: Subscription): Held {
    this.host.catchUp();
    // A snapshot would be old.
    if (this.isOutdated) {
      throw new StoreStopped('the lease of this leader has run out');
    }
    // Publishes to existing subscribers first, so that the next delta fits all.
    this.publish();
    const held: Held = { watcher, subscription, active: true, isOneOfSeveral: false };
    for (const other of this.watchers.get(watcher) ?? []) {
      if (other.subscription.source === subscription.source) {
        other.isOneOfSeveral = true;
        held.isOneOfSeveral = true;
      }
    }
    const messages: Message[] = [];
    if (subscription.source === 'book') {
      for (const id of this.marketsOf(subscription)) this.addSnapshot(messages, [held], id);
    }
    this.release(messages);
    if (subscription.source === 'stats') this.stats.first(held);
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

  /**
   * A replay publishes trades, fills and orders in the order of their events. Their ids are known
   * after the command only, so `publish` encodes them.
   */
  private noteInOrder(event: EngineEvent): void {
    const { replay } = this;
    if (replay === null) return;
    const { changes } = this;
    replay.onEvent(event);
    const { trades, fills, orders } = changes.takeOrdered();
    if (trades.length > 0)
      this.inOrder.push((messages) => {
        this.addTrades(messages, trades);
      });
    if (fills.length > 0)
      this.inOrder.push((messages) => {
        this.addFills(messages, fills);
      });
    const order = ReplayFeed.publishesOrder(event) ? [...orders.keys()][0] : undefined;
    // The order as it is at the event.
    const state = order === undefined ? undefined : this.host.view.order(order);
    if (state !== undefined)
      this.inOrder.push((messages) => {
        this.addOrder(messages, state);
      });
  }

  /** True if there was an update. */
  private publish(): boolean {
    this.scheduled = false;
    const { changes } = this;
    this.silent.note(changes);
    this.changes = this.noChanges();
    if (changes.rights) for (const watcher of this.watchers.keys()) watcher.recheck();
    this.readers.clear();
    const messages: Message[] = [];
    for (const add of this.inOrder.splice(0)) add(messages);
    this.addTrades(messages, changes.trades);
    this.addLiquidations(messages, changes);
    for (const id of changes.terms) {
      const to = this.publicEntries('market', id);
      add(messages, 'market', to, () => this.records.market(id));
    }
    // By id, as a backtest publishes the books that one command changes.
    for (const id of [...changes.markets].sort((a, b) => a - b)) {
      this.throttled.add(id);
      this.addBook(messages, id);
      for (const source of ['price', 'summary'] as const) {
        // Subscribers of all markets are served by `publishThrottled`.
        const to = this.topics.of(source, id);
        add(messages, source, to, () => this.records.quote(source, id));
      }
    }
    this.addOrders(messages, changes);
    this.addFills(messages, changes.fills);
    for (const [id, markets] of changes.positions) {
      for (const market of markets) {
        this.addPrivate(messages, 'position', id, () => this.records.position(id, market));
      }
    }
    for (const id of changes.balances) {
      this.addPrivate(messages, 'balance', id, () => this.records.balance(id));
    }
    this.release(messages);
    return messages.length > 0;
  }

  private addTrades(messages: Message[], trades: Changes['trades']): void {
    // A trade of each market and minute: the clock may be in a later minute already.
    const candles = new Map<string, TradePrinted>();
    for (const trade of trades) {
      const { market, timeUs } = trade;
      const to = this.publicEntries('trade', market);
      add(messages, 'trade', to, () => this.records.trade(trade));
      candles.set(`${String(market)} ${String(Math.floor(timeUs / MINUTE_US))}`, trade);
    }
    for (const { market, timeUs } of candles.values()) {
      const to = this.publicEntries('candle', market);
      const candle = to.length === 0 ? null : this.records.candle(market, timeUs);
      if (candle !== null) add(messages, 'candle', to, () => candle);
    }
  }

  /** Events without a market go to subscribers of all markets. */
  private addLiquidations(messages: Message[], { liquidations }: Changes): void {
    for (const event of liquidations) {
      const id = event.kind === 'balanceChanged' ? null : event.market;
      const to =
        id === null ? this.topics.of('liquidation', 'all') : this.publicEntries('liquidation', id);
      add(messages, 'liquidation', to, () => this.records.liquidation(event));
    }
  }

  /**
   * Sends the delta to followers, and a snapshot to subscribers that lost a delta and read again.
   * The first message of a new market is a snapshot.
   */
  private addBook(messages: Message[], id: MarketId): void {
    const book = this.books.get(id);
    const entries = this.publicEntries('book', id);
    if (book === undefined) {
      // Subscribers of all markets have no snapshot of one that is listed after they came.
      this.addSnapshot(messages, entries, id);
      return;
    }
    if (entries.length === 0) {
      book.reset();
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
    for (const id of orders.keys()) {
      const order = this.host.view.order(id);
      if (order !== undefined) this.addOrder(messages, order);
    }
  }

  private addOrder(messages: Message[], order: OrderView): void {
    const { view, ids } = this.host;
    this.addPrivate(messages, 'order', order.subaccount, () => encodeOrder(view, ids, order));
  }

  private addFills(messages: Message[], fills: Changes['fills']): void {
    for (const fill of fills) {
      for (const side of sidesOf(fill)) {
        this.addPrivate(messages, 'fill', side.subaccount, () => this.records.fill(fill, side));
      }
    }
  }

  /** Sends to subscribers of the subaccount that still have the right to it. */
  private addPrivate(
    messages: Message[],
    source: FeedSource,
    id: SubaccountId,
    make: () => unknown,
  ): void {
    const key = `${source} ${String(id)}`;
    let to = this.readers.get(key);
    if (to === undefined) {
      to = this.readersOf(source, id);
      this.readers.set(key, to);
    }
    add(messages, source, to, make);
  }

  private readersOf(source: FeedSource, id: SubaccountId): readonly Held[] {
    const { view } = this.host;
    const { account, index } = view.subaccount(id);
    return this.topics
      .of(source, view.addressOf(account))
      .filter(
        ({ watcher, subscription }) =>
          subscription.access === 'private' &&
          (subscription.indices === null || subscription.indices.includes(index)) &&
          watcher.allows(subscription),
      );
  }

  private publicEntries(source: FeedSource, id: MarketId): readonly Held[] {
    const one = this.topics.of(source, id);
    const all = this.topics.of(source, 'all');
    if (all.length === 0) return one;
    return one.length === 0 ? all : [...one, ...all];
  }

  private sendStats(records: Iterable<StatsRecord>): void {
    const messages: Message[] = [];
    for (const { held, id } of records) {
      add(messages, 'stats', [held], () => encodeStats(this.host.view, id));
    }
    this.release(messages);
  }

  /** Publishes prices and summaries of all markets, and snapshots after lost deltas. */
  private publishThrottled(): void {
    if (this.watchers.size > 0 && this.silent.note(this.changes)) this.schedule();
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

  /** Sends messages once the state they show is durable. */
  private release(messages: readonly Message[]): void {
    if (messages.length === 0) return;
    const durable = this.host.exchange.committed();
    const driver = this.replay?.driver ?? null;
    const stamped: readonly Message[] =
      driver === null
        ? messages
        : [{ to: 'driver', text: this.replay?.stamp() ?? '' }, ...messages];
    if (durable === null) send(stamped, driver);
    else {
      durable.then(
        () => {
          send(stamped, driver);
        },
        () => {
          // Disk failure: the unsynced commands are rolled back, so their messages are dropped.
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

/**
 * Encodes each message once; consecutive messages to the same entries share a send. A watcher with
 * several subscriptions that match gets a message once.
 */
function send(messages: readonly Message[], driver: Driver | null): void {
  const written = new Set<Watcher>();
  for (let i = 0; i < messages.length;) {
    const { to, text } = messages[i] as Message;
    if (to === 'driver') {
      driver?.notify(text);
      i += 1;
      continue;
    }
    const texts: string[] = [];
    for (; messages[i]?.to === to; i++) texts.push(messages[i]?.text ?? '');
    const frames = textFrames(texts);
    const served = new Set<Watcher>();
    for (const { active, watcher, subscription, isOneOfSeveral } of to) {
      if (!active || (isOneOfSeveral && served.has(watcher))) continue;
      if (isOneOfSeveral) served.add(watcher);
      watcher.send(subscription, frames);
      written.add(watcher);
    }
  }
  for (const watcher of written) watcher.flush();
}
