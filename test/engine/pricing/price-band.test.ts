/** The price band of takers, and ten of them for resting orders, to the tick. */
import { describe, expect, test } from 'vitest';
import { bandLimit, isBeyondRestingLimit } from '../../../src/engine/pricing/price-band.ts';
import { ppm, priceTicks } from '../../../src/num/units.ts';
import { stateOf } from '../invariants/planted.ts';
import { RiskWorld } from '../risk-world.ts';

const ROWS: readonly (readonly [
  name: string,
  mark: number,
  bandPpm: number,
  taker: readonly [lowest: number, highest: number],
  resting: readonly [lowest: number, highest: number],
])[] = [
  ['5 % of 100', 100, 50_000, [95, 105], [50, 150]],
  ['4.95 is rounded inward, 49.5 to the last tick within', 99, 50_000, [95, 103], [50, 148]],
  ['a band of less than a tick', 99, 10_000, [99, 99], [90, 108]],
  ['a millionth', 1_000_000, 1, [999_999, 1_000_001], [999_990, 1_000_010]],
  ['a millionth less a tick', 999_999, 1, [999_999, 999_999], [999_990, 1_000_008]],
  ['10 %: resting orders down to 0', 1000, 100_000, [900, 1100], [0, 2000]],
  [
    'the highest mark',
    2_147_483_647,
    50_000,
    [2_040_109_465, 2_254_857_829],
    [1_073_741_824, 3_221_225_470],
  ],
];

describe.each(ROWS)('%s', (_name, mark, bandPpm, taker, resting) => {
  const world = new RiskWorld();
  const market = stateOf(world.engine).market(world.marketOf('M'));
  market.markTicks = priceTicks(mark);
  market.spec = { ...market.spec, priceBandPpm: ppm(bandPpm) };

  test('a taker sells down to the lowest price and buys up to the highest', () => {
    expect([bandLimit(market, -1), bandLimit(market, 1)]).toEqual(taker);
  });

  test('an order rests at both limits, and a tick beyond neither', () => {
    const [lowest, highest] = resting;
    const beyond = [lowest - 1, lowest, highest, highest + 1].map((price) =>
      isBeyondRestingLimit(market, priceTicks(price)),
    );
    expect(beyond).toEqual([true, false, false, true]);
  });
});

test('a market without a mark has no band', () => {
  const world = new RiskWorld();
  const market = stateOf(world.engine).market(world.marketOf('M'));
  expect(() => bandLimit(market, 1)).toThrow('needs a mark price');
});
