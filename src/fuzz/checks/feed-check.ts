/**
 * Feeds beside the exchange: a subscriber of all feeds from the first command on knows the state
 * from updates alone. Books are followed by deltas, without a gap between sequence numbers. Orders,
 * positions and balances are the last records sent. Trades and fills are compared one by one.
 *
 * Several commands may share one publication, as they do in a served exchange.
 */
import { sha256Hex } from '../../base/sha256.ts';
import type {
  BalanceChanged,
  EngineEvent,
  LiquidationStep,
  PositionTransferred,
} from '../../engine/events.ts';
import type { Engine, ExchangeView } from '../../engine/read/views.ts';
import { encodeOrder } from '../../gateway/encode.ts';
import { BookFeed } from '../../gateway/feeds/book-feed.ts';
import { Changes } from '../../gateway/feeds/changes.ts';
import { FeedRecords, sidesOf } from '../../gateway/feeds/feed-records.ts';
import { MarketWatch } from '../../gateway/feeds/market-watch.ts';
import { TrustOrderIds } from '../../gateway/order-ids.ts';
import type { MarketId, OrderId, SubaccountId } from '../../num/units.ts';
import type { Checker, Violation } from '../checker.ts';
import { differingField } from './differing-field.ts';
import {
  balanceRecord,
  candleRecord,
  closedRecord,
  fillRecord,
  levelRecord,
  liquidationRecord,
  marketRecord,
  orderRecord,
  positionRecord,
  priceRecord,
  summaryRecord,
  tradeRecord,
} from './records.ts';
import {
  UNSENT_OF_BALANCE,
  UNSENT_OF_MID,
  UNSENT_OF_ORDER,
  UNSENT_OF_POSITION,
  UNSENT_OF_QUOTE,
  without,
} from './unsent-fields.ts';

const SHORTFALL_INDEX = 0;
const MINUTE_US = 60_000_000;
/** One publication in so many has two commands. */
const MERGED_EVERY = 4;
/** One publication in so many has a second subscriber to the book, who joins before it. */
const JOIN_EVERY = 7;
/** After one publication in so many all leave, and one returns. */
const LEAVE_EVERY = 61;
/** The events of one command in so many are published one by one, too. */
const ORDERED_EVERY = 16;
/** Summaries of one publication in so many are compared as they are sent. */
const SUMMARY_EVERY = 8;
/** An address in a record of a public feed. */
const ADDRESS = /0x[0-9a-f]{40}/;

interface KnownBook {
  seq: number;
  readonly bids: Map<string, string>;
  readonly asks: Map<string, string>;
}

interface BookMessage {
  readonly snapshot: boolean;
  readonly bids: readonly { readonly price: string; readonly quantity: string }[];
  readonly asks: readonly { readonly price: string; readonly quantity: string }[];
  readonly previous_sequence_number: number | null;
  readonly sequence_number: number;
}

export function feedCheck(every: number): Checker {
  let subscriber: Subscriber | null = null;
  let changes: Changes | null = null;
  const open = (view: ExchangeView): Subscriber =>
    (subscriber ??= new Subscriber(view, every === 1));
  const compare = (engine: Engine): Violation | null => {
    const found = open(engine).publish(changes) ?? open(engine).differing();
    changes = null;
    return found === null ? null : broken(engine, found);
  };
  const pending: EngineEvent[] = [];
  return {
    onEvent: (event) => {
      pending.push(event);
    },
    after: (engine) => {
      changes ??= new Changes(shortfallOf(engine));
      const listed = LISTS.map((name) => changes?.[name].length ?? 0);
      for (const event of pending) changes.note(event);
      const isOrdered = every === 1 || engine.seq % ORDERED_EVERY === 0;
      const unlisted =
        unlistedFault(changes, listed, pending, shortfallOf(engine)) ??
        (isOrdered ? unorderedFault(new Changes(shortfallOf(engine)), pending) : null);
      pending.length = 0;
      if (unlisted !== null) return broken(engine, unlisted);
      if (engine.seq % every === 0) return compare(engine);
      if (engine.seq % MERGED_EVERY === 0) return null;
      const found = open(engine).publish(changes);
      changes = null;
      return found === null ? null : broken(engine, found);
    },
    end: compare,
  };
}

/** The events that are published one by one, by the list that has them. */
const LISTS = ['trades', 'fills', 'liquidations'] as const;

function isListed(name: (typeof LISTS)[number], event: EngineEvent, shortfall: SubaccountId) {
  const { kind } = event;
  if (name === 'trades') return kind === 'tradePrinted';
  if (name === 'fills') return kind === 'orderFilled' || kind === 'positionTransferred';
  return isLiquidationUpdate(event, shortfall);
}

/** Whether the feed of liquidations has this event. */
export function isLiquidationUpdate(
  event: EngineEvent,
  shortfall: SubaccountId,
): event is LiquidationStep | PositionTransferred | BalanceChanged {
  const { kind } = event;
  // Orders that a liquidation cancels have records of their own, and its end is no action.
  if (kind === 'liquidationStep') return event.step !== 'cancelOrders' && event.step !== 'safe';
  if (kind === 'balanceChanged') return event.subaccount === shortfall;
  return kind === 'positionTransferred';
}

/**
 * Whether a list has gained other events than those of the command, or a change of rights is
 * missing; null if not.
 */
function unlistedFault(
  changes: Changes,
  listed: readonly number[],
  events: readonly EngineEvent[],
  shortfall: SubaccountId,
): string | null {
  for (const [i, name] of LISTS.entries()) {
    const wanted = events.filter((event) => isListed(name, event, shortfall));
    const found = changes[name].slice(listed[i]);
    const isSame = found.length === wanted.length && wanted.every((event, k) => event === found[k]);
    if (!isSame) return `${name}: ${String(found.length)} events, not ${String(wanted.length)}`;
  }
  // Subscriptions of accounts end with the rights to them.
  const changed = events.find(
    ({ kind }) => kind === 'delegateChanged' || kind === 'signersChanged',
  );
  return changed === undefined || changes.rights ? null : `${changed.kind} is not noted`;
}

/**
 * Whether an event publishes another order, trade or fill than its own; null if not. A replay takes
 * them after each event.
 */
function unorderedFault(ordered: Changes, events: readonly EngineEvent[]): string | null {
  for (const event of events) {
    ordered.note(event);
    const { orders, trades, fills } = ordered.takeOrdered();
    const own = 'orderId' in event ? event.orderId : null;
    const ids = [...orders.keys()];
    const isSame = own === null ? ids.length === 0 : ids.length === 1 && ids[0] === own;
    if (!isSame) return `${event.kind} publishes the orders ${ids.join(', ') || 'none'}`;
    for (const list of [trades, fills]) {
      if (list.some((one) => one !== event)) return `${event.kind} publishes another event`;
    }
  }
  return null;
}

function shortfallOf(view: ExchangeView): SubaccountId {
  const id = view.subaccountIdOf(view.config.shortfallAccount, SHORTFALL_INDEX);
  if (id === undefined) throw new Error('every exchange has a shortfall account');
  return id;
}

/** Everything that was sent, and what follows from it. */
class Subscriber {
  private readonly view: ExchangeView;
  private readonly ids: TrustOrderIds;
  private readonly records: FeedRecords;
  private readonly silent: MarketWatch;
  private readonly feeds = new Map<MarketId, BookFeed>();
  private readonly books = new Map<MarketId, KnownBook>();
  /** As another subscriber knows them, who joined later. */
  private readonly joined = new Map<MarketId, KnownBook>();
  private readonly orders = new Map<OrderId, unknown>();
  private readonly positions = new Map<string, unknown>();
  private readonly balances = new Map<SubaccountId, unknown>();
  private readonly quotes = new Map<string, unknown>();
  private readonly terms = new Map<MarketId, unknown>();
  private readonly joinEvery: number;
  private readonly leaveEvery: number;
  private publications = 0;

  /** `often`: others come and go with nearly every publication, as a short journal needs. */
  constructor(view: ExchangeView, often: boolean) {
    this.view = view;
    this.joinEvery = often ? 1 : JOIN_EVERY;
    this.leaveEvery = often ? 3 : LEAVE_EVERY;
    this.silent = new MarketWatch(view);
    this.ids = new TrustOrderIds(view, sha256Hex);
    this.records = new FeedRecords({ view, ids: this.ids });
  }

  /** Takes the updates of changes. Returns the fault of one of them, or null. */
  publish(changes: Changes | null): string | null {
    if (changes === null) return null;
    const noted = new Set(changes.markets);
    this.silent.note(changes);
    this.publications += 1;
    const { view, records } = this;
    const needless = this.needlessFault(changes, noted);
    if (needless !== null) return needless;
    for (const trade of changes.trades) {
      const wanted = tradeRecord(view, trade);
      const differs = differingField(wanted, records.trade(trade), 'trade');
      if (differs !== null) return differs;
    }
    const candle = this.candleFault(changes);
    if (candle !== null) return candle;
    for (const event of changes.liquidations) {
      const sent = records.liquidation(event);
      if (ADDRESS.test(textOf(sent))) return 'liquidation names an account';
      const differs = differingField(liquidationRecord(view, event), sent, 'liquidation');
      if (differs !== null) return differs;
    }
    const market = this.marketsFault(changes);
    if (market !== null) return market;
    for (const id of changes.orders.keys()) {
      const order = view.order(id);
      if (order === undefined) continue;
      const sent = encodeOrder(view, this.ids, order);
      this.orders.set(id, sent);
      const differs = differingField(orderRecord(view, order), sent, 'order');
      if (differs !== null) return differs;
    }
    for (const fill of changes.fills) {
      for (const [i, side] of sidesOf(fill).entries()) {
        const wanted = fillRecord(view, fill, i);
        const differs = differingField(wanted, records.fill(fill, side), 'fill');
        if (differs !== null) return differs;
      }
    }
    return this.ownersFault(changes) ?? this.silentFault();
  }

  /** Takes prices and terms, and compares them as they are sent. */
  private marketsFault(changes: Changes): string | null {
    const { view, records } = this;
    for (const id of changes.terms) this.terms.set(id, records.market(id));
    for (const id of changes.markets) {
      const fault = this.follow(id);
      if (fault !== null) return fault;
      for (const source of ['price', 'summary'] as const) {
        const sent = records.quote(source, id);
        this.quotes.set(`${source} ${String(id)}`, sent);
        if (source === 'summary' && this.publications % SUMMARY_EVERY !== 0) continue;
        const market = view.market(id);
        const wanted = source === 'price' ? priceRecord(view, market) : summaryRecord(view, market);
        const differs = differingField(wanted, sent, source);
        if (differs !== null) return `${market.spec.symbol}: ${differs}`;
      }
    }
    return null;
  }

  /** Takes positions and balances, and compares them as they are sent. */
  private ownersFault(changes: Changes): string | null {
    const { view, records } = this;
    for (const [id, markets] of changes.positions) {
      for (const market of markets) {
        const sent = records.position(id, market);
        this.positions.set(placeOf(id, market), sent);
        const held = view.positions(id).find((one) => one.market === market);
        const wanted =
          held === undefined
            ? closedRecord(view, id, view.market(market))
            : positionRecord(view, held);
        const what = held === undefined ? 'closed position' : 'position';
        const differs = differingField(wanted, sent, what);
        if (differs !== null) return differs;
      }
    }
    for (const id of changes.balances) {
      const sent = records.balance(id);
      this.balances.set(id, sent);
      const differs = differingField(balanceRecord(view, id), sent, 'balance');
      if (differs !== null) return differs;
    }
    return null;
  }

  /** An update of a price without an event says something new. */
  private needlessFault(changes: Changes, noted: ReadonlySet<MarketId>): string | null {
    const { view } = this;
    for (const id of changes.markets) {
      const last = this.quotes.get(`price ${String(id)}`);
      if (noted.has(id) || last === undefined) continue;
      const market = view.market(id);
      const record = without(priceRecord(view, market), UNSENT_OF_MID);
      if (differingField(record, last) !== null) continue;
      return `${market.spec.symbol}: a price is sent again without a change`;
    }
    return null;
  }

  /**
   * Changes by time alone are compared at each publication, because later updates hide those that
   * were missed.
   */
  private silentFault(): string | null {
    const { view } = this;
    for (const { id, spec, indexAtUs } of view.markets()) {
      const sent = this.quotes.get(`price ${String(id)}`);
      if (sent === undefined || indexAtUs === null || spec.indexSource === 'mid') continue;
      const isStale = view.nowUs - indexAtUs > view.config.indexStaleUs;
      const differs = differingField({ indexStale: isStale }, sent, 'price');
      if (differs !== null) return `${spec.symbol}: ${differs}`;
    }
    return null;
  }

  /** The candle of a minute is sent with its trades. */
  private candleFault({ trades }: Changes): string | null {
    const { view, records } = this;
    if (view.config.retention.candleMinutesPerMarket === 0) return null;
    for (const { market: id, timeUs: atUs } of trades) {
      const minute = atUs - (atUs % MINUTE_US);
      const all = view.candles(
        id,
        MINUTE_US,
        minute as typeof atUs,
        (minute + 1) as typeof atUs,
        1,
      );
      const [item] = all.items;
      if (item === undefined) continue;
      const wanted = candleRecord(view, view.market(id), item);
      const differs = differingField(wanted, records.candle(id, atUs), 'candle');
      if (differs !== null) return differs;
    }
    return null;
  }

  /**
   * Takes the delta of a book. A subscriber who joins before it has the book of the last one, so
   * that both follow. After the last has left, the next has the book of that time.
   */
  private follow(id: MarketId): string | null {
    let feed = this.feeds.get(id);
    if (feed === undefined) {
      feed = new BookFeed(id);
      this.feeds.set(id, feed);
      return this.take(id, this.books, feed.snapshot(this.view) as BookMessage);
    }
    const joins = this.publications % this.joinEvery === 0;
    let fault = joins ? this.take(id, this.joined, feed.snapshot(this.view) as BookMessage) : null;
    const delta = feed.delta(this.view) as BookMessage | null;
    if (delta !== null) {
      fault ??= this.take(id, this.books, delta);
      if (this.joined.has(id)) fault ??= this.take(id, this.joined, delta);
    }
    if (joins) fault ??= this.joinedFault(id);
    if (fault !== null || this.publications % this.leaveEvery !== 0) return fault;
    feed.reset();
    this.joined.delete(id);
    return this.take(id, this.books, feed.snapshot(this.view) as BookMessage);
  }

  /** Both subscribers know one book. */
  private joinedFault(id: MarketId): string | null {
    const [one, other] = [this.books.get(id), this.joined.get(id)];
    const differs = (['bids', 'asks'] as const).some((side) => {
      const levels = [...(one?.[side] ?? [])];
      const known = other?.[side];
      return levels.length !== known?.size || levels.some(([at, size]) => known.get(at) !== size);
    });
    const { symbol } = this.view.market(id).spec;
    return differs ? `book of ${symbol}: one who joined later knows another book` : null;
  }

  private take(id: MarketId, books: Map<MarketId, KnownBook>, message: BookMessage): string | null {
    const known = books.get(id);
    const { symbol } = this.view.market(id).spec;
    const follows = message.snapshot ? null : (known?.seq ?? null);
    if (message.previous_sequence_number !== follows) {
      const after = String(message.previous_sequence_number);
      return `book of ${symbol}: a message after ${after}, not after ${String(follows)}`;
    }
    const book: KnownBook =
      message.snapshot || known === undefined
        ? { seq: 0, bids: new Map(), asks: new Map() }
        : known;
    book.seq = message.sequence_number;
    books.set(id, book);
    for (const name of ['bids', 'asks'] as const) {
      for (const { price, quantity } of message[name]) {
        if (quantity === '0') book[name].delete(price);
        else book[name].set(price, quantity);
      }
    }
    return null;
  }

  /** The first difference between the known and the actual state; null if there is none. */
  differing(): string | null {
    const { view } = this;
    for (const { id } of view.markets()) {
      const fault = this.marketFault(id);
      if (fault !== null) return fault;
    }
    for (let i = 0; i < view.subaccountCount; i += 1) {
      const fault = this.ownerFault(i as SubaccountId);
      if (fault !== null) return fault;
    }
    return null;
  }

  private marketFault(id: MarketId): string | null {
    const { view, books } = this;
    const market = view.market(id);
    const { symbol } = market.spec;
    const terms = marketRecord(market);
    const termsFault = differingField(terms, this.terms.get(id), 'market');
    if (termsFault !== null) return `${symbol}: ${termsFault}`;
    for (const [name, side] of [
      ['bids', 'bid'],
      ['asks', 'ask'],
    ] as const) {
      const levels = view.depth(id, side, Infinity).map((level) => levelRecord(market, level));
      const known = books.get(id)?.[name] ?? new Map<string, string>();
      const found = levels.map((level) => known.get(String(level?.['price'])));
      const wanted = levels.map((level) => level?.['quantity']);
      const differs = differingField(wanted, found, name);
      if (differs !== null) return `book of ${symbol}: ${differs}`;
      if (known.size !== levels.length) {
        return `book of ${symbol}: ${String(known.size)} ${name}, not ${String(levels.length)}`;
      }
    }
    const wanted = { price: priceRecord(view, market), summary: summaryRecord(view, market) };
    for (const source of ['price', 'summary'] as const) {
      const found = this.quotes.get(`${source} ${String(id)}`);
      const unsent = market.spec.indexSource === 'mid' ? UNSENT_OF_MID : UNSENT_OF_QUOTE;
      const differs = differingField(without(wanted[source], unsent), found, source);
      if (differs !== null) return `${symbol}: ${differs}`;
    }
    return null;
  }

  private ownerFault(id: SubaccountId): string | null {
    const { view } = this;
    const owner = `of subaccount ${String(id)}`;
    for (const order of view.openOrders(id)) {
      const found = this.orders.get(order.orderId);
      const differs = differingField(
        without(orderRecord(view, order), UNSENT_OF_ORDER),
        found,
        'order',
      );
      if (differs !== null) return `${differs} ${owner}`;
    }
    for (const position of view.positions(id)) {
      const wanted = without(positionRecord(view, position), UNSENT_OF_POSITION);
      const found = this.positions.get(placeOf(id, position.market));
      const differs = differingField(wanted, found, 'position');
      if (differs !== null) return `${differs} ${owner}`;
    }
    const found = this.balances.get(id);
    if (found === undefined && view.subaccount(id).balanceQuanta === 0n) return null;
    const differs = differingField(
      without(balanceRecord(view, id), UNSENT_OF_BALANCE),
      found,
      'balance',
    );
    return differs === null ? null : `${differs} ${owner}`;
  }
}

const placeOf = (id: SubaccountId, market: MarketId): string => `${String(id)} ${String(market)}`;

const textOf = (record: unknown): string =>
  JSON.stringify(record, (_key, field: unknown) =>
    typeof field === 'bigint' ? String(field) : field,
  );

function broken({ seq }: Engine, what: string): Violation {
  return {
    invariant: 'feeds',
    rule: 'R-11.4',
    says: 'a subscriber knows the state from the updates of feeds',
    detail: `after command ${String(seq)}: ${what}`,
  };
}
