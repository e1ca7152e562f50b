/**
 * Sums of resting orders whose changes are read now and then, beside sums over the orders: a list of
 * noted changes is full, or read half full, or empty.
 */
import seedrandom from 'seedrandom';
import { afterEach, describe, expect, test } from 'vitest';
import { PriceSums } from '../../../src/engine/margin/price-sums.ts';
import { RestingSums } from '../../../src/engine/margin/resting-sums.ts';
import { quantaOf } from '../../../src/num/money.ts';
import { priceTicks, type PriceTicks } from '../../../src/num/units.ts';

const UNIT = 1000;
const PPM = 1_000_000n;

interface Order {
  readonly side: 1 | -1;
  readonly price: PriceTicks;
  readonly ratePpm: number;
  left: number;
}

/** Changes from a read to the next: one, several reads before a list is full, several lists. */
const READS = [1, 40, 255, 256, 257, 2000];

/** The first difference from the orders, or null. */
function play(seed: number, changes: number, readAfter: number): string | null {
  const random = seedrandom(`resting sums ${String(seed)}`);
  const below = (end: number): number => Math.floor(random() * end);
  const pool = new PriceSums();
  let makerPpm = 200;
  const sums = new RestingSums(pool, UNIT, makerPpm);
  const orders: Order[] = [];
  let untilRead = readAfter;
  for (let i = 0; i < changes; i++) {
    const order = below(2) === 0 || orders.length < 30 ? undefined : orders[below(orders.length)];
    if (order === undefined) {
      const side = below(2) === 0 ? 1 : -1;
      const price = priceTicks(1 + below(below(2) === 0 ? 30 : 2 ** 31 - 1));
      const left = 1 + below(1000);
      const ratePpm = below(3) * 50;
      orders.push({ side, price, left, ratePpm });
      sums.note(side, price, 0, left, ratePpm);
    } else {
      const after = below(2) === 0 ? 0 : below(order.left + 1);
      sums.note(order.side, order.price, order.left, after, order.ratePpm);
      order.left = after;
      if (after === 0) orders.splice(orders.indexOf(order), 1);
    }
    if (below(500) === 0) {
      makerPpm = below(400);
      const resting = orders.map((at) => ({ ...at, originatorFeePpm: at.ratePpm }));
      sums.takeRate(makerPpm, resting);
    }
    untilRead -= 1;
    if (untilRead > 0) continue;
    untilRead = readAfter;
    const difference = differing(sums, pool, orders, makerPpm, priceTicks(1 + below(40)));
    if (difference !== null) return `change ${String(i)}: ${difference}`;
  }
  return null;
}

function differing(
  sums: RestingSums,
  pool: PriceSums,
  orders: readonly Order[],
  makerPpm: number,
  mark: PriceTicks,
): string | null {
  const total = (of: (order: Order) => bigint): bigint =>
    orders.reduce((sum, order) => sum + of(order), 0n);
  const distance = ({ side, price }: Order): bigint => {
    const worse = side * (price - mark);
    return BigInt(Math.max(0, worse) * UNIT);
  };
  const held = (side: 1 | -1): bigint =>
    total((order) =>
      order.side === side
        ? BigInt(order.left) * BigInt(Math.max(order.price, mark)) * BigInt(UNIT)
        : 0n,
    );
  const fee = ({ left, price, ratePpm }: Order): bigint => {
    const value = BigInt(left) * BigInt(price) * BigInt(UNIT) * BigInt(makerPpm + ratePpm);
    return (value + PPM - 1n) / PPM;
  };
  const lotsOf = (tree: number): string =>
    pool
      .entries(tree)
      .map(({ price, lots }) => `${String(price)}:${String(lots)}`)
      .join(' ');
  const expectedLots = (side: 1 | -1): string => {
    const byPrice = new Map<number, number>();
    for (const { side: own, price, left } of orders) {
      if (own === side) byPrice.set(price, (byPrice.get(price) ?? 0) + left);
    }
    const entries = [...byPrice].sort(([a], [b]) => a - b);
    return entries.map(([price, lots]) => `${String(price)}:${String(lots)}`).join(' ');
  };
  // The reads take turns in being the first, which takes over the noted changes.
  const reads: readonly [string, () => unknown, () => unknown][] = [
    ['fees', () => quantaOf(sums.fees), () => total(fee)],
    ['loss', () => quantaOf(sums.loss(mark)), () => total((at) => BigInt(at.left) * distance(at))],
    ['bids', () => lotsOf(sums.bids), () => expectedLots(1)],
    ['asks', () => lotsOf(sums.asks), () => expectedLots(-1)],
    ['held bids', () => quantaOf(sums.heldValue(1, mark)), () => held(1)],
    ['held asks', () => quantaOf(sums.heldValue(-1, mark)), () => held(-1)],
  ];
  const first = orders.length % reads.length;
  for (const [name, actual, expected] of [...reads.slice(first), ...reads.slice(0, first)]) {
    if (actual() !== expected()) return name;
  }
  return null;
}

/** A read takes as long as the orders are many. */
const changesOf = (readAfter: number): number => (readAfter === 1 ? 300 : 6000);

const CASES = READS.flatMap((readAfter) => [1, 2, 3].map((seed) => [readAfter, seed] as const));

test.each(CASES)('R-5.5: sums read every %i changes, seed %i', (readAfter, seed) => {
  expect(play(seed, changesOf(readAfter), readAfter)).toBeNull();
});

const undo: (() => void)[] = [];
afterEach(() => {
  for (const restore of undo.splice(0)) restore();
});

type Method = (this: { notedEnd: number; noted: Float64Array }, ...words: unknown[]) => unknown;

function plant(name: string, make: (right: Method) => Method): void {
  const { prototype } = RestingSums;
  const right = Reflect.get(prototype, name) as Method;
  Reflect.set(prototype, name, make(right));
  undo.push(() => Reflect.set(prototype, name, right));
}

const FAULTS: readonly [string, () => void][] = [
  [
    'the last change of a full list is lost',
    () => {
      plant('settle', (right) => {
        return function settle(...words) {
          if (this.notedEnd === 1024) this.notedEnd -= 4;
          return right.apply(this, words);
        };
      });
    },
  ],
  [
    'changes before a longer list are lost',
    () => {
      plant('makeRoom', (right) => {
        return function makeRoom(...words) {
          if (this.notedEnd < 1024) this.noted.fill(0);
          return right.apply(this, words);
        };
      });
    },
  ],
  [
    'fees at another rate count noted changes twice',
    () => {
      plant('takeRate', (right) => {
        return function takeRate(...words) {
          const end = this.notedEnd;
          this.notedEnd = 0;
          right.apply(this, words);
          this.notedEnd = end;
        };
      });
    },
  ],
];

describe('a planted fault is found', () => {
  test.each(FAULTS)('%s', (_name, planting) => {
    planting();
    const isFound = CASES.some(([readAfter, seed]) => {
      try {
        return play(seed, changesOf(readAfter), readAfter) !== null;
      } catch {
        return true;
      }
    });
    expect(isFound).toBe(true);
  });
});
