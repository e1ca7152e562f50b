/**
 * Bars of trades: a bar of [start, start + interval) is finished when that time is over, before anything else of that instant.
 * An interval without a trade has no bar.
 */
import type { BarUpdate } from './strategy.ts';

interface OpenBar {
  readonly startUs: number;
  readonly openTicks: number;
  highTicks: number;
  lowTicks: number;
  closeTicks: number;
  lots: number;
}

/** What whole ticks and lots of a market are as numbers. */
export interface BarUnits {
  readonly symbol: string;
  price(ticks: number): number;
  size(lots: number): number;
}

export interface BarTrade {
  readonly timeUs: number;
  readonly priceTicks: number;
  /** The sign does not matter. */
  readonly lots: number;
}

export class BarBuilder {
  readonly units: BarUnits;
  readonly intervalUs: number;
  private open: OpenBar | null = null;

  constructor(units: BarUnits, intervalUs: number) {
    this.units = units;
    this.intervalUs = intervalUs;
  }

  /** When the open bar is over; Infinity while there is none. */
  get dueUs(): number {
    return this.open === null ? Infinity : this.open.startUs + this.intervalUs;
  }

  onTrade({ timeUs, priceTicks, lots }: BarTrade): void {
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
    const { open, units, intervalUs } = this;
    if (open === null) return null;
    this.open = null;
    return {
      symbol: units.symbol,
      startUs: open.startUs,
      timeUs: open.startUs + intervalUs,
      intervalUs,
      open: units.price(open.openTicks),
      high: units.price(open.highTicks),
      low: units.price(open.lowTicks),
      close: units.price(open.closeTicks),
      volume: units.size(open.lots),
    };
  }

  save(): unknown {
    return this.open;
  }

  load(saved: unknown): void {
    this.open = saved as OpenBar | null;
  }
}
