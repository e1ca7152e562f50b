/**
 * One-minute candles of a market, in a ring; longer intervals are folded from them when read. Only minutes
 * with trades are stored: a minute without any repeats the last close with volume 0 when read. History, outside the
 * state hash.
 */
import type { Archive } from '../../base/archive.ts';
import { floorTo } from '../../num/arithmetic.ts';
import {
  lots,
  ppb,
  priceTicks,
  timeUs,
  type PriceTicks,
  type Ppb,
  type TimeUs,
} from '../../num/units.ts';
import type { CandleView } from '../views.ts';

export const MINUTE_US = 60_000_000;

interface Minute {
  timeUs: TimeUs;
  open: PriceTicks;
  high: PriceTicks;
  low: PriceTicks;
  close: PriceTicks;
  volumeLots: number;
  /** Σ |lots| × ticks, for notional volume: `tickLots` and, in a double while that is exact, what is still to be added. */
  tickLots: bigint;
  tickLotsPart: number;
}

function addNotional(minute: Minute, size: number, price: PriceTicks): void {
  const product = size * price;
  const sum = minute.tickLotsPart + product;
  if (sum <= Number.MAX_SAFE_INTEGER) minute.tickLotsPart = sum;
  else minute.tickLots += BigInt(size) * BigInt(price);
}

function tickLotsOf(minute: Minute): bigint {
  return minute.tickLots + BigInt(minute.tickLotsPart);
}

/** A funding rate in force from a time on. */
interface RateChange {
  readonly timeUs: TimeUs;
  readonly ratePpb: Ppb;
}

export class Candles {
  private readonly limit: number;
  private minutes: Minute[] = [];
  /** Minutes dropped from the front so far that still stand in the array: trimmed in blocks. */
  private start = 0;
  private dropped = false;
  private rates: RateChange[] = [];
  private firstTradeTicks: PriceTicks | null = null;

  constructor(limitMinutes: number) {
    this.limit = limitMinutes;
  }

  /** Price of the first trade ever. */
  get firstPrice(): PriceTicks | null {
    return this.firstTradeTicks;
  }

  get keptSinceUs(): TimeUs | null {
    return this.dropped ? (this.minutes[this.start]?.timeUs ?? null) : null;
  }

  add(atUs: TimeUs, price: PriceTicks, size: number): void {
    this.firstTradeTicks ??= price;
    if (this.limit === 0) return;
    const bucket = timeUs(floorTo(atUs, MINUTE_US));
    const last = this.minutes[this.minutes.length - 1];
    if (last?.timeUs === bucket) {
      if (price > last.high) last.high = price;
      if (price < last.low) last.low = price;
      last.close = price;
      last.volumeLots += size;
      addNotional(last, size, price);
      return;
    }
    const minute: Minute = {
      timeUs: bucket,
      open: price,
      high: price,
      low: price,
      close: price,
      volumeLots: size,
      tickLots: 0n,
      tickLotsPart: 0,
    };
    addNotional(minute, size, price);
    this.minutes.push(minute);
    while (
      this.start < this.minutes.length &&
      (this.minutes[this.start]?.timeUs ?? bucket) <= bucket - this.limit * MINUTE_US
    ) {
      this.start += 1;
      this.dropped = true;
    }
    if (this.start > 1024 && this.start * 2 > this.minutes.length) {
      this.minutes = this.minutes.slice(this.start);
      this.start = 0;
    }
  }

  /** What a historical bar says was traded up to now; it counts in the minute that it ends in. */
  addBar(
    atUs: TimeUs,
    open: PriceTicks,
    high: PriceTicks,
    low: PriceTicks,
    close: PriceTicks,
    volume: number,
  ): void {
    this.add(atUs, open, 0);
    const minute = this.minutes[this.minutes.length - 1];
    if (minute === undefined) return;
    if (high > minute.high) minute.high = high;
    if (low < minute.low) minute.low = low;
    minute.close = close;
    minute.volumeLots += volume;
    addNotional(minute, volume, close);
  }

  setFundingRate(atUs: TimeUs, ratePpb: Ppb): void {
    this.rates.push({ timeUs: atUs, ratePpb });
  }

  /** Close and index of the last stored minute that starts before atUs. */
  private placeBefore(atUs: number): number {
    let low = this.start;
    let high = this.minutes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.minutes[middle]?.timeUs ?? Infinity) < atUs) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** Last price of the minutes that end at or before atUs; null when none is kept. */
  closeBefore(atUs: number): PriceTicks | null {
    const place = this.placeBefore(floorTo(atUs, MINUTE_US));
    return place < this.start ? null : (this.minutes[place]?.close ?? null);
  }

  /** Sums over stored minutes that start at or after fromUs and before toUs. */
  sums(fromUs: number, toUs: number): { volumeLots: number; tickLots: bigint } {
    let volumeLots = 0;
    let tickLots = 0n;
    for (let i = this.placeBefore(fromUs) + 1; i < this.minutes.length; i++) {
      const minute = this.minutes[i];
      if (minute === undefined || minute.timeUs >= toUs) break;
      volumeLots += minute.volumeLots;
      tickLots += tickLotsOf(minute);
    }
    return { volumeLots, tickLots };
  }

  /**
   * Ascending buckets that start in [fromUs, toUs) and at or before nowUs, the newest `limit`. The first bucket is that
   * of the first kept trade, since before it there is no close to repeat.
   */
  fold(
    intervalUs: number,
    fromUs: number,
    toUs: number,
    limit: number,
    nowUs: TimeUs,
  ): CandleView[] {
    const first = this.minutes[this.start];
    if (first === undefined) return [];
    const newest = Math.min(nowUs, toUs - 1);
    const lastBucket = newest - (newest % intervalUs);
    const alignedFrom = Math.ceil(fromUs / intervalUs) * intervalUs;
    let bucket = Math.max(
      first.timeUs - (first.timeUs % intervalUs),
      alignedFrom,
      lastBucket - (limit - 1) * intervalUs,
    );
    const candles: CandleView[] = [];
    let place = this.placeBefore(bucket) + 1;
    let close = this.minutes[place - 1]?.close ?? first.open;
    for (; bucket <= lastBucket; bucket += intervalUs) {
      const ratePpb = this.rateAt(bucket + intervalUs);
      let minute = this.minutes[place];
      if (minute === undefined || minute.timeUs >= bucket + intervalUs) {
        candles.push({
          timeUs: timeUs(bucket),
          openTicks: close,
          highTicks: close,
          lowTicks: close,
          closeTicks: close,
          volumeLots: lots(0),
          fundingRatePpb: ratePpb,
        });
        continue;
      }
      const open = minute.open;
      let high: PriceTicks = minute.high;
      let low: PriceTicks = minute.low;
      let volume = 0;
      while (minute !== undefined && minute.timeUs < bucket + intervalUs) {
        if (minute.high > high) high = minute.high;
        if (minute.low < low) low = minute.low;
        volume += minute.volumeLots;
        close = minute.close;
        place += 1;
        minute = this.minutes[place];
      }
      candles.push({
        timeUs: timeUs(bucket),
        openTicks: open,
        highTicks: high,
        lowTicks: low,
        closeTicks: close,
        volumeLots: lots(volume),
        fundingRatePpb: ratePpb,
      });
    }
    return candles;
  }

  private rateAt(atUs: number): Ppb {
    for (let i = this.rates.length - 1; i >= 0; i--) {
      const change = this.rates[i];
      if (change !== undefined && change.timeUs <= atUs) return change.ratePpb;
    }
    return ppb(0);
  }

  archive(io: Archive): void {
    this.dropped = io.bool(this.dropped);
    const first = io.optionalInt(this.firstTradeTicks);
    this.firstTradeTicks = first === null ? null : priceTicks(first);
    const kept = io.loading ? [] : this.minutes.slice(this.start);
    const count = io.int(kept.length);
    for (let i = 0; i < count; i++) {
      const saved = kept[i];
      const minute: Minute = {
        timeUs: timeUs(io.int(saved?.timeUs ?? 0)),
        open: priceTicks(io.int(saved?.open ?? 0)),
        high: priceTicks(io.int(saved?.high ?? 0)),
        low: priceTicks(io.int(saved?.low ?? 0)),
        close: priceTicks(io.int(saved?.close ?? 0)),
        volumeLots: io.int(saved?.volumeLots ?? 0),
        tickLots: io.bigint(saved === undefined ? 0n : tickLotsOf(saved)),
        tickLotsPart: 0,
      };
      if (io.loading) this.minutes.push(minute);
    }
    const rates = io.int(this.rates.length);
    for (let i = 0; i < rates; i++) {
      const atUs = timeUs(io.int(this.rates[i]?.timeUs ?? 0));
      const ratePpb = ppb(io.int(this.rates[i]?.ratePpb ?? 0));
      if (io.loading) this.rates.push({ timeUs: atUs, ratePpb });
    }
  }
}
