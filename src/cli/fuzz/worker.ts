/** What a worker thread of `orrery fuzz` does: batches of runs, and the shrinking of one that failed. */
import {
  runBatch as batch,
  shrinkFailure as shrinkOne,
  shrinkRun as shrinkNumbered,
  type BatchResult,
  type CampaignPlan,
  type ShrinkReport,
} from '../../fuzz/campaign.ts';
import type { Failure } from '../../fuzz/run.ts';
import { keccak } from '../../wallet/ethers-ports.ts';

/** Shared with the main thread: whether to stop, and how far shrinking has come (commands left, executions). */
export const SIGNALS = 3;

export interface ShrinkTask {
  readonly plan: CampaignPlan;
  readonly origin: readonly string[];
  readonly signals: Int32Array;
}

export function runBatch(task: {
  readonly plan: CampaignPlan;
  readonly from: number;
  readonly to: number;
}): BatchResult {
  return batch(task.plan, task.from, task.to);
}

export function shrinkRun({ run, ...task }: ShrinkTask & { readonly run: number }): ShrinkReport {
  return shrinkNumbered(task.plan, run, optionsOf(task));
}

export function shrinkFailure({
  failure,
  ...task
}: ShrinkTask & { readonly failure: Failure }): ShrinkReport {
  return shrinkOne(failure, task.plan.lockstep, optionsOf(task));
}

function optionsOf({ origin, signals }: ShrinkTask): Parameters<typeof shrinkOne>[2] {
  return {
    keccak,
    origin,
    cancelled: () => Atomics.load(signals, 0) === 1,
    onProgress: (steps, tests) => {
      Atomics.store(signals, 1, steps);
      Atomics.store(signals, 2, tests);
    },
  };
}
