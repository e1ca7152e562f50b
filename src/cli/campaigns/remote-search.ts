/** `orrery sweep` and `orrery walkforward` on workers elsewhere. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FileCache } from '../../campaigns/file-cache.ts';
import { inputsOf, upload, type InputPaths } from '../../campaigns/inputs.ts';
import { CampaignError, RemoteJobs } from '../../campaigns/remote-jobs.ts';
import { campaignId, packedSearch, unpackedSearch, type SearchWork } from '../../campaigns/spec.ts';
import type { JobStore } from '../../postgres/jobs/job-store.ts';
import type { Window } from '../../search/samplers/windows.ts';
import { loadStrategy } from '../../strategy-loader/sandbox.ts';
import { InputError, Interrupted, isInterrupted, printError } from '../cli-support.ts';
import { handlerLimitMs } from '../handler-limit.ts';
import { checkSearchOptions, mustNameStrategy, type SearchArguments } from '../search-options.ts';
import { searchOf, type Place, type SearchInput } from '../search/plan-search.ts';
import { searchAndReport, type SweepArguments } from '../search/search-and-report.ts';
import { walkAndReport, windowsFor } from '../search/walk-and-report.ts';
import { lengthsOf, type WalkArguments } from '../search/walk-lengths.ts';
import { attachedCampaign, JOB_VERSION, submit, withCampaigns } from './open-campaigns.ts';
import {
  cacheFolder,
  shownId,
  type RemoteArguments,
  type UploadArguments,
} from './remote-options.ts';
import { RemotePool } from './remote-pool.ts';

type Remote = RemoteArguments & UploadArguments;

interface Opened<A> {
  readonly id: string;
  /** Of the command that submitted the campaign, with the output options of this one. */
  readonly args: A;
  readonly input: SearchInput;
  readonly paths: InputPaths;
}

interface Submission {
  readonly input: SearchInput;
  readonly windows: readonly Window[];
  readonly robustness: boolean;
}

export async function remoteSweep(args: SweepArguments & Remote): Promise<void> {
  checkSearchOptions(args);
  await remotely(
    'sweep',
    args,
    async () => ({
      input: await searchOf(args),
      windows: [],
      robustness: args.robustness,
    }),
    ({ args: own, input }, pool, place) => searchAndReport(own, input, pool, place),
  );
}

export async function remoteWalk(args: WalkArguments & Remote): Promise<void> {
  checkSearchOptions(args);
  await remotely(
    'walkforward',
    args,
    async () => {
      const lengths = lengthsOf(args);
      const input = await searchOf(args, Math.min(lengths.trainUs, lengths.testUs));
      return { input, windows: windowsFor(args, lengths, input.search), robustness: false };
    },
    ({ args: own, input }, pool, place) => walkAndReport(own, lengthsOf(own), input, pool, place),
  );
}

async function remotely<A extends SearchArguments & Remote & { out: string | undefined }>(
  kind: SearchWork['kind'],
  args: A,
  plan: () => Promise<Submission>,
  report: (opened: Opened<A>, pool: RemotePool, place: Place) => Promise<void>,
): Promise<void> {
  // Bad options are reported before the database is asked.
  if (args.attach === undefined) mustNameStrategy(args);
  const planned = args.attach === undefined ? await plan() : null;
  await withCampaigns(args.pg, async (store) => {
    const cache = new FileCache(cacheFolder(undefined), store.files);
    const opened =
      planned === null
        ? await attached(store, kind, args, cache)
        : await submitted(store, kind, args, planned);
    if (args.detach) return;
    const { id, paths } = opened;
    const jobs = new RemoteJobs({
      ...{ store, campaign: id, version: JOB_VERSION },
      stopped: isInterrupted,
    });
    const pool = new RemotePool(jobs, paths, cache, handlerLimitMs(opened.args['handler-limit']));
    try {
      await report(opened, pool, {
        isRemote: true,
        continuing: `the campaign goes on: orrery ${kind} --pg … --attach ${shownId(id)}`,
        known: async (count) =>
          opened.args.ledger
            ? ((await store.fixed(id, 'trials', count ?? null)) ?? undefined)
            : undefined,
      });
    } catch (error) {
      if (error instanceof Interrupted || !(error instanceof CampaignError)) throw error;
      throw new CampaignError(error.message, {
        hint: 'the same command runs what failed again; orrery campaigns lists all',
      });
    } finally {
      await jobs.close();
    }
    await store.end(id, 'done', null);
  });
}

async function submitted<A extends SearchArguments & Remote>(
  store: JobStore,
  kind: SearchWork['kind'],
  args: A,
  { input, windows, robustness }: Submission,
): Promise<Opened<A>> {
  const { search, perYear } = input;
  const paths = await inputsOf(search.plan);
  const work: SearchWork = {
    ...{ kind, search: packedSearch(search, paths), perYear },
    ...{ robustness, windows },
  };
  const id = campaignId(JOB_VERSION, work);
  await upload(search.plan, paths, store.files, {
    data: args.upload,
    onFile: (name) => {
      if (!args.json) printError(`sends ${name}`);
    },
  });
  const strategy = search.plan.strategies[0]?.id ?? '';
  const title = `${kind} ${strategy}, ${search.method}`;
  await submit(store, { id, kind, title, spec: { work, args: withoutSecrets(args), paths } }, args);
  return { id, args, input, paths };
}

async function attached<A extends SearchArguments & Remote & { out: string | undefined }>(
  store: JobStore,
  kind: SearchWork['kind'],
  { attach = '', out, json, ledger, ...others }: A,
  cache: FileCache,
): Promise<Opened<A>> {
  const { id, spec } = await attachedCampaign(store, attach, kind);
  const { work, args: stored, paths } = spec;
  if (work.kind !== 'sweep' && work.kind !== 'walkforward') {
    throw new InputError(`campaign ${attach} is of ${work.kind}`);
  }
  const search = await unpackedSearch(work.search, paths, (sha256) => cache.bundle(sha256));
  const bundle = search.plan.strategies[0]?.bundle;
  if (bundle == null) throw new InputError(`campaign ${attach} has no strategy`);
  const { definition } = loadStrategy(bundle);
  const args = { ...others, ...stored, attach, json } as unknown as A;
  return {
    id,
    args: {
      ...args,
      // A path that another machine stored is not written to.
      out: out ?? join('reports', `${kind}-${shownId(id)}`),
      // The ledger is on the machine with the data; the first report fixes its count.
      ledger: ledger && args.ledger && existsSync(search.plan.data ?? ''),
    },
    input: { search, perYear: work.perYear, definition },
    paths,
  };
}

/** Options of one command on one machine; the address of the database has a password. */
const OWN: ReadonlySet<string> = new Set(['pg', 'attach', 'detach', 'out', '_', '$0']);

function withoutSecrets(args: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([name]) => !OWN.has(name)));
}
