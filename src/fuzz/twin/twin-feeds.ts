/**
 * Feeds of a host beside the events and the state of its twin. Trades, fills and liquidations are
 * compared one by one. Of orders, positions, balances, prices, candles and terms, the last update
 * of each must be the present record. Public feeds have two subscribers: one of all markets, and
 * one that names each.
 */
import type { EngineEvent } from '../../engine/events.ts';
import type { ExchangeView } from '../../engine/read/views.ts';
import { Changes } from '../../gateway/feeds/changes.ts';
import {
  timeUs,
  type Address,
  type MarketId,
  type OrderId,
  type SubaccountId,
} from '../../num/units.ts';
import { isLiquidationUpdate } from '../checks/feed-check.ts';
import {
  UNSENT_OF_BALANCE,
  UNSENT_OF_MID,
  UNSENT_OF_ORDER,
  UNSENT_OF_POSITION,
  UNSENT_OF_QUOTE,
  without,
} from '../checks/unsent-fields.ts';
import { differingField } from '../checks/differing-field.ts';
import {
  balanceRecord,
  candleRecord,
  closedRecord,
  fillRecord,
  liquidationRecord,
  marketRecord,
  orderRecord,
  positionRecord,
  priceRecord,
  summaryRecord,
  tradeRecord,
  type Fields,
} from '../checks/records.ts';
import type { FeedSubject, FeedUpdates } from './twin-host.ts';

const MINUTE_US = 60_000_000;
const PUBLIC = ['all', 'each'] as const;

/** A list that a subscriber must receive, without what was compared. */
class Expected {
  readonly wanted: Fields[] = [];
  readonly found: Fields[] = [];
  private compared = 0;

  /** The first difference so far; entries that may still arrive are none unless `isOver`. */
  fault(name: string, isOver: boolean): string | null {
    const { wanted, found } = this;
    for (; this.compared < Math.min(wanted.length, found.length); this.compared += 1) {
      const differs = differingField(wanted[this.compared], found[this.compared], name);
      if (differs !== null) return differs;
    }
    if (found.length > wanted.length) return `${name} has an update that it must not have`;
    return isOver && found.length < wanted.length ? `${name} lacks an update` : null;
  }
}

/** Last updates by what they are about. */
type Latest = Map<string, Fields>;

export class TwinFeeds {
  private readonly view: ExchangeView;
  private readonly users: ReadonlySet<string>;
  private readonly orderIdOf: (id: number) => string | null;
  private readonly lists = new Map<string, Expected>();
  private readonly latest = new Map<string, Latest>();
  private readonly changes: Changes;
  private readonly shortfall: SubaccountId;
  private readonly changedOrders = new Set<OrderId>();
  /** Time of the last trade of each market. */
  private readonly traded = new Map<MarketId, number>();

  constructor(
    view: ExchangeView,
    users: readonly Address[],
    orderIdOf: (id: number) => string | null,
  ) {
    const shortfall = view.subaccountIdOf(view.config.shortfallAccount, 0);
    if (shortfall === undefined) throw new Error('every exchange has a shortfall account');
    this.view = view;
    this.users = new Set(users);
    this.orderIdOf = orderIdOf;
    this.shortfall = shortfall;
    this.changes = new Changes(shortfall);
  }

  /** Notes what an event must send; records are made before anything else happens. */
  observe(event: EngineEvent): void {
    const { view, changes } = this;
    changes.note(event);
    for (const id of changes.takeOrdered().orders.keys()) this.changedOrders.add(id);
    changes.liquidations.length = 0;
    if (event.kind === 'tradePrinted') {
      this.traded.set(event.market, event.timeUs);
      for (const who of PUBLIC) this.list('trade', who).wanted.push(tradeRecord(view, event));
    } else if (event.kind === 'orderFilled') this.expectFill(event, event.subaccount, 0);
    else if (event.kind === 'positionTransferred') {
      this.expectFill(event, event.from, 0);
      this.expectFill(event, event.to, 1);
    }
    if (!isLiquidationUpdate(event, this.shortfall)) return;
    const record = liquidationRecord(view, event);
    this.list('liquidation', 'all').wanted.push(record);
    if (record['symbol'] !== null) this.list('liquidation', 'each').wanted.push(record);
  }

  private expectFill(
    event: Extract<EngineEvent, { kind: 'orderFilled' | 'positionTransferred' }>,
    id: SubaccountId,
    side: number,
  ): void {
    const { view } = this;
    const address = view.addressOf(view.subaccount(id).account);
    if (!this.users.has(address)) return;
    this.list('fill', address).wanted.push(fillRecord(view, event, side));
  }

  /** Accounts are subscribed to again: what they have received so far is forgotten. */
  forgetAccounts(): void {
    for (const known of [this.lists, this.latest]) {
      for (const name of [...known.keys()]) if (name.includes('0x')) known.delete(name);
    }
    this.changedOrders.clear();
    this.changes.positions.clear();
    this.changes.balances.clear();
  }

  /** Takes new updates. Returns a fault that no later update could mend. */
  take({ source, subject, updates }: FeedUpdates): string | null {
    if (source === 'trade' || source === 'fill' || source === 'liquidation') {
      const list = this.list(source, subject);
      list.found.push(...updates);
      return list.fault(`${source} of ${subject}`, false);
    }
    const known = this.latestOf(source, subject);
    for (const update of updates) {
      const key = keyOf(source, update);
      const last = known.get(key);
      // Each event changes the record of its order.
      const repeats =
        source === 'order' && last !== undefined && differingField(last, update, 'order') === null;
      if (repeats) return `order of ${subject}: ${key} is sent again as it was`;
      known.set(key, update);
    }
    return null;
  }

  /** A difference of a subscriber; null if there is none. `isLast`: batches too. */
  fault(isLast: boolean): string | null {
    for (const [name, list] of this.lists) {
      const found = list.fault(name, true);
      if (found !== null) return found;
    }
    for (const id of this.changes.markets) {
      const found = this.marketFault(id, isLast);
      if (found !== null) return found;
    }
    for (let id = 0; id < this.view.subaccountCount; id += 1) {
      const found = this.ownerFault(id as SubaccountId);
      if (found !== null) return found;
    }
    return null;
  }

  private marketFault(id: MarketId, isLast: boolean): string | null {
    const { view, changes } = this;
    const market = view.market(id);
    const { symbol, indexSource } = market.spec;
    const unsent = indexSource === 'mid' ? UNSENT_OF_MID : UNSENT_OF_QUOTE;
    const quotes = { price: priceRecord(view, market), summary: summaryRecord(view, market) };
    for (const who of PUBLIC) {
      for (const source of ['price', 'summary'] as const) {
        // Subscribers of all markets get batches, some time later.
        if (who === 'all' && !isLast) continue;
        const found = this.latestOf(source, who).get(symbol);
        const differs = differingField(without(quotes[source], unsent), found, source);
        if (differs !== null) return `${symbol}: ${differs} (${who})`;
      }
      const terms = this.latestOf('market', who).get(symbol);
      if (terms !== undefined || changes.terms.has(id)) {
        const differs = differingField(marketRecord(market), terms, 'market');
        if (differs !== null) return `${symbol}: ${differs} (${who})`;
      }
      const candle = this.candleFault(id, this.latestOf('candle', who).get(symbol));
      if (candle !== null) return `${symbol}: ${candle} (${who})`;
    }
    return null;
  }

  /** The candle of a minute is sent with its trades. */
  private candleFault(id: MarketId, sent: Fields | undefined): string | null {
    const { view } = this;
    const tradedUs = this.traded.get(id);
    if (tradedUs === undefined || view.config.retention.candleMinutesPerMarket === 0) return null;
    if (sent === undefined) return 'candle is missing';
    const unit = view.config.marketDataTimeUnit === 's' ? 1_000_000 : 1000;
    const atUs = timeUs(Number(sent['time']) * unit);
    if (atUs < tradedUs - (tradedUs % MINUTE_US)) return 'candle is older than the last trade';
    const [candle] = view.candles(id, MINUTE_US, atUs, timeUs(atUs + 1), 1).items;
    if (candle === undefined) return null;
    const wanted = without(candleRecord(view, view.market(id), candle), ['funding_rate']);
    return differingField(wanted, sent, 'candle');
  }

  private ownerFault(id: SubaccountId): string | null {
    const { view } = this;
    const { account, index } = view.subaccount(id);
    const address = view.addressOf(account);
    if (!this.users.has(address)) return null;
    const of = `of ${address} ${String(index)}`;
    const orders = this.latestOf('order', address);
    const open = new Set<string>();
    for (const order of view.openOrders(id)) {
      const key = this.orderIdOf(order.orderId) ?? '';
      open.add(key);
      if (!this.changedOrders.has(order.orderId)) continue;
      const wanted = without(orderRecord(view, order), UNSENT_OF_ORDER);
      const differs = differingField(wanted, orders.get(key), 'order');
      if (differs !== null) return `${differs} ${of}`;
    }
    for (const [key, { status, subaccountIndex }] of orders) {
      const isOpen = status === 'new' || status === 'partiallyFilled' || status === 'pending';
      if (Number(subaccountIndex) !== index || !isOpen || open.has(key)) continue;
      return `order ${key} ${of} has ended`;
    }
    return this.heldFault(id, address, index, of);
  }

  private heldFault(id: SubaccountId, address: Address, index: number, of: string): string | null {
    const { view } = this;
    const known = this.latestOf('position', address);
    for (const market of this.changes.positions.get(id) ?? []) {
      const held = view.positions(id).find((position) => position.market === market);
      const { symbol } = view.market(market).spec;
      const wanted =
        held === undefined
          ? without(closedRecord(view, id, view.market(market)), ['markPrice', 'updatedAt'])
          : without(positionRecord(view, held), UNSENT_OF_POSITION);
      const found = known.get(`${String(index)} ${symbol}`);
      const differs = differingField(wanted, found, 'position');
      if (differs !== null) return `${differs} ${of}`;
    }
    if (!this.changes.balances.has(id)) return null;
    const wanted = without(balanceRecord(view, id), UNSENT_OF_BALANCE);
    const found = this.latestOf('balance', address).get(String(index));
    const differs = differingField(wanted, found, 'balance');
    return differs === null ? null : `${differs} ${of}`;
  }

  private list(source: string, subject: FeedSubject): Expected {
    const name = `${source} of ${subject}`;
    let list = this.lists.get(name);
    if (list === undefined) {
      list = new Expected();
      this.lists.set(name, list);
    }
    return list;
  }

  private latestOf(source: string, subject: FeedSubject): Latest {
    const name = `${source} ${subject}`;
    let latest = this.latest.get(name);
    if (latest === undefined) {
      latest = new Map();
      this.latest.set(name, latest);
    }
    return latest;
  }
}

function keyOf(source: string, update: Fields): string {
  const { symbol, subaccountIndex, orderId } = update;
  if (source === 'order') return String(orderId);
  if (source === 'position') return `${String(subaccountIndex)} ${String(symbol)}`;
  return source === 'balance' ? String(subaccountIndex) : String(symbol);
}
