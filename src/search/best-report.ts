/** The report of a search's best trial, its Sharpe ratio deflated by the trials that it was picked from. */
import type { Trials } from '../metrics/metrics.ts';
import type { MetricsOptions } from '../metrics/options.ts';
import { writeReport } from '../report/write.ts';
import { assignmentOf } from './samplers/space.ts';
import { executePlan, type RunPlan } from '../run-plan/plan.ts';
import type { SweepPlan } from './sweep.ts';
import type { Trial } from './trial-log.ts';

/** Plain data, so that it goes to workers. */
export interface BestTask {
  /** With the best one's parameters. */
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
  /** Its path. */
  readonly page: string;
  /** null when it is not defined. */
  readonly deflatedSharpe: number | null;
}

/** Runs it once more; null when it was stopped. */
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
          title: 'Picked by a search',
          text: `The best of ${count} trials by ${objective} (${method}). The deflated Sharpe ratio takes that into account; every other figure does not.`,
        },
        ...assumptions,
      ],
      data,
      verify: [],
      bundle: Object.fromEntries(
        plan.strategies.map(({ id, bundle }) => [`bundle of ${id}`, bundle?.sha256 ?? '']),
      ),
      options,
      trials,
    },
    folder,
  );
  return { page, deflatedSharpe: report.strategies[0]?.metrics?.deflatedSharpe ?? null };
}
