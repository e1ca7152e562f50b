/**
 * The order flow shared by all contestants: limit adds (70 % within 50 ticks of a random-walk mid,
 * 30 % within 500), cancels of a random live order, 5 % ioc, sizes 1–100. The share of cancels holds
 * the book at 10,000 live orders: fills also remove orders, so a constant share would empty it.
 * Integers from a linear congruential generator, equal on every machine. Generated in advance,
 * outside the timing.
 */
import { BareBook } from './bare-book.ts';

export interface Mix {
  readonly count: number;
  /** 0 add, 1 cancel, 2 ioc. */
  readonly kind: Uint8Array;
  /** Signed size of an add or ioc. */
  readonly lots: Int32Array;
  readonly price: Int32Array;
  /** Operation number (from 1) of the order: its own, or the cancelled one. */
  readonly id: Int32Array;
  /** Operations before this one only fill the book. */
  readonly warmUp: number;
  /** Fewest and most live orders after `warmUp`. */
  readonly live: { readonly min: number; readonly max: number };
}

export const LIVE = 10_000;
/** Operations until the book has them: the first adds also fill each other. */
const FILLING = 2 * LIVE;
/** Percent of cancels while the book has fewer live orders than `LIVE`, and otherwise. */
const CANCELS = { below: 20, above: 75 };
const IOCS = 5;
const START = 100_000;

export function makeMix(count: number, seed = 12_345): Mix {
  const total = count + FILLING;
  const mix = {
    count: total,
    kind: new Uint8Array(total),
    lots: new Int32Array(total),
    price: new Int32Array(total),
    id: new Int32Array(total),
    warmUp: FILLING,
    live: { min: Infinity, max: 0 },
  };
  let state = seed;
  const below = (bound: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 0x100000000) * bound);
  };
  const book = new BareBook();
  const live: number[] = [];
  let mid = START;
  for (let i = 0; i < total; i++) {
    if (below(100) < 10) mid += below(3) - 1;
    const resting = book.table.size;
    if (i >= FILLING) {
      mix.live.min = Math.min(mix.live.min, resting);
      mix.live.max = Math.max(mix.live.max, resting);
    }
    const roll = i < LIVE ? 100 : below(100);
    if (roll >= IOCS && roll < IOCS + (resting < LIVE ? CANCELS.below : CANCELS.above)) {
      // Orders filled in the meantime are dropped on selection.
      let id = 0;
      while (live.length > 0 && id === 0) {
        const place = below(live.length);
        const candidate = live[place] ?? 0;
        live[place] = live.at(-1) ?? 0;
        live.pop();
        if (book.cancel(candidate)) id = candidate;
      }
      mix.kind[i] = 1;
      mix.id[i] = id;
      continue;
    }
    const ioc = roll < IOCS;
    const buys = below(2) === 0;
    const width = below(100) < 70 ? 50 : 500;
    const distance = ioc ? -5 : below(width) - 2;
    const size = 1 + below(100);
    mix.kind[i] = ioc ? 2 : 0;
    mix.lots[i] = buys ? size : -size;
    mix.price[i] = buys ? mid - distance : mid + distance;
    mix.id[i] = i + 1;
    if (book.place(i + 1, mix.lots[i] ?? 0, mix.price[i] ?? 0, ioc) > 0) live.push(i + 1);
  }
  return mix;
}
