/**
 * A look-ahead through the prototype of an array of the context gains nothing: the strategy decides
 * as its honest twin. In the program's own realm, where objects of `defineStrategy` run, it gains.
 */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { StrategyOutput } from '../../src/backtest/output.ts';
import { executePlan } from '../../src/run-plan/plan.ts';
import type { StrategyDefinition } from '../../src/strategy/definition.ts';
import { plannedOf, planOf, RECORDED_FROM_US } from '../run-plan/plans.ts';
import futureReader from './future-reader.ts';

const FILE = fileURLToPath(new URL('future-reader.ts', import.meta.url));
const FREE = { fees: '0,0', toUs: RECORDED_FROM_US + 60_000_000 };

interface Ran {
  readonly chainHash: string;
  readonly summary: StrategyOutput['summary'];
}

async function ran(reads: boolean, definition: StrategyDefinition | null): Promise<Ran> {
  const parameters = { reads: String(reads) };
  const planned =
    definition === null
      ? await plannedOf(FILE, parameters)
      : { id: 'test', bundle: null, parameters };
  const definitions = new Map(definition === null ? [] : [['test', definition]]);
  const { output } = await executePlan(planOf([planned], FREE), { definitions });
  return { chainHash: output.chainHash, summary: output.strategies[0]!.summary };
}

test('a strategy that replaces methods of arrays decides as its honest twin', async () => {
  const honest = await ran(false, null);
  expect(honest.summary.orders).toBeGreaterThan(20);
  expect(await ran(true, null)).toEqual(honest);
  // The same code without a realm of its own reads the tape, and gains.
  const { push, [Symbol.iterator]: iterator } = Array.prototype as unknown as Record<
    PropertyKey,
    unknown
  >;
  try {
    const object = futureReader as unknown as StrategyDefinition;
    expect((await ran(false, object)).chainHash).toBe(honest.chainHash);
    const reading = await ran(true, object);
    expect(Number(reading.summary.pnl)).toBeGreaterThan(Number(honest.summary.pnl) + 1);
  } finally {
    Object.defineProperty(Array.prototype, 'push', { value: push });
    Object.defineProperty(Array.prototype, Symbol.iterator, { value: iterator });
  }
});
