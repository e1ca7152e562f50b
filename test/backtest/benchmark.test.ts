/** Buy and hold starts with the deposit and pays its fee, in whole lots. */
import { expect, test } from 'vitest';
import { Benchmark } from '../../src/backtest/recording/benchmark.ts';

test('the fee of the purchase is part of the return', () => {
  const markets = [{ spec: { lotSize: '0.1', takerFeePpm: 1000 } }];
  const engine = { markets: () => markets, marketIdOf: () => 0 };
  const hold = new Benchmark(engine as never, { symbols: ['X'], deposit: 1_000_000_000n } as never);
  for (const [i, mid] of [null, 100, null, 110].entries()) {
    expect(hold.buy(mid)).toBe(i > 0);
    hold.sample(i, [mid]);
  }
  // 9.9 at 100 with a fee of 0.1 % cost 990.99: 9.01 remain in cash.
  const expected = [1000, 9.01 + 990, 9.01 + 990, 9.01 + 1089];
  expect(hold.points.map(({ timeUs }) => timeUs)).toEqual([0, 1, 2, 3]);
  for (const [i, { equity }] of hold.points.entries())
    expect(equity).toBeCloseTo(expected[i] ?? 0, 9);
});
