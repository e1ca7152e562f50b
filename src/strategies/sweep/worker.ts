/** What a worker thread of a search runs. */
import { writeBest, type BestReport, type BestTask } from './best-report.ts';
import { runTrial, type TrialResult, type TrialTask } from './trial.ts';

/** Shared with the main thread, which sets it to 1 when the search is to stop. */
export interface Stoppable {
  readonly stop: Int32Array;
}

export function trial({ stop, ...task }: TrialTask & Stoppable): Promise<TrialResult | null> {
  return runTrial(task, () => isStopped(stop));
}

export function report({ stop, ...task }: BestTask & Stoppable): Promise<BestReport | null> {
  return writeBest(task, () => isStopped(stop));
}

function isStopped(stop: Int32Array): boolean {
  return Atomics.load(stop, 0) !== 0;
}
