/**
 * Bars of trades: a bar of [start, start + interval) is finished at its end, before other events of
 * that time. An interval without a trade has no bar.
 */
import { StrategyError, type ParameterValues, type StrategyDefinition } from './definition.ts';
import type { BarUpdate } from './strategy.ts';

const MINUTE_US = 60_000_000;

/**
 * Lengths of a strategy's bars, µs: two parameters of a strategy may give the same, which counts
 * once. A length of 0 would have no end.
 */
export function barLengths(
  definition: Pick<StrategyDefinition, 'name' | 'barsUs'>,
  parameters: ParameterValues,
): readonly number[] {
  const lengths = definition.barsUs?.(parameters) ?? [MINUTE_US];
  const wrong = lengths.find((us) => !Number.isSafeInteger(us) || us < 1);
  if (wrong === undefined) return [...new Set(lengths)];
  throw new StrategyError(
    `strategy '${definition.name}': barsUs gives ${String(wrong)}: must be whole microseconds above 0`,
  );
}

interface OpenBar {
  startUs: number;
  openTicks: number;
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
  private isOpen = false;
  /** One object for all bars: a run has half a million of them a year. */
  private bar = emptyBar();

  constructor(units: BarUnits, intervalUs: number) {
    this.units = units;
    this.intervalUs = intervalUs;
  }

  /** End of the open bar; Infinity if there is none. */
  get dueUs(): number {
    return this.isOpen ? this.bar.startUs + this.intervalUs : Infinity;
  }

  /**
   * Recorded feed latency of the open bar: that of its last trade, and no less than the wait for
   * its latest trade. Null if its trades have none.
   */
  get recordedUs(): number | null {
    const { recordedUs, receivedUs } = this.bar;
    if (!this.isOpen || recordedUs === null || receivedUs === null) return null;
    return Math.max(recordedUs, receivedUs - this.dueUs);
  }

  /** `recordedUs`: recorded receipt less venue time of the trade, or null. */
  onTrade({ timeUs, priceTicks, lots }: BarTrade, recordedUs: number | null = null): void {
    const { bar } = this;
    if (!this.isOpen) this.begin(timeUs, priceTicks);
    bar.highTicks = Math.max(bar.highTicks, priceTicks);
    bar.lowTicks = Math.min(bar.lowTicks, priceTicks);
    bar.closeTicks = priceTicks;
    bar.lots += Math.abs(lots);
    received(bar, timeUs, recordedUs);
  }

  /** Trades at the open, the high, the low and the close of a bar; the close has the volume. */
  onBar(
    { timeUs, openTicks, highTicks, lowTicks, closeTicks, volumeLots }: BarOfTicks,
    recordedUs: number | null = null,
  ): void {
    const { bar } = this;
    if (!this.isOpen) this.begin(timeUs, openTicks);
    bar.highTicks = Math.max(bar.highTicks, openTicks, highTicks, lowTicks, closeTicks);
    bar.lowTicks = Math.min(bar.lowTicks, openTicks, highTicks, lowTicks, closeTicks);
    bar.closeTicks = closeTicks;
    bar.lots += Math.abs(volumeLots);
    received(bar, timeUs, recordedUs);
  }

  private begin(timeUs: number, ticks: number): void {
    const { bar } = this;
    this.isOpen = true;
    bar.startUs = timeUs - (timeUs % this.intervalUs);
    bar.openTicks = ticks;
    bar.highTicks = ticks;
    bar.lowTicks = ticks;
    bar.lots = 0;
    bar.recordedUs = null;
    bar.receivedUs = null;
  }

  /** Finishes the open bar. */
  finish(): BarUpdate | null {
    if (!this.isOpen) return null;
    this.isOpen = false;
    const { bar, units, intervalUs } = this;
    return {
      symbol: units.symbol,
      startUs: bar.startUs,
      timeUs: bar.startUs + intervalUs,
      intervalUs,
      open: units.price(bar.openTicks),
      high: units.price(bar.highTicks),
      low: units.price(bar.lowTicks),
      close: units.price(bar.closeTicks),
      volume: units.size(bar.lots),
    };
  }

  save(): unknown {
    return this.isOpen ? { ...this.bar } : null;
  }

  load(saved: unknown): void {
    this.isOpen = saved !== null;
    this.bar = this.isOpen ? { ...(saved as OpenBar) } : emptyBar();
  }
}

function emptyBar(): OpenBar {
  return {
    startUs: 0,
    openTicks: 0,
    highTicks: 0,
    lowTicks: 0,
    closeTicks: 0,
    lots: 0,
    recordedUs: null,
    receivedUs: null,
  };
}

/** Notes the receipt of a trade. */
function received(open: OpenBar, timeUs: number, recordedUs: number | null): void {
  if (recordedUs === null) return;
  open.recordedUs = recordedUs;
  open.receivedUs = Math.max(open.receivedUs ?? -Infinity, timeUs + recordedUs);
}
