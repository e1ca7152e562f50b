/** `orrery fuzz` on workers elsewhere. */
import { remoteBatch } from '../../campaigns/fuzz-jobs.ts';
import { CampaignError, RemoteJobs } from '../../campaigns/remote-jobs.ts';
import { campaignId, type CampaignSpec, type FuzzWork } from '../../campaigns/spec.ts';
import type { BatchResult, CampaignPlan } from '../../fuzz/campaign.ts';
import type { JobStore } from '../../postgres/jobs/job-store.ts';
import { InputError, Interrupted, isInterrupted, printError } from '../cli-support.ts';
import { attachedCampaign, JOB_VERSION, submit, withCampaigns } from './open-campaigns.ts';
import { shownId, type RemoteArguments } from './remote-options.ts';

export interface RemoteFuzz {
  readonly plan: CampaignPlan;
  readonly runs: number;
  readonly runBatch: (plan: CampaignPlan, from: number, to: number) => Promise<BatchResult>;
}

interface RemoteFuzzArguments extends RemoteArguments {
  readonly runs: number | undefined;
  readonly seed: string | undefined;
  readonly json: boolean;
}

export async function openRemoteFuzz(
  options: RemoteFuzzArguments,
  plan: CampaignPlan,
  report: (fuzz: RemoteFuzz) => Promise<void>,
): Promise<void> {
  await withCampaigns(options.pg, async (store) => {
    const { id, work } = await opened(store, options, plan);
    if (options.detach) return;
    const jobs = new RemoteJobs({
      ...{ store, campaign: id, version: JOB_VERSION },
      stopped: isInterrupted,
    });
    try {
      await report({
        ...work,
        runBatch: async (own, from, to) => {
          const result = await remoteBatch(jobs, { plan: own, from, to });
          return result ?? { from, to: from, commands: 0, counts: {}, failed: null };
        },
      });
    } catch (error) {
      if (error instanceof Interrupted) {
        printError(`the campaign goes on: orrery fuzz --pg … --attach ${shownId(id)}`);
      }
      throw error;
    }
    await store.end(id, 'done', null);
  });
}

async function opened(
  store: JobStore,
  options: RemoteFuzzArguments,
  plan: CampaignPlan,
): Promise<{ readonly id: string; readonly work: FuzzWork }> {
  const { attach, runs } = options;
  if (attach === undefined) {
    if (runs === undefined) throw new InputError('--pg needs --runs');
    const work: FuzzWork = { kind: 'fuzz', plan, runs };
    const id = campaignId(JOB_VERSION, work);
    const title = `fuzz ${plan.seed}, ${String(runs)} runs`;
    const spec: CampaignSpec = { work, args: {}, paths: {} };
    await submit(store, { id, kind: 'fuzz', title, spec }, options);
    return { id, work };
  }
  const { id, spec } = await attachedCampaign(store, attach, 'fuzz');
  if (spec.work.kind !== 'fuzz') throw new CampaignError(`campaign ${attach} is not a fuzz`);
  return { id, work: spec.work };
}
