/**
 * Converts feed messages to strategy updates of the same shape as in a backtest. Fields missing in
 * feeds are derived:
 *
 * - Role of a fill: in a replay, as sent. Otherwise maker if the order is post-only, was reported
 * as resting, or is a limit order older than the fill.
 * - Position after a fill: the position at the start plus all fills since.
 * - Bars: from trades; finished by the first message of a later time.
 * - Funding: when the venue's time passes the end of an interval, the change of the position's
 * `funding`.
 */
import type { BarsEmitted } from '../backtest/strategy-feeds.ts';
import { BarBuilder } from '../strategy/bars.ts';
import type {
  BarUpdate,
  BookUpdate,
  FillUpdate,
  MarketTerms,
  OrderUpdate,
  PriceUpdate,
  TradeUpdate,
} from '../strategy/strategy.ts';
import type { OrderRecordShape } from '../contract/schemas.ts';
import { must } from '../base/assert.ts';
import { formatDecimal, parseDecimal, stepsExact, type Decimal } from '../num/decimal.ts';
import { LiveBook, type BookMessage } from './live-book.ts';

export interface UpdateSink {
  onBook(update: BookUpdate): void;
  onTrade(update: TradeUpdate): void;
  /** `recordedUs`: recorded feed latency of its trades, or null. */
  onBar(update: BarUpdate, recordedUs: number | null): void;
  onFill(update: FillUpdate): void;
  onOrder(update: OrderUpdate): void;
  onPrice(handler: 'onMark' | 'onIndex', update: PriceUpdate): void;
  /** Called when the end of a market's funding interval has passed. */
  fundingDue(symbol: string, atUs: number): void;
}

/** A bar of the recording, in decimal text. */
export interface RecordedBar {
  readonly symbol: string;
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly volume: string;
}

export interface LiveMarket {
  readonly terms: MarketTerms;
  readonly fundingIntervalUs: number;
  /** Position at the start, signed decimal text. */
  readonly position: string;
}

interface Followed {
  readonly book: LiveBook;
  readonly bars: readonly BarBuilder[];
  readonly tick: Decimal;
  readonly lot: Decimal;
  positionLots: bigint;
  fundingInterval: number;
  /** True if bars are the recorded ones, as in a backtest. */
  recordsBars: boolean;
}

type Message = Readonly<Record<string, unknown>>;

export class LiveUpdates {
  private readonly sink: UpdateSink;
  private readonly unitUs: number;
  private readonly depth: number;
  private readonly markets = new Map<string, Followed>();
  private readonly lastPrices = new Map<string, string>();
  private readonly intervals = new Map<string, number>();
  /**
   * Exact time of the next updates, set by a replay; null if messages have the time. A replay also
   * finishes bars and settles funding.
   */
  exactUs: number | null;
  private readonly waitForOpen: boolean;
  /** Orders whose fills have the maker role: always, or from an API time on. */
  private readonly makers = new Map<string, number>();

  constructor(
    markets: readonly LiveMarket[],
    options: {
      readonly timeUnitUs: number;
      readonly depth: number;
      readonly barsUs: readonly number[];
      /** Start of a replay; absent: in real time. */
      readonly replay?: { readonly startUs: number; readonly barsEmitted: BarsEmitted };
    },
    sink: UpdateSink,
  ) {
    const { replay } = options;
    this.exactUs = replay?.startUs ?? null;
    this.waitForOpen = replay?.barsEmitted === 'nextOpen';
    this.sink = sink;
    this.unitUs = options.timeUnitUs;
    this.depth = options.depth;
    for (const { terms, fundingIntervalUs, position } of markets) {
      const tick = stepOf(terms.tickSize);
      const lot = stepOf(terms.lotSize);
      const units = {
        symbol: terms.symbol,
        price: (ticks: number) => Number(formatDecimal(BigInt(ticks) * tick.digits, tick.scale)),
        size: (lots: number) => Number(formatDecimal(BigInt(lots) * lot.digits, lot.scale)),
      };
      this.intervals.set(terms.symbol, fundingIntervalUs);
      this.markets.set(terms.symbol, {
        book: new LiveBook(terms, replay !== undefined),
        bars: options.barsUs.map((us) => new BarBuilder(units, us)),
        tick,
        lot,
        positionLots: stepsOf(position, lot),
        fundingInterval: -1,
        recordsBars: false,
      });
    }
  }

  book(message: Message): void {
    const book = message as unknown as BookMessage & { readonly time: number };
    const followed = this.markets.get(book.symbol);
    if (followed === undefined) return;
    const timeUs = this.exactUs ?? book.time * this.unitUs;
    this.passed(book.symbol, followed, timeUs);
    const update = followed.book.take(book, timeUs, this.depth);
    if (update !== null) this.sink.onBook(update);
  }

  /** `recordedUs`: recorded feed latency of a replay, or null. */
  trade(message: Message, recordedUs: number | null = null): void {
    const { symbol, price, quantity, time } = message as unknown as {
      readonly symbol: string;
      readonly price: string;
      readonly quantity: string;
      readonly time: number;
    };
    const followed = this.markets.get(symbol);
    if (followed === undefined) return;
    const timeUs = this.exactUs ?? time * this.unitUs;
    this.passed(symbol, followed, timeUs);
    const priceTicks = Number(stepsOf(price, followed.tick));
    const lots = Number(stepsOf(quantity, followed.lot));
    if (!followed.recordsBars) {
      for (const bar of followed.bars) {
        bar.onTrade({ timeUs, priceTicks, lots }, recordedUs);
      }
    }
    this.sink.onTrade({ symbol, timeUs, price, quantity });
  }

  /** Only prices that differ from the last ones are updates. */
  price(message: Message): void {
    const { symbol, mark, index, time } = message as unknown as {
      readonly symbol: string;
      readonly mark: string | null;
      readonly index: string | null;
      readonly time: number;
    };
    if (!this.markets.has(symbol)) return;
    for (const [handler, price] of [['onIndex', index] as const, ['onMark', mark] as const]) {
      const key = `${handler} ${symbol}`;
      if (price === null || this.lastPrices.get(key) === price) continue;
      this.lastPrices.set(key, price);
      this.sink.onPrice(handler, { symbol, timeUs: time * this.unitUs, price });
    }
  }

  order(message: Message): void {
    const order = message as unknown as OrderRecordShape;
    if (!this.markets.has(order.symbol)) return;
    const status = order.status as OrderUpdate['status'];
    const always = order.flags.postOnly || status === 'new';
    const older = order.orderType.toLowerCase() === 'limit' && !order.flags.ioc;
    if (always) this.makers.set(order.orderId, -Infinity);
    else if (older && !this.makers.has(order.orderId)) {
      this.makers.set(order.orderId, order.createdAt * 1000);
    }
    if (ENDED.includes(status)) {
      // Its last fills may arrive right after this message.
      setTimeout(() => this.makers.delete(order.orderId), FORGET_MS).unref();
    }
    this.sink.onOrder({
      symbol: order.symbol,
      timeUs: this.exactUs ?? order.updatedAt * 1000,
      orderId: order.orderId,
      clientId: order.clientId,
      status,
      reason: order.reason,
      quantity: order.quantity,
      remaining: order.remaining,
    });
  }

  /** `known`: the role, if a replay has sent it. */
  fill(message: Message, known: FillUpdate['role'] | null = null): void {
    const fill = message as unknown as {
      readonly symbol: string;
      readonly price: string;
      readonly quantity: string;
      readonly time: number;
      readonly order_id: string | null;
      readonly fee: string;
    };
    const followed = this.markets.get(fill.symbol);
    if (followed === undefined) return;
    followed.positionLots += stepsOf(fill.quantity, followed.lot);
    // A backtest reports no fill of a transferred position.
    if (this.exactUs !== null && fill.order_id === null) return;
    const timeUs = this.exactUs ?? fill.time * this.unitUs;
    const maker = (this.makers.get(fill.order_id ?? '') ?? Infinity) < timeUs;
    this.sink.onFill({
      symbol: fill.symbol,
      timeUs,
      orderId: fill.order_id,
      role: known ?? (maker ? 'maker' : 'taker'),
      price: fill.price,
      quantity: fill.quantity,
      fee: fill.fee,
      position: formatDecimal(followed.positionLots * followed.lot.digits, followed.lot.scale),
    });
  }

  /** Trading of a recorded bar, before it is played. */
  recordedBar(
    { symbol, open, high, low, close, volume }: RecordedBar,
    recordedUs: number | null,
  ): void {
    const followed = this.markets.get(symbol);
    if (followed === undefined || this.exactUs === null) return;
    followed.recordsBars = true;
    if (this.waitForOpen) this.finishBarsOf(followed, this.exactUs);
    const timeUs = this.exactUs;
    for (const [i, price] of [open, high, low, close].entries()) {
      const priceTicks = Number(stepsOf(price, followed.tick));
      const lots = i === 3 ? Number(stepsOf(volume, followed.lot)) : 0;
      for (const bar of followed.bars) {
        bar.onTrade({ timeUs, priceTicks, lots }, recordedUs);
      }
    }
  }

  /** By how many lots positions at the exchange differ from those counted here, by market. */
  differences(
    held: readonly { readonly symbol: string; readonly quantity: string }[],
  ): Map<string, bigint> {
    const differing = new Map<string, bigint>();
    for (const [symbol, { lot, positionLots }] of this.markets) {
      const quantity = held.find((position) => position.symbol === symbol)?.quantity ?? '0';
      const lots = stepsOf(quantity, lot) - positionLots;
      if (lots !== 0n) differing.set(symbol, lots);
    }
    return differing;
  }

  /** Adds lots whose fills are missing to a position. Returns it before and after. */
  correct(symbol: string, lots: bigint): { readonly counted: string; readonly exchange: string } {
    const followed = must(this.markets.get(symbol), 'a market that is followed');
    const { lot } = followed;
    const textOf = (size: bigint): string => formatDecimal(size * lot.digits, lot.scale);
    const counted = textOf(followed.positionLots);
    followed.positionLots += lots;
    return { counted, exchange: textOf(followed.positionLots) };
  }

  /** End of the next bar of a replay; Infinity without one. */
  get barDueUs(): number {
    let dueUs = Infinity;
    for (const followed of this.markets.values()) {
      if (followed.recordsBars && this.waitForOpen) continue;
      for (const bar of followed.bars) dueUs = Math.min(dueUs, bar.dueUs);
    }
    return dueUs;
  }

  /** Finishes the bars of a replay that end by a time. */
  finishBars(atUs: number): void {
    for (const followed of this.markets.values()) {
      if (!followed.recordsBars || !this.waitForOpen) this.finishBarsOf(followed, atUs);
    }
  }

  private finishBarsOf({ bars }: Followed, atUs: number): void {
    for (const bar of bars) {
      if (bar.dueUs > atUs) continue;
      const { recordedUs } = bar;
      const update = bar.finish();
      if (update !== null) this.sink.onBar(update, recordedUs);
    }
  }

  /** Advances the venue's time of a market. */
  private passed(symbol: string, followed: Followed, atUs: number): void {
    if (this.exactUs !== null) return;
    this.finishBarsOf(followed, atUs);
    const interval = Math.floor(atUs / (this.intervals.get(symbol) ?? Infinity));
    if (followed.fundingInterval >= 0 && interval > followed.fundingInterval) {
      this.sink.fundingDue(symbol, atUs);
    }
    followed.fundingInterval = interval;
  }
}

const FORGET_MS = 10_000;
const ENDED: readonly string[] = ['filled', 'cancelled', 'expired', 'rejected'];

function stepOf(text: string): Decimal {
  return must(parseDecimal(text) ?? undefined, 'a step is decimal text');
}

function stepsOf(text: string, step: Decimal): bigint {
  const value = must(parseDecimal(text) ?? undefined, 'a number of the API is decimal text');
  return must(stepsExact(value, step) ?? undefined, 'a number is on its step');
}
