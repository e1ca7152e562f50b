import type { EngineEvent } from '../../engine/events.ts';
import type { Engine } from '../../engine/views.ts';
import { PPM } from '../../num/units.ts';
import { StreamInvariant } from './stream-invariant.ts';

type Filled = Extract<EngineEvent, { kind: 'orderFilled' }>;
type Printed = Extract<EngineEvent, { kind: 'tradePrinted' }>;

/** One print is one match: a maker and a taker of the same size at the same price, the taker within the band. */
export class Trades extends StreamInvariant {
  readonly name = 'fillsMatchTrades';
  readonly rule = 'R-2.3, R-2.5';
  readonly says =
    'each fill belongs to a trade of its size and price, with one maker and one taker, within the band';
  private trade: Printed | null = null;
  private makers = 0;
  private takers = 0;
  private readonly marks = new Map<number, number>();
  private readonly bands = new Map<number, number>();
  /** Orders of the exchange itself, which the band does not bind in this way. */
  private readonly own = new Set<number>();

  see(event: EngineEvent): void {
    switch (event.kind) {
      case 'marketListed':
        this.bands.set(event.market, event.spec.priceBandPpm);
        break;
      case 'markChanged':
        this.marks.set(event.market, event.markTicks);
        break;
      case 'orderAccepted':
        if (event.cause === 'liquidation') this.own.add(event.orderId);
        break;
      case 'orderEnded':
        this.own.delete(event.orderId);
        break;
      case 'tradePrinted':
        this.trade = event;
        this.makers = 0;
        this.takers = 0;
        break;
      case 'orderFilled':
        this.fill(event);
        break;
      default:
    }
  }

  private fill(event: Filled): void {
    const { trade } = this;
    if (trade === null || trade.tradeId !== event.tradeId || trade.market !== event.market) {
      this.fail(`order ${event.orderId}: fill of trade ${event.tradeId}, which was not printed`);
      return;
    }
    const taker = event.role === 'taker';
    if (taker) this.takers += 1;
    else this.makers += 1;
    const lots = taker ? trade.lots : -trade.lots;
    if (
      event.lots !== lots ||
      event.priceTicks !== trade.priceTicks ||
      this.makers > 1 ||
      this.takers > 1
    ) {
      this.fail(
        `trade ${trade.tradeId} of ${trade.lots} at ${trade.priceTicks}: ${event.role} ${event.lots} at ${event.priceTicks}`,
      );
    }
    if (taker && !this.own.has(event.orderId)) this.inBand(event);
  }

  private inBand({ market, priceTicks, lots, orderId }: Filled): void {
    const mark = this.marks.get(market);
    const bandPpm = this.bands.get(market) ?? 0;
    if (mark === undefined) {
      this.fail(`order ${orderId} took without a mark price`);
      return;
    }
    const away = (priceTicks - mark) * (lots > 0 ? 1 : -1);
    if (away * PPM > mark * bandPpm) {
      this.fail(
        `order ${orderId} took at ${priceTicks}, the mark is ${mark}, the band ${bandPpm} ppm`,
      );
    }
  }
}

/** What the market shows is the fold of its prints: last price, tape, candles and the day's volume. */
export class MarketData extends StreamInvariant {
  readonly name = 'marketDataIsFold';
  readonly rule = 'R-10.3, R-10.4';
  readonly says = 'last price, trades, candles and 24 h figures are those of the printed trades';
  private readonly prints = new Map<number, Printed[]>();

  see(event: EngineEvent): void {
    if (event.kind !== 'tradePrinted') return;
    const prints = this.prints.get(event.market);
    if (prints === undefined) this.prints.set(event.market, [event]);
    else prints.push(event);
  }

  override compare(engine: Engine): void {
    for (const prints of this.prints.values()) this.compareMarket(engine, prints);
  }

  private compareMarket(engine: Engine, prints: readonly Printed[]): void {
    const last = prints.at(-1);
    if (last === undefined) return;
    const { market, priceTicks } = last;
    const view = engine.market(market);
    if (view.lastTicks !== priceTicks)
      this.fail(`market ${market}: last ${view.lastTicks ?? 'none'}, printed ${priceTicks}`);
    const shown = engine.trades(market, 0 as never, Infinity as never, 20).items;
    for (const [i, trade] of shown.entries()) {
      const print = prints[prints.length - 1 - i];
      if (
        print?.tradeId !== trade.tradeId ||
        print.lots !== trade.lots ||
        print.priceTicks !== trade.priceTicks
      ) {
        this.fail(
          `market ${market}: trade ${trade.tradeId} of ${trade.lots} was printed otherwise`,
        );
      }
    }
    this.compareCandle(engine, prints);
    this.compareSummary(engine, prints);
  }

  private compareCandle(engine: Engine, prints: readonly Printed[]): void {
    const [first] = prints;
    if (first === undefined) return;
    const { market } = first;
    const day = 86_400_000_000;
    const startUs = engine.nowUs - (engine.nowUs % day);
    const [candle] = engine.candles(
      market,
      day,
      startUs as never,
      (startUs + day) as never,
      1,
    ).items;
    const today = prints.filter(({ timeUs }) => timeUs >= startUs);
    if (candle === undefined || today.length === 0) return;
    const ticks = today.map((print) => print.priceTicks);
    const volume = sum(today.map(({ lots }) => Math.abs(lots)));
    const fits =
      candle.openTicks === ticks[0] &&
      candle.closeTicks === ticks.at(-1) &&
      candle.highTicks === Math.max(...ticks) &&
      candle.lowTicks === Math.min(...ticks) &&
      candle.volumeLots === volume;
    if (!fits)
      this.fail(
        `market ${market}: the day's candle has volume ${candle.volumeLots}, prints ${volume}`,
      );
  }

  private compareSummary(engine: Engine, prints: readonly Printed[]): void {
    const [first] = prints;
    if (first === undefined) return;
    const { market } = first;
    if (engine.trades(market, 0 as never, Infinity as never, 1).keptSinceUs !== null) return;
    const sinceUs = engine.nowUs - 86_400_000_000;
    const recent = prints.filter(({ timeUs }) => timeUs >= sinceUs);
    const volume = sum(recent.map(({ lots }) => Math.abs(lots)));
    const { volumeLots } = engine.summary(market);
    if (volumeLots !== volume)
      this.fail(`market ${market}: 24 h volume ${volumeLots}, prints add up to ${volume}`);
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);
