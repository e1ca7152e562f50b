/**
 * Feeds. At the end of a turn in which commands were applied, what they changed is made into messages for who watches it, each once
 * whatever the number of watchers; the messages go out when the journal up to them is on disk, so no feed shows what a crash could take back.
 */
import { FEEDS, type FeedSource } from '../../contract/feeds.ts';
import type { OrderFilled, PositionTransferred } from '../../engine/events.ts';
import type { ExchangeView } from '../../engine/views.ts';
import {
  encodeClosedPosition,
  encodeOrder,
  encodePosition,
  encodeStats,
  marketTime,
  millis,
  money,
  priceText,
  sizeText,
} from '../../gateway/encode.ts';
import { encodeCandle, encodePrice, encodeSummary } from '../../gateway/market-data.ts';
import { timeUs, type MarketId, type SubaccountId } from '../../num/units.ts';
import { stringifyExact } from '../exact-json.ts';
import type { Host } from '../host.ts';
import { BookFeed } from './book-feed.ts';
import { Changes } from './changes.ts';
import type { Subscription } from './subscription.ts';

const STATS_EVERY_MS = 5000;
/** Prices and summaries of all markets at once are told so often at most. */
const THROTTLE_MS = 100;
const MINUTE_US = 60_000_000;

/** Who watches: a connection. */
export interface Watcher {
  readonly subscriptions: Iterable<Subscription>;
  /** Whether it may still see this; a private subscription ends with the right to it. */
  allows(subscription: Subscription): boolean;
  send(source: FeedSource, key: string, text: string): void;
  /** Whether book deltas were dropped, so that it needs a snapshot. */
  needsSnapshot(market: MarketId): boolean;
}

interface Message {
  readonly source: FeedSource;
  readonly key: string;
  readonly watcher: Watcher;
  readonly text: string;
}

export class Publisher {
  private readonly host: Host;
  private readonly watchers = new Set<Watcher>();
  private readonly books = new Map<MarketId, BookFeed>();
  private changes = new Changes();
  private scheduled = false;
  private readonly throttled = new Set<MarketId>();
  private readonly timers: NodeJS.Timeout[];

  constructor(host: Host) {
    this.host = host;
    host.exchange.onEvent((event) => {
      if (this.watchers.size === 0) return;
      this.changes.note(event);
      this.schedule();
    });
    // What was not on disk was not told, but books were looked at: begin anew.
    host.exchange.onReset(() => {
      this.changes = new Changes();
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

  close(): void {
    for (const timer of this.timers) clearInterval(timer);
  }

  watch(watcher: Watcher): void {
    this.watchers.add(watcher);
  }

  unwatch(watcher: Watcher): void {
    this.watchers.delete(watcher);
  }

  /** The first message of a subscription, where it has one. */
  begin(watcher: Watcher, subscription: Subscription): void {
    // Whoever watches already is told first, so that the next delta fits all.
    this.publish();
    const { view } = this.host;
    const messages: Message[] = [];
    if (subscription.access === 'private' && subscription.source === 'stats') {
      this.addStats(messages, watcher, subscription);
    }
    if (subscription.source === 'book') {
      for (const id of marketsOf(view, subscription)) {
        const text = updateText('book', this.book(id).snapshot(view));
        messages.push({ source: 'book', key: subscription.key, watcher, text });
      }
    }
    this.release(messages);
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
    this.changes = new Changes();
    const made = new Map<string, string>();
    const messages: Message[] = [];
    const deltas = new Map<MarketId, unknown>();
    for (const id of changes.markets) {
      this.throttled.add(id);
      deltas.set(id, this.books.get(id)?.delta(this.host.view) ?? null);
    }
    for (const watcher of this.watchers) {
      for (const subscription of watcher.subscriptions) {
        if (!watcher.allows(subscription)) continue;
        const add = (about: string, make: () => unknown): void => {
          const { source, key } = subscription;
          const name = `${source} ${about}`;
          let text = made.get(name);
          if (text === undefined) {
            text = updateText(source, make());
            made.set(name, text);
          }
          messages.push({ source, key, watcher, text });
        };
        if (subscription.access === 'public') {
          this.addPublic(subscription, changes, deltas, watcher, add);
        } else this.addPrivate(subscription, changes, add);
      }
    }
    this.release(messages);
  }

  private addPublic(
    subscription: Extract<Subscription, { access: 'public' }>,
    changes: Changes,
    deltas: ReadonlyMap<MarketId, unknown>,
    watcher: Watcher,
    add: (about: string, make: () => unknown) => void,
  ): void {
    const { view } = this.host;
    const { source, markets } = subscription;
    const wants = (id: MarketId): boolean => markets === null || markets.includes(id);
    switch (source) {
      case 'trade':
        for (const { market: id, tradeId, priceTicks, lots, timeUs: atUs } of changes.trades) {
          if (!wants(id)) continue;
          add(String(tradeId), () => {
            const market = view.market(id);
            return {
              price: priceText(market, priceTicks),
              quantity: sizeText(market, lots),
              symbol: market.spec.symbol,
              time: marketTime(view, atUs),
            };
          });
        }
        return;
      case 'book':
        for (const id of changes.markets) {
          if (!wants(id)) continue;
          const delta = deltas.get(id);
          if (watcher.needsSnapshot(id)) {
            add(`${String(id)} snapshot`, () => this.book(id).snapshot(view));
          } else if (delta !== null && delta !== undefined) add(String(id), () => delta);
        }
        return;
      case 'candle':
        for (const id of new Set(changes.trades.map(({ market }) => market))) {
          if (wants(id)) add(String(id), () => this.candle(id));
        }
        return;
      case 'price':
      case 'summary':
        // All markets at once are told from time to time (publishThrottled).
        if (markets === null) return;
        for (const id of changes.markets) {
          if (wants(id)) add(String(id), () => this.quote(source, id));
        }
        return;
      default:
    }
  }

  private addPrivate(
    subscription: Extract<Subscription, { access: 'private' }>,
    changes: Changes,
    add: (about: string, make: () => unknown) => void,
  ): void {
    const { view } = this.host;
    const watched = this.watchedSubaccounts(subscription);
    switch (subscription.source) {
      case 'order':
        for (const [id, subaccount] of changes.orders) {
          const order = watched.has(subaccount) ? view.order(id) : undefined;
          if (order === undefined) continue;
          add(String(id), () => encodeOrder(view, this.host.ids, order));
        }
        return;
      case 'fill':
        for (const fill of changes.fills) {
          for (const side of sidesOf(fill)) {
            if (!watched.has(side.subaccount)) continue;
            const about = `${String(fill.seq)}.${String(fill.index)} ${String(side.subaccount)}`;
            add(about, () => this.fill(fill, side));
          }
        }
        return;
      case 'position':
        for (const [subaccount, markets] of changes.positions) {
          if (!watched.has(subaccount)) continue;
          for (const id of markets) {
            add(`${String(subaccount)} ${String(id)}`, () => this.position(subaccount, id));
          }
        }
        return;
      case 'balance':
        for (const subaccount of changes.balances) {
          if (watched.has(subaccount)) add(String(subaccount), () => this.balance(subaccount));
        }
        return;
      default:
    }
  }

  private watchedSubaccounts({
    account,
    indices,
  }: Extract<Subscription, { access: 'private' }>): ReadonlySet<SubaccountId> {
    const all = this.host.view.subaccountsOf(account);
    return new Set(
      all.filter(({ index }) => indices === null || indices.includes(index)).map(({ id }) => id),
    );
  }

  private publishStats(): void {
    const messages: Message[] = [];
    for (const watcher of this.watchers) {
      for (const subscription of watcher.subscriptions) {
        if (subscription.source !== 'stats' || subscription.access !== 'private') continue;
        if (watcher.allows(subscription)) this.addStats(messages, watcher, subscription);
      }
    }
    this.release(messages);
  }

  private addStats(
    messages: Message[],
    watcher: Watcher,
    subscription: Extract<Subscription, { access: 'private' }>,
  ): void {
    for (const id of this.watchedSubaccounts(subscription)) {
      const text = updateText('stats', encodeStats(this.host.view, id));
      messages.push({ source: 'stats', key: subscription.key, watcher, text });
    }
  }

  /** Prices and summaries for who wants all markets: the latest of each that changed. */
  private publishThrottled(): void {
    const changed = [...this.throttled];
    this.throttled.clear();
    if (changed.length === 0) return;
    const messages: Message[] = [];
    for (const watcher of this.watchers) {
      for (const subscription of watcher.subscriptions) {
        const { source, key } = subscription;
        if (source !== 'price' && source !== 'summary') continue;
        if (subscription.access !== 'public' || subscription.markets !== null) continue;
        const text = updateText(
          source,
          changed.map((id) => this.quote(source, id)),
        );
        messages.push({ source, key, watcher, text });
      }
    }
    this.release(messages);
  }

  /** Sends once what the messages show is on disk. */
  private release(messages: readonly Message[]): void {
    if (messages.length === 0) return;
    const send = (): void => {
      for (const { watcher, source, key, text } of messages) watcher.send(source, key, text);
    };
    const durable = this.host.exchange.durable();
    if (durable === null) send();
    else {
      durable.then(send, () => {
        // The disk failed: what was not written has not happened.
      });
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

  private quote(source: 'price' | 'summary', id: MarketId): unknown {
    const { view } = this.host;
    const market = view.market(id);
    return source === 'price' ? encodePrice(view, market) : encodeSummary(view, market);
  }

  private candle(id: MarketId): unknown {
    const { view } = this.host;
    const market = view.market(id);
    const fromUs = timeUs(view.nowUs - (view.nowUs % MINUTE_US));
    const [candle] = view.candles(id, MINUTE_US, fromUs, timeUs(fromUs + MINUTE_US), 1).items;
    if (candle === undefined) return null;
    return { symbol: market.spec.symbol, interval: '1m', ...encodeCandle(view, market, candle) };
  }

  private position(id: SubaccountId, marketId: MarketId): unknown {
    const { view } = this.host;
    const position = view.positions(id).find(({ market }) => market === marketId);
    if (position !== undefined) return encodePosition(view, position);
    return encodeClosedPosition(view, id, view.market(marketId), view.nowUs);
  }

  private balance(id: SubaccountId): unknown {
    const { view } = this.host;
    const subaccount = view.subaccount(id);
    return {
      account: view.addressOf(subaccount.account),
      balance: money(subaccount.balanceQuanta),
      subaccountIndex: subaccount.index,
      updatedAt: millis(subaccount.updatedAtUs),
    };
  }

  private fill(fill: OrderFilled | PositionTransferred, side: FillSide): unknown {
    const { view } = this.host;
    const market = view.market(fill.market);
    const subaccount = view.subaccount(side.subaccount);
    const order = fill.kind === 'orderFilled' ? view.order(fill.orderId) : undefined;
    return {
      account: view.addressOf(subaccount.account),
      subaccountIndex: subaccount.index,
      symbol: market.spec.symbol,
      price: priceText(market, fill.priceTicks),
      quantity: sizeText(market, side.lots),
      time: marketTime(view, fill.timeUs),
      order_id: order === undefined ? null : this.host.ids.digestOf(order),
      fee: money(side.fee),
      realized_exposure: money(side.exposure),
      realized_funding: money(side.funding),
      realized_pnl: money(side.exposure + side.funding - side.fee),
    };
  }
}

interface FillSide {
  readonly subaccount: SubaccountId;
  readonly lots: number;
  readonly fee: bigint;
  readonly exposure: bigint;
  readonly funding: bigint;
}

/** A fill of the book has one side an event; a position that changed hands has both. */
function sidesOf(fill: OrderFilled | PositionTransferred): FillSide[] {
  if (fill.kind === 'orderFilled') {
    return [
      {
        subaccount: fill.subaccount,
        lots: fill.lots,
        fee: fill.feeQuanta + fill.originatorFeeQuanta,
        exposure: fill.realizedPnlQuanta,
        funding: fill.realizedFundingQuanta,
      },
    ];
  }
  const fee = 0n;
  return [
    {
      subaccount: fill.from,
      lots: -fill.lots,
      fee,
      exposure: fill.fromRealizedQuanta - fill.moneyQuanta,
      funding: fill.fromFundingQuanta,
    },
    {
      subaccount: fill.to,
      lots: fill.lots,
      fee,
      exposure: fill.toRealizedQuanta + fill.moneyQuanta,
      funding: fill.toFundingQuanta,
    },
  ];
}

function marketsOf(view: ExchangeView, subscription: Subscription): readonly MarketId[] {
  if (subscription.access === 'private') return [];
  return subscription.markets ?? view.markets().map(({ id }) => id);
}

function updateText(source: FeedSource, data: unknown): string {
  return stringifyExact({ type: FEEDS[source].update, data });
}
