/** Runs a worker of campaigns with the pools of this machine. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { countText } from '../../base/count-text.ts';
import { storedArena, type ArenaTask } from '../../campaigns/economic-jobs.ts';
import { FileCache } from '../../campaigns/file-cache.ts';
import { storedBatch, type BatchTask } from '../../campaigns/fuzz-jobs.ts';
import { runTrialJob, type PackedTask } from '../../campaigns/trial-jobs.ts';
import { CampaignWorker } from '../../campaigns/worker.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { shownAddress } from '../../postgres/address.ts';
import type { Job } from '../../postgres/jobs/job-store.ts';
import { TrialPool } from '../../search/workers/trial-pool.ts';
import { isInterrupted, print, printError, printJson } from '../cli-support.ts';
import { ExhaustPool } from '../exhaust/exhaust-pool.ts';
import { FuzzPool } from '../fuzz/pool.ts';
import { handlerLimitMs, type HandlerLimitArguments } from '../handler-limit.ts';
import { JOB_VERSION, withCampaigns } from './open-campaigns.ts';
import { addressOf, cacheFolder } from './remote-options.ts';

const POLL_MS = 50;
/** Digits that make the names of two workers of one process id differ. */
const ID_DIGITS = 8;

export interface WorkerArguments extends HandlerLimitArguments {
  readonly pg: string | undefined;
  readonly workers: number;
  readonly cache: string | undefined;
  readonly data: readonly string[];
  readonly 'lease-ms': number;
  readonly attempts: number;
  readonly 'idle-seconds': number | undefined;
  readonly json: boolean;
}

export async function runWorker(args: WorkerArguments): Promise<void> {
  const { workers, data, json, attempts: maxAttempts, 'lease-ms': leaseMs } = args;
  const limitMs = handlerLimitMs(args['handler-limit']);
  const folder = cacheFolder(args.cache);
  await makeFolder(folder);
  await withCampaigns(args.pg, async (store) => {
    const cache = new FileCache(folder, store.files, data);
    const pools = new Pools(workers, limitMs);
    const idle = args['idle-seconds'];
    const worker = new CampaignWorker({
      ...{ store, cache, version: JOB_VERSION, slots: workers },
      id: `${hostname()}:${String(process.pid)}:${randomUUID().slice(0, ID_DIGITS)}`,
      limits: { leaseMs, maxAttempts },
      execute: (job) => pools.execute(job, cache),
      stopped: isInterrupted,
      idleLimitMs: idle === undefined ? null : idle * 1000,
      onNote: printError,
    });
    if (!json) print(`worker of ${shownAddress(addressOf(args.pg))}: ${countText(workers, 'job')}`);
    try {
      const totals = await worker.run();
      if (json) printJson(totals);
      else print(`${countText(totals.done, 'job')} done, ${String(totals.failed)} failed`);
    } finally {
      await pools.close();
    }
  });
}

/** Processes for trials and threads for fuzzing, which start with the first job of their kind. */
class Pools {
  private readonly workers: number;
  private readonly limitMs: number | null;
  private trials: TrialPool | null = null;
  private fuzz: FuzzPool | null = null;
  private exhaust: ExhaustPool | null = null;
  private readonly poll: NodeJS.Timeout;

  constructor(workers: number, limitMs: number | null) {
    this.workers = workers;
    this.limitMs = limitMs;
    // A thread within a batch does not see the interrupt.
    this.poll = setInterval(() => {
      if (!isInterrupted()) return;
      void this.fuzz?.close();
      void this.exhaust?.close();
    }, POLL_MS);
  }

  async execute({ kind, task }: Job, cache: FileCache): Promise<string | null> {
    switch (kind) {
      case 'trial': {
        this.trials ??= new TrialPool(this.workers, isInterrupted, this.limitMs);
        const result = await runTrialJob(JSON.parse(task) as PackedTask, cache, this.trials.runJob);
        return result === null ? null : JSON.stringify(result);
      }
      case 'batch': {
        this.fuzz ??= new FuzzPool(this.workers);
        const { plan, from, to } = JSON.parse(task) as BatchTask;
        const result = this.fuzz.runBatch(plan, from, to, Infinity);
        return unlessInterrupted(result.then((batch) => JSON.stringify(storedBatch(batch))));
      }
      case 'arena': {
        this.fuzz ??= new FuzzPool(this.workers);
        const { options, arena, maxPlans } = JSON.parse(task) as ArenaTask;
        const result = this.fuzz.searchArena(options, arena, maxPlans);
        return unlessInterrupted(result.then((found) => JSON.stringify(storedArena(found))));
      }
      case 'expansion':
        this.exhaust ??= new ExhaustPool(this.workers);
        return unlessInterrupted(this.exhaust.expandJob(task));
      default:
        throw new Error(`this worker knows no jobs of kind ${kind}`);
    }
  }

  async close(): Promise<void> {
    clearInterval(this.poll);
    await Promise.all([this.trials?.close(), this.fuzz?.close(), this.exhaust?.close()]);
  }
}

/** Null if the threads were ended by an interrupt. */
async function unlessInterrupted(result: Promise<string>): Promise<string | null> {
  try {
    return await result;
  } catch (error) {
    if (isInterrupted()) return null;
    throw error;
  }
}
