/**
 * The price ladder against a sorted list: best first at all distances, while its window
 * moves and widens.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NO_LEVEL, PriceLadder } from '../../src/engine/book/price-ladder.ts';
import { priceTicks, type PriceTicks } from '../../src/num/units.ts';

/** Occupied prices, best first. */
class PlainLadder {
  private readonly sign: 1 | -1;
  prices: PriceTicks[] = [];

  constructor(side: 'bid' | 'ask') {
    this.sign = side === 'ask' ? 1 : -1;
  }

  insert(price: PriceTicks): void {
    this.prices.push(price);
    this.prices.sort((a, b) => this.sign * (a - b));
  }

  remove(price: PriceTicks): void {
    this.prices = this.prices.filter((other) => other !== price);
  }

  firstWorseThan(price: PriceTicks): PriceTicks | null {
    return this.prices.find((other) => this.sign * (other - price) > 0) ?? null;
  }
}

function pricesOf(ladder: PriceLadder): PriceTicks[] {
  const prices: PriceTicks[] = [];
  for (let level = ladder.bestLevel(); level !== NO_LEVEL; level = ladder.nextLevel(level)) {
    prices.push(ladder.price(level));
  }
  return prices;
}

const priceOf = (ladder: PriceLadder, level: number): PriceTicks | null =>
  level === NO_LEVEL ? null : ladder.price(level);

/** Opens or closes the level of a price, closes the best one, or moves the only one. */
interface Step {
  readonly does: 'toggle' | 'dropBest' | 'move';
  readonly price: PriceTicks;
}

/** A few ticks apart, beyond the first window, and beyond the widest, around drifting centres. */
const price = fc
  .tuple(
    fc.constantFrom(2000, 3000, 9000, 1_000_000, 1_600_000, 900_000_000),
    fc.oneof(
      fc.integer({ min: -20, max: 20 }),
      fc.integer({ min: -1900, max: 1900 }),
      fc.integer({ min: 0, max: 1_200_000 }),
    ),
  )
  .map(([from, by]) => priceTicks(from + by));

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    does: fc.constantFrom<Step['does']>('toggle', 'toggle', 'toggle', 'toggle', 'dropBest', 'move'),
    price,
  }),
  { minLength: 1, maxLength: 120 },
);

function play(ladder: PriceLadder, plain: PlainLadder, { does, price: at }: Step): void {
  const [best] = plain.prices;
  if (does === 'move' && best !== undefined && plain.prices.length === 1) {
    ladder.moveOnly(ladder.bestLevel(), at);
    plain.prices = [at];
    return;
  }
  if (does === 'dropBest') {
    if (best === undefined) return;
    ladder.remove(ladder.bestLevel());
    plain.remove(best);
    return;
  }
  const level = ladder.find(at);
  if (level === NO_LEVEL) {
    ladder.insert(at);
    plain.insert(at);
  } else {
    ladder.remove(level);
    plain.remove(at);
  }
}

test.each(['bid', 'ask'] as const)('%ss are sorted from the best outward', (side) => {
  fc.assert(
    fc.property(steps, price, (played, probe) => {
      const ladder = new PriceLadder(side);
      const plain = new PlainLadder(side);
      for (const step of played) {
        play(ladder, plain, step);
        expect(pricesOf(ladder)).toEqual(plain.prices);
        expect(ladder.levelCount).toBe(plain.prices.length);
        expect(priceOf(ladder, ladder.find(step.price))).toBe(
          plain.prices.includes(step.price) ? step.price : null,
        );
        expect(priceOf(ladder, ladder.firstWorseThan(probe))).toBe(plain.firstWorseThan(probe));
      }
    }),
    { seed: 1, numRuns: 300 },
  );
});

test.each(['bid', 'ask'] as const)('finds %ss that drift across two million ticks', (side) => {
  const ladder = new PriceLadder(side);
  const plain = new PlainLadder(side);
  for (let at = 1; at < 2_000_000; at += 997) {
    ladder.insert(priceTicks(at));
    plain.insert(priceTicks(at));
    // Keeps ten levels, so that the book drifts.
    const [first] = [...plain.prices].sort((a, b) => a - b);
    if (plain.prices.length <= 10 || first === undefined) continue;
    ladder.remove(ladder.find(first));
    plain.remove(first);
    expect(pricesOf(ladder)).toEqual(plain.prices);
  }
});
