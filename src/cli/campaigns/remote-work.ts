/** Campaigns without files of a user: submits or attaches one, and reports it. */
import { CampaignError, RemoteJobs } from '../../campaigns/remote-jobs.ts';
import { campaignId, type CampaignSpec, type PlainWork } from '../../campaigns/spec.ts';
import type { JobStore } from '../../postgres/jobs/job-store.ts';
import { Interrupted, isInterrupted, printError } from '../cli-support.ts';
import { attachedCampaign, JOB_VERSION, submit, withCampaigns } from './open-campaigns.ts';
import { shownId, type RemoteArguments } from './remote-options.ts';

type WorkOf<K extends PlainWork['kind']> = Extract<PlainWork, { readonly kind: K }>;

interface NewWork<K extends PlainWork['kind']> {
  readonly work: WorkOf<K>;
  readonly title: string;
}

/** `create` is called for a campaign that is new, `report` unless the command detaches. */
export async function openRemoteWork<K extends PlainWork['kind']>(
  kind: K,
  options: RemoteArguments & { readonly json: boolean },
  create: () => NewWork<K>,
  report: (work: WorkOf<K>, jobs: RemoteJobs) => Promise<void>,
): Promise<void> {
  // Bad options are reported before the database is asked.
  const planned = options.attach === undefined ? create() : null;
  await withCampaigns(options.pg, async (store) => {
    const { id, work } =
      planned === null
        ? await attached(store, kind, options.attach ?? '')
        : await submitted(store, kind, options, planned);
    if (options.detach) return;
    const jobs = new RemoteJobs({
      ...{ store, campaign: id, version: JOB_VERSION },
      stopped: isInterrupted,
    });
    try {
      await report(work, jobs);
    } catch (error) {
      if (error instanceof Interrupted) {
        printError(`the campaign goes on: orrery ${kind} --pg … --attach ${shownId(id)}`);
      }
      throw error;
    } finally {
      await jobs.close();
    }
    await store.end(id, 'done', null);
  });
}

async function submitted<K extends PlainWork['kind']>(
  store: JobStore,
  kind: K,
  options: RemoteArguments & { readonly json: boolean },
  { work, title }: NewWork<K>,
): Promise<{ readonly id: string; readonly work: WorkOf<K> }> {
  const id = campaignId(JOB_VERSION, work);
  const spec: CampaignSpec = { work, args: {}, paths: {} };
  await submit(store, { id, kind, title, spec }, options);
  return { id, work };
}

async function attached<K extends PlainWork['kind']>(
  store: JobStore,
  kind: K,
  start: string,
): Promise<{ readonly id: string; readonly work: WorkOf<K> }> {
  const { id, spec } = await attachedCampaign(store, start, kind);
  if (spec.work.kind !== kind) throw new CampaignError(`campaign ${start} is not of ${kind}`);
  return { id, work: spec.work as WorkOf<K> };
}
