/** Sums of lots by price agree with a map of the lots, at any prices and sizes. */
import { expect, test } from 'vitest';
import seedrandom from 'seedrandom';
import { NO_TREE, PriceSums } from '../../../src/engine/margin/price-sums.ts';
import { MAX_PRICE_TICKS } from '../../../src/num/units.ts';
import { EFFORT } from '../../setup/effort.ts';

/** The lots and the value above a price, by a scan. */
function scanAbove(lotsAt: ReadonlyMap<number, number>, price: number): [bigint, bigint] {
  let lots = 0n;
  let value = 0n;
  for (const [at, size] of lotsAt) {
    if (at <= price) continue;
    lots += BigInt(size);
    value += BigInt(size) * BigInt(at);
  }
  return [lots, value];
}

function sumAbove(sums: PriceSums, root: number, price: number): [bigint, bigint] {
  sums.sumAbove(root, price);
  return [BigInt(sums.foundLots), BigInt(sums.foundHigh) * 2n ** 32n + BigInt(sums.foundLow)];
}

interface Draw {
  readonly name: string;
  readonly price: (random: () => number) => number;
  readonly size: (random: () => number) => number;
}

const DRAWS: readonly Draw[] = [
  {
    name: 'few prices and small sizes',
    price: (random) => 100 + Math.floor(random() * 20),
    size: (random) => 1 + Math.floor(random() * 100),
  },
  {
    name: 'any price',
    price: (random) => 1 + Math.floor(random() * MAX_PRICE_TICKS),
    size: (random) => 1 + Math.floor(random() * 1e6),
  },
  {
    name: 'prices at powers of two and values up to 2^62',
    price: (random) =>
      Math.min(MAX_PRICE_TICKS, 2 ** Math.floor(random() * 32)) - (random() < 0.5 ? 0 : 1) || 1,
    size: (random) => 1 + Math.floor(random() * 2 ** 31),
  },
];

test.each(DRAWS)('$name', ({ price, size }) => {
  const random = seedrandom('price sums');
  const sums = new PriceSums();
  // Two trees share the pool.
  const trees = [0, 1].map(() => ({ root: NO_TREE, lotsAt: new Map<number, number>() }));
  for (let i = 0; i < 4000 * EFFORT; i++) {
    const tree = trees[i % 2]!;
    const { lotsAt } = tree;
    // Phases of growth and of decline, so that trees become empty.
    const grows = random() < (i % 1000 < 500 ? 0.7 : 0.3);
    if (grows || lotsAt.size === 0) {
      const at = price(random);
      const lots = size(random);
      lotsAt.set(at, (lotsAt.get(at) ?? 0) + lots);
      tree.root = sums.add(tree.root, at, lots);
    } else {
      const at = [...lotsAt.keys()][Math.floor(random() * lotsAt.size)]!;
      const held = lotsAt.get(at)!;
      const lots = random() < 0.5 ? held : 1 + Math.floor(random() * held);
      if (lots === held) lotsAt.delete(at);
      else lotsAt.set(at, held - lots);
      tree.root = sums.remove(tree.root, at, lots);
    }
    const probe = random() < 0.5 ? price(random) : ([...lotsAt.keys()][0] ?? 1);
    for (const above of [probe - 1, probe]) {
      expect(sumAbove(sums, tree.root, above)).toEqual(scanAbove(lotsAt, above));
    }
    if (i % 100 < 2) {
      const sorted = [...lotsAt].sort(([a], [b]) => a - b);
      expect(sums.entries(tree.root)).toEqual(
        sorted.map(([at, lots]) => ({ price: at, lots, value: BigInt(lots) * BigInt(at) })),
      );
    }
  }
});

test('lots that are not there cannot be removed', () => {
  const sums = new PriceSums();
  const root = sums.add(NO_TREE, 5, 10);
  expect(() => sums.remove(root, 4, 1)).toThrow('has the lots');
  expect(() => sums.remove(NO_TREE, 5, 1)).toThrow('are in the tree');
});
