/**
 * Bars of trades: a bar of [start, start + interval) is finished when that time is over, before anything else of that instant.
 * An interval without a trade has no bar.
 */
import type { TradePrinted } from '../engine/events.ts';
import type { MarketView } from '../engine/views.ts';
import { priceText, sizeText } from '../gateway/encode.ts';
import type { BarUpdate } from './strategy.ts';

interface OpenBar {
  readonly startUs: number;
  readonly openTicks: number;
  highTicks: number;
  lowTicks: number;
  closeTicks: number;
  lots: number;
}

export class BarBuilder {
  readonly market: MarketView;
  readonly intervalUs: number;
  private open: OpenBar | null = null;

  constructor(market: MarketView, intervalUs: number) {
    this.market = market;
    this.intervalUs = intervalUs;
  }

  /** When the open bar is over; Infinity while there is none. */
  get dueUs(): number {
    return this.open === null ? Infinity : this.open.startUs + this.intervalUs;
  }

  onTrade({ timeUs, priceTicks, lots }: TradePrinted): void {
    const { open } = this;
    const size = Math.abs(lots);
    if (open === null) {
      this.open = {
        startUs: timeUs - (timeUs % this.intervalUs),
        openTicks: priceTicks,
        highTicks: priceTicks,
        lowTicks: priceTicks,
        closeTicks: priceTicks,
        lots: size,
      };
      return;
    }
    open.highTicks = Math.max(open.highTicks, priceTicks);
    open.lowTicks = Math.min(open.lowTicks, priceTicks);
    open.closeTicks = priceTicks;
    open.lots += size;
  }

  /** The open bar, finished. */
  finish(): BarUpdate | null {
    const { open, market, intervalUs } = this;
    if (open === null) return null;
    this.open = null;
    const price = (ticks: number): number => Number(priceText(market, ticks));
    return {
      symbol: market.spec.symbol,
      startUs: open.startUs,
      timeUs: open.startUs + intervalUs,
      intervalUs,
      open: price(open.openTicks),
      high: price(open.highTicks),
      low: price(open.lowTicks),
      close: price(open.closeTicks),
      volume: Number(sizeText(market, open.lots)),
    };
  }

  save(): unknown {
    return this.open;
  }

  load(saved: unknown): void {
    this.open = saved as OpenBar | null;
  }
}
