/**
 * Reads over HTTP the updates that a feed missed while disconnected. Orders,
 * positions and balances are delivered in their current state, trades and fills one by one. A book
 * starts with a new snapshot. Fills are read from the history of the account.
 */
import type { FeedSource } from '../contract/feeds.ts';
import { pagesOf, type MatcherClient } from '../gateway/matcher-client.ts';
import type { FeedParams } from './requests.ts';
import { noteIn, placeAfter, type Data, type Tail } from './same-record.ts';

export interface FillsQuery {
  readonly account: string;
  readonly subaccountIndex: number;
  /** Milliseconds. */
  readonly from: number;
}
/** Fills that were asked for, as far as a server knows them. */
export interface FillsFound {
  /** Oldest first. */
  readonly fills: Data[];
  /** Fills before this time are not known, in ms; Infinity: none are. null: all are known. */
  readonly knownSinceMs: number | null;
}
/** An array, oldest first, is all fills. */
export type FillsSince = (query: FillsQuery) => Promise<Data[] | FillsFound>;

export interface FreshReads {
  readonly client: MatcherClient;
  readonly fillsSince: FillsSince;
  /** A time in ms that no later update is before; by default the time of the exchange. */
  readonly timeMs?: () => Promise<number>;
}

/** By so much the clocks of client and exchange may have drifted apart. */
const DRIFT_MS = 5000;

/** Sources whose missed updates are read. */
const READ: ReadonlySet<FeedSource> = new Set([
  'order',
  'trade',
  'fill',
  'position',
  'balance',
  'price',
]);

/** Sources whose missed updates are those after the last one. */
const ONE_BY_ONE: ReadonlySet<FeedSource> = new Set(['order', 'trade', 'fill']);

/** Position of the last delivered update, from which catch-up reads continue. */
export class LastSeen {
  /** Time of the newest order, in the unit of its records; null before the first. */
  private time: number | null = null;
  /** The newest trades of each market, or fills of each subaccount and market. */
  private readonly newest = new Map<string, Tail>();
  /** Sequence number of the last delivered state of each order of that time. */
  private readonly orderSequences = new Map<unknown, number>();
  /** Open positions, by subaccount and market. */
  private readonly positions = new Map<string, Data>();
  /** Not after any update since the subscription, in ms; catch-up starts here without one. */
  readonly beganMs: number;
  /** The same as a time of `performance.now()`, since the clock of this computer may be set. */
  private readonly beganHereMs = performance.now();
  /** When the connection was lost, a time of `performance.now()`. */
  lostHereMs = 0;
  /** Why updates since the loss may be missing after `missed`; null: none are. */
  unknown: string | null = null;

  constructor(beganMs: number) {
    this.beganMs = beganMs;
  }

  note(source: FeedSource, data: Data): void {
    if (source === 'position') {
      const key = positionKey(data);
      if (data['quantity'] === '0') this.positions.delete(key);
      else this.positions.set(key, data);
    }
    if (source === 'trade' || source === 'fill') {
      const series = seriesOf(data);
      this.newest.set(series, noteIn(this.newest.get(series), Number(data['time']), data));
    }
    const time = data['updatedAt'];
    if (source !== 'order' || typeof time !== 'number') return;
    if (time !== this.time) this.orderSequences.clear();
    this.time = time;
    this.orderSequences.set(data['orderId'], sequenceOf(data));
  }

  /** True if `missed` reads updates of this source. */
  reads(source: FeedSource): boolean {
    return READ.has(source);
  }

  /** Notes the records of the time of the subscription that come before it. */
  async before(
    source: FeedSource,
    params: FeedParams,
    { client, fillsSince }: Partial<FreshReads>,
  ): Promise<void> {
    if (client === undefined || !ONE_BY_ONE.has(source)) return;
    const unitMs = source === 'trade' ? await unitMsOf(client) : 1;
    const beganAt = Math.floor(this.beganMs / unitMs);
    for (const record of await this.missed(source, params, client, fillsSince)) {
      if (Number(record[source === 'order' ? 'updatedAt' : 'time']) !== beganAt) continue;
      this.note(source, record);
    }
  }

  /** Notes what is there before the first update. */
  async begin(source: FeedSource, params: FeedParams, client: MatcherClient): Promise<void> {
    if (source !== 'position') return;
    for (const held of await heldPositions(params, client)) {
      const key = positionKey(held);
      if (!this.positions.has(key)) this.positions.set(key, held);
    }
  }

  /** Updates after the last delivered one, oldest first. */
  async missed(
    source: FeedSource,
    params: FeedParams,
    client: MatcherClient,
    fillsSince: FillsSince | undefined,
  ): Promise<Data[]> {
    this.unknown = null;
    switch (source) {
      case 'fill':
        if (fillsSince === undefined) {
          this.unknown = 'missed fills are not read';
          return [];
        }
        return this.fills(params, client, fillsSince);
      case 'order':
        return this.orders(params, client);
      case 'trade':
        return this.trades(params, client);
      case 'position':
        return this.positionsNow(params, client);
      case 'balance': {
        const { account = '' } = params;
        const wanted = await indicesOf(params, client);
        const all = await client.call('getBalance', { account });
        return all.filter(({ subaccountIndex }) => wanted.includes(subaccountIndex));
      }
      case 'price': {
        const { symbols = [] } = params;
        return client.call('getPrices', symbols.length === 0 ? {} : { symbols: [...symbols] });
      }
      default:
        return [];
    }
  }

  private async orders(params: FeedParams, client: MatcherClient): Promise<Data[]> {
    const { account = '' } = params;
    const updatedFrom = this.time ?? this.beganMs;
    const found: Data[] = [];
    for (const subaccountIndex of await indicesOf(params, client)) {
      const query = { account, subaccountIndex, updatedFrom, limit: 500 };
      for await (const { body, keptSinceMs } of pagesOf(client, 'listOrders', query)) {
        found.push(...body.asks, ...body.bids);
        this.noteRetention('ended orders', keptSinceMs);
      }
    }
    const news = found.filter(
      (order) => sequenceOf(order) > (this.orderSequences.get(order['orderId']) ?? -1),
    );
    return news.sort((a, b) => sequenceOf(a) - sequenceOf(b));
  }

  private async trades(params: FeedParams, client: MatcherClient): Promise<Data[]> {
    const unitMs = await unitMsOf(client);
    const named = params.symbols?.length ? params.symbols : null;
    const symbols = named ?? (await client.call('getMarkets', {})).map(({ symbol }) => symbol);
    const found: Data[] = [];
    for (const symbol of symbols) {
      const last = this.newest.get(seriesOf({ symbol }));
      const from = (last?.time ?? Math.floor(this.beganMs / unitMs)) * unitMs;
      const pages: Data[][] = [];
      const query = { symbol, from, limit: 5000 };
      for await (const { body, keptSinceMs } of pagesOf(client, 'getTrades', query)) {
        pages.push(body);
        this.noteRetention(`trades of ${symbol}`, keptSinceMs);
      }
      // Oldest first.
      found.push(...this.later(pages.reverse().flatMap((page) => page.reverse())));
    }
    return found.sort((a, b) => Number(a['time']) - Number(b['time']));
  }

  /** A page reached back further than its list is kept. */
  private noteRetention(list: string, keptSinceMs: number | null): void {
    if (keptSinceMs === null) return;
    this.unknown ??= `the server keeps ${list} since ${new Date(keptSinceMs).toISOString()}`;
  }

  private async fills(
    params: FeedParams,
    client: MatcherClient,
    fillsSince: FillsSince,
  ): Promise<Data[]> {
    const { account = '' } = params;
    const found: Data[] = [];
    // Also of markets without a fill so far.
    const from = this.beganMs;
    let unknownBeforeMs = -Infinity;
    for (const subaccountIndex of await indicesOf(params, client)) {
      const known = await fillsSince({ account, subaccountIndex, from });
      const { fills, knownSinceMs } = Array.isArray(known)
        ? { fills: known, knownSinceMs: null }
        : known;
      unknownBeforeMs = Math.max(unknownBeforeMs, knownSinceMs ?? -Infinity);
      found.push(...fills);
    }
    this.unknown = this.isBefore(found, unknownBeforeMs)
      ? historyBegins(unknownBeforeMs)
      : await this.reasonOf(unknownBeforeMs, client);
    return this.later(found).sort((a, b) => Number(a['time']) - Number(b['time']));
  }

  /** Why fills since the loss may be missing if those before a time are not known. */
  private async reasonOf(unknownBeforeMs: number, client: MatcherClient): Promise<string | null> {
    if (unknownBeforeMs === Infinity) return 'the server has no history of fills';
    if (unknownBeforeMs <= this.beganMs) return null;
    const { time: nowMs } = await client.call('getTime', {});
    const lostMs = this.beganMs + this.lostHereMs - this.beganHereMs - DRIFT_MS;
    if (unknownBeforeMs < Math.min(lostMs, nowMs)) return null;
    return historyBegins(unknownBeforeMs);
  }

  /**
   * True if fills were delivered at the time at which the known ones begin, and none of them is
   * known. The clock stood still, and what came between may be missing.
   */
  private isBefore(known: readonly Data[], knownSinceMs: number): boolean {
    const alike = this.alikeIn(known);
    const tails = [...this.newest].filter(([, { time }]) => time === knownSinceMs);
    const isKnown = tails.some(([series, tail]) => placeAfter(tail, alike.get(series) ?? []) > 0);
    return tails.length > 0 && !isKnown;
  }

  /** Of each series, the records that have the time of those delivered last. */
  private alikeIn(records: readonly Data[]): ReadonlyMap<string, readonly Data[]> {
    const alike = new Map<string, Data[]>();
    for (const record of records) {
      const series = seriesOf(record);
      if (this.newest.get(series)?.time !== Number(record['time'])) continue;
      const others = alike.get(series);
      if (others === undefined) alike.set(series, [record]);
      else others.push(record);
    }
    return alike;
  }

  /** Of records oldest first, those after the last delivered one of their series. */
  private later(records: readonly Data[]): Data[] {
    const left = new Map<string, number>();
    for (const [series, alike] of this.alikeIn(records)) {
      const tail = this.newest.get(series);
      if (tail !== undefined) left.set(series, placeAfter(tail, alike));
    }
    return records.filter((record) => {
      const series = seriesOf(record);
      const last = this.newest.get(series);
      const time = Number(record['time']);
      if (last === undefined || time > last.time) return true;
      if (time < last.time) return false;
      const delivered = left.get(series) ?? 0;
      left.set(series, delivered - 1);
      return delivered <= 0;
    });
  }

  private async positionsNow(params: FeedParams, client: MatcherClient): Promise<Data[]> {
    const found = await heldPositions(params, client);
    const open = new Set(found.map(positionKey));
    const closed = [...this.positions].filter(([key]) => !open.has(key));
    return [...closed.map(([, position]) => emptied(position)), ...found];
  }
}

async function unitMsOf(client: MatcherClient): Promise<number> {
  const { marketDataTimeUnit } = await client.call('getConfig', {});
  return marketDataTimeUnit === 's' ? 1000 : 1;
}

async function heldPositions(params: FeedParams, client: MatcherClient): Promise<Data[]> {
  const { account = '' } = params;
  const found: Data[] = [];
  for (const subaccountIndex of await indicesOf(params, client)) {
    found.push(...(await client.call('getPositions', { account, subaccountIndex })));
  }
  return found;
}

/** Of those that exist: a feed of others is accepted, but their reads are refused. */
async function indicesOf(params: FeedParams, client: MatcherClient): Promise<readonly number[]> {
  const { account = '', subaccountIndices = [] } = params;
  const held = await client.call('getBalance', { account });
  const existing = held.map(({ subaccountIndex }) => subaccountIndex);
  if (subaccountIndices.length === 0) return existing;
  return existing.filter((index) => subaccountIndices.includes(index));
}

/** Trades of a market, or fills of a subaccount in it, come in one order. */
export const seriesOf = (record: Data): string =>
  `${String(record['account'])} ${String(record['subaccountIndex'])} ${String(record['symbol'])}`;
export const sequenceOf = (order: Data): number => Number(order['lastUpdateSequenceNumber']);
const positionKey = (position: Data): string =>
  `${String(position['subaccountIndex'])} ${String(position['symbol'])}`;

const historyBegins = (atMs: number): string =>
  `the server's history of fills begins at ${new Date(atMs).toISOString()}`;

/** A closed position as the feed reports it. */
function emptied(position: Data): Data {
  const none = { quantity: '0', basis: '0', entryPrice: '0', upnl: '0', margin: '0' };
  return { ...position, ...none, fees: '0', funding: '0', liquidationPrice: null };
}
