/**
 * Worker thread of `orrery fuzz` and `orrery economic`: runs batches, shrinks a failed run,
 * searches an arena.
 */
import workerpool from 'workerpool';
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
import { keccak } from '../../wallet/crypto-ports.ts';

interface ShrinkTask {
  readonly plan: CampaignPlan;
  readonly origin: readonly string[];
  /** Shared with the main thread: whether to stop, commands left, executions so far. */
  readonly signals: Int32Array;
}

function runBatch(task: {
  readonly plan: CampaignPlan;
  readonly from: number;
  readonly to: number;
}): BatchResult {
  return batch(task.plan, task.from, task.to);
}

function searchArena(task: {
  readonly options: SearchOptions;
  readonly arena: number;
  readonly maxPlans: number;
}): ArenaResult {
  return search(task.options, task.arena, task.maxPlans);
}

function shrinkRun({ run, ...task }: ShrinkTask & { readonly run: number }): ShrinkReport {
  return shrinkNumbered(task.plan, run, optionsOf(task));
}

function shrinkFailure({
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

workerpool.worker({ runBatch, searchArena, shrinkRun, shrinkFailure });
