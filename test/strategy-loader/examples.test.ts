import { expect, test } from 'vitest';
import { executePlan } from '../../src/run-plan/plan.ts';
import { example, plannedOf, planOf, RECORDED_FROM_US } from '../run-plan/plans.ts';

/**
 * Each example on 90 seconds of the recording, with parameters for which it trades in that time.
 */
const EXAMPLES: readonly (readonly [string, Record<string, string>, number])[] = [
  ['quotes', { halfSpread: '60' }, 5],
  ['sma-cross', { fast: '3', slow: '8' }, 3],
  ['ema-cross', { bar: '1s', fast: '3', slow: '8' }, 3],
  ['market-maker', { gamma: '0.01', k: '1' }, 5],
  ['twap', { slices: '5', everyS: '10' }, 3],
  ['grid', { stepBp: '1' }, 3],
  ['breakout', { channel: '5' }, 3],
];

test.each(EXAMPLES)('the %s example trades on recorded data', async (name, parameters, least) => {
  const planned = await plannedOf(example(name), parameters);
  const plan = planOf([planned], { toUs: RECORDED_FROM_US + 90_000_000 });
  const { output } = await executePlan(plan);
  const [strategy] = output.strategies;
  expect(strategy!.summary.fills).toBeGreaterThanOrEqual(least);
  expect(output.engine.checkInvariants()).toEqual([]);
  // Orders, fills and equity have the fields that reports need.
  for (const fill of strategy!.fills) {
    expect(fill.arrivalMid).not.toBeNull();
    expect(fill.queueWaitUs).toBeGreaterThanOrEqual(0);
    expect(fill.sentUs).toBeLessThan(fill.arrivedUs);
  }
});

test('the twap example executes all of its size on a connection with faults', async () => {
  const planned = await plannedOf(example('twap'), { slices: '5', everyS: '10', size: '0.05' });
  for (const seed of ['1', '2', '3']) {
    const faults = 'reject=0.2,limit=0.1,disconnect=20s/3s';
    const plan = planOf([planned], { toUs: RECORDED_FROM_US + 90_000_000, faults, seed });
    const { output } = await executePlan(plan);
    const [{ fills, summary }] = output.strategies as [(typeof output.strategies)[number]];
    expect(summary.refusedRequests).toBeGreaterThan(0);
    expect(fills.at(-1)?.position).toBe('0.05');
  }
});

test.each(EXAMPLES)(
  'the %s example sends no request during its warm-up',
  async (name, parameters) => {
    const planned = await plannedOf(example(name), parameters);
    const plan = planOf([planned], { warmUpUs: 59_900_000 });
    const { output } = await executePlan(plan);
    expect(output.strategies[0]!.summary.refusedRequests).toBe(0);
  },
);

test('a plan runs to the same hashes at any time and in any time zone', async () => {
  const planned = await plannedOf(example('market-maker'), { gamma: 0.01 });
  const plan = planOf([planned], { latency: 'jitter:jitter=2ms', faults: 'reject=0.05' });
  const first = await executePlan(plan);
  const second = await executePlan(JSON.parse(JSON.stringify(plan)) as typeof plan);
  expect(first.output.strategies[0]!.summary.refusedRequests).toBeGreaterThan(0);
  expect(second.output.chainHash).toBe(first.output.chainHash);
  expect(second.output.strategies).toEqual(first.output.strategies);
  const other = await executePlan({ ...plan, seed: '2' });
  expect(other.output.chainHash).not.toBe(first.output.chainHash);
});
