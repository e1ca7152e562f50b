/** Runs of a fuzzing campaign as jobs. */
import type { BatchResult, CampaignPlan } from '../fuzz/campaign.ts';
import type { RemoteJobs } from './remote-jobs.ts';

/** Runs of a job: some seconds of work. */
export const RUNS_A_JOB = 8;
/** Jobs asked for before the oldest of them has ended. */
export const JOBS_AHEAD = 512;

export interface BatchTask {
  readonly plan: CampaignPlan;
  readonly from: number;
  readonly to: number;
}

/** Runs `from` to `to` − 1 elsewhere; null if stopped. A failure comes without its commands. */
export async function remoteBatch(jobs: RemoteJobs, task: BatchTask): Promise<BatchResult | null> {
  const text = await jobs.run('batch', task);
  return text === null ? null : (JSON.parse(text) as BatchResult);
}

/** The result without the commands of a failure: whoever needs them repeats the run. */
export function storedBatch(result: BatchResult): BatchResult {
  const { failed } = result;
  if (failed === null) return result;
  const { run, commands, violation } = failed;
  return { ...result, failed: { run, commands, violation } };
}
