/** Opens the campaigns of a database for a command. */
import { jobVersion } from '../../campaigns/job-id.ts';
import { JobStore, type Campaign } from '../../postgres/jobs/job-store.ts';
import { CampaignError } from '../../campaigns/remote-jobs.ts';
import type { CampaignSpec } from '../../campaigns/spec.ts';
import { InputError, isInterrupted, printError } from '../cli-support.ts';
import { VERSION } from '../release.ts';
import { addressOf, shownId, type RemoteArguments } from './remote-options.ts';

/** Interval between notes that the database is away. */
const NOTE_MS = 10_000;

export const JOB_VERSION = jobVersion(VERSION);

/** @throws DatabaseError */
export async function withCampaigns<T>(
  pg: string | undefined,
  work: (store: JobStore) => Promise<T>,
  stopped: () => boolean = isInterrupted,
): Promise<T> {
  const address = addressOf(pg);
  let notedMs = -Infinity;
  const store = await JobStore.open({
    address,
    stopped,
    onTrouble: (message) => {
      if (performance.now() - notedMs < NOTE_MS) return;
      notedMs = performance.now();
      printError(`${message}; trying again`);
    },
  });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** The campaign whose id starts with the text. Throws `InputError`. */
export async function campaignOf(store: JobStore, start: string): Promise<Campaign> {
  const found = /^[0-9a-f]+$/.test(start) ? await store.list(start) : [];
  const [one, other] = found;
  if (one === undefined) throw new InputError(`no campaign has an id that starts with '${start}'`);
  if (other !== undefined) {
    const ids = found.map(({ id }) => shownId(id)).join(', ');
    throw new InputError(`several campaigns have an id that starts with '${start}': ${ids}`);
  }
  const campaign = await store.campaign(one.id);
  if (campaign === null) throw new InputError(`no campaign ${start}`);
  return campaign;
}

interface Submission {
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  readonly spec: CampaignSpec;
}

/** Submits a campaign and prints its id. */
export async function submit(
  store: JobStore,
  { spec, ...campaign }: Submission,
  { priority = 0, json }: RemoteArguments & { readonly json: boolean },
): Promise<void> {
  const before = await store.submit({
    ...campaign,
    version: JOB_VERSION,
    spec: JSON.stringify(spec),
    priority,
  });
  if (json) return;
  printError(`campaign ${shownId(campaign.id)}${before === null ? '' : `, was ${before} before`}`);
  if ((await store.workers()) === 0) printError('no worker is connected: orrery worker --pg …');
}

/** A campaign that this program can continue. Throws `InputError` or `CampaignError`. */
export async function attachedCampaign(
  store: JobStore,
  start: string,
  kind: string,
): Promise<{ readonly id: string; readonly spec: CampaignSpec }> {
  const campaign = await campaignOf(store, start);
  if (campaign.kind !== kind) {
    throw new InputError(`campaign ${start} is a ${campaign.kind}: orrery ${campaign.kind}`);
  }
  if (campaign.version !== JOB_VERSION) {
    throw new InputError(
      `campaign ${start} is of ${campaign.version}; this program is ${JOB_VERSION}`,
    );
  }
  if (campaign.status === 'cancelled' || campaign.status === 'failed') {
    const why = campaign.error === null ? '' : `: ${campaign.error}`;
    throw new CampaignError(`the campaign is ${campaign.status}${why}`, {
      hint: 'submit it again to run what is missing',
    });
  }
  return { id: campaign.id, spec: JSON.parse(campaign.spec) as CampaignSpec };
}
