/** Parameters of strategies on the command line that are given twice. */
import { expect, test, vi } from 'vitest';
import type * as CliSupport from '../../src/cli/cli-support.ts';
import { main } from '../../src/cli/main.ts';
// The command begins to load it before it reads its parameters.
import '../../src/run-plan/plan.ts';
import { DATASET, example } from '../run-plan/plans.ts';

let failure = '';
vi.mock('../../src/cli/cli-support.ts', async (original) => {
  const real = await original<typeof CliSupport>();
  const explainFailure = (error: unknown): number => {
    failure = error instanceof Error ? error.message : '';
    return real.explainFailure(error);
  };
  return { ...real, explainFailure };
});

const backtest = ['backtest', example('sma-cross'), '--data', DATASET];

test.each([
  [[...backtest, '--param', 'fast=3', '--param', 'fast=5'], '--param fast: given twice'],
  [
    [...backtest, '--param', 'fast=3', '--param', 'sma-cross.fast=5'],
    '--param sma-cross.fast: given twice',
  ],
])('%#: %s', async (args, message) => {
  expect(await main(args)).toBe(2);
  expect(failure).toContain(message);
});
