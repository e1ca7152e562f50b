/**
 * `npm run prove -- --only campaigns`: campaigns of every kind at the same time. Their files are
 * those of one machine with 1, 2 and 8 workers, and with 8 workers of which 20 are killed and 5 are
 * paused for longer than their lease, while the database crashes once and its disk is full once,
 * and the cache of one worker is on a full disk. Full disks are small tmpfs mounts: a tablespace
 * that holds the database, filled by a file for some seconds, and a cache folder. Needs root and
 * PostgreSQL. Runs for ORRERY_CAMPAIGN_SECONDS [600]; the next call continues with the step that is
 * missing.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { Command, hashesOf, type Ended } from '../campaign-processes.ts';
import { Cluster, serverUser } from '../cluster.ts';
import { sleep } from '../server-process.ts';

const LEASE_MS = 2000;
const WORKERS = 8;
const KILLS = 20;
const PAUSES = 5;
const FAULT_EVERY_MS = 700;
const FULL_MS = 6000;
const DATABASE_MB = 192;

const root = fileURLToPath(new URL('../../../', import.meta.url));
const path = join(root, 'reports', 'prove', 'campaigns.json');
/** Hashes of files of the steps so far. */
const kept = join(root, 'dist', '.prove', 'campaigns.json');
const seconds = Number(process.env['ORRERY_CAMPAIGN_SECONDS'] ?? 600);
const scratch = mkdtempSync(join(tmpdir(), 'orrery-campaigns-'));
const mounts: string[] = [];

const STRATEGY = join(root, 'examples/strategies/sma-cross.ts');
const DATA = join(root, 'data', 'btcusdt-20240808');
const SEARCH = [
  STRATEGY,
  '--data',
  DATA,
  '--no-ledger',
  '--no-check',
  '--objective',
  'totalReturn',
];

/** Command lines by kind; each writes into a folder of its name. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  sweep: [
    ...['sweep', ...SEARCH, '--to', '2024-08-08T23:55:20Z', '--method', 'tpe', '--trials', '16'],
    ...['--vary', 'fast=3:9:1', '--vary', 'slow=10:30:1', '--out', 'sweep'],
  ],
  walkforward: [
    ...['walkforward', ...SEARCH, '--to', '2024-08-08T23:56:00Z', '--method', 'grid'],
    ...['--vary', 'fast=3:5:2', '--vary', 'slow=8:12:4', '--train', '20s', '--test', '20s'],
    ...['--out', 'walkforward'],
  ],
  fuzz: ['fuzz', '--seed', 'pg', '--runs', '64', '--commands', '200', '--out', 'fuzz'],
  economic: ['economic', '--plans', '450', '--seed', '3', '--journal', 'economic/best'],
  exhaust: [
    ...['exhaust', '--world', 'money', '--depth', '3', '--oracle-depth', '2', '--sample', '0'],
    ...['--out', 'exhaust'],
  ],
};

interface Files {
  /** By name in the folder of the kind. */
  readonly [name: string]: string;
}
type Results = Readonly<Record<string, Files>>;

let cluster: Cluster;
let disk = '';
let databases = 0;
let database = '';

function mount(megabytes: number): string {
  const folder = mkdtempSync(join(scratch, 'disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]);
  mounts.push(folder);
  return folder;
}

async function query(text: string, address = database): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

/** A new database on the small disk. */
async function createDatabase(): Promise<void> {
  const admin = cluster.address();
  if (databases > 0) await query(`drop database campaigns_${databases} with (force)`, admin);
  databases += 1;
  await query(`create database campaigns_${databases} tablespace small`, admin);
  database = cluster.address(`campaigns_${databases}`);
}

function orrery(args: readonly string[], folder: string, more: readonly string[] = []): Command {
  const state = { ORRERY_PG: database, ORRERY_STATE: join(scratch, 'state') };
  return new Command([...args, ...more], state, folder);
}

let caches = 0;
const started: Command[] = [];
function startWorker(cache = join(scratch, `cache-${String(caches++)}`)): Command {
  const lease = ['--lease-ms', String(LEASE_MS), '--attempts', '30'];
  const worker = orrery(['worker', '--workers', '1', ...lease, '--cache', cache], scratch);
  started.push(worker);
  return worker;
}

/** Runs all campaigns in a folder of their own; the options decide where. */
async function runAll(name: string, options: readonly string[]): Promise<Results> {
  const folder = join(scratch, name);
  mkdirSync(folder);
  const results: Record<string, Files> = {};
  const ended = await Promise.all(
    Object.entries(KINDS).map(async ([kind, line]): Promise<[string, Ended]> => [
      kind,
      await orrery(line, folder, options).ended,
    ]),
  );
  for (const [kind, { code, err }] of ended) {
    if (code !== 0) throw new Error(`${name}: ${kind} ends with ${String(code)}: ${err}`);
    results[kind] = hashesOf(join(folder, kind));
  }
  return results;
}

/** Files that differ; `timeless` leaves out those that hold a duration. */
function differences(a: Results, b: Results, timeless: boolean): string[] {
  const found: string[] = [];
  for (const kind of Object.keys(KINDS)) {
    for (const name of Object.keys({ ...a[kind], ...b[kind] })) {
      if (timeless && (name === 'campaign.json' || name === 'checkpoint.bin')) continue;
      if (a[kind]?.[name] !== b[kind]?.[name]) found.push(`${kind}/${name}`);
    }
  }
  return found;
}

async function stopAll(workers: readonly Command[]): Promise<void> {
  for (const one of workers) {
    one.kill('SIGCONT');
    one.kill('SIGKILL');
    await one.ended;
  }
}

async function quietly(count: number): Promise<Results> {
  await createDatabase();
  const workers = Array.from({ length: count }, () => startWorker());
  try {
    return await runAll(`workers-${count}`, ['--pg', '']);
  } finally {
    await stopAll(workers);
  }
}

/** Kills and pauses workers in turn, and once crashes the database and fills its disk. */
async function disturb(workers: Command[], isOver: () => boolean) {
  const done = { kills: 0, pauses: 0, restarts: 0, fullDisks: 0 };
  for (let turn = 0; !isOver() && (done.kills < KILLS || done.pauses < PAUSES); turn++) {
    await sleep(FAULT_EVERY_MS);
    const at = turn % WORKERS;
    const one = workers[at]!;
    if (turn === 6) {
      await fillDisk();
      done.fullDisks += 1;
    } else if (turn === 12) {
      cluster.stopServer('immediate');
      await sleep(500);
      cluster.startServer();
      done.restarts += 1;
    } else if (turn % 4 === 1 && done.pauses < PAUSES) {
      one.kill('SIGSTOP');
      setTimeout(() => {
        one.kill('SIGCONT');
      }, 2 * LEASE_MS);
      done.pauses += 1;
    } else if (done.kills < KILLS) {
      one.kill('SIGKILL');
      workers[at] = startWorker();
      done.kills += 1;
    }
  }
  return done;
}

async function fillDisk(): Promise<void> {
  const file = join(disk, 'filler');
  try {
    execFileSync('dd', ['if=/dev/zero', `of=${file}`, 'bs=64k'], { stdio: 'ignore' });
  } catch {
    // dd ends with an error when the disk is full.
  }
  await sleep(FULL_MS);
  rmSync(file);
}

async function underFaults(): Promise<StepResult> {
  await createDatabase();
  const workers = Array.from({ length: WORKERS }, () => startWorker());
  const full = mount(1);
  writeFileSync(join(full, 'other'), Buffer.alloc(1_000_000));
  const withoutDisk = startWorker(full);
  let isOver = false;
  const disturbed = disturb(workers, () => isOver);
  try {
    const results = await runAll('faults', ['--pg', '']);
    isOver = true;
    const faults = await disturbed;
    const rows = await query(`select (select count(*) from orrery_jobs.disputes) as disputes,
      (select max(attempts) from orrery_jobs.jobs) as "mostAttempts",
      (select count(*) from orrery_jobs.jobs) as jobs`);
    const noted = started.filter(({ err }) => /no space left/i.test(err)).length;
    withoutDisk.kill('SIGTERM');
    const { code, err } = await withoutDisk.ended;
    const lines = err.trim().split('\n');
    const fullWorker = { code, says: lines.at(-1) ?? '' };
    return { results, log: { ...faults, ...rows[0], noted, fullWorker } };
  } finally {
    isOver = true;
    await stopAll([...workers, withoutDisk]);
  }
}

/** Problems that were found; null if steps are missing. */
async function main(): Promise<string[] | null> {
  cluster = await Cluster.start();
  disk = mount(DATABASE_MB);
  const { uid, gid } = serverUser();
  const space = join(disk, 'space');
  mkdirSync(space);
  execFileSync('chmod', ['755', scratch, disk]);
  chownSync(space, uid, gid);
  await query(`create tablespace small location '${space}'`, cluster.address());
  const state = stateOf();
  const begun = performance.now();
  const step = async (name: string, run: () => Promise<StepResult>): Promise<Results | null> => {
    const known = state.steps[name];
    if (known !== undefined) return known.results;
    if (performance.now() - begun > seconds * 1000) return null;
    const startedMs = performance.now();
    const { results, log } = await run();
    const took = Math.round((performance.now() - startedMs) / 100) / 10;
    state.steps[name] = { results, log: { seconds: took, ...log } };
    mkdirSync(dirname(kept), { recursive: true });
    writeFileSync(kept, JSON.stringify(state));
    return results;
  };
  const here = await step('one machine', async () => ({
    results: await runAll('here', ['--workers', '1']),
  }));
  for (const count of [1, 2, WORKERS]) {
    const plural = count === 1 ? '' : 's';
    await step(`${String(count)} worker${plural}`, async () => ({ results: await quietly(count) }));
  }
  const last = await step('faults', underFaults);
  if (here === null || last === null) {
    const done = Object.keys(state.steps).length;
    console.log(`${String(done)} of 5 steps of campaigns are done; the next call continues`);
    return null;
  }
  return judged(state, here);
}

/** Compares all steps, writes the report, and returns what is wrong. */
function judged({ steps }: State, here: Results): string[] {
  const one = steps['1 worker']?.results ?? {};
  const wrong: string[] = [];
  const report: Record<string, unknown> = {};
  for (const [name, { results, log }] of Object.entries(steps)) {
    const isFirst = name === '1 worker';
    const found = name === 'one machine' ? [] : differences(results, isFirst ? here : one, isFirst);
    const files = Object.values(results).reduce((sum, kind) => sum + Object.keys(kind).length, 0);
    report[name] = { ...log, files, differ: found };
    console.log(`${name}: ${JSON.stringify(report[name])}`);
    wrong.push(...found.map((file) => `${name}: ${file} differs`));
    if (files < 20) wrong.push(`${name}: there are only ${String(files)} files`);
  }
  const faults = steps['faults']?.log as unknown as Faults;
  if (faults.kills < KILLS || faults.pauses < PAUSES || faults.restarts < 1) {
    wrong.push('the campaigns ended before all faults');
  }
  if (faults.disputes !== '0') wrong.push('two results of a job differ');
  if (faults.noted === 0) wrong.push('no worker noticed the full disk of the database');
  const { code, says } = faults.fullWorker;
  if (code !== 2 || !says.endsWith('no space left on the device')) {
    wrong.push('a worker with a full disk did not end with an error that says so');
  }
  writeFileSync(path, `${JSON.stringify(report, null, 1)}\n`);
  return wrong;
}

interface StepResult {
  readonly results: Results;
  readonly log?: object;
}

interface State {
  readonly code: string;
  readonly steps: Record<string, { readonly results: Results; readonly log: object }>;
}

interface Faults {
  readonly kills: number;
  readonly pauses: number;
  readonly restarts: number;
  readonly fullDisks: number;
  readonly disputes: unknown;
  /** Workers that reported the full disk of the database. */
  readonly noted: number;
  /** The worker whose own disk is full. */
  readonly fullWorker: { readonly code: number | null; readonly says: string };
}

/** Steps of an earlier call, if they are of the same code. */
function stateOf(): State {
  const hash = createHash('sha256').update(readFileSync(fileURLToPath(import.meta.url)));
  for (const folder of ['src/campaigns', 'src/postgres/jobs']) {
    for (const name of readdirSync(join(root, folder)).sort()) {
      hash.update(readFileSync(join(root, folder, name)));
    }
  }
  const code = hash.digest('hex');
  const saved = existsSync(kept) ? (JSON.parse(readFileSync(kept, 'utf8')) as State) : null;
  return saved?.code === code ? saved : { code, steps: {} };
}

let wrong: string[] | null;
try {
  wrong = await main();
} finally {
  cluster!.stop();
  for (const folder of mounts) execFileSync('umount', ['-l', folder]);
  rmSync(scratch, { recursive: true, force: true });
}
if (wrong === null) process.exit(0);
for (const text of wrong) console.log(`UNPROVED ${text}`);
const text = wrong.length === 0 ? 'all files are equal' : `${String(wrong.length)} FAIL`;
console.log(`campaigns of ${String(Object.keys(KINDS).length)} kinds: ${text}`);
process.exit(wrong.length === 0 ? 0 : 1);
