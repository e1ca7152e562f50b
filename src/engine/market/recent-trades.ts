/** The last trades of a market in a ring of typed arrays, 28 bytes each; not in the state hash. */
import type { Archive } from '../../base/archive.ts';
import {
  lots,
  priceTicks,
  timeUs,
  tradeId,
  type Lots,
  type MarketId,
  type PriceTicks,
  type TimeUs,
  type TradeId,
} from '../../num/units.ts';
import type { Clock } from '../clock.ts';
import type { TradeView } from '../read/views.ts';

const NONE_DROPPED = -1;

export class TradeHistory {
  private readonly limit: number;
  private capacity = 0;
  private start = 0;
  private length = 0;
  private ids = new Float64Array(0);
  private times = new Float64Array(0);
  private prices = new Int32Array(0);
  private sizes = new Float64Array(0);
  /** Time of the newest dropped trade; a number, because null beside it would box each time. */
  private droppedUs = NONE_DROPPED;

  constructor(limit: number) {
    this.limit = limit;
  }

  get size(): number {
    return this.length;
  }

  get keptSinceUs(): TimeUs | null {
    return this.droppedUs === NONE_DROPPED ? null : this.timeAt(0);
  }

  add(clock: Clock, id: TradeId, price: PriceTicks, signedLots: Lots): void {
    if (this.limit === 0) return;
    if (this.length === this.capacity && this.capacity < this.limit) this.grow();
    if (this.length === this.capacity) {
      this.droppedUs = this.timeAt(0);
      this.start = this.placeOf(1);
      this.length -= 1;
    }
    const at = this.placeOf(this.length);
    this.ids[at] = id;
    this.times[at] = clock.nowUs;
    this.prices[at] = price;
    this.sizes[at] = signedLots;
    this.length += 1;
  }

  /** Place in the ring; a comparison costs less than a division. */
  private placeOf(i: number): number {
    const at = this.start + i;
    return at < this.capacity ? at : at - this.capacity;
  }

  /** i = 0 is the oldest kept. */
  timeAt(i: number): TimeUs {
    return timeUs(this.times[this.placeOf(i)] ?? 0);
  }
  priceAt(i: number): PriceTicks {
    return priceTicks(this.prices[this.placeOf(i)] ?? 0);
  }
  lotsAt(i: number): Lots {
    return lots(this.sizes[this.placeOf(i)] ?? 0);
  }

  view(i: number, market: MarketId): TradeView {
    return {
      tradeId: tradeId(this.ids[this.placeOf(i)] ?? 0),
      market,
      priceTicks: this.priceAt(i),
      lots: this.lotsAt(i),
      timeUs: this.timeAt(i),
    };
  }

  /** First i whose time is ≥ atUs. */
  firstFrom(atUs: TimeUs): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.timeAt(middle) < atUs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** First i whose id is ≥ id; ids ascend. */
  firstWithId(id: number): number {
    if (id === Infinity) return this.length;
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.ids[(this.start + middle) % this.capacity] ?? 0) < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  archive(io: Archive): void {
    const dropped = io.optionalInt(this.droppedUs === NONE_DROPPED ? null : this.droppedUs);
    const length = io.int(this.length);
    for (let i = 0; i < length; i++) {
      const at = (this.start + i) % (this.capacity || 1);
      const id = tradeId(io.int(this.ids[at] ?? 0));
      const time = timeUs(io.int(this.times[at] ?? 0));
      const price = priceTicks(io.int(this.prices[at] ?? 0));
      const size = lots(io.int(this.sizes[at] ?? 0));
      if (io.loading) this.add({ nowUs: time }, id, price, size);
    }
    this.droppedUs = dropped ?? NONE_DROPPED;
  }

  private grow(): void {
    const capacity = Math.min(this.limit, Math.max(64, this.capacity * 2));
    const ids = new Float64Array(capacity);
    const times = new Float64Array(capacity);
    const prices = new Int32Array(capacity);
    const sizes = new Float64Array(capacity);
    for (let i = 0; i < this.length; i++) {
      const at = (this.start + i) % this.capacity;
      ids[i] = this.ids[at] ?? 0;
      times[i] = this.times[at] ?? 0;
      prices[i] = this.prices[at] ?? 0;
      sizes[i] = this.sizes[at] ?? 0;
    }
    this.ids = ids;
    this.times = times;
    this.prices = prices;
    this.sizes = sizes;
    this.capacity = capacity;
    this.start = 0;
  }
}
