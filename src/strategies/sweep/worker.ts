/** What a worker thread of a search runs. */
import { runTrial, type TrialResult, type TrialTask } from './trial.ts';

export function trial(task: TrialTask): Promise<TrialResult> {
  return runTrial(task);
}
