/**
 * The order flow shared by all contestants: 50 % limit adds (70 % within 50 ticks of a random-walk
 * mid, 30 % within 500), 45 % cancels of a random live order, 5 % ioc, sizes 1–100, around 10,000
 * live orders. Integers from a linear congruential generator, equal on every machine. Generated in
 * advance, outside the timing.
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
}

const LIVE = 10_000;
const START = 100_000;

export function makeMix(count: number, seed = 12_345): Mix {
  const total = count + LIVE;
  const mix = {
    count: total,
    kind: new Uint8Array(total),
    lots: new Int32Array(total),
    price: new Int32Array(total),
    id: new Int32Array(total),
    warmUp: LIVE,
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
    const roll = i < LIVE ? 0 : below(100);
    if (roll >= 50 && roll < 95) {
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
    const ioc = roll >= 95;
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
