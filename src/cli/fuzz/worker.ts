/**
 * Worker thread of `orrery fuzz` and `orrery economic`: runs batches, shrinks a failed run,
 * searches an arena.
 */
import {
  runBatch as batch,
  shrinkFailure as shrinkOne,
  shrinkRun as shrinkNumbered,
  type BatchResult,
  type CampaignPlan,
  type ShrinkReport,
} from '../../fuzz/campaign.ts';
import {
  searchArena as search,
  type ArenaResult,
  type SearchOptions,
} from '../../fuzz/economic/search.ts';
import type { Failure } from '../../fuzz/fuzz-run.ts';
import { keccak } from '../../wallet/ethers-ports.ts';

/**
 * Shared with the main thread: stop flag, and progress of shrinking (remaining commands,
 * executions).
 */
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

export function searchArena(task: {
  readonly options: SearchOptions;
  readonly arena: number;
  readonly maxPlans: number;
}): ArenaResult {
  return search(task.options, task.arena, task.maxPlans);
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
