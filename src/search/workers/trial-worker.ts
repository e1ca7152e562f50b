/** A child process of a search: one trial, or the report of the best one, at a time. Its parent tells it when to stop. */
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import workerpool from 'workerpool';
import { raiseInliningLimits } from '../../platform/inlining-limits.ts';

process.once('disconnect', () => process.exit());
raiseInliningLimits();
new Worker(fileURLToPath(new URL('./parent-watch.js', import.meta.url)), {
  // The parent's id, as it says itself: it may be gone by now.
  workerData: Number(process.argv[2]),
}).unref();

// Loaded after the above holds.
const [{ runTrial }, { writeBest }] = await Promise.all([
  import('../trial.ts'),
  import('../best-report.ts'),
]);

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

workerpool.worker(
  { trial: stoppable(runTrial), report: stoppable(writeBest) },
  {
    // The process ends when the promise is kept.
    onTerminate: async () => {
      isStopped = true;
      await running;
    },
  },
);
