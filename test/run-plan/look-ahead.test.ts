import { expect, test } from 'vitest';
import { CHANGES, probeLookAhead } from '../../src/run-plan/look-ahead.ts';
import type { TapeBatch } from '../../src/backtest/run-backtest.ts';
import { defineStrategy } from '../../src/strategy/definition.ts';
import type { Command } from '../../src/engine/commands.ts';
import { example, plannedOf, planOf, RECORDED_FROM_US } from './plans.ts';

const OPTIONS = { instants: 2, seed: 'test' };
const END = { toUs: RECORDED_FROM_US + 40_000_000 };
const SHORT = { toUs: RECORDED_FROM_US + 15_000_000 };

test.each([
  ['sma-cross', { fast: '3', slow: '8' }],
  ['market-maker', { gamma: '0.01', k: '1' }],
])('%s does not depend on the future', async (name, parameters) => {
  const plan = planOf([await plannedOf(example(name), parameters)], END);
  const probes = await probeLookAhead(plan, OPTIONS);
  expect(probes.map(({ change }) => change)).toEqual(CHANGES.flatMap((one) => [one, one]));
  expect(probes.map(({ difference }) => difference)).toEqual(probes.map(() => null));
  expect(probes.some(({ compared }) => compared > 3)).toBe(true);
  expect(await probeLookAhead(plan, OPTIONS)).toEqual(probes);
});

test('a strategy that reads the commands played next is found by each change', async () => {
  let next: readonly Command[] = [];
  async function* leaking(batches: AsyncIterable<TapeBatch>): AsyncGenerator<TapeBatch> {
    for await (const batch of batches) {
      next = batch.commands;
      yield batch;
    }
  }
  /** Text of all commands of the batch that is played, most of which lie in the future. */
  const peeking = defineStrategy({
    name: 'peeking',
    parameters: {},
    create: () => ({
      onTrade(_trade, context) {
        context.log(JSON.stringify(next.slice(-100)));
      },
    }),
  });
  const plan = planOf([{ id: 'peeking', bundle: null, parameters: {} }], SHORT);
  const ports = { definitions: new Map([['peeking', peeking]]), tape: leaking };
  const probes = await probeLookAhead(plan, OPTIONS, ports);
  for (const change of CHANGES) {
    const found = probes.filter((probe) => probe.change === change && probe.difference !== null);
    expect(found.length, change).toBeGreaterThan(0);
    for (const { difference } of found) {
      expect(difference?.changed).not.toBe(difference?.recorded);
    }
  }
});
