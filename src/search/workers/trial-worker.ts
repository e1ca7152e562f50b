/**
 * Child process of a search: runs one trial or one report at a time, and stops on its parent's
 * request.
 */
import { closeSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import workerpool from 'workerpool';
import { raiseInliningLimits } from '../../platform/inlining-limits.ts';
import { STUCK } from './stuck.ts';
import type { TrialResult, TrialTask } from '../trial.ts';

// Below the priority of the user's other programs, and never above the parent's.
setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL));
process.once('disconnect', () => process.exit());
raiseInliningLimits();
new Worker(fileURLToPath(new URL('./parent-watch.js', import.meta.url)), {
  // The parent's id as given by itself, because the parent may be gone.
  workerData: Number(process.argv[2]),
}).unref();

// Imported after the watch thread has started.
const [{ runTrial }, { TapeMemory }, { writeBest }, { watchHandlers }] = await Promise.all([
  import('../trial.ts'),
  import('../../run-plan/tape-memory.ts'),
  import('../best-report.ts'),
  import('../../strategy-loader/handler-watch.ts'),
]);
const limitMs = Number(process.argv[3]);
watchHandlers(Number.isNaN(limitMs) ? null : limitMs, {
  exitCode: STUCK,
  overdue: (message) => {
    workerpool.workerEmit(message);
    closeSync(2);
    process.exit();
  },
});

let isStopped = false;
let running: Promise<unknown> = Promise.resolve();

function stoppable<Task, Result>(
  run: (task: Task, stopped: () => boolean) => Promise<Result>,
): (task: Task) => Promise<Result> {
  return (task) => {
    const result = run(task, () => isStopped);
    running = result.catch(() => undefined);
    return result;
  };
}

const tapes = new TapeMemory();
workerpool.worker(
  {
    trial: stoppable<TrialTask, TrialResult | null>((task, stopped) =>
      runTrial(task, stopped, { tapes }),
    ),
    report: stoppable(writeBest),
    ready: () => null,
  },
  {
    // The process exits when the promise resolves.
    onTerminate: async () => {
      isStopped = true;
      await running;
    },
  },
);
