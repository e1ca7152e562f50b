/** Plans on this project's recorded market. */
import { fileURLToPath } from 'node:url';
import { bundleStrategy } from '../../src/strategy-loader/bundle.ts';
import type { PlannedStrategy, RunPlan } from '../../src/run-plan/run-plan.ts';

export const DATASET = fileURLToPath(new URL('../../data/btcusdt-20240808', import.meta.url));
/** The recording's first second. */
export const RECORDED_FROM_US = 1_723_161_256_000_000;

export const example = (name: string): string =>
  fileURLToPath(new URL(`../../examples/strategies/${name}.ts`, import.meta.url));

export async function plannedOf(
  file: string,
  parameters: PlannedStrategy['parameters'] = {},
  id = 'test',
): Promise<PlannedStrategy> {
  return { id, bundle: await bundleStrategy(file), parameters };
}

/** One minute of the recording by default. */
export function planOf(
  strategies: readonly PlannedStrategy[],
  more: Partial<RunPlan> = {},
): RunPlan {
  return {
    data: DATASET,
    strategies,
    toUs: RECORDED_FROM_US + 60_000_000,
    balance: '10000',
    seed: '1',
    ...more,
  };
}

/** The same plan on all of its data. */
export function onAllData(plan: RunPlan): RunPlan {
  const fields = Object.entries(plan).filter(([name]) => name !== 'toUs');
  return Object.fromEntries(fields) as unknown as RunPlan;
}
