/**
 * `npm run bench:campaigns`: trials of one search by 1, 2 and 4 worker processes of one job each, and
 * jobs without work, which cost the database as much as any others. The database, the workers and
 * the command share the machine.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { FileCache } from '../../src/campaigns/file-cache.ts';
import { CampaignWorker } from '../../src/campaigns/worker.ts';
import { JobStore } from '../../src/postgres/jobs/job-store.ts';
import { Command } from '../postgres/campaign-processes.ts';
import { Cluster } from '../postgres/cluster.ts';
import { ROOT } from './http/processes.ts';

const PROCESSES = [1, 2, 4];
const JOBS = Number(process.env['JOBS'] ?? 2000);
const VERSION = 'bench';
const RESULT = JSON.stringify({ text: 'x'.repeat(2000) });
const DATA = join(ROOT, 'data', 'btcusdt-20240808');

const cluster = await Cluster.start();
const scratch = mkdtempSync(join(tmpdir(), 'orrery-bench-'));
let databases = 0;

async function newDatabase(): Promise<string> {
  databases += 1;
  await query(cluster.address(), `create database bench_${databases}`);
  return cluster.address(`bench_${databases}`);
}

async function query(address: string, text: string): Promise<Record<string, string>> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    return (await client.query<Record<string, string>>(text)).rows[0] ?? {};
  } finally {
    await client.end();
  }
}

/** Jobs a second of so many stores, each of which claims and completes one after the other. */
async function emptyJobs(stores: number): Promise<string> {
  const address = await newDatabase();
  const ports = { address, onTrouble: () => undefined, stopped: () => false };
  const first = await JobStore.open(ports);
  const task = JSON.stringify({ text: 'x'.repeat(1000) });
  const spec = JSON.stringify({ work: { kind: 'fuzz' } });
  await first.submit({ id: 'c', kind: 'fuzz', title: 'c', version: VERSION, spec, priority: 0 });
  await first.drive('someone', VERSION, 3_600_000);
  const jobs = Array.from({ length: JOBS }, (_, place) => ({ place, kind: 'batch', task }));
  await first.want(
    'c',
    jobs.map((job) => ({ ...job, id: `job ${String(job.place)}` })),
  );
  const started = performance.now();
  const totals = await Promise.all(
    Array.from({ length: stores }, async (_, i) => {
      const store = await JobStore.open(ports);
      const worker = new CampaignWorker({
        ...{ store, cache: new FileCache(scratch, store.files), version: VERSION, slots: 1 },
        ...{ id: `w${String(i)}`, limits: { leaseMs: 60_000, maxAttempts: 1 } },
        execute: () => Promise.resolve(RESULT),
        ...{ stopped: () => false, idleLimitMs: 0, onNote: () => undefined },
      });
      const { done } = await worker.run();
      await store.close();
      return done;
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  await first.close();
  const done = totals.reduce((sum, one) => sum + one, 0);
  const size = await query(
    address,
    `select ((pg_total_relation_size('orrery_jobs.jobs')
       + pg_total_relation_size('orrery_jobs.wanted')) / ${JOBS})::text as bytes`,
  );
  return `${(done / seconds).toFixed(0)} a second, ${size['bytes'] ?? ''} bytes of tables and indexes each`;
}

/**
 * Trials a second of the rows themselves, from the end of the first quarter on: until then each
 * process compiles, and reads the recording.
 */
async function trials(processes: number): Promise<string> {
  const address = await newDatabase();
  const env = { ORRERY_PG: address, ORRERY_STATE: join(scratch, 'state') };
  const start = (...args: string[]): Command => new Command(args, env, scratch);
  const workers = Array.from({ length: processes }, () => start('worker', '--workers', '1'));
  const search = [
    ...['sweep', join(ROOT, 'examples/strategies/sma-cross.ts'), '--data', DATA, '--pg', ''],
    ...['--vary', 'fast=3:9:1', '--vary', 'slow=10:30:1', '--method', 'grid', '--no-robustness'],
    ...['--objective', 'totalReturn', '--no-ledger', '--no-check', '--out', `out-${processes}`],
  ];
  const { code, err } = await start(...search).ended;
  for (const one of workers) one.kill('SIGTERM');
  for (const one of workers) await one.ended;
  if (code !== 0) throw new Error(err);
  const row = await query(
    address,
    `with steady as (
       select *, row_number() over (order by ended_at) as rank, count(*) over () as jobs
       from orrery_jobs.jobs
     )
     select (count(*) - 1)::text as jobs,
       extract(epoch from max(ended_at) - min(ended_at))::text as seconds,
       avg(extract(epoch from ended_at - started_at))::text as each,
       avg(length(result))::text as result from steady where 4 * rank >= jobs`,
  );
  const { jobs = '', seconds = '', each = '', result = '' } = row;
  return (
    `${(Number(jobs) / Number(seconds)).toFixed(2)} trials a second, ` +
    `${Number(each).toFixed(2)} s each, results of ${Number(result).toFixed(0)} bytes`
  );
}

try {
  for (const count of PROCESSES) console.log(`${String(count)} workers: ${await trials(count)}`);
  for (const count of [1, 4, 16]) {
    console.log(`jobs without work, ${String(count)} at a time: ${await emptyJobs(count)}`);
  }
} finally {
  cluster.stop();
  rmSync(scratch, { recursive: true, force: true });
}
