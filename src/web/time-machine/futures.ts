/**
 * Futures of a liquidation in two threads: the worker that has the journal, and a second one that
 * has no journal and executes futures only.
 */
import { FutureRuns, type FuturesJob } from '../../time-machine/what-if/future-runs.ts';
import type { Inevitability } from '../../time-machine/what-if/inevitability.ts';
import type { Calls } from '../worker-link.ts';
import { Slices } from './slices.ts';

/** Commands that are read for price moves before the clock is. */
const READ = 2048;

/** Calls of the second thread. */
export class FuturesThread {
  private runs: FutureRuns | null = null;

  api() {
    return {
      share: ({ moves, settings }: NonNullable<Inevitability['shared']>) => {
        this.runs = new FutureRuns(moves, settings);
      },
      run: (job: FuturesJob) => this.runs?.run(job) ?? 0,
    };
  }
}

export type FuturesApi = ReturnType<FuturesThread['api']>;

/** Executes all futures; false if it was stopped. */
export async function executeFutures(
  work: Inevitability,
  helper: Calls<FuturesApi> | null,
  isStopped: () => boolean,
): Promise<boolean> {
  const slices = new Slices();
  while (work.collect(READ)) if (!(await slices.next(isStopped))) return false;
  let stopped = false;
  let waiting: (() => void)[] = [];
  const wake = (): void => {
    const woken = waiting;
    waiting = [];
    for (const resolve of woken) resolve();
  };
  const give = (job: FuturesJob, liquidated: number): void => {
    work.give(job, liquidated);
    wake();
  };
  /** Takes parts until the end, and waits while those of the other thread are needed. */
  const takeAll = async (execute: (job: FuturesJob) => Promise<number>): Promise<void> => {
    while (!stopped && !work.curve().done) {
      const job = work.takeJob();
      if (job !== null) give(job, await execute(job));
      else if (!work.curve().done) {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
        });
      }
    }
  };
  // One by one, so that this thread handles messages of the page in between.
  const own = takeAll(async (job) => {
    let liquidated = 0;
    for (let first = job.first; first < job.end; first++) {
      if (!(await slices.next(isStopped))) {
        stopped = true;
        wake();
        return 0;
      }
      liquidated += work.execute({ ...job, first, end: first + 1 });
    }
    return liquidated;
  });
  const { shared } = work;
  const lend = async (): Promise<void> => {
    if (helper === null || shared === null) return;
    await helper.share(shared);
    await takeAll((job) => helper.run(job));
  };
  await Promise.all([own, lend()]);
  return !stopped;
}
