/** Parameters of strategies on the command line that contradict each other. */
import { expect, test, vi } from 'vitest';
import type * as CliSupport from '../../src/cli/cli-support.ts';
import { main } from '../../src/cli/main.ts';
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
const sweep = ['sweep', example('sma-cross'), '--data', DATASET];

test.each([
  [[...backtest, '--param', 'fast=3', '--param', 'fast=5'], '--param fast: given twice'],
  [
    [...backtest, '--param', 'fast=3', '--param', 'sma-cross.fast=5'],
    '--param sma-cross.fast: given twice',
  ],
  [
    [...sweep, '--param', 'fast=3', '--vary', 'fast=3:9:1'],
    '--vary fast: --param gives it a value; drop one of them',
  ],
  [[...sweep, '--param', 'fast=3..5'], "parameter 'fast' is '3..5': must be a whole number"],
  [[...sweep, '--param', 'speed=3'], "unknown parameter 'speed'"],
])('%#: %s', async (args, message) => {
  expect(await main(args)).toBe(2);
  expect(failure).toContain(message);
});
