import type { Command } from '../../engine/commands.ts';
import type { EngineEvent } from '../../engine/events.ts';
import type { Engine } from '../../engine/read/views.ts';
import { ExactSum } from '../../num/exact-sum.ts';
import { marketId, PPM, type MarketId } from '../../num/units.ts';
import { StreamInvariant } from './stream-invariant.ts';

type Filled = Extract<EngineEvent, { kind: 'orderFilled' }>;
type Printed = Extract<EngineEvent, { kind: 'tradePrinted' }>;

/**
 * One print is one match: a maker and a taker of equal size and price, the taker within the band.
 */
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
  /** System orders, for which the band differs. */
  private readonly own = new Set<number>();
  private beyondBand: string | null = null;

  see(event: EngineEvent): void {
    switch (event.kind) {
      case 'marketListed':
        this.bands.set(event.market, event.spec.priceBandPpm);
        if (event.spec.initialMarkTicks !== null) {
          this.marks.set(event.market, event.spec.initialMarkTicks);
        }
        break;
      case 'marketTermsChanged':
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
    const away = (priceTicks - (mark ?? 0)) * (lots > 0 ? 1 : -1);
    if (mark === undefined) this.beyondBand ??= `order ${orderId} took without a mark price`;
    else if (away * PPM > mark * bandPpm) {
      this.beyondBand ??= `order ${orderId} took at ${priceTicks}, the mark is ${mark}, the band ${bandPpm} ppm`;
    }
  }

  /** Marks inside a bar are reported only at its end. */
  override settle(_engine: Engine, command: Command): void {
    if (this.beyondBand !== null && command.kind !== 'tapeBar') this.fail(this.beyondBand);
    this.beyondBand = null;
  }
}

/** Input of candles: a print, or the extremes and volume of a bar. */
interface Traded {
  readonly timeUs: number;
  readonly priceTicks: number;
  readonly size: number;
}

/**
 * Market data is the fold of the prints: last price, tape, candles and 24 h volume. A recorded bar
 * contributes its extremes and its volume. The order of prices inside a bar is not public, so in
 * markets with bars open, close and last price are not checked.
 */
export class MarketData extends StreamInvariant {
  readonly name = 'marketDataIsFold';
  readonly rule = 'R-10.3, R-10.4';
  readonly says = 'last price, trades, candles and 24 h figures are those of the printed trades';
  private readonly prints = new Map<number, Printed[]>();
  private readonly bars = new Map<number, Traded[]>();
  private barApplied = false;

  see(event: EngineEvent): void {
    if (event.kind === 'tapeApplied' && event.what === 'bar') this.barApplied = true;
    if (event.kind === 'tradePrinted') listIn(this.prints, event.market).push(event);
  }

  override settle(_engine: Engine, command: Command): void {
    if (command.kind === 'tapeBar' && this.barApplied) {
      const { timeUs, highTicks, lowTicks, volumeLots } = command;
      listIn(this.bars, command.market).push(
        { timeUs, priceTicks: highTicks, size: volumeLots },
        { timeUs, priceTicks: lowTicks, size: 0 },
      );
    }
    this.barApplied = false;
  }

  override compare(engine: Engine): void {
    for (const market of new Set([...this.prints.keys(), ...this.bars.keys()])) {
      const prints = this.prints.get(market) ?? [];
      const bars = this.bars.get(market) ?? [];
      this.compareTape(engine, marketId(market), prints);
      this.compareCandle(engine, marketId(market), prints, bars);
      this.compareSummary(engine, marketId(market), prints, bars);
      if (bars.length === 0) this.compareLast(engine, marketId(market), prints);
    }
  }

  private compareLast(engine: Engine, market: MarketId, prints: readonly Printed[]): void {
    const printed = prints.at(-1)?.priceTicks ?? null;
    const { lastTicks } = engine.market(market);
    if (lastTicks === printed) return;
    this.fail(`market ${market}: last ${lastTicks ?? 'none'}, printed ${printed ?? 'none'}`);
  }

  private compareTape(engine: Engine, market: MarketId, prints: readonly Printed[]): void {
    const shown = engine.trades(market, 0 as never, Infinity as never, 20).items;
    for (const [i, trade] of shown.entries()) {
      const print = prints[prints.length - 1 - i];
      if (
        print?.tradeId !== trade.tradeId ||
        print.lots !== trade.lots ||
        print.priceTicks !== trade.priceTicks
      ) {
        this.fail(
          `market ${market}: trade ${trade.tradeId} of ${trade.lots} was printed differently`,
        );
      }
    }
  }

  private compareCandle(
    engine: Engine,
    market: MarketId,
    prints: readonly Printed[],
    bars: readonly Traded[],
  ): void {
    const startUs = engine.nowUs - (engine.nowUs % DAY_US);
    const { items, keptSinceUs } = engine.candles(
      market,
      DAY_US,
      startUs as never,
      (startUs + DAY_US) as never,
      1,
    );
    const [candle] = items;
    if (keptSinceUs !== null && keptSinceUs > startUs) return;
    let high = 0;
    let low = Infinity;
    const volume = new ExactSum();
    let open = 0;
    for (const { timeUs, priceTicks, lots } of prints) {
      if (timeUs < startUs) continue;
      if (open === 0) open = priceTicks;
      high = Math.max(high, priceTicks);
      low = Math.min(low, priceTicks);
      volume.add(Math.abs(lots));
    }
    for (const { timeUs, priceTicks, size } of bars) {
      if (timeUs < startUs) continue;
      high = Math.max(high, priceTicks);
      low = Math.min(low, priceTicks);
      volume.add(size);
    }
    if (candle === undefined || high === 0) return;
    const fits =
      candle.highTicks === high && candle.lowTicks === low && candle.volumeLots === volume.total;
    const close = prints.at(-1)?.priceTicks;
    const ends = bars.length > 0 || (candle.openTicks === open && candle.closeTicks === close);
    if (!fits || !ends)
      this.fail(
        `market ${market}: the day's candle has volume ${candle.volumeLots}, prints ${volume.total}`,
      );
  }

  private compareSummary(
    engine: Engine,
    market: MarketId,
    prints: readonly Printed[],
    bars: readonly Traded[],
  ): void {
    const all = [0 as never, Infinity as never, 1] as const;
    if (engine.trades(market, ...all).keptSinceUs !== null) return;
    if (engine.candles(market, MINUTE_US, ...all).keptSinceUs !== null) return;
    const sinceUs = engine.nowUs - DAY_US;
    const volume = new ExactSum();
    for (const { timeUs, lots } of prints) if (timeUs >= sinceUs) volume.add(Math.abs(lots));
    // A bar counts in the minute of its end.
    for (const { timeUs, size } of bars) {
      if (timeUs - (timeUs % MINUTE_US) >= sinceUs) volume.add(size);
    }
    const { volumeLots } = engine.summary(market);
    if (volumeLots !== volume.total)
      this.fail(`market ${market}: 24 h volume ${volumeLots}, prints add up to ${volume.total}`);
  }
}

const MINUTE_US = 60_000_000;
const DAY_US = 86_400_000_000;

function listIn<T>(lists: Map<number, T[]>, key: number): T[] {
  const found = lists.get(key) ?? [];
  lists.set(key, found);
  return found;
}
