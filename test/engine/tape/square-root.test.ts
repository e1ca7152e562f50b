/** Square-root impact: own volume, recorded minutes, reach, hidden levels. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ArchiveReader, ArchiveWriter } from '../../../src/base/archive.ts';
import { SquareRoot } from '../../../src/engine/tape/square-root.ts';
import { timeUs } from '../../../src/num/units.ts';

const MINUTE = 60_000_000;
const HOUR = 60 * MINUTE;

/** Impact with recorded minutes of these closes and volumes; the clock is in the next minute. */
function impactOf(minutes: readonly (readonly [close: number, size: number])[]): {
  impact: SquareRoot;
  now: number;
} {
  const impact = new SquareRoot(HOUR, timeUs(0));
  let now = 0;
  for (const [close, size] of [...minutes, [1, 1] as const]) {
    impact.noteTrade(timeUs(now), close, size);
    now += MINUTE;
  }
  return { impact, now: now - MINUTE };
}

/** Moves of 1, −2 and 2 ticks with 100 lots each: ΣΔ² = 9, ΣV = 300, I = √(0.03 q). */
const MINUTES = [
  [1000, 70],
  [1001, 100],
  [999, 100],
  [1001, 100],
] as const;

// k, and the first q with it: (2k − 1)² × 300 ÷ 36, rounded up.
const TABLE = [
  { k: 0, from: 0, room: 9 },
  { k: 1, from: 9, room: 75 - 9 },
  { k: 2, from: 75, room: 209 - 75 },
  { k: 3, from: 209, room: 409 - 209 },
  { k: 4, from: 409, room: 675 - 409 },
  { k: 5, from: 675, room: 1009 - 675 },
  { k: 10, from: 3009, room: 3675 - 3009 },
];

test.each(TABLE)(
  'R-14.4 reach $k from $from lots, and $room lots at that distance (R-14.6)',
  (row) => {
    const { impact, now } = impactOf(MINUTES);
    const at = timeUs(now);
    if (row.from > 0) {
      impact.take(at, 1, row.from - 1);
      expect(impact.reach(at, -1)).toBe(row.k - 1);
      expect(impact.lotsWithin(at, -1, row.k - 1)).toBe(1);
      impact.take(at, 1, 1);
    }
    expect(impact.reach(at, -1)).toBe(row.k);
    expect(impact.reach(at, 1)).toBe(0);
    expect(impact.lotsWithin(at, -1, row.k)).toBe(row.room);
    // Sales first make up for what was bought.
    expect(impact.lotsWithin(at, 1, 0)).toBe(9 + row.from);
  },
);

test('R-14.4 sales reach the bids alike', () => {
  const { impact, now } = impactOf(MINUTES);
  impact.take(timeUs(now), -1, 209);
  expect([impact.reach(timeUs(now), 1), impact.reach(timeUs(now), -1)]).toEqual([3, 0]);
});

test('R-14.3 only ended minutes with a minute before them count, and at most 60', () => {
  const after = (closes: readonly (readonly [number, number])[]): number => {
    const { impact, now } = impactOf(closes);
    impact.take(timeUs(now), 1, 100);
    return impact.reach(timeUs(now), -1);
  };
  expect(after([])).toBe(0);
  expect(after([[1000, 100]])).toBe(0);
  expect(
    after([
      [1000, 1],
      [1003, 100],
    ]),
  ).toBe(3);
  // 60 minutes without a move later, the move of 3 is out of the window.
  const still = Array.from({ length: 59 }, () => [1003, 1] as const);
  expect(after([[1000, 1], [1003, 100], ...still])).toBe(2);
  expect(after([[1000, 1], [1003, 100], ...still, [1003, 1]])).toBe(0);
});

test('R-14.3 a minute without trades is passed over: its move belongs to the next', () => {
  const impact = new SquareRoot(HOUR, timeUs(0));
  for (const [minute, price] of [
    [0, 1000],
    [5, 1002],
    [5.5, 1004],
    [9, 1],
  ] as const) {
    impact.noteTrade(timeUs(minute * MINUTE), price, 50);
  }
  impact.take(timeUs(9 * MINUTE), 1, 100);
  // Δ = 4, V = 100: I = 4.
  expect(impact.reach(timeUs(9 * MINUTE), -1)).toBe(4);
});

test('R-14.3 a gap drops its minute and the move across it, and keeps own volume', () => {
  const impact = new SquareRoot(HOUR, timeUs(0));
  const trade = (minute: number, price: number): void => {
    impact.noteTrade(timeUs(minute * MINUTE), price, 100);
  };
  trade(0, 1000);
  trade(1, 1001);
  trade(2, 500);
  impact.take(timeUs(2 * MINUTE), 1, 400);
  impact.forgetHistory();
  trade(2.5, 2000);
  trade(3, 2001);
  trade(4, 1);
  // Moves of 1 (minute 1) and 1 (minute 3) over 200 lots: I = √(400 × 2 ÷ 200) = 2.
  expect(impact.reach(timeUs(4 * MINUTE), -1)).toBe(2);
});

test('R-14.2 sixteen steps halve own volume; the times of reading change nothing', () => {
  const reachAt = (...times: number[]): number => {
    const { impact } = impactOf([
      [1000, 1],
      [1001, 1],
    ]);
    impact.take(timeUs(2 * MINUTE), -1, 1_000_000);
    return times.map((at) => impact.reach(timeUs(at), 1)).at(-1)!;
  };
  expect(reachAt(2 * MINUTE)).toBe(1000);
  expect(reachAt(HOUR + MINUTE)).toBe(707);
  expect(reachAt(10 * HOUR + MINUTE)).toBe(31);
  expect(reachAt(1000 * HOUR)).toBe(0);
  const often = Array.from({ length: 500 }, (_, i) => 2 * MINUTE + i * 7_000_000);
  expect(reachAt(...often, HOUR + MINUTE)).toBe(707);
});

test('R-14.2 small takes do not decay away: a lot each step accumulates', () => {
  const { impact, now } = impactOf([
    [1000, 1],
    [1001, 1],
  ]);
  let at = now;
  for (let i = 0; i < 1000; i++) {
    impact.take(timeUs(at), 1, 1);
    at += HOUR / 16;
  }
  // The sum of 0.957603^i is 23.59; I = 4.75 just after a step, rounded to 5.
  expect(impact.reach(timeUs(at), -1)).toBe(5);
});

test('R-14.4, R-14.6 reach and room follow their formulas, also beyond 2^53', () => {
  const size = fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 1, max: 1e14 }));
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 2 ** 31 - 1 }), size), {
        minLength: 2,
        maxLength: 9,
      }),
      size,
      fc.nat(1000),
      (minutes, taken, distance) => {
        const { impact, now } = impactOf(minutes);
        const at = timeUs(now);
        impact.take(at, 1, taken);
        const own = BigInt(Math.min(taken, 9e12));
        const pairs = minutes
          .slice(1)
          .map(([close, volume], i) => [close - minutes[i]![0], volume]);
        const squares = pairs.reduce((sum, [move]) => sum + BigInt(move!) ** 2n, 0n);
        const volume = pairs.reduce((sum, [, lots]) => sum + BigInt(lots!), 0n);
        const holds = (k: bigint, q: bigint): boolean =>
          (2n * k - 1n) ** 2n * volume <= 4n * q * squares;
        const reach = impact.reach(at, -1);
        if (Number.isSafeInteger(reach)) {
          expect(holds(BigInt(reach) + 1n, own)).toBe(false);
          expect(reach === 0 || holds(BigInt(reach), own)).toBe(true);
        }
        if (distance < reach) return;
        const room = impact.lotsWithin(at, -1, distance);
        if (room === Infinity) {
          expect(holds(BigInt(distance) + 1n, 9_000_000_000_000n - 1n)).toBe(false);
          return;
        }
        expect(holds(BigInt(distance) + 1n, own + BigInt(room))).toBe(true);
        expect(holds(BigInt(distance) + 1n, own + BigInt(room) - 1n)).toBe(false);
      },
    ),
    { numRuns: 500 },
  );
});

test('the archive is canonical and complete: a loaded copy goes on alike', () => {
  const { impact, now } = impactOf(MINUTES);
  impact.take(timeUs(now), -1, 12_345);
  impact.withheld(1).set(998, 7);
  impact.withheld(1).set(990, 0);
  impact.withheld(-1).set(1003, 2);
  const saved = (of: SquareRoot, at: number): Uint8Array => {
    const io = new ArchiveWriter();
    of.archive(io, timeUs(at));
    return io.bytes();
  };
  const later = now + 17 * MINUTE;
  const copy = new SquareRoot(HOUR, timeUs(later));
  copy.archive(new ArchiveReader(saved(impact, later)), timeUs(later));
  expect(saved(copy, later)).toEqual(saved(impact, later));
  for (const of of [impact, copy]) {
    of.noteTrade(timeUs(later), 1010, 50);
    of.noteTrade(timeUs(later + MINUTE), 1020, 50);
    of.take(timeUs(later + HOUR), 1, 3);
  }
  expect(saved(copy, later + 2 * HOUR)).toEqual(saved(impact, later + 2 * HOUR));
  expect(copy.reach(timeUs(later + 2 * HOUR), 1)).toBe(impact.reach(timeUs(later + 2 * HOUR), 1));
  expect(copy.reach(timeUs(later + 2 * HOUR), 1)).toBeGreaterThan(0);
});
