/**
 * Futures of a liquidation in two threads: the worker that has the journal, and a second one that
 * has no journal and executes futures only.
 */
import { FutureRuns, type FuturesJob } from '../../time-machine/what-if/future-runs.ts';
import type { Inevitability } from '../../time-machine/what-if/inevitability.ts';
import type { Calls } from '../worker-link.ts';
import { Slices } from './slices.ts';

/** Futures that this thread executes before it handles messages of the page. */
const AT_ONCE = 1;
/** Futures that the second thread gets with one copy of the state. */
const LENT = 8;
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
  const takeAll = async (
    futures: number,
    execute: (job: FuturesJob) => number | Promise<number>,
  ): Promise<void> => {
    while (!stopped && !work.curve().done) {
      const job = work.takeJob(futures);
      if (job !== null) give(job, await execute(job));
      else if (!work.curve().done) {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
        });
      }
    }
  };
  const own = takeAll(AT_ONCE, async (job) => {
    if (!(await slices.next(isStopped))) {
      stopped = true;
      wake();
      return 0;
    }
    return work.execute(job);
  });
  const { shared } = work;
  const lend = async (): Promise<void> => {
    if (helper === null || shared === null) return;
    await helper.share(shared);
    await takeAll(LENT, (job) => helper.run(job));
  };
  await Promise.all([own, lend()]);
  return !stopped;
}
