/** Credits of levels beside a plain map: sums, ends, claims, and memory. */
import { expect, test } from 'vitest';
import { Credits } from '../../../src/engine/tape/credits.ts';
import { timeUs } from '../../../src/num/units.ts';
import { Alea } from '../../../src/virtual-time/alea.ts';

const SECOND_US = 1_000_000;

interface Plain {
  front: number;
  back: number;
  untilUs: number;
}

/** Prices whose search begins at the first row of tables with up to 1024 rows. */
const FIRST_ROW = Array.from({ length: 61_000 }, (_, i) => i + 1).filter(
  (price) => Math.imul(price, 0x9e3779b1) >>> 22 === 0,
);

function sharing(draw: number): number {
  return FIRST_ROW[Math.floor(draw * FIRST_ROW.length)] ?? 0;
}

/** Adds, claims and clears at random; both have the same credits after each step. */
function compare(seed: string, priceOf: (draw: number) => number, stepUs: number): void {
  const random = Alea.fromSeed(seed);
  const draw = (below: number): number => Math.floor(random.next() * below);
  const credits = new Credits();
  const plain = new Map<number, Plain>();
  let nowUs = 1_700_000_000_000_000;
  for (let step = 0; step < 20_000; step++) {
    nowUs += draw(stepUs);
    for (const [price, { untilUs }] of plain) if (untilUs < nowUs) plain.delete(price);
    const price = priceOf(random.next());
    const now = timeUs(nowUs);
    const row = credits.find(price, now);
    const known = plain.get(price);
    expect(row < 0 ? undefined : [credits.front(row), credits.back(row)]).toEqual(
      known === undefined ? undefined : [known.front, known.back],
    );
    const kind = draw(1000);
    if (kind === 0) {
      credits.clear();
      plain.clear();
    } else if (kind < 300 && row >= 0 && known !== undefined) {
      const [front, back] = [draw(known.front + 1), draw(known.back + 1)];
      credits.claim(row, front, back);
      plain.set(price, { ...known, front: known.front - front, back: known.back - back });
    } else {
      const [front, back] = [draw(3), 1 + draw(9)];
      const untilUs = nowUs + SECOND_US;
      credits.add(price, front, back, now, timeUs(untilUs));
      const sum = { front: front + (known?.front ?? 0), back: back + (known?.back ?? 0), untilUs };
      plain.set(price, sum);
    }
    if (step % 500 === 0) expect(credits.alive(now)).toEqual(listOf(plain));
  }
}

function listOf(plain: ReadonlyMap<number, Plain>): unknown[] {
  return [...plain]
    .filter(([, { front, back }]) => front + back > 0)
    .map(([price, credit]) => ({ price, ...credit }))
    .sort((a, b) => a.price - b.price);
}

test.each([
  ['few prices for a long time', (draw: number) => 1 + Math.floor(draw * 50), 100_000],
  ['many prices in a second', (draw: number) => 1 + Math.floor(draw * 20_000), 50],
  ['prices of the whole range', (draw: number) => 1 + Math.floor(draw * (2 ** 31 - 1)), 2000],
  ['prices with one place in the table', (draw: number) => sharing(draw), 40_000],
] as const)('credits equal those of a map: %s', (name, priceOf, stepUs) => {
  compare(name, priceOf, stepUs);
});

test('a credit ends with its last microsecond, and does not come back', () => {
  const credits = new Credits();
  credits.add(100, 2, 3, timeUs(0), timeUs(SECOND_US));
  expect(credits.find(100, timeUs(SECOND_US))).toBeGreaterThanOrEqual(0);
  expect(credits.find(100, timeUs(SECOND_US + 1))).toBe(-1);
  credits.add(200, 2, 3, timeUs(0), timeUs(SECOND_US));
  credits.add(200, 1, 1, timeUs(SECOND_US), timeUs(SECOND_US));
  expect(credits.alive(timeUs(SECOND_US))[1]).toMatchObject({ front: 3, back: 4 });
  credits.add(100, 1, 1, timeUs(SECOND_US + 1), timeUs(2 * SECOND_US));
  expect(credits.alive(timeUs(SECOND_US + 1))).toEqual([
    { price: 100, front: 1, back: 1, untilUs: 2 * SECOND_US },
  ]);
});

test('a long drift of the price uses no more rows than a short one', () => {
  const credits = new Credits();
  let most = 0;
  for (let price = 1; price <= 200_000; price++) {
    const nowUs = price * 10_000;
    credits.add(price, 0, 5, timeUs(nowUs), timeUs(nowUs + SECOND_US));
    most = Math.max(most, credits.rowCount);
  }
  expect(most).toBeLessThanOrEqual(256);
});
