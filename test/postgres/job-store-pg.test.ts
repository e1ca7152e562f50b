/** Jobs of campaigns: shares, leases, attempts, versions, results that differ, files. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FileCache } from '../../src/campaigns/file-cache.ts';
import { identityOf, sha256Of } from '../../src/campaigns/job-id.ts';
import { filesOf } from '../../src/campaigns/inputs.ts';
import { RemoteJobs } from '../../src/campaigns/remote-jobs.ts';
import { runTrialJob, type PackedTask } from '../../src/campaigns/trial-jobs.ts';
import { CampaignWorker } from '../../src/campaigns/worker.ts';
import type { BatchTask } from '../../src/campaigns/fuzz-jobs.ts';
import type { CampaignPlan } from '../../src/fuzz/campaign.ts';
import { JobStore, type Job } from '../../src/postgres/jobs/job-store.ts';
import { parseManifest } from '../../src/tape/manifest.ts';
import { plannedOf, planOf, RECORDED_FROM_US } from '../run-plan/plans.ts';
import { Cluster } from './cluster.ts';

const DATA = fileURLToPath(new URL('../../data/btcusdt-20240808', import.meta.url));
const VERSION = 'semantics 1, orrery test';
const LIMITS = { leaseMs: 60_000, maxAttempts: 3 };
const PLAN: CampaignPlan = {
  ...{ seed: 's', profile: 'all', commands: null, oracle: true, every: 64 },
};

const POOL = new URL('../../dist/search/workers/trial-pool.js', import.meta.url).href;
const LOOP = `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: 'loop', parameters: {}, create: () => ({
  onBook() { for (;;); },
}) });
`;

let cluster: Cluster;
let admin: pg.Client;
let client: pg.Client;
let store: JobStore;
let folder: string;
let databases = 0;
let stopped = false;

beforeAll(async () => {
  cluster = await Cluster.start();
  admin = new pg.Client({ connectionString: cluster.address() });
  admin.on('error', () => undefined);
  await admin.connect();
});
afterAll(async () => {
  await admin.end();
  cluster.stop();
});
beforeEach(async () => {
  databases += 1;
  stopped = false;
  folder = mkdtempSync(join(tmpdir(), 'orrery-jobs-'));
  await admin.query(`create database jobs_${databases}`);
  const address = cluster.address(`jobs_${databases}`);
  store = await JobStore.open({ address, onTrouble: () => undefined, stopped: () => stopped });
  client = new pg.Client({ connectionString: address });
  await client.connect();
});
afterEach(async () => {
  await store.close();
  await client.end();
  rmSync(folder, { recursive: true, force: true });
});

async function campaign(id: string, { jobs = 0, priority = 0, version = VERSION } = {}) {
  const work = { kind: 'fuzz', plan: PLAN, runs: 8 * jobs };
  const spec = JSON.stringify({ work, args: {}, paths: {} });
  const before = await store.submit({ id, kind: 'fuzz', title: id, version, spec, priority });
  await store.want(
    id,
    Array.from({ length: jobs }, (_, place) => jobOf(`${id}-${String(place)}`, place)),
  );
  return before;
}

const jobOf = (id: string, place: number) => ({ id, place, kind: 'batch', task: '{}' });
const claim = (worker: string, version = VERSION) => store.claim(worker, version, LIMITS);

async function claimed(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push((await claim('w'))?.id ?? 'none');
  return ids;
}

const expireLeases = () =>
  client.query("update orrery_jobs.jobs set lease_until = 'epoch' where status = 'leased'");

/** A second store, because the first one looks for ended leases now and then only. */
async function claimAfterExpiry(worker: string): Promise<Job | null> {
  await expireLeases();
  const other = await JobStore.open({
    address: cluster.address(`jobs_${databases}`),
    ...{ onTrouble: () => undefined, stopped: () => false },
  });
  try {
    return await other.claim(worker, VERSION, LIMITS);
  } finally {
    await other.close();
  }
}

describe('turns', () => {
  test('campaigns have equal shares, and each its jobs in their order', async () => {
    await campaign('a', { jobs: 4 });
    await campaign('b', { jobs: 2 });
    expect(await claimed(7)).toEqual(['a-0', 'b-0', 'a-1', 'b-1', 'a-2', 'a-3', 'none']);
  });

  test('a higher priority goes first, also if it is raised later', async () => {
    await campaign('a', { jobs: 2 });
    await campaign('b', { jobs: 2, priority: 1 });
    expect(await claimed(1)).toEqual(['b-0']);
    await store.setPriority('a', 2);
    expect(await claimed(3)).toEqual(['a-0', 'a-1', 'b-1']);
  });

  test('jobs of a cancelled campaign do not run, unless another one wants them', async () => {
    await campaign('a', { jobs: 3 });
    await campaign('b');
    await store.want('b', [jobOf('a-1', 0)]);
    await store.end('a', 'cancelled', null);
    expect(await claimed(2)).toEqual(['a-1', 'none']);
    // Submitted again, it goes on with the rest.
    expect(await campaign('a')).toBe('cancelled');
    expect(await claimed(3)).toEqual(['a-0', 'a-2', 'none']);
  });

  test('a job goes on for another campaign if its own ends without a hand-over', async () => {
    const task = { plan: PLAN, from: 0, to: 8 };
    const id = identityOf(VERSION, 'batch', task);
    await campaign('a');
    await store.want('a', [jobOf(id, 0)]);
    await campaign('b');
    const jobs = new RemoteJobs({ store, campaign: 'b', version: VERSION, stopped: () => stopped });
    const result = jobs.run('batch', task);
    const wanted = "select from orrery_jobs.wanted where campaign = 'b'";
    await expect.poll(async () => (await client.query(wanted)).rowCount).toBe(1);
    // As if the process that ends the campaign were killed, or did not see that `b` wants the job.
    await client.query("update orrery_jobs.campaigns set status = 'failed' where id = 'a'");
    await expect.poll(async () => (await claim('w'))?.id).toBe(id);
    await store.complete('w', id, '{"x":1}');
    expect(await result).toBe('{"x":1}');
  });

  test('a campaign that has ended, or that wants other jobs, adopts none', async () => {
    await campaign('a', { jobs: 2 });
    await campaign('b');
    await campaign('c');
    await store.want('b', [jobOf('a-0', 0)]);
    await client.query("update orrery_jobs.campaigns set status = 'failed' where id in ('a', 'b')");
    await store.adopt('b');
    await store.adopt('c');
    expect(await claim('w')).toBeNull();
  });

  test('workers of one version do not get jobs of another', async () => {
    await campaign('a', { jobs: 1, version: 'semantics 0, orrery test' });
    expect(await claim('w')).toBeNull();
    expect((await claim('w', 'semantics 0, orrery test'))?.id).toBe('a-0');
  });

  test('one job is claimed once by many at the same time', async () => {
    await campaign('a', { jobs: 20 });
    const stores = await Promise.all(
      Array.from({ length: 4 }, () =>
        JobStore.open({
          address: cluster.address(`jobs_${databases}`),
          ...{ onTrouble: () => undefined, stopped: () => false },
        }),
      ),
    );
    const found: string[] = [];
    const claimAll = async (one: JobStore, name: string): Promise<void> => {
      // Another worker may hold the row that this one would take.
      for (let misses = 0; misses < 20;) {
        const job = await one.claim(name, VERSION, LIMITS);
        if (job === null) misses += 1;
        else found.push(job.id);
      }
    };
    await Promise.all(stores.map((one, i) => claimAll(one, `w${String(i)}`)));
    await Promise.all(stores.map((one) => one.close()));
    expect(found).toHaveLength(20);
    expect(new Set(found).size).toBe(20);
  });
});

describe('leases and attempts', () => {
  test('a job whose lease ran out goes to another worker; both may store the same', async () => {
    await campaign('a', { jobs: 1 });
    await claim('slow');
    expect((await claimAfterExpiry('quick'))?.attempts).toBe(2);
    expect(await store.renew('slow', ['a-0'], 1000)).toEqual([]);
    expect(await store.renew('quick', ['a-0'], 1000)).toEqual(['a-0']);
    expect(await store.complete('slow', 'a-0', '{"x":1}')).toBe('first');
    expect(await store.complete('quick', 'a-0', '{"x":1}')).toBe('same');
    expect((await store.status('a'))?.status).toBe('running');
  });

  test('a second result that differs in one byte fails every campaign that wants it', async () => {
    await campaign('a', { jobs: 1 });
    await campaign('b');
    await store.want('b', [jobOf('a-0', 0)]);
    await claim('one');
    await store.complete('one', 'a-0', '{"x":1}');
    await store.end('b', 'done', null);
    expect(await store.complete('two', 'a-0', '{"x":2}')).toBe('differs');
    for (const id of ['a', 'b']) {
      expect(await store.status(id)).toMatchObject({ status: 'failed' });
    }
    const { rows } = await client.query('select * from orrery_jobs.disputes');
    expect(rows).toMatchObject([{ job: 'a-0', first_worker: 'one', second_worker: 'two' }]);
    expect(await store.ended(['a-0'])).toMatchObject([{ result: '{"x":1}' }]);
  });

  test('workers that are lost count as attempts, and then the job is set aside', async () => {
    await campaign('a', { jobs: 1 });
    await claim('w1');
    await claimAfterExpiry('w2');
    await claimAfterExpiry('w3');
    expect(await claimAfterExpiry('w4')).toBeNull();
    const [job] = await store.ended(['a-0']);
    expect(job).toMatchObject({ result: null, error: expect.stringContaining('w3') as string });
  });

  test('a worker that stops returns its jobs without an attempt', async () => {
    await campaign('a', { jobs: 1 });
    await claim('w1');
    await store.release('w1');
    expect(await claim('w2')).toMatchObject({ id: 'a-0', attempts: 1 });
  });
});

describe('a worker', () => {
  const run = (execute: (job: Job) => Promise<string | null>, more: object = {}) =>
    new CampaignWorker({
      ...{ store, version: VERSION, slots: 2, limits: LIMITS, execute, id: 'w' },
      cache: new FileCache(folder, store.files),
      stopped: () => stopped,
      idleLimitMs: 300,
      onNote: () => undefined,
      ...more,
    }).run();

  const batch = (job: Job) => {
    const { from, to } = JSON.parse(job.task) as BatchTask;
    return { from, to, commands: to - from, counts: {}, failed: null };
  };

  test('drives a campaign to its end', async () => {
    await store.submit({
      ...{ id: 'a', kind: 'fuzz', title: 'a', version: VERSION, priority: 0 },
      spec: JSON.stringify({ work: { kind: 'fuzz', plan: PLAN, runs: 20 }, args: {}, paths: {} }),
    });
    const totals = await run((job) => Promise.resolve(JSON.stringify(batch(job))));
    expect(totals).toEqual({ done: 3, failed: 0, repeated: 0 });
    expect(await store.list()).toMatchObject([{ status: 'done', jobs: 3, done: 3 }]);
    const { rows } = await client.query(
      'select sum(commands)::integer as commands from orrery_jobs.fuzz_batches',
    );
    expect(rows).toEqual([{ commands: 20 }]);
  });

  test('sets a poison job aside with its error; all others run', async () => {
    await store.submit({
      ...{ id: 'a', kind: 'fuzz', title: 'a', version: VERSION, priority: 0 },
      spec: JSON.stringify({ work: { kind: 'fuzz', plan: PLAN, runs: 40 }, args: {}, paths: {} }),
    });
    const limits = { ...LIMITS, maxAttempts: 2 };
    const poisoned = (job: Job): Promise<string> => {
      const result = batch(job);
      return result.from === 8
        ? Promise.reject(new Error('out of memory'))
        : Promise.resolve(JSON.stringify(result));
    };
    await run(poisoned, { limits });
    expect(await store.list()).toMatchObject([
      {
        status: 'failed',
        done: 4,
        setAside: 1,
        error: expect.stringContaining('memory') as string,
      },
    ]);
    // Submitted again, the job has new attempts.
    await store.submit({
      ...{ id: 'a', kind: 'fuzz', title: 'a', version: VERSION, priority: 0, spec: '' },
    });
    await run((job) => Promise.resolve(JSON.stringify(batch(job))));
    expect(await store.list()).toMatchObject([{ status: 'done', done: 5, setAside: 0 }]);
  });

  /** A campaign that nothing drives, with these trials as jobs. */
  async function trials(tasks: Readonly<Record<string, object>>): Promise<void> {
    await campaign('a');
    await client.query(
      "update orrery_jobs.campaigns set driver = 'test', driver_until = 'infinity'",
    );
    const jobs = Object.entries(tasks).map(([id, task], place) => ({
      ...{ id, place, kind: 'trial', task: JSON.stringify(task) },
    }));
    await store.want('a', jobs);
  }

  const trialOf = (plan: object) => ({ plan, parameters: {}, objective: 'sharpe', options: {} });
  const endedOf = (...ids: string[]) =>
    store.ended(ids).then((jobs) => new Map(jobs.map((job) => [job.id, job])));

  test('sets jobs with bad references aside, and goes on', async () => {
    const manifest = readFileSync(join(DATA, 'manifest.json'), 'utf8');
    const [first, second] = filesOf(parseManifest(manifest));
    for (const { name, sha256 } of [first!, second!]) {
      await store.files.put(sha256, [readFileSync(join(DATA, name))]);
    }
    const noName = Buffer.from(manifest.replace(`"${first!.name}"`, '"."'));
    await store.files.put(sha256Of(noName), [noName]);
    await trials({
      dataset: trialOf({ data: 'dataset:x', strategies: [] }),
      feed: trialOf({ feeds: [{ file: 'file:../x' }], strategies: [] }),
      bundle: trialOf({ strategies: [{ bundle: 'none' }] }),
      name: trialOf({ data: `dataset:${sha256Of(noName)}`, strategies: [] }),
      good: trialOf({ strategies: [] }),
    });
    const cache = new FileCache(folder, store.files);
    const ports = { cache, limits: { ...LIMITS, maxAttempts: 1 } };
    const result = { score: 1, error: null, figures: null, returns: [] };
    const totals = await run(async (job) => {
      const task = JSON.parse(job.task) as PackedTask;
      return JSON.stringify(await runTrialJob(task, cache, () => Promise.resolve(result)));
    }, ports);
    expect(totals).toEqual({ done: 1, failed: 4, repeated: 0 });
    const ended = await endedOf('dataset', 'feed', 'bundle', 'name', 'good');
    expect(ended.get('dataset')?.error).toBe('x: is not a SHA-256');
    expect(ended.get('feed')?.error).toBe('../x: is not a SHA-256');
    expect(ended.get('bundle')?.error).toBe('none: is not a SHA-256');
    expect(ended.get('name')?.error).toContain('cannot be the name of a file');
    expect(ended.get('good')?.result).toBe(JSON.stringify(result));
  });

  test('fails a campaign whose strategy is no hash, and goes on', async () => {
    const work = { kind: 'sweep', search: { plan: { strategies: [{ bundle: 'x' }] } } };
    await store.submit({
      ...{ id: 'a', kind: 'sweep', title: 'a', version: VERSION, priority: 0 },
      spec: JSON.stringify({ work, args: {}, paths: {} }),
    });
    expect(await run(() => Promise.resolve(null))).toMatchObject({ failed: 0 });
    expect(await store.status('a')).toEqual({ status: 'failed', error: 'x: is not a SHA-256' });
  });

  test('stores no result for a fault of this machine', async () => {
    const file = join(folder, 'loop.ts');
    writeFileSync(file, LOOP);
    const { bundle, ...planned } = await plannedOf(file);
    const text = Buffer.from(JSON.stringify(bundle));
    await store.files.put(sha256Of(text), [text]);
    const plan = planOf([{ ...planned, bundle }], { toUs: RECORDED_FROM_US + 15_000_000 });
    const packedPlan = { ...plan, strategies: [{ ...planned, bundle: sha256Of(text) }] };
    await trials({
      slow: trialOf(packedPlan),
      files: trialOf({ ...packedPlan, data: join(folder, 'removed') }),
    });
    // The children of a pool are compiled files.
    const { TrialPool } = (await import(
      POOL
    )) as typeof import('../../src/search/workers/trial-pool.ts');
    const pool = new TrialPool(1, () => stopped, 300);
    try {
      const cache = new FileCache(folder, store.files);
      await run(
        async (job) => {
          const task = JSON.parse(job.task) as PackedTask;
          return JSON.stringify(await runTrialJob(task, cache, pool.runJob));
        },
        { cache, slots: 1, limits: { ...LIMITS, maxAttempts: 1 } },
      );
    } finally {
      await pool.close();
    }
    const ended = await endedOf('slow', 'files');
    expect(ended.get('slow')).toMatchObject({ result: null });
    expect(ended.get('slow')?.error).toContain('did not return within');
    expect(ended.get('files')).toMatchObject({ result: null });
    expect(ended.get('files')?.error).toContain('no such file or folder');
  });

  test('ends with the reason when the database refuses it; its campaign goes on', async () => {
    await store.submit({
      ...{ id: 'a', kind: 'fuzz', title: 'a', version: VERSION, priority: 0 },
      spec: JSON.stringify({ work: { kind: 'fuzz', plan: PLAN, runs: 20 }, args: {}, paths: {} }),
    });
    // As of a role that loses a right while its jobs run.
    const rename = (from: string, to: string) =>
      client.query(`alter table orrery_jobs.${from} rename to ${to}`);
    const refused = run(async (job) => {
      await rename('jobs', 'jobs_kept').catch(() => undefined);
      return JSON.stringify(batch(job));
    });
    await expect(refused).rejects.toMatchObject({
      name: 'DatabaseError',
      message: expect.stringMatching(/^postgres:.*"orrery_jobs.jobs" does not exist/) as string,
    });
    await rename('jobs_kept', 'jobs');
    expect(await store.list()).toMatchObject([{ status: 'running', error: null }]);
    await client.query("update orrery_jobs.jobs set lease_until = '-infinity'");
    await client.query("update orrery_jobs.campaigns set driver_until = '-infinity'");
    await new Promise((resolve) => setTimeout(resolve, 600));
    await run((job) => Promise.resolve(JSON.stringify(batch(job))), { id: 'v' });
    expect(await store.list()).toMatchObject([{ status: 'done', jobs: 3, done: 3 }]);
  });

  test('of another version is refused', async () => {
    await campaign('a', { jobs: 1 });
    await expect(run(() => Promise.resolve(null), { version: 'semantics 9' })).rejects.toThrow(
      `the campaigns need ${VERSION}; this worker is semantics 9`,
    );
  });

  test('writes no characters that PostgreSQL refuses in JSON', async () => {
    await campaign('a', { jobs: 1 });
    const text = JSON.stringify({ error: 'a\0b\ud800c\\u0000', from: 0, to: 1, failed: null });
    await run(() => Promise.resolve(text));
    await client.query('select violation, counts from orrery_jobs.fuzz_batches');
    const [ended] = await store.ended(['a-0']);
    const { error } = JSON.parse(ended?.result ?? '') as { error: string };
    expect(error).toBe('a\ufffdb\ufffdc\\u0000');
  });
});

describe('files', () => {
  const content = Buffer.alloc(9_000_000, 'orrery');
  const sha256 = sha256Of(content);

  test('travel in pieces and are kept on disk', async () => {
    await store.files.put(sha256, [content.subarray(0, 5), content.subarray(5)]);
    const { rows } = await client.query('select octet_length(bytes) as n from orrery_jobs.pieces');
    expect(rows.map(({ n }: { n: number }) => n)).toEqual([4_194_304, 4_194_304, 611_392]);
    const path = await new FileCache(folder, store.files).resolve(`file:${sha256}`);
    expect(readFileSync(path).equals(content)).toBe(true);
    // A damaged copy is replaced.
    writeFileSync(path, 'other');
    const again = await new FileCache(folder, store.files).resolve(`file:${sha256}`);
    expect(readFileSync(again).equals(content)).toBe(true);
  });

  test('with another hash, or missing, are refused', async () => {
    await store.files.put(sha256, [Buffer.from('other')]);
    const cache = new FileCache(folder, store.files);
    await expect(cache.resolve(`file:${sha256}`)).rejects.toThrow('does not have this hash');
    await expect(cache.resolve(`file:${'0'.repeat(64)}`)).rejects.toThrow('neither in the');
    await expect(cache.resolve('file:../../etc/passwd')).rejects.toThrow('is not a SHA-256');
    const manifest = readFileSync(join(DATA, 'manifest.json'), 'utf8');
    const outside = Buffer.from(manifest.replace(/"name": "[^"]*parquet"/, '"name": "../../../x"'));
    expect(outside.toString()).not.toBe(manifest);
    await store.files.put(sha256Of(outside), [outside]);
    await expect(cache.resolve(`dataset:${sha256Of(outside)}`)).rejects.toThrow(
      'leaves the folder',
    );
  });
});
