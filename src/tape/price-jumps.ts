/**
 * Finds jumps of the price from one record to the next, as where parts of two markets are in one
 * stream. Kinds are compared with each other only within a minute, because a bar ends at its close.
 */
import type { TapeRecord } from './record.ts';

export interface PriceJump {
  readonly timeUs: number;
  readonly line: number;
  readonly fromTicks: number;
  readonly toTicks: number;
}

/** Change of the price from which a jump is reported. */
const REPORTED = 1.1;
/** Change from which the two prices are taken as those of different markets. */
const OTHER_MARKET = 1.5;
const MAX_LISTED = 20;
const NEAR_US = 60_000_000;

/** Prices of a stream without those of its index; null if it has none. */
export interface PriceRange {
  readonly firstTicks: number;
  readonly lastTicks: number;
  readonly minTicks: number;
  readonly maxTicks: number;
}

/** The last price of a kind; the time is −∞ before the first. Overwritten by each record. */
interface Last {
  price: number;
  timeUs: number;
}

export class PriceJumps {
  count = 0;
  /** Largest change, as a ratio from 1. */
  largest = 1;
  /** The first jumps. */
  readonly list: PriceJump[] = [];
  private firstTicks: number | null = null;
  private lastTicks = 0;
  private minTicks = Infinity;
  private maxTicks = -Infinity;
  private readonly bar: Last = { price: 0, timeUs: -Infinity };
  private readonly other: Last = { price: 0, timeUs: -Infinity };
  /** An option's index is the price of another thing. */
  private readonly index: Last = { price: 0, timeUs: -Infinity };

  get range(): PriceRange | null {
    const { firstTicks, lastTicks, minTicks, maxTicks } = this;
    return firstTicks === null ? null : { firstTicks, lastTicks, minTicks, maxTicks };
  }

  take(record: TapeRecord): void {
    const { timeUs } = record;
    switch (record.kind) {
      case 'bar':
        this.compare(this.bar, record.open, record, Infinity);
        this.compare(this.other, record.close, record, NEAR_US);
        set(this.bar, record.close, timeUs);
        this.extend(record.low);
        this.extend(record.high);
        this.extend(record.close);
        return;
      case 'trade':
      case 'mark':
        this.next(record.priceTicks, record);
        return;
      case 'index':
        this.compare(this.index, record.priceTicks, record, Infinity);
        set(this.index, record.priceTicks, timeUs);
        return;
      case 'touch':
        // A side without orders has no price.
        if (record.bidLots === 0 || record.askLots === 0) return;
        this.next((record.bidTicks + record.askTicks) / 2, record);
        return;
      default:
    }
  }

  private next(price: number, record: TapeRecord): void {
    this.compare(this.other, price, record, Infinity);
    if (this.other.timeUs === -Infinity) this.compare(this.bar, price, record, NEAR_US);
    set(this.other, price, record.timeUs);
    this.extend(price);
  }

  private compare(last: Last, price: number, { timeUs, line }: TapeRecord, nearUs: number): void {
    if (last.timeUs === -Infinity || timeUs - last.timeUs > nearUs) return;
    const ratio = ratioOf(last.price, price);
    if (ratio < REPORTED) return;
    this.count += 1;
    this.largest = Math.max(this.largest, ratio);
    if (this.list.length === MAX_LISTED) return;
    this.list.push({ timeUs, line, fromTicks: last.price, toTicks: price });
  }

  private extend(price: number): void {
    this.firstTicks ??= price;
    this.lastTicks = price;
    if (price < this.minTicks) this.minTicks = price;
    if (price > this.maxTicks) this.maxTicks = price;
  }
}

function set(last: Last, price: number, timeUs: number): void {
  last.price = price;
  last.timeUs = timeUs;
}

/** Whether a jump is so large that the prices are those of different markets. */
export function isOtherMarket(ratio: number): boolean {
  return ratio >= OTHER_MARKET;
}

/** Whether the ranges of two streams are apart by more than a reported jump. */
export function areApart(a: PriceRange, b: PriceRange): boolean {
  return a.minTicks > b.maxTicks * REPORTED || b.minTicks > a.maxTicks * REPORTED;
}

function ratioOf(a: number, b: number): number {
  return a > b ? a / b : b / a;
}
