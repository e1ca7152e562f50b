/**
 * Delivers exchange events to strategies: each event becomes updates for its subscribers, delivered
 * one feed latency later. An update is created when its event occurs, from the state at that time,
 * so it has no look-ahead.
 */
import type {
  EngineEvent,
  FundingSettled,
  MarkChanged,
  OrderFilled,
  TradePrinted,
} from '../engine/events.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { MarketView } from '../engine/read/views.ts';
import { must } from '../base/assert.ts';
import { money, numbersInSteps, priceText, sizeText } from '../gateway/encode.ts';
import type { OrderIds } from '../gateway/order-ids.ts';
import { formatDecimal } from '../num/decimal.ts';
import type { MarketId, OrderId, SubaccountId } from '../num/units.ts';
import type { Command, TapeBar } from '../engine/commands.ts';
import { BarBuilder, type BarUnits } from '../strategy/bars.ts';
import { isRemoval, isReplacement } from '../engine/tape/replaced-order.ts';
import { DataRows } from './data-rows.ts';
import type { StrategyRecorder } from './recording/strategy-recorder.ts';
import type { StrategyRun, UpdateHandler } from './strategy-run.ts';
import type {
  BookUpdate,
  DataUpdate,
  FillUpdate,
  FundingUpdate,
  Level,
  LiquidationUpdate,
  OrderUpdate,
  PriceUpdate,
  TradeUpdate,
} from '../strategy/strategy.ts';
import type { Touches } from './touches.ts';

interface Listener {
  readonly run: StrategyRun;
  readonly recorder: StrategyRecorder;
}

/** Subscribers of one market, by kind of update. */
interface Subscribers {
  readonly market: MarketView;
  readonly book: readonly Listener[];
  readonly trades: readonly Listener[];
  /** Bar builders and their subscribers. */
  readonly bars: readonly {
    readonly builder: BarBuilder;
    readonly listeners: readonly Listener[];
  }[];
  /** True if bars are the recorded ones: the strategies' own fills are not part of them. */
  recordsBars: boolean;
  readonly marks: readonly Listener[];
  readonly indices: readonly Listener[];
  /** Last published prices. */
  markTicks: number | null;
  indexTicks: number | null;
}

/** Delivery time of a recorded bar: at its end, or when the next one opens. */
export type BarsEmitted = 'over' | 'nextOpen';

export interface FeedOptions {
  readonly barsEmitted?: BarsEmitted | undefined;
  /** Rows of the user's data, sorted by the time from which they are available. */
  readonly data?: readonly DataUpdate[] | undefined;
}

export class Feeds {
  private readonly engine: Exchange;
  private readonly ids: OrderIds;
  private readonly touches: Touches;
  private readonly listeners: readonly Listener[];
  private readonly audiences: readonly Subscribers[];
  /** Those with a subscriber of the book. */
  private readonly bookAudiences: readonly Subscribers[];
  private readonly bySubaccount: ReadonlyMap<SubaccountId, Listener>;
  /** End of the next bar; null after a bar began or ended. */
  private dueUs: number | null = null;
  private readonly barsEmitted: BarsEmitted;
  /** Removal of a single order whose book is not published yet. */
  private removal: Command | null = null;
  /** Time of receipt minus venue time of the current tape command. */
  recordedUs: number | null = null;
  /** Subscribers of their account whose account changed. */
  private readonly changedAccounts = new Set<Listener>();
  private readonly data: DataRows;

  constructor(
    engine: Exchange,
    ids: OrderIds,
    touches: Touches,
    listeners: readonly Listener[],
    { barsEmitted = 'over', data = [] }: FeedOptions = {},
  ) {
    this.engine = engine;
    this.barsEmitted = barsEmitted;
    this.ids = ids;
    this.touches = touches;
    this.listeners = listeners;
    this.bySubaccount = new Map(listeners.map((listener) => [listener.run.subaccount, listener]));
    this.audiences = engine.markets().map((market) => this.audienceOf(market));
    this.bookAudiences = this.audiences.filter(({ book }) => book.length > 0);
    this.data = new DataRows(data, engine.nowUs);
  }

  /** Publishes the accounts at the start. */
  start(): void {
    for (const listener of this.listeners) this.accountChanged(listener);
    this.publishAccounts();
  }

  private audienceOf(market: MarketView): Subscribers {
    const wanting = (handler: UpdateHandler): Listener[] =>
      this.listeners.filter(({ run }) => run.wants(handler, market.spec.symbol));
    const hearing = wanting('onBar');
    const intervals = [...new Set(hearing.flatMap(({ run }) => run.entry.barsUs))];
    return {
      market,
      recordsBars: false,
      marks: wanting('onMark'),
      indices: wanting('onIndex'),
      markTicks: null,
      indexTicks: null,
      book: wanting('onBook'),
      trades: wanting('onTrade'),
      bars: intervals
        .sort((a, b) => a - b)
        .map((intervalUs) => ({
          builder: new BarBuilder(unitsOf(market), intervalUs),
          listeners: hearing.filter(({ run }) => run.entry.barsUs.includes(intervalUs)),
        })),
    };
  }

  /** End of the next bar, or time of the next row of data. */
  get nextDueUs(): number {
    this.dueUs ??= this.firstBarDueUs();
    return Math.min(this.dueUs, this.data.dueUs);
  }

  private firstBarDueUs(): number {
    let dueUs = Infinity;
    for (const audience of this.audiences) {
      if (this.waitsForOpen(audience)) continue;
      for (const { builder } of audience.bars) dueUs = Math.min(dueUs, builder.dueUs);
    }
    return dueUs;
  }

  /** Publishes the bars that end, and the data that are available, by this time. */
  publishDue(atUs: number): void {
    for (const audience of this.audiences) {
      if (!this.waitsForOpen(audience)) this.finishBarsOf(audience, atUs);
    }
    for (let row = this.data.take(atUs); row !== null; row = this.data.take(atUs)) {
      for (const { run } of this.listeners) {
        if (run.handles('onData')) run.publish('onData', row, null);
      }
    }
  }

  private waitsForOpen({ recordsBars }: Subscribers): boolean {
    return recordsBars && this.barsEmitted === 'nextOpen';
  }

  private finishBarsOf({ bars }: Subscribers, atUs: number): void {
    for (const { builder, listeners } of bars) {
      if (builder.dueUs > atUs) continue;
      // A bar that ends between two commands is as late as its trades.
      const recordedUs = this.recordedUs ?? builder.recordedUs;
      const update = builder.finish();
      this.dueUs = null;
      if (update === null) continue;
      for (const { run } of listeners) run.publish('onBar', update, recordedUs);
    }
  }

  /** Publishes after a command of the tape; after a removal once the next command is known. */
  publishTape(command: Command): void {
    if (isRemoval(command)) this.removal = command;
    else this.publishBooks();
  }

  /**
   * Publishes the book after a removal, unless the next command adds the order again. Returns
   * whether the last command was a removal.
   */
  beforeTape(next?: Command): boolean {
    const { removal } = this;
    if (removal === null) return false;
    this.removal = null;
    if (!isReplacement(removal, next)) this.publishBooks();
    return true;
  }

  /** Publishes changed best prices, with as many levels as each strategy requested. */
  publishBooks(): void {
    if (this.changedAccounts.size > 0) this.publishAccounts();
    for (const { market, book } of this.bookAudiences) {
      if (!this.touches.publish(market.id)) continue;
      const updates = new Map<number, BookUpdate>();
      for (const { run } of book) {
        const { bookDepth } = run.entry;
        let update = updates.get(bookDepth);
        if (update === undefined) {
          update = this.bookUpdate(market, bookDepth);
          updates.set(bookDepth, update);
        }
        run.publish('onBook', update, this.recordedUs);
      }
    }
  }

  private bookUpdate(market: MarketView, depth: number): BookUpdate {
    const { bidTicks, bidLots, askTicks, askLots } = this.touches.of(market.id);
    const level = (ticks: number | null, size: number): Level | null =>
      ticks === null ? null : { price: priceText(market, ticks), size: sizeText(market, size) };
    const bid = level(bidTicks, bidLots);
    const ask = level(askTicks, askLots);
    const deeper = (side: 'bid' | 'ask', best: Level | null): readonly Level[] =>
      depth === 1
        ? best === null
          ? []
          : [best]
        : this.engine.depth(market.id, side, depth).map(({ priceTicks, lots }) => ({
            price: priceText(market, priceTicks),
            size: sizeText(market, lots),
          }));
    return {
      symbol: market.spec.symbol,
      timeUs: this.engine.nowUs,
      bid,
      ask,
      bidTicks,
      askTicks,
      tickSize: market.spec.tickSize,
      mid: this.touches.mid(market.id),
      bids: deeper('bid', bid),
      asks: deeper('ask', ask),
    };
  }

  private accountChanged(listener: Listener | undefined): void {
    if (listener?.run.handles('onAccount') === true) this.changedAccounts.add(listener);
  }

  private publishAccounts(): void {
    for (const { run, recorder } of this.changedAccounts) {
      run.publish('onAccount', recorder.account(this.engine.nowUs), null);
    }
    this.changedAccounts.clear();
  }

  onMark({ market: id, timeUs, markTicks, indexTicks }: MarkChanged): void {
    const audience = this.audiences[id];
    if (audience === undefined) return;
    const { market, marks, indices } = audience;
    const publish = (to: readonly Listener[], handler: 'onMark' | 'onIndex', ticks: number) => {
      const { symbol } = market.spec;
      const update: PriceUpdate = { symbol, timeUs, price: priceText(market, ticks) };
      for (const { run } of to) run.publish(handler, update, this.recordedUs);
    };
    if (indices.length > 0 && indexTicks !== null && indexTicks !== audience.indexTicks) {
      audience.indexTicks = indexTicks;
      publish(indices, 'onIndex', indexTicks);
    }
    if (marks.length > 0 && markTicks !== audience.markTicks) {
      audience.markTicks = markTicks;
      publish(marks, 'onMark', markTicks);
    }
  }

  private onLiquidation(subaccount: SubaccountId): void {
    const listener = this.bySubaccount.get(subaccount);
    const row = listener?.recorder.lastLiquidation;
    this.accountChanged(listener);
    if (listener?.run.handles('onLiquidation') !== true || row === undefined) return;
    const update: LiquidationUpdate = {
      timeUs: row.timeUs,
      symbol: row.symbol,
      step: row.step,
      equity: row.equity,
      maintenance: row.maintenance,
      size: row.size,
      limitPrice: row.limitPrice,
      bankruptcyPrice: row.bankruptcyPrice,
      amount: row.amount,
    };
    listener.run.publish('onLiquidation', update, null);
  }

  onEvent(event: EngineEvent): void {
    switch (event.kind) {
      case 'balanceChanged':
      case 'positionChanged':
      case 'isolatedMarginChanged':
        this.accountChanged(this.bySubaccount.get(event.subaccount));
        return;
      case 'liquidationStep':
        this.onLiquidation(event.subaccount);
        return;
      case 'positionTransferred':
        this.onLiquidation(event.from);
        this.onLiquidation(event.to);
        return;
      case 'tradePrinted':
        this.onTrade(event);
        return;
      case 'orderFilled':
        this.onFill(event);
        return;
      case 'orderRested':
      case 'orderPending':
      case 'orderReleased':
      case 'orderEnded':
      case 'orderRejected':
        this.onOrder(event.subaccount, event.market, event.orderId, event.timeUs);
        return;
      case 'fundingSettled':
        this.onFunding(event);
        return;
      default:
    }
  }

  /**
   * Publishes the trading of a recorded bar. Called before the bar is played, so that fills in it
   * come after its open.
   */
  onTapeBar(bar: TapeBar): void {
    const audience = this.audiences[bar.market];
    if (audience === undefined) return;
    audience.recordsBars = true;
    if (audience.bars.length > 0) this.dueUs = null;
    if (this.barsEmitted === 'nextOpen') this.finishBarsOf(audience, bar.timeUs);
    for (const { builder } of audience.bars) builder.onBar(bar, this.recordedUs);
  }

  private onTrade(event: TradePrinted): void {
    const audience = this.audiences[event.market];
    if (audience === undefined) return;
    if (!audience.recordsBars) {
      for (const { builder } of audience.bars) {
        if (builder.dueUs === Infinity) this.dueUs = null;
        builder.onTrade(event, this.recordedUs);
      }
    }
    if (audience.trades.length === 0) return;
    const { market } = audience;
    const update: TradeUpdate = {
      symbol: market.spec.symbol,
      timeUs: event.timeUs,
      price: priceText(market, event.priceTicks),
      quantity: sizeText(market, event.lots),
    };
    for (const { run } of audience.trades) run.publish('onTrade', update, this.recordedUs);
  }

  private onFill(event: OrderFilled): void {
    const listener = this.bySubaccount.get(event.subaccount);
    const market = this.audiences[event.market]?.market;
    if (listener === undefined || market === undefined) return;
    const { run, recorder } = listener;
    if (!run.wants('onFill', market.spec.symbol)) return;
    const update: FillUpdate = {
      symbol: market.spec.symbol,
      timeUs: event.timeUs,
      orderId: this.idOf(event.orderId),
      role: event.role,
      price: priceText(market, event.priceTicks),
      quantity: sizeText(market, event.lots),
      fee: money(event.feeQuanta + event.originatorFeeQuanta),
      position: sizeText(market, recorder.positionLots(event.market)),
    };
    run.publish('onFill', update, null);
  }

  private onOrder(subaccount: SubaccountId, id: MarketId, orderId: OrderId, timeUs: number): void {
    const run = this.bySubaccount.get(subaccount)?.run;
    const market = this.audiences[id]?.market;
    if (run === undefined || market === undefined) return;
    if (!run.wants('onOrder', market.spec.symbol)) return;
    const order = must(
      this.engine.order(orderId),
      'an order is known while its events are delivered',
    );
    const update: OrderUpdate = {
      symbol: market.spec.symbol,
      timeUs,
      orderId: this.ids.digestOf(order),
      clientId: order.clientId,
      status: order.status,
      reason: order.reason,
      quantity: sizeText(market, order.lots),
      remaining: sizeText(market, order.remainingLots),
    };
    run.publish('onOrder', update, null);
  }

  private onFunding(event: FundingSettled): void {
    const market = this.audiences[event.market]?.market;
    if (market === undefined) return;
    for (const { run, recorder } of this.listeners) {
      const payment = recorder.onFunding(market, event.timeUs, event.ratePpb);
      if (!run.wants('onFunding', market.spec.symbol)) continue;
      const update: FundingUpdate = {
        symbol: market.spec.symbol,
        timeUs: event.timeUs,
        rate: formatDecimal(BigInt(event.ratePpb), 9),
        payment,
      };
      run.publish('onFunding', update, null);
    }
  }

  private idOf(id: OrderId): string {
    return this.ids.digestOf(
      must(this.engine.order(id), 'an order is known while its events are delivered'),
    );
  }

  save(): unknown {
    const audiences = this.audiences.map((audience): SavedAudience => ({
      recordsBars: audience.recordsBars,
      builders: audience.bars.map(({ builder }) => builder.save()),
      markTicks: audience.markTicks,
      indexTicks: audience.indexTicks,
    }));
    const saved: SavedFeeds = { audiences, data: this.data.save() };
    return saved;
  }

  load(saved: unknown): void {
    const { audiences: from, data } = saved as SavedFeeds;
    this.dueUs = null;
    this.data.load(data);
    this.audiences.forEach((audience, i) => {
      audience.recordsBars = from[i]?.recordsBars ?? false;
      audience.markTicks = from[i]?.markTicks ?? null;
      audience.indexTicks = from[i]?.indexTicks ?? null;
      audience.bars.forEach(({ builder }, j) => {
        builder.load(from[i]?.builders[j]);
      });
    });
  }
}

interface SavedAudience {
  readonly recordsBars: boolean;
  readonly builders: readonly unknown[];
  readonly markTicks: number | null;
  readonly indexTicks: number | null;
}

interface SavedFeeds {
  readonly audiences: readonly SavedAudience[];
  readonly data: number;
}

function unitsOf(market: MarketView): BarUnits {
  return {
    symbol: market.spec.symbol,
    price: numbersInSteps(market.spec.tickSize),
    size: numbersInSteps(market.spec.lotSize),
  };
}
