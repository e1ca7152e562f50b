/** Report of a search's best trial, with its Sharpe ratio deflated by the number of trials. */
import type { Trials } from '../metrics/metrics.ts';
import type { MetricsOptions } from '../metrics/options.ts';
import { writeReport } from '../report/write.ts';
import { assignmentOf } from './samplers/space.ts';
import { bundleHashes } from '../run-plan/bundle-hashes.ts';
import { executePlan, type RunPlan } from '../run-plan/plan.ts';
import type { SweepPlan } from './sweep.ts';
import type { Trial } from './trial-log.ts';

/** Plain data, because it is sent to workers. */
export interface BestTask {
  /** Plan with the best trial's parameters. */
  readonly plan: RunPlan;
  readonly objective: string;
  readonly method: string;
  readonly options: MetricsOptions;
  readonly trials: Trials;
  /** Folder of the report. */
  readonly folder: string;
}

export function bestTask(
  { plan, space, objective, method, options }: SweepPlan,
  best: Trial,
  trials: Trials,
  folder: string,
): BestTask {
  const chosen = assignmentOf(space, best.point);
  const strategies = plan.strategies.map((planned) => ({
    ...planned,
    parameters: { ...planned.parameters, ...chosen },
  }));
  return { plan: { ...plan, strategies }, objective, method, options, trials, folder };
}

export interface BestReport {
  /** Path of the page. */
  readonly page: string;
  /** Null if undefined. */
  readonly deflatedSharpe: number | null;
}

/** Runs the best trial again and writes its report; null if stopped. */
export async function writeBest(
  { plan, objective, method, options, trials, folder }: BestTask,
  stopped: () => boolean,
): Promise<BestReport | null> {
  const { output, assumptions, data } = await executePlan(plan, { cancelled: stopped });
  if (output.cancelled) return null;
  const count = String(trials.count);
  const { page, report } = await writeReport(
    output,
    {
      title: `Best of ${count} trials: ${output.strategies[0]?.name ?? ''}`,
      assumptions: [
        {
          title: 'Selected by a search',
          text: `The best of ${count} trials by ${objective} (${method}). Only the deflated Sharpe ratio accounts for the selection.`,
        },
        ...assumptions,
      ],
      data,
      verify: [],
      bundle: bundleHashes(plan.strategies),
      options,
      trials,
    },
    folder,
  );
  return { page, deflatedSharpe: report.strategies[0]?.metrics?.deflatedSharpe ?? null };
}
