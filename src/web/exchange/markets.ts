/** Markets, their prices, and the chosen market's book, trades and candles. */
import { batch, computed, signal } from '@preact/signals';
import type { ResponseOf } from '../../contract/endpoints.ts';
import { BookState, type BookUpdate } from './book-state.ts';
import { spread } from './frames.ts';
import { repeat, subscribe, unsubscribe, type Update } from './feeds.ts';
import { call } from './requests.ts';

export type Market = ResponseOf<'getMarkets'>[number];
export type Price = ResponseOf<'getPrice'>;
export type Summary = ResponseOf<'getSummary'>;
export type Trade = ResponseOf<'getTrades'>[number];
export type Config = ResponseOf<'getConfig'>;
export interface Liquidation {
  readonly event: string;
  readonly step: string | null;
  readonly symbol: string | null;
  readonly quantity: string | null;
  readonly price: string | null;
  readonly amount: string | null;
  readonly time: number;
}

const MAX_TRADES = 60;
const MAX_LIQUIDATIONS = 50;

export const config = signal<Config | null>(null);
export const markets = signal<readonly Market[]>([]);
export const symbol = signal('');
export const market = computed(() => markets.value.find((one) => one.symbol === symbol.value));
export const prices = signal<ReadonlyMap<string, Price>>(new Map());
export const summaries = signal<ReadonlyMap<string, Summary>>(new Map());
export const price = computed(() => prices.value.get(symbol.value));
export const summary = computed(() => summaries.value.get(symbol.value));
export const trades = signal<readonly Trade[]>([]);
export const liquidations = signal<readonly Liquidation[]>([]);
/** Counts changes of the book, which is kept outside of signals. */
export const bookVersion = signal(0);
export const book = new BookState();
/** Exchange time in ms, and when it was known. */
export const exchangeTime = signal<{ readonly ms: number; readonly atMs: number } | null>(null);
export const loadProblem = signal<string | null>(null);
/** The market of the address if it is not listed; another one is shown then. */
export const unlisted = signal<string | null>(null);

/** Updates since the last rendering. */
const pending = {
  prices: new Map<string, Price>(),
  summaries: new Map<string, Summary>(),
  trades: [] as Trade[],
  liquidations: [] as Liquidation[],
  book: false,
};

/** Consumers of candles and trades, such as the chart. */
export const onMinute = new Set<(candle: Update) => void>();
export const onTrade = new Set<(trade: Trade) => void>();

const bookOf = (of: string) => ({ source: 'book', symbols: [of] });

export async function loadMarkets(): Promise<void> {
  try {
    const [settings, listed] = await Promise.all([call('getConfig', {}), call('getMarkets', {})]);
    batch(() => {
      config.value = settings;
      markets.value = listed;
      loadProblem.value = null;
    });
    const all = await call('getPrices', {});
    prices.value = new Map(all.map((one) => [one.symbol, one]));
    for (const { symbol: name } of listed) {
      void call('getSummary', { symbol: name }).then((one) => {
        summaries.value = new Map(summaries.value).set(name, one);
      }, ignored);
    }
    const { time } = await call('getTime', {});
    exchangeTime.value = { ms: time, atMs: Date.now() };
    if (symbol.value === '') chooseAddressed();
    else void loadTrades();
  } catch (error) {
    loadProblem.value = error instanceof Error ? error.message : 'no answer';
  }
}

const ignored = (): void => undefined;

export function subscribeMarkets(): void {
  for (const source of ['price', 'summary', 'market', 'liquidation']) {
    subscribe({ source, symbols: [] });
  }
}

/** Chooses the market of the address; the first one, unless one is shown, if it is not listed. */
export function chooseAddressed(): void {
  const [first] = markets.value;
  if (first === undefined) return;
  const asked = new URLSearchParams(location.hash.slice(1)).get('market');
  const isListed = markets.value.some((one) => one.symbol === asked);
  if (asked !== null && isListed) choose(asked);
  else if (symbol.value === '') choose(first.symbol);
  unlisted.value = isListed ? null : asked;
}

export function choose(name: string): void {
  const before = symbol.value;
  unlisted.value = null;
  if (before === name) return;
  batch(() => {
    symbol.value = name;
    trades.value = [];
    pending.trades = [];
    book.reset();
    bookVersion.value += 1;
  });
  history.replaceState(null, '', `#market=${encodeURIComponent(name)}`);
  for (const source of ['book', 'trade', 'candle']) {
    if (before !== '') unsubscribe({ source, symbols: [before] });
    if (name !== '') subscribe({ source, symbols: [name] });
  }
  void loadTrades();
}

async function loadTrades(): Promise<void> {
  const of = symbol.value;
  if (of === '') return;
  const read = await call('getTrades', { symbol: of, limit: MAX_TRADES }).catch(() => null);
  if (read !== null && symbol.value === of) trades.value = read;
}

/** An update of a public feed. */
export function takeMarketUpdate(type: string, data: Update): void {
  const of = data['symbol'];
  switch (type) {
    case 'Price':
      pending.prices.set(String(of), data as Price);
      break;
    case 'Summary':
      pending.summaries.set(String(of), data as Summary);
      break;
    case 'Liquidation':
      pending.liquidations.push(data as unknown as Liquidation);
      break;
    case 'Market':
      markets.value = [
        ...markets.value.filter((one) => one.symbol !== of),
        data as unknown as Market,
      ].sort((a, b) => a.symbol.localeCompare(b.symbol));
      return;
    case 'Trade':
      if (of !== symbol.value) return;
      pending.trades.push(data as Trade);
      for (const take of onTrade) take(data as Trade);
      break;
    case 'Candle':
      if (of === symbol.value) for (const take of onMinute) take(data);
      return;
    case 'Book':
      if (of !== symbol.value) return;
      if (!book.take(data as unknown as BookUpdate)) {
        repeat(bookOf(symbol.value));
        return;
      }
      pending.book = true;
      break;
    default:
      return;
  }
  askFlush();
}

const askFlush = spread(flush);

function flush(): void {
  batch(() => {
    if (pending.prices.size > 0) {
      const latest = [...pending.prices.values()].at(-1);
      if (latest !== undefined && latest.time > (exchangeTime.value?.ms ?? 0)) {
        exchangeTime.value = { ms: latest.time, atMs: Date.now() };
      }
      prices.value = new Map([...prices.value, ...pending.prices]);
      pending.prices.clear();
    }
    if (pending.summaries.size > 0) {
      summaries.value = new Map([...summaries.value, ...pending.summaries]);
      pending.summaries.clear();
    }
    if (pending.trades.length > 0) {
      const newest = pending.trades.slice(-MAX_TRADES).reverse();
      trades.value = [...newest, ...trades.value].slice(0, MAX_TRADES);
      pending.trades = [];
    }
    if (pending.liquidations.length > 0) {
      const newest = pending.liquidations.slice(-MAX_LIQUIDATIONS).reverse();
      liquidations.value = [...newest, ...liquidations.value].slice(0, MAX_LIQUIDATIONS);
      pending.liquidations = [];
    }
    if (pending.book) {
      pending.book = false;
      bookVersion.value += 1;
    }
  });
}
