/**
 * Worker thread of `orrery fuzz` and `orrery economic`: runs batches, shrinks a failed run,
 * searches an arena.
 */
import workerpool from 'workerpool';
import {
  reportFailure as reportOne,
  runBatch as batch,
  shrinkFailure as shrinkOne,
  type BatchResult,
  type CampaignPlan,
  type ShrinkReport,
  type ShrinkRunOptions,
} from '../../fuzz/campaign.ts';
import { checkJournal } from '../../fuzz/check-journal.ts';
import { CHECK_NAMES } from '../../fuzz/checks/checks.ts';
import {
  searchArena as search,
  type ArenaResult,
  type SearchOptions,
} from '../../fuzz/economic/search.ts';
import type { Failure } from '../../fuzz/fuzz-run.ts';
import { countStates, loadStates } from './own-states.ts';
import { keccak } from '../../wallet/crypto-ports.ts';

interface ShrinkTask {
  readonly failure: Failure;
  readonly origin: readonly string[];
  /** Shared with the main thread: whether to stop, commands left, executions so far. */
  readonly signals: Int32Array;
}

export interface FailsTask {
  readonly journal: Uint8Array;
  /** Of the violation. */
  readonly check: string | undefined;
}

/** Message with the best report so far; the main thread writes it. */
export interface BestSoFar {
  readonly best: ShrinkReport;
}

async function runBatch(task: {
  readonly plan: CampaignPlan;
  readonly from: number;
  readonly to: number;
  /** Time in ms since 1970 at which the batch stops within a run. */
  readonly endsMs: number;
}): Promise<BatchResult> {
  const { plan, from, to, endsMs } = task;
  const own = plan.states === undefined ? null : countStates(await loadStates(plan.states));
  const result = batch(plan, from, to, () => Date.now() >= endsMs, own);
  const fault = own?.fault() ?? null;
  if (fault !== null) throw fault;
  return result;
}

function searchArena(task: {
  readonly options: SearchOptions;
  readonly arena: number;
  readonly maxPlans: number;
}): ArenaResult {
  return search(task.options, task.arena, task.maxPlans);
}

function shrinkFailure({ failure, ...task }: ShrinkTask): ShrinkReport {
  return shrinkOne(failure, optionsOf(task));
}

/** The files of a failure as it was found. */
function reportFailure({ failure, ...task }: ShrinkTask): ShrinkReport {
  return reportOne(failure, optionsOf(task));
}

/** Whether a journal violates this check, or any where the exchange itself threw. */
function failsAgain({ journal, check }: FailsTask): boolean {
  const own = CHECK_NAMES.filter((name) => name === check);
  return checkJournal(journal, own.length === 0 ? {} : { checks: own }) !== null;
}

function optionsOf({ origin, signals }: Omit<ShrinkTask, 'failure'>): ShrinkRunOptions {
  return {
    keccak,
    origin,
    cancelled: () => Atomics.load(signals, 0) === 1,
    onProgress: (steps, tests) => {
      Atomics.store(signals, 1, steps);
      Atomics.store(signals, 2, tests);
    },
    onBest: (best) => {
      workerpool.workerEmit({ best } satisfies BestSoFar);
    },
  };
}

workerpool.worker({ runBatch, searchArena, shrinkFailure, reportFailure, failsAgain });
