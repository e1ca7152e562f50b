/** The minutes of a market's candles in a ring of typed arrays, 40 bytes each, oldest at 0. */
import type { ExactSum } from '../../num/exact-sum.ts';
import { priceTicks, type PriceTicks } from '../../num/units.ts';

const LEAST_CAPACITY = 64;
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

export class MinuteRing {
  length = 0;
  private readonly limit: number;
  private capacity = 0;
  private start = 0;
  private times = new Float64Array(0);
  private opens = new Int32Array(0);
  private highs = new Int32Array(0);
  private lows = new Int32Array(0);
  private closes = new Int32Array(0);
  /**
   * Σ |lots| and Σ |lots| × ticks while exact in a double; larger values are in maps, by minute.
   */
  private volumes = new Float64Array(0);
  private tickLots = new Float64Array(0);
  private readonly volumesBeyond = new Map<number, bigint>();
  private readonly tickLotsBeyond = new Map<number, bigint>();

  /** `limit`: max number of minutes kept. */
  constructor(limit: number) {
    this.limit = limit;
  }

  timeAt(i: number): number {
    return this.times[this.slot(i)] ?? 0;
  }
  openAt(i: number): PriceTicks {
    return priceTicks(this.opens[this.slot(i)] ?? 0);
  }
  highAt(i: number): PriceTicks {
    return priceTicks(this.highs[this.slot(i)] ?? 0);
  }
  lowAt(i: number): PriceTicks {
    return priceTicks(this.lows[this.slot(i)] ?? 0);
  }
  closeAt(i: number): PriceTicks {
    return priceTicks(this.closes[this.slot(i)] ?? 0);
  }
  /** The exact volume, as a bigint. */
  volumeAt(i: number): bigint {
    const slot = this.slot(i);
    return BigInt(this.volumes[slot] ?? 0) + (this.volumesBeyond.get(this.times[slot] ?? 0) ?? 0n);
  }
  /** Adds the volume to a sum, usually without a bigint. */
  addVolumeTo(sum: ExactSum, i: number): void {
    const slot = this.slot(i);
    sum.add(this.volumes[slot] ?? 0);
    if (this.volumesBeyond.size === 0) return;
    sum.addBig(this.volumesBeyond.get(this.times[slot] ?? 0) ?? 0n);
  }
  tickLotsAt(i: number): bigint {
    const slot = this.slot(i);
    return (
      BigInt(this.tickLots[slot] ?? 0) + (this.tickLotsBeyond.get(this.times[slot] ?? 0) ?? 0n)
    );
  }

  /** Appends a minute at one price, without volume. */
  push(atUs: number, price: PriceTicks): void {
    if (this.length === this.capacity) this.grow();
    const slot = this.slot(this.length++);
    this.times[slot] = atUs;
    this.opens[slot] = price;
    this.highs[slot] = price;
    this.lows[slot] = price;
    this.closes[slot] = price;
    this.volumes[slot] = 0;
    this.tickLots[slot] = 0;
  }

  /** Extends the newest minute to these prices. */
  addPrices(high: PriceTicks, low: PriceTicks, close: PriceTicks): void {
    const slot = this.slot(this.length - 1);
    if (high > (this.highs[slot] ?? 0)) this.highs[slot] = high;
    if (low < (this.lows[slot] ?? 0)) this.lows[slot] = low;
    this.closes[slot] = close;
  }

  /** Adds lots traded at a price in the newest minute. */
  addVolume(size: number, price: PriceTicks): void {
    const slot = this.slot(this.length - 1);
    const volume = (this.volumes[slot] ?? 0) + size;
    if (volume <= Number.MAX_SAFE_INTEGER) this.volumes[slot] = volume;
    else this.addBeyond(this.volumesBeyond, slot, BigInt(size));
    const tickLots = (this.tickLots[slot] ?? 0) + size * price;
    if (tickLots <= Number.MAX_SAFE_INTEGER) this.tickLots[slot] = tickLots;
    else this.addBeyond(this.tickLotsBeyond, slot, BigInt(size) * BigInt(price));
  }

  /** Sets the volume of the newest minute, which must have none. */
  setVolume(volume: bigint, tickLots: bigint): void {
    const slot = this.slot(this.length - 1);
    if (volume <= MAX_SAFE) this.volumes[slot] = Number(volume);
    else this.addBeyond(this.volumesBeyond, slot, volume);
    if (tickLots <= MAX_SAFE) this.tickLots[slot] = Number(tickLots);
    else this.addBeyond(this.tickLotsBeyond, slot, tickLots);
  }

  dropFirst(): void {
    if (this.volumesBeyond.size > 0) this.volumesBeyond.delete(this.timeAt(0));
    if (this.tickLotsBeyond.size > 0) this.tickLotsBeyond.delete(this.timeAt(0));
    this.start = (this.start + 1) % this.capacity;
    this.length -= 1;
  }

  private addBeyond(beyond: Map<number, bigint>, slot: number, by: bigint): void {
    const atUs = this.times[slot] ?? 0;
    beyond.set(atUs, (beyond.get(atUs) ?? 0n) + by);
  }

  private slot(i: number): number {
    const at = this.start + i;
    return at < this.capacity ? at : at - this.capacity;
  }

  private grow(): void {
    const capacity = Math.max(
      this.length + 1,
      Math.min(this.limit, Math.max(LEAST_CAPACITY, 2 * this.capacity)),
    );
    const columns = ['times', 'volumes', 'tickLots'] as const;
    const prices = ['opens', 'highs', 'lows', 'closes'] as const;
    for (const name of columns) this[name] = this.moved(this[name], new Float64Array(capacity));
    for (const name of prices) this[name] = this.moved(this[name], new Int32Array(capacity));
    this.capacity = capacity;
    this.start = 0;
  }

  /** Copies the column, oldest first, into a larger one. */
  private moved<T extends Float64Array | Int32Array>(from: T, to: T): T {
    to.set(from.subarray(this.start));
    to.set(from.subarray(0, this.start), this.capacity - this.start);
    return to;
  }
}
