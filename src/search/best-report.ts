/**
 * A search's best trial as a run of its own: its folder can be replayed, explained and exported.
 * The Sharpe ratio of its report is deflated by the number of trials.
 */
import { countText } from '../base/count-text.ts';
import type { Trials } from '../metrics/metrics.ts';
import type { MetricsOptions } from '../metrics/options.ts';
import { writeRunPage } from '../report/run-page.ts';
import { writeReport } from '../report/write.ts';
import { assignmentOf } from './samplers/space.ts';
import { bundleHashes } from '../run-plan/bundle-hashes.ts';
import { executePlan, type PlanResult } from '../run-plan/plan.ts';
import type { RunPlan } from '../run-plan/run-plan.ts';
import { RunFolder } from '../run-plan/run-folder.ts';
import type { SweepPlan } from './sweep.ts';
import type { Trial } from './trial-log.ts';
import { shellWord } from '../platform/shell-word.ts';

/** Plain data, because it is sent to workers. */
export interface BestTask {
  /** Plan with the best trial's parameters. */
  readonly plan: RunPlan;
  readonly objective: string;
  readonly method: string;
  readonly options: MetricsOptions;
  readonly trials: Trials;
  /** Folder of the run; an earlier run in it is replaced. */
  readonly folder: string;
  /** Command that runs the trial alone. */
  readonly command: string;
}

export function bestTask(
  { plan, space, objective, method, options }: SweepPlan,
  best: Trial,
  trials: Trials,
  { folder, command }: Pick<BestTask, 'folder' | 'command'>,
): BestTask {
  const chosen = assignmentOf(space, best.point);
  const strategies = plan.strategies.map((planned) => ({
    ...planned,
    parameters: { ...planned.parameters, ...chosen },
  }));
  return { plan: { ...plan, strategies }, objective, method, options, trials, folder, command };
}

export interface BestReport {
  /** Path of the page. */
  readonly page: string;
  /** Null if undefined. */
  readonly deflatedSharpe: number | null;
}

/** Runs the best trial again and writes its folder; null if stopped. */
export async function writeBest(
  task: BestTask,
  stopped: () => boolean,
): Promise<BestReport | null> {
  const folder = await RunFolder.create(task.folder, task.plan, true);
  try {
    const result = await executePlan(task.plan, { journal: folder.target, cancelled: stopped });
    if (result.output.cancelled) {
      folder.abandon();
      return null;
    }
    await folder.endJournal();
    await folder.finish(result);
    await writeRunPage(folder.path, folder.file('journal'));
    return await writePage(task, result, folder);
  } catch (error) {
    folder.abandon();
    throw error;
  } finally {
    folder.release();
  }
}

async function writePage(
  { plan, objective, method, options, trials, command }: BestTask,
  { output, assumptions, data }: PlanResult,
  folder: RunFolder,
): Promise<BestReport> {
  const count = countText(trials.count, 'trial');
  const { page, report } = await writeReport(
    output,
    {
      title: `Best of ${count}: ${output.strategies[0]?.name ?? ''}`,
      assumptions: [
        {
          title: 'Selected by a search',
          text: `The best of ${count} by ${objective} (${method}). Only the deflated Sharpe ratio accounts for the selection.`,
        },
        ...assumptions,
      ],
      data,
      verify: [`npx orrery replay ${shellWord(folder.file('journal'))} --verify`, command],
      bundle: bundleHashes(plan.strategies),
      options,
      trials,
    },
    folder.path,
  );
  return { page, deflatedSharpe: report.strategies[0]?.metrics?.deflatedSharpe ?? null };
}
