/** `orrery fuzz` on workers elsewhere. Its files depend neither on them nor on their speed. */
import { countText } from '../../base/count-text.ts';
import { JOBS_AHEAD, remoteBatch, RUNS_A_JOB } from '../../campaigns/fuzz-jobs.ts';
import type { RemoteJobs } from '../../campaigns/remote-jobs.ts';
import type { FuzzWork } from '../../campaigns/spec.ts';
import { runBatch, type CampaignPlan } from '../../fuzz/campaign.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { InputError, isInterrupted, startProgress } from '../cli-support.ts';
import {
  noteFailure,
  printPlan,
  reportCampaign,
  type FuzzArguments,
  type Written,
} from '../fuzz/campaign-report.ts';
import { CampaignState } from '../fuzz/campaign-state.ts';
import { lockCampaign } from '../fuzz/lock-campaign.ts';
import { FuzzPool } from '../fuzz/pool.ts';
import { runCampaign } from '../fuzz/run-campaign.ts';
import { RunLog } from '../fuzz/run-log.ts';
import { openRemoteWork } from './remote-work.ts';

export async function remoteFuzz(options: FuzzArguments, plan: CampaignPlan): Promise<void> {
  const { runs, attach, 'keep-going': keepGoing } = options;
  if (attach !== undefined && keepGoing) {
    throw new InputError('--keep-going is an option of the command that submits the campaign');
  }
  await openRemoteWork(
    'fuzz',
    options,
    () => {
      if (runs === undefined) {
        throw new InputError('--pg needs --runs: a limit in seconds depends on the workers');
      }
      const work: FuzzWork = { kind: 'fuzz', plan, runs, ...(keepGoing ? { keepGoing } : {}) };
      return { work, title: `fuzz ${plan.seed}, ${countText(runs, 'run')}` };
    },
    (work, jobs) => collect(options, work, jobs),
  );
}

async function collect(options: FuzzArguments, work: FuzzWork, jobs: RemoteJobs): Promise<void> {
  const { out, json, verbose } = options;
  const { plan, runs, keepGoing = false } = work;
  await makeFolder(out);
  lockCampaign(out);
  await CampaignState.mustNotReplace(out);
  const state = new CampaignState(plan);
  // The database has its progress.
  state.ended = true;
  if (!json) printPlan(plan);
  const batches = {
    runBatch: async (own: CampaignPlan, from: number, to: number) => {
      const result = await remoteBatch(jobs, { plan: own, from, to });
      return result ?? { from, to: from, commands: 0, counts: {}, failed: null };
    },
  };
  const limits = { runs, seconds: Infinity, workers: JOBS_AHEAD, batch: RUNS_A_JOB };
  const written: Written = { folders: [], findings: [] };
  const pool = new FuzzPool(1);
  try {
    for (;;) {
      const progress = startProgress('fuzz', json);
      const watch = { progress, onRun: () => undefined, save: () => Promise.resolve() };
      const failed = await runCampaign(state, batches, limits, watch).finally(() => {
        progress.stop();
      });
      state.seconds = 0;
      await state.save(out);
      for (const { run } of failed) {
        // The workers do not send the commands of a failure: the run is repeated here.
        const again = runBatch(plan, run, run + 1).failed;
        if (again === null) throw new Error(`run ${String(run)} does not fail on this machine`);
        await noteFailure(options, plan, again, pool, written);
      }
      if (failed.length === 0 || !keepGoing || isInterrupted() || state.runs >= runs) break;
    }
  } finally {
    await pool.close();
  }
  const log = new RunLog(out, plan, { resumed: false, verbose: verbose && !json });
  for (let run = 0; run < state.runs; run += 1) log.note(run);
  log.close();
  await reportCampaign(options, state, log, written);
}
