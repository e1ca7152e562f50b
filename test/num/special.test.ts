/** The vendored functions of `src/num/special` have the bits of the packages they come from. */
import stdlibExp from '@stdlib/math-base-special-exp';
import stdlibLn from '@stdlib/math-base-special-ln';
import stdlibPow from '@stdlib/math-base-special-pow';
import stdlibCdf from '@stdlib/stats-base-dists-normal-cdf';
import stdlibQuantile from '@stdlib/stats-base-dists-normal-quantile';
import { expect, test } from 'vitest';
import { exp } from '../../src/num/special/exp.ts';
import { ln } from '../../src/num/special/ln.ts';
import { normalCdf, normalQuantile } from '../../src/num/special/normal.ts';
import { pow } from '../../src/num/special/pow.ts';
import { RandomStreams } from '../../src/virtual-time/rng.ts';
import { EFFORT } from '../setup/effort.ts';

const VALUES = 200_000 * EFFORT;
const random = new RandomStreams('special functions').stream('values');
const words = new DataView(new ArrayBuffer(8));

const word = (): number => random.below(2 ** 32);
/** Uniform in [0, 1), of 64 random bits. */
const unit = (): number => (word() + word() / 2 ** 32) / 2 ** 32;

/** Any of the 2^64 patterns: subnormals, infinities and NaN among them. */
function anyDouble(): number {
  words.setUint32(0, word());
  words.setUint32(4, word());
  return words.getFloat64(0);
}

const between = (low: number, high: number): number => low + (high - low) * unit();

/** Each value with its neighbours in both directions, and their negatives. */
function around(values: readonly number[]): readonly number[] {
  const near = values.flatMap((value) => [value, stepped(value, 1), stepped(value, -1)]);
  return near.flatMap((value) => [value, -value]);
}

function stepped(value: number, by: 1 | -1): number {
  if (!Number.isFinite(value) || value === 0) return value === 0 ? by * 5e-324 : value;
  words.setFloat64(0, value);
  words.setBigUint64(0, words.getBigUint64(0) + BigInt(by));
  return words.getFloat64(0);
}

const EDGES = around([
  ...[0, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, Infinity, NaN],
  ...[0.5, 1, 1.5, 2, 3, 4, 0.25, 2 ** -28, 2 ** -54, 2 ** 31, 2 ** 53, 2 ** 64, 1024, 1074, 1075],
  ...[709.782712893384, 745.1332191019411, 0.84375, 1.25, 2.857142857142857, 6, 28, 0.75, 0.9375],
  ...[Math.E, Math.LN2, Math.SQRT2, Math.SQRT1_2, 1e-300, 1e300, 1 + 2 ** -20, 1 - 2 ** -20],
]);

type Unary = (x: number) => number;

/** The first arguments for which they differ. NaN equals NaN, 0 differs from −0. */
function difference(
  ours: (...of: number[]) => number,
  theirs: (...of: number[]) => number,
  rows: Iterable<readonly number[]>,
): string | null {
  for (const row of rows) {
    const [mine, original] = [ours(...row), theirs(...row)];
    if (!Object.is(mine, original)) return `(${row.join(', ')}): ${mine}, not ${original}`;
  }
  return null;
}

function* draws(draw: () => readonly number[]): Generator<readonly number[]> {
  for (let i = 0; i < VALUES; i++) yield draw();
}

const single = (draw: () => number) => draws(() => [draw()]);

test.each<[string, Unary, Unary, readonly (() => number)[]]>([
  ['exp', exp, stdlibExp, [anyDouble, () => between(-750, 715), () => between(-1, 1)]],
  ['ln', ln, stdlibLn, [anyDouble, () => between(0, 10), () => between(0.99, 1.01)]],
  [
    'normalCdf',
    normalCdf,
    (x) => stdlibCdf(x, 0, 1),
    [anyDouble, () => between(-45, 45), () => between(-4, 4), () => between(-1e-16, 1e-16)],
  ],
  [
    'normalQuantile',
    normalQuantile,
    (p) => stdlibQuantile(p, 0, 1),
    [anyDouble, unit, () => unit() * 2 ** -50, () => 1 - unit() / 1e12],
  ],
])('%s has the bits of @stdlib', (_name, ours, theirs, drawn) => {
  expect(
    difference(
      ours,
      theirs,
      EDGES.map((x) => [x]),
    ),
  ).toBeNull();
  for (const draw of drawn) expect(difference(ours, theirs, single(draw))).toBeNull();
});

test('pow has the bits of @stdlib', () => {
  const pairs = EDGES.flatMap((x) => EDGES.map((y) => [x, y]));
  expect(difference(pow, stdlibPow, pairs)).toBeNull();
  const drawn: readonly (() => readonly number[])[] = [
    () => [anyDouble(), anyDouble()],
    () => [anyDouble(), between(-3, 3)],
    () => [between(0, 5), between(-500, 500)],
    () => [between(0.999999, 1.000001), between(-1e10, 1e10)],
    () => [between(1 - 2 ** -20, 1 + 2 ** -20), between(-1, 1) * 2 ** between(30, 66)],
    () => [between(-20, 20), Math.floor(between(-400, 400))],
    () => [2 ** between(-1074, -1020), between(-1.1, 1.1)],
  ];
  for (const draw of drawn) expect(difference(pow, stdlibPow, draws(draw))).toBeNull();
});
