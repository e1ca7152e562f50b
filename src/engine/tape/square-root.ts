/**
 * State of the square-root impact of one market (R-14, decision record 0022): own volume that
 * decays, moves and volumes of the last recorded minutes, and the recorded levels that the book
 * lacks. The impact is I = √(q × ΣΔ² ÷ ΣV) ticks, for q lots. All of it is exact integers.
 */
import { archiveList, type Archive } from '../../base/archive.ts';
import { floorDivInt } from '../../num/arithmetic.ts';
import type { TimeUs } from '../../num/units.ts';

/** Own volume is in thousandths of a lot. */
const PART = 1000;
const MAX_OWN = 9e15;
/** 16 steps of 2^(−1/16), in 1e-6, are a half-life. */
const STEPS = 16;
const STEP_PPM = 957_603;
const MILLION = 1_000_000;

const MINUTE_US = 60_000_000;
const MINUTES = 60;

interface Sample {
  readonly move: number;
  readonly lots: bigint;
}

export class SquareRoot {
  private readonly stepUs: number;
  /** Own volume: positive when users bought. */
  private own = 0;
  private step: number;

  private minute = 0;
  private minuteLots = 0n;
  /** Last recorded price of the minute, and of the minute with trades before it; 0 for none. */
  private last = 0;
  private close = 0;
  private readonly samples: Sample[] = [];
  /** ΣΔ² and ΣV of the samples; derived. */
  private squares = 0n;
  private volume = 0n;

  /** Hidden lots of levels that history states and the book lacks, by price. */
  private readonly bids = new Map<number, number>();
  private readonly asks = new Map<number, number>();

  /** Derived: the reach at `own`; −1 when it is not known. */
  private reachNow = 0;

  constructor(halfLifeUs: number, nowUs: TimeUs) {
    this.stepUs = Math.ceil(halfLifeUs / STEPS);
    this.step = floorDivInt(nowUs, this.stepUs);
  }

  /** Users took `size` lots of house volume, buying for side 1. */
  take(nowUs: TimeUs, side: 1 | -1, size: number): void {
    this.decay(nowUs);
    const grown = this.own + side * Math.min(size, MAX_OWN / PART) * PART;
    this.own = Math.max(-MAX_OWN, Math.min(MAX_OWN, grown));
    this.reachNow = -1;
  }

  /** A recorded trade. */
  noteTrade(nowUs: TimeUs, price: number, size: number): void {
    const minute = floorDivInt(nowUs, MINUTE_US);
    if (minute !== this.minute) {
      this.endMinute();
      this.minute = minute;
    }
    this.minuteLots += BigInt(size);
    this.last = price;
  }

  /** A gap: the book is unknown, and so are the moves and volumes in the gap. */
  forgetHistory(): void {
    this.minuteLots = 0n;
    this.last = 0;
    this.close = 0;
    this.bids.clear();
    this.asks.clear();
  }

  /** Reach in ticks on the side of house volume: asks (−1) when users bought. */
  reach(nowUs: TimeUs, houseSide: 1 | -1): number {
    if (this.own === 0) return 0;
    this.decay(nowUs);
    if (houseSide * this.own >= 0) return 0;
    if (this.reachNow < 0) this.reachNow = this.reachOf(Math.abs(this.own));
    return this.reachNow;
  }

  /** Lots that a taker may take at this distance from the recorded best, before it is in reach. */
  lotsWithin(nowUs: TimeUs, houseSide: 1 | -1, distance: number): number {
    if (this.squares === 0n) return Infinity;
    this.decay(nowUs);
    const edge = square(2 * distance + 1) * this.volume * BigInt(PART);
    const limit = (edge + 4n * this.squares - 1n) / (4n * this.squares);
    // Own volume never gets there.
    if (limit > BigInt(MAX_OWN)) return Infinity;
    const left = limit + BigInt(houseSide * this.own);
    return Number((left + BigInt(PART) - 1n) / BigInt(PART));
  }

  withheld(houseSide: 1 | -1): Map<number, number> {
    return houseSide > 0 ? this.bids : this.asks;
  }

  pricesWithheld(houseSide: 1 | -1): number[] {
    return [...this.withheld(houseSide).keys()].sort((a, b) => a - b);
  }

  hiddenAt(houseSide: 1 | -1, price: number): number {
    return this.withheld(houseSide).get(price) ?? 0;
  }

  archive(io: Archive, nowUs: TimeUs): void {
    io.section('squareRoot');
    this.decay(nowUs);
    this.own = io.int(this.own);
    this.step = floorDivInt(nowUs, this.stepUs);
    this.minute = io.int(this.minute);
    this.minuteLots = io.bigint(this.minuteLots);
    this.last = io.int(this.last);
    this.close = io.int(this.close);
    const samples = archiveList(io, io.loading ? [] : this.samples, (sample) => ({
      move: io.int(sample?.move ?? 0),
      lots: io.bigint(sample?.lots ?? 0n),
    }));
    if (io.loading) for (const sample of samples) this.add(sample);
    for (const levels of [this.bids, this.asks]) {
      const sorted = io.loading ? [] : [...levels].sort((a, b) => a[0] - b[0]);
      const loaded = archiveList(io, sorted, (entry) => {
        const price = io.int(entry?.[0] ?? 0);
        return [price, io.int(entry?.[1] ?? 0)] satisfies [number, number];
      });
      if (io.loading) for (const [price, size] of loaded) levels.set(price, size);
    }
    if (io.loading) this.reachNow = -1;
  }

  private endMinute(): void {
    if (this.last === 0) return;
    if (this.close > 0) this.add({ move: this.last - this.close, lots: this.minuteLots });
    this.close = this.last;
    this.minuteLots = 0n;
  }

  private add(sample: Sample): void {
    this.samples.push(sample);
    this.squares += square(sample.move);
    this.volume += sample.lots;
    if (this.samples.length > MINUTES) {
      const [old] = this.samples.splice(0, 1);
      this.squares -= square(old?.move ?? 0);
      this.volume -= old?.lots ?? 0n;
    }
    this.reachNow = -1;
  }

  /** Steps are multiples of `stepUs`, so that a time of reading changes nothing. */
  private decay(nowUs: TimeUs): void {
    const now = floorDivInt(nowUs, this.stepUs);
    if (now === this.step) return;
    for (; this.step < now && this.own !== 0; this.step++) {
      const size = Math.abs(this.own);
      // Two parts: the product of both may exceed 2^53.
      const whole = Math.floor(size / MILLION);
      const rest = size - whole * MILLION;
      const left = whole * STEP_PPM + Math.floor((rest * STEP_PPM) / MILLION);
      this.own = this.own < 0 ? 0 - left : left;
      this.reachNow = -1;
    }
    this.step = now;
  }

  /** The largest k with (2k − 1)² × ΣV ≤ 4 × own × ΣΔ²; 0 if none. */
  private reachOf(own: number): number {
    if (this.volume === 0n) return 0;
    const root = rootOf((4n * BigInt(own) * this.squares) / (this.volume * BigInt(PART)));
    return Number((root + 1n) / 2n);
  }
}

function square(value: number): bigint {
  return BigInt(value) * BigInt(value);
}

/** ⌊√n⌋ by Newton's method from above. */
function rootOf(n: bigint): bigint {
  if (n < 2n) return n;
  let root = 1n << BigInt((n.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (root + n / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}
