/**
 * One-minute candles of a market, in a ring of typed arrays; reads fold them into longer intervals
 * . Only minutes with trades are stored: reads fill a minute without trades with the last
 * close and volume 0. History, outside the state hash.
 */
import type { Archive } from '../../base/archive.ts';
import { floorTo } from '../../num/arithmetic.ts';
import { ExactSum } from '../../num/exact-sum.ts';
import {
  ppb,
  priceTicks,
  timeUs,
  type PriceTicks,
  type Ppb,
  type TimeUs,
} from '../../num/units.ts';
import type { Clock } from '../clock.ts';
import type { TapeBar } from '../commands.ts';
import type { CandleView } from '../read/views.ts';
import { MinuteRing } from './minute-ring.ts';

export const MINUTE_US = 60_000_000;

/** A funding rate in force from a time on. */
interface RateChange {
  readonly timeUs: TimeUs;
  readonly ratePpb: Ppb;
}

/** The trades of a bar. */
export type BarPrices = Pick<
  TapeBar,
  'openTicks' | 'highTicks' | 'lowTicks' | 'closeTicks' | 'volumeLots'
>;

export class Candles {
  private readonly limit: number;
  private readonly minutes: MinuteRing;
  private dropped = false;
  private rates: RateChange[] = [];
  private firstTradeTicks: PriceTicks | null = null;

  constructor(limitMinutes: number) {
    this.limit = limitMinutes;
    this.minutes = new MinuteRing(limitMinutes);
  }

  /** Price of the first trade ever. */
  get firstPrice(): PriceTicks | null {
    return this.firstTradeTicks;
  }

  get keptSinceUs(): TimeUs | null {
    return this.dropped ? timeUs(this.minutes.timeAt(0)) : null;
  }

  /** Number of stored minutes. */
  get size(): number {
    return this.minutes.length;
  }

  add(clock: Clock, price: PriceTicks, size: number): void {
    this.firstTradeTicks ??= price;
    if (this.limit === 0) return;
    this.openMinute(clock, price);
    this.minutes.addPrices(price, price, price);
    this.minutes.addVolume(size, price);
  }

  /** Adds the trades of a historical bar up to now, in the minute of its end. */
  addBar(clock: Clock, bar: BarPrices): void {
    this.firstTradeTicks ??= bar.openTicks;
    if (this.limit === 0) return;
    this.openMinute(clock, bar.openTicks);
    this.minutes.addPrices(bar.highTicks, bar.lowTicks, bar.closeTicks);
    this.minutes.addVolume(bar.volumeLots, bar.closeTicks);
  }

  /** Opens the minute of now and drops those beyond retention. */
  private openMinute({ nowUs }: Clock, price: PriceTicks): void {
    const { minutes } = this;
    // Time never decreases, so most trades are in the newest minute: no division for them.
    if (minutes.length > 0 && nowUs < minutes.timeAt(minutes.length - 1) + MINUTE_US) return;
    const bucket = floorTo(nowUs, MINUTE_US);
    const oldest = bucket - this.limit * MINUTE_US;
    while (minutes.length > 0 && minutes.timeAt(0) <= oldest) {
      minutes.dropFirst();
      this.dropped = true;
    }
    minutes.push(bucket, price);
  }

  setFundingRate(atUs: TimeUs, ratePpb: Ppb): void {
    this.rates.push({ timeUs: atUs, ratePpb });
  }

  /** Number of stored minutes that start before atUs. */
  private countBefore(atUs: number): number {
    const { minutes } = this;
    let low = 0;
    let high = minutes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (minutes.timeAt(middle) < atUs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Last price of the minutes that end at or before atUs; null if none is kept. */
  closeBefore(atUs: number): PriceTicks | null {
    const count = this.countBefore(floorTo(atUs, MINUTE_US));
    return count === 0 ? null : this.minutes.closeAt(count - 1);
  }

  /**
   * The first minute from `fromUs` on after which retention is complete; Infinity if none is kept.
   */
  wholeFrom(fromUs: number): number {
    if (this.limit === 0) return Infinity;
    const next = ceilTo(fromUs, MINUTE_US);
    return this.dropped ? Math.max(next, this.minutes.timeAt(0)) : next;
  }

  /** Sums over stored minutes that start at or after fromUs. */
  sums(fromUs: number): { volumeLots: bigint; tickLots: bigint } {
    const { minutes } = this;
    const volume = new ExactSum();
    let tickLots = 0n;
    for (let i = this.countBefore(fromUs); i < minutes.length; i++) {
      minutes.addVolumeTo(volume, i);
      tickLots += minutes.tickLotsAt(i);
    }
    return { volumeLots: volume.total, tickLots };
  }

  /** Ascending buckets from the first kept trade on, in [fromUs, toUs) and up to now. */
  fold(
    intervalUs: number,
    fromUs: number,
    toUs: number,
    limit: number,
    nowUs: TimeUs,
  ): CandleView[] {
    const { minutes } = this;
    if (minutes.length === 0) return [];
    const newest = Math.min(nowUs, toUs - 1);
    const lastBucket = newest - (newest % intervalUs);
    const alignedFrom = Math.ceil(fromUs / intervalUs) * intervalUs;
    const firstUs = minutes.timeAt(0);
    let bucket = Math.max(
      firstUs - (firstUs % intervalUs),
      alignedFrom,
      lastBucket - (limit - 1) * intervalUs,
    );
    const candles: CandleView[] = [];
    let place = this.countBefore(bucket);
    let close = place === 0 ? minutes.openAt(0) : minutes.closeAt(place - 1);
    for (; bucket <= lastBucket; bucket += intervalUs) {
      const endUs = bucket + intervalUs;
      const traded = place < minutes.length && minutes.timeAt(place) < endUs;
      const open = traded ? minutes.openAt(place) : close;
      let high = open;
      let low = open;
      const volume = new ExactSum();
      for (; place < minutes.length && minutes.timeAt(place) < endUs; place++) {
        if (minutes.highAt(place) > high) high = minutes.highAt(place);
        if (minutes.lowAt(place) < low) low = minutes.lowAt(place);
        minutes.addVolumeTo(volume, place);
        close = minutes.closeAt(place);
      }
      candles.push({
        timeUs: timeUs(bucket),
        openTicks: open,
        highTicks: high,
        lowTicks: low,
        closeTicks: close,
        volumeLots: volume.total,
        fundingRatePpb: this.rateAt(endUs),
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
    const { minutes } = this;
    const count = io.int(minutes.length);
    for (let i = 0; i < count; i++) {
      // While loading, the minute does not exist yet and its value is ignored.
      const bucket = io.int(minutes.timeAt(i));
      const open = priceTicks(io.int(minutes.openAt(i)));
      const high = priceTicks(io.int(minutes.highAt(i)));
      const low = priceTicks(io.int(minutes.lowAt(i)));
      const close = priceTicks(io.int(minutes.closeAt(i)));
      const volume = archiveVolume(io, minutes.volumeAt(i));
      const tickLots = io.bigint(minutes.tickLotsAt(i));
      if (!io.loading) continue;
      minutes.push(bucket, open);
      minutes.addPrices(high, low, close);
      minutes.setVolume(volume, tickLots);
    }
    const rates = io.int(this.rates.length);
    for (let i = 0; i < rates; i++) {
      const atUs = timeUs(io.int(this.rates[i]?.timeUs ?? 0));
      const ratePpb = ppb(io.int(this.rates[i]?.ratePpb ?? 0));
      if (io.loading) this.rates.push({ timeUs: atUs, ratePpb });
    }
  }
}

const ceilTo = (atUs: number, stepUs: number): number => floorTo(atUs + stepUs - 1, stepUs);

/** As an integer if exact; −1 marks a bigint that follows. */
function archiveVolume(io: Archive, volume: bigint): bigint {
  const small = io.int(volume <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(volume) : -1);
  return small < 0 ? io.bigint(volume) : BigInt(small);
}
