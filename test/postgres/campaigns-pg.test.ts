/** Campaigns over PostgreSQL: equal files for any number of workers, and under faults. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { Command, hashesOf, type Ended } from './campaign-processes.ts';
import { Cluster } from './cluster.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const DATA = join(root, 'data', 'btcusdt-20240808');
const STRATEGY = join(root, 'examples/strategies/sma-cross.ts');
const LEASE_MS = 1500;

let cluster: Cluster;
let admin: pg.Client;
let database: string;
let scratch: string;
let started: Command[];
let databases = 0;
let caches = 0;

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
  started = [];
  scratch = mkdtempSync(join(tmpdir(), 'orrery-campaign-'));
  await admin.query(`create database campaigns_${databases}`);
  database = cluster.address(`campaigns_${databases}`);
});
afterEach(async () => {
  for (const command of started) {
    command.kill('SIGCONT');
    command.kill('SIGKILL');
    await command.ended;
  }
  rmSync(scratch, { recursive: true, force: true });
});

function orrery(...args: string[]): Command {
  const command = new Command(
    args,
    { ORRERY_PG: database, ORRERY_STATE: join(scratch, 'state') },
    scratch,
  );
  started.push(command);
  return command;
}

const worker = (slots = 1, ...more: string[]): Command =>
  orrery(
    ...['worker', '--workers', String(slots), '--lease-ms', String(LEASE_MS)],
    ...['--cache', join(scratch, `cache-${String(caches++)}`), ...more],
  );

const SEARCH = [
  ...[STRATEGY, '--data', DATA, '--to', '2024-08-08T23:55:20Z'],
  ...['--objective', 'totalReturn', '--no-ledger', '--no-check'],
];
const GRID = ['--vary', 'fast=3:5:2', '--vary', 'slow=8:12:4', '--method', 'grid'];
const sweep = (...more: string[]): Command => orrery('sweep', ...SEARCH, ...GRID, ...more);

async function query<R extends pg.QueryResultRow>(text: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  try {
    return (await client.query<R>(text)).rows;
  } finally {
    await client.end();
  }
}

async function succeeds(command: Command): Promise<Ended> {
  const ended = await command.ended;
  expect(ended, ended.err).toMatchObject({ code: 0 });
  return ended;
}

test('a sweep has the same files on this machine and on workers elsewhere', async () => {
  await succeeds(sweep('--workers', '1', '--out', 'out'));
  const here = hashesOf(join(scratch, 'out'));
  rmSync(join(scratch, 'out'), { recursive: true });
  worker(2);
  await succeeds(sweep('--pg', database, '--out', 'out'));
  expect(hashesOf(join(scratch, 'out'))).toEqual(here);
  expect(await query('select status from orrery_jobs.campaigns')).toEqual([{ status: 'done' }]);
});
