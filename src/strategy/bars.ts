/**
 * Bars of trades: a bar of [start, start + interval) is finished at its end, before other events of
 * that time. An interval without a trade has no bar.
 */
import type { BarUpdate } from './strategy.ts';

interface OpenBar {
  readonly startUs: number;
  readonly openTicks: number;
  highTicks: number;
  lowTicks: number;
  closeTicks: number;
  lots: number;
  /** Receipt less venue time of the last trade that has one; null without. */
  recordedUs: number | null;
  /** Latest time at which a trade was received; null if unknown. */
  receivedUs: number | null;
}

/** Tick and lot size of a market as numbers. */
export interface BarUnits {
  readonly symbol: string;
  price(ticks: number): number;
  size(lots: number): number;
}

export interface BarTrade {
  readonly timeUs: number;
  readonly priceTicks: number;
  /** The sign is ignored. */
  readonly lots: number;
}

/** A recorded bar; each of its prices is a trade. */
export interface BarOfTicks {
  readonly timeUs: number;
  readonly openTicks: number;
  readonly highTicks: number;
  readonly lowTicks: number;
  readonly closeTicks: number;
  readonly volumeLots: number;
}

export class BarBuilder {
  readonly units: BarUnits;
  readonly intervalUs: number;
  private open: OpenBar | null = null;

  constructor(units: BarUnits, intervalUs: number) {
    this.units = units;
    this.intervalUs = intervalUs;
  }

  /** End of the open bar; Infinity if there is none. */
  get dueUs(): number {
    return this.open === null ? Infinity : this.open.startUs + this.intervalUs;
  }

  /**
   * Recorded feed latency of the open bar: that of its last trade, and no less than the wait for
   * its latest trade. Null if its trades have none.
   */
  get recordedUs(): number | null {
    const { recordedUs = null, receivedUs = null } = this.open ?? {};
    if (recordedUs === null || receivedUs === null) return null;
    return Math.max(recordedUs, receivedUs - this.dueUs);
  }

  /** `recordedUs`: recorded receipt less venue time of the trade, or null. */
  onTrade({ timeUs, priceTicks, lots }: BarTrade, recordedUs: number | null = null): void {
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
        recordedUs,
        receivedUs: recordedUs === null ? null : timeUs + recordedUs,
      };
      return;
    }
    open.highTicks = Math.max(open.highTicks, priceTicks);
    open.lowTicks = Math.min(open.lowTicks, priceTicks);
    open.closeTicks = priceTicks;
    open.lots += size;
    received(open, timeUs, recordedUs);
  }

  /** Trades at the open, the high, the low and the close of a bar; the close has the volume. */
  onBar(
    { timeUs, openTicks, highTicks, lowTicks, closeTicks, volumeLots }: BarOfTicks,
    recordedUs: number | null = null,
  ): void {
    const { open } = this;
    const high = Math.max(openTicks, highTicks, lowTicks, closeTicks);
    const low = Math.min(openTicks, highTicks, lowTicks, closeTicks);
    const size = Math.abs(volumeLots);
    if (open === null) {
      this.open = {
        startUs: timeUs - (timeUs % this.intervalUs),
        openTicks,
        highTicks: high,
        lowTicks: low,
        closeTicks,
        lots: size,
        recordedUs,
        receivedUs: recordedUs === null ? null : timeUs + recordedUs,
      };
      return;
    }
    open.highTicks = Math.max(open.highTicks, high);
    open.lowTicks = Math.min(open.lowTicks, low);
    open.closeTicks = closeTicks;
    open.lots += size;
    received(open, timeUs, recordedUs);
  }

  /** Finishes the open bar. */
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

/** Notes the receipt of a trade. */
function received(open: OpenBar, timeUs: number, recordedUs: number | null): void {
  if (recordedUs === null) return;
  open.recordedUs = recordedUs;
  open.receivedUs = Math.max(open.receivedUs ?? -Infinity, timeUs + recordedUs);
}
