/** A fuzzing campaign with failures: driver and terminal want the same jobs as a local campaign. */
import { expect, test } from 'vitest';
import type { FileCache } from '../../src/campaigns/file-cache.ts';
import { drive } from '../../src/campaigns/drive.ts';
import { remoteBatch, RUNS_A_JOB, type BatchTask } from '../../src/campaigns/fuzz-jobs.ts';
import { RemoteJobs } from '../../src/campaigns/remote-jobs.ts';
import { CampaignState } from '../../src/cli/fuzz/campaign-state.ts';
import { runCampaign, type CampaignLimits } from '../../src/cli/fuzz/run-campaign.ts';
import type { Progress } from '../../src/cli/cli-support.ts';
import type { BatchResult, CampaignPlan, FailedRun } from '../../src/fuzz/campaign.ts';
import type { EndedJob, JobStore, NewJob } from '../../src/postgres/jobs/job-store.ts';

const PLAN: CampaignPlan = {
  ...{ seed: 's', profile: 'all', commands: null, oracle: true, every: 64 },
};
const RUNS = 45;
/** Two of one batch, two in a row, the first and the last. */
const FAILING = new Set([0, 9, 12, 23, 24, 44]);
const PROGRESS: Progress = { update: () => undefined, stop: () => undefined };

function resultOf(from: number, to: number): BatchResult {
  for (let run = from; run < to; run++) {
    if (!FAILING.has(run)) continue;
    const violation = { invariant: 'planted', rule: 'R-1', says: '', detail: String(run) };
    const failed: FailedRun = { run, commands: 1, violation };
    return { from, to: run + 1, commands: run + 1 - from, counts: {}, failed };
  }
  return { from, to, commands: to - from, counts: {}, failed: null };
}

/** A store whose workers end each job at once. */
class Ended {
  readonly wanted: string[] = [];
  private readonly done: EndedJob[] = [];

  want(_campaign: string, jobs: readonly NewJob[]): Promise<void> {
    for (const { id, task } of jobs) {
      this.wanted.push(task);
      const { from, to } = JSON.parse(task) as BatchTask;
      this.done.push({ id, result: JSON.stringify(resultOf(from, to)), error: null });
    }
    return Promise.resolve();
  }
  ended(): Promise<EndedJob[]> {
    return Promise.resolve(this.done.splice(0));
  }
}

function jobsOf(store: Ended): RemoteJobs {
  return new RemoteJobs({
    ...{ store: store as unknown as JobStore, campaign: 'c', version: 'v' },
    stopped: () => false,
  });
}

/** Runs until the end; the session starts again after each failure if it keeps going. */
async function campaign(
  pool: Parameters<typeof runCampaign>[1],
  limits: Omit<CampaignLimits, 'runs' | 'seconds'>,
  keepGoing: boolean,
): Promise<CampaignState> {
  const state = new CampaignState(PLAN);
  for (;;) {
    const watch = { progress: PROGRESS, onRun: () => undefined, save: () => Promise.resolve() };
    const all = { ...limits, runs: RUNS, seconds: Infinity };
    const failed = await runCampaign(state, pool, all, watch);
    state.seconds = 0;
    if (failed.length === 0 || !keepGoing || state.runs >= RUNS) return state;
  }
}

/** Runs of this machine end in another order than they start. */
const shuffled = {
  runBatch: async (_plan: CampaignPlan, from: number, to: number) => {
    await new Promise((resolve) => setTimeout(resolve, (from * 7) % 5));
    return resultOf(from, to);
  },
};

test.each([true, false])('keep-going %j: equal results here and elsewhere', async (keepGoing) => {
  const one = await campaign(shuffled, { workers: 1 }, keepGoing);
  expect(one.failures.map(({ run }) => run)).toEqual(keepGoing ? [...FAILING] : [0]);
  const many = await campaign(shuffled, { workers: 5 }, keepGoing);
  expect(many.summary()).toEqual(one.summary());
  const elsewhere = new Ended();
  const jobs = jobsOf(elsewhere);
  const remote = await campaign(
    {
      runBatch: async (plan, from, to) => {
        const result = await remoteBatch(jobs, { plan, from, to });
        if (result === null) throw new Error('stopped');
        return result;
      },
    },
    { workers: 4, batch: RUNS_A_JOB },
    keepGoing,
  );
  expect(remote.summary()).toEqual(one.summary());
  const driven = new Ended();
  const work = {
    kind: 'fuzz',
    plan: PLAN,
    runs: RUNS,
    ...(keepGoing ? { keepGoing } : {}),
  } as const;
  const isDone = await drive(
    { work, args: {}, paths: {} },
    { jobs: jobsOf(driven), cache: null as unknown as FileCache, stopped: () => false },
  );
  expect(isDone).toBe(true);
  // The driver has asked for all that the terminal needs.
  expect([...driven.wanted].sort()).toEqual(expect.arrayContaining([...elsewhere.wanted].sort()));
  if (keepGoing) expect(new Set(driven.wanted)).toEqual(new Set(elsewhere.wanted));
});
