/** Campaigns over PostgreSQL: equal files for any number of workers, and under faults. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { Command, hashesOf, type Ended } from './campaign-processes.ts';
import { Cluster } from './cluster.ts';
import { EFFORT } from '../setup/effort.ts';
import { sleep, until } from './server-process.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const DATA = join(root, 'data', 'btcusdt-20240808');
const STRATEGY = join(root, 'examples/strategies/sma-cross.ts');
const LEASE_MS = 1500;
/** Numbers of workers; more in `npm run prove`. */
const WORKERS = EFFORT === 1 ? [2] : [1, 2, 8];
/** Faults of one campaign in `npm run prove`. */
const FAULTS = { kills: 20, pauses: 5, restarts: 2 };

let cluster: Cluster;
let database: string;
let scratch: string;
let started: Command[];
let databases = 0;
let caches = 0;

beforeAll(async () => {
  cluster = await Cluster.start();
});
afterAll(() => {
  cluster.stop();
});
beforeEach(async () => {
  started = [];
  scratch = mkdtempSync(join(tmpdir(), 'orrery-campaign-'));
  await createDatabase();
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

/** A database without campaigns. */
async function createDatabase(): Promise<void> {
  databases += 1;
  database = cluster.address();
  await query(`create database campaigns_${databases}`);
  database = cluster.address(`campaigns_${databases}`);
}

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

test.each(WORKERS)('a sweep has the same files here and on %i workers elsewhere', async (count) => {
  const search = [...GRID, '--no-robustness', '--out', 'out'];
  await succeeds(orrery('sweep', ...SEARCH, ...search, '--workers', '2'));
  // Two workers here log trials as they end.
  const filesOf = () =>
    Object.entries(hashesOf(join(scratch, 'out'))).filter(([name]) => name !== 'trials.jsonl');
  const here = filesOf();
  expect(here.length).toBeGreaterThan(5);
  rmSync(join(scratch, 'out'), { recursive: true });
  for (let i = 0; i < count; i++) worker();
  const { err } = await succeeds(orrery('sweep', ...SEARCH, ...search, '--pg', database));
  expect(filesOf()).toEqual(here);
  expect(await query('select status from orrery_jobs.campaigns')).toEqual([{ status: 'done' }]);
  const id = /campaign ([0-9a-f]+)/.exec(err)?.[1] ?? '';
  rmSync(join(scratch, 'out'), { recursive: true });
  await succeeds(orrery('report', '--pg', '', id, '--out', 'out'));
  expect(filesOf()).toEqual(here);
  // The folder that the submitter named is not written to, also if the campaign has it stored.
  const stored = "jsonb_set(spec::jsonb, '{args,out}', '\"out\"')::text";
  await query(`update orrery_jobs.campaigns set spec = ${stored}`);
  rmSync(join(scratch, 'out'), { recursive: true });
  await succeeds(orrery('sweep', '--pg', '', '--attach', id));
  expect(Object.keys(hashesOf(join(scratch, 'reports', `sweep-${id}`)))).toContain('sweep.json');
  expect(existsSync(join(scratch, 'out'))).toBe(false);
});

/** Blocks of SQL in the document that start with the text. */
function blocksOf(start: string): string[] {
  const text = readFileSync(join(root, 'docs', 'SCALING.md'), 'utf8');
  const blocks = [...text.matchAll(/```sql\n([^]*?)```/g)].map(([, sql = '']) => sql);
  return blocks.filter((sql) => sql.startsWith(start));
}

/** Interrupts, kills and pauses workers, and restarts the database, until `over`. */
async function disturb(
  workers: Command[],
  { kills, pauses, restarts }: { kills: number; pauses: number; restarts: number },
  over: () => boolean,
): Promise<Record<'kills' | 'pauses' | 'restarts', number>> {
  const done = { kills: 0, pauses: 0, restarts: 0 };
  let turn = 0;
  while (!over()) {
    await sleep(1500);
    const at = turn % workers.length;
    const one = workers[at];
    if (one === undefined || over()) break;
    turn += 1;
    if (turn % 4 === 2 && done.pauses < pauses) {
      one.kill('SIGSTOP');
      setTimeout(() => {
        one.kill('SIGCONT');
      }, 2.5 * LEASE_MS);
      done.pauses += 1;
    } else if (turn % 4 === 3 && done.restarts < restarts) {
      cluster.stopServer('immediate');
      await sleep(300);
      cluster.startServer();
      done.restarts += 1;
    } else if (done.kills < kills) {
      one.kill('SIGKILL');
      workers[at] = worker();
      done.kills += 1;
    }
  }
  return done;
}

test('kills, pauses, a restart of the database and an interrupt change no file', async () => {
  const trials = ['--method', 'tpe', '--trials', String(EFFORT === 1 ? 10 : 60)];
  const search = [...SEARCH, '--vary', 'fast=3:9:1', '--vary', 'slow=10:30:1', ...trials];
  await succeeds(orrery('sweep', ...search, '--workers', '1', '--out', 'out'));
  const here = hashesOf(join(scratch, 'out'));
  rmSync(join(scratch, 'out'), { recursive: true });
  const workers = [worker(), worker(), worker()];
  const first = orrery('sweep', ...search, '--pg', '', '--out', 'out');
  await until(() => Promise.resolve(/campaign [0-9a-f]+/.test(first.err)));
  const id = /campaign ([0-9a-f]+)/.exec(first.err)?.[1] ?? '';
  const most = EFFORT === 1 ? { kills: 2, pauses: 1, restarts: 1 } : FAULTS;
  let isOver = false;
  const disturbed = disturb(workers, most, () => isOver);
  await sleep(2000);
  first.kill('SIGINT');
  const interrupted = await first.ended;
  expect(interrupted).toMatchObject({ code: 130 });
  expect(interrupted.err).toContain(`--attach ${id}`);
  const attached = await succeeds(orrery('sweep', '--pg', '', '--attach', id, '--out', 'out'));
  isOver = true;
  const faults = await disturbed;
  expect(attached.out).toContain('overfitting');
  expect(hashesOf(join(scratch, 'out'))).toEqual(here);
  expect(faults.kills + faults.pauses + faults.restarts).toBeGreaterThanOrEqual(3);
  expect(await query('select * from orrery_jobs.disputes')).toEqual([]);
});

test('walk-forward analysis and fuzzing have equal files; a campaign is cancelled', async () => {
  const walk = [
    ...['walkforward', STRATEGY, '--data', DATA, '--no-ledger', '--no-check', ...GRID],
    ...['--to', '2024-08-08T23:56:00Z', '--train', '20s', '--test', '20s', '--out', 'walk'],
    ...['--objective', 'totalReturn'],
  ];
  const fuzz = ['fuzz', '--seed', 'pg', '--runs', '10', '--commands', '200', '--out', 'fuzz'];
  await Promise.all([
    succeeds(orrery(...walk, '--workers', '1')),
    succeeds(orrery(...fuzz, '--workers', '1')),
  ]);
  const namesOf = (folder: string) =>
    Object.entries(hashesOf(join(scratch, folder))).filter(([name]) => name !== 'campaign.json');
  const here = [namesOf('walk'), namesOf('fuzz')];
  rmSync(join(scratch, 'walk'), { recursive: true });
  rmSync(join(scratch, 'fuzz'), { recursive: true });
  // Without a worker a campaign waits, and can be cancelled.
  const detached = await succeeds(
    orrery('fuzz', '--seed', 'no', '--runs', '9', '--pg', '', '--detach'),
  );
  expect(detached.err).toContain('no worker is connected');
  const id = /campaign ([0-9a-f]+)/.exec(detached.err)?.[1] ?? '';
  expect((await succeeds(orrery('campaigns', 'cancel', id))).out).toContain('cancelled');
  // The role of the document suffices.
  await query(blocksOf('create role orrery_quant')[0] ?? '');
  worker(2, '--pg', database.replace('postgres@', 'orrery_quant@'));
  await succeeds(orrery(...walk, '--pg', ''));
  await succeeds(orrery(...fuzz, '--pg', ''));
  expect([namesOf('walk'), namesOf('fuzz')]).toEqual(here);
  const state = JSON.parse(readFileSync(join(scratch, 'fuzz', 'campaign.json'), 'utf8')) as object;
  expect(state).toMatchObject({ runs: 10, seconds: 0, failures: [] });
  const listed = JSON.parse((await succeeds(orrery('campaigns', '--json'))).out) as {
    campaigns: { status: string }[];
  };
  expect(listed.campaigns.map(({ status }) => status)).toEqual(['cancelled', 'done', 'done']);
  // Each question of the document has an answer.
  const questions = (blocksOf('-- 1. The ten best')[0] ?? '').split(/;\n?/).slice(0, -1);
  expect(questions).toHaveLength(10);
  const answers: number[] = [];
  for (const question of questions) answers.push((await query(question)).length);
  expect(answers.slice(0, 4).every((rows) => rows > 0)).toBe(true);
  expect(answers[7]).toBe(1);
});

/** Numbers of workers as processes and jobs of each at the same time. */
const SLOTS = [
  [1, 1],
  [2, 1],
  [2, 4],
] as const;
const ECONOMIC = ['economic', '--plans', '150', '--seed', '3', '--json', '--journal', 'best'];
const EXHAUST = [
  ...['exhaust', '--world', 'money', '--depth', '3', '--oracle-depth', '1', '--sample', '0'],
  ...['--out', 'exhaust'],
];

test('economic and exhaustive searches have equal results here and elsewhere', async () => {
  const [economic, exhaust] = await Promise.all([
    succeeds(orrery(...ECONOMIC, '--workers', '1')),
    succeeds(orrery(...EXHAUST, '--workers', '1')),
  ]);
  const journal = hashOf('best');
  // All of the checkpoint, and of the table, but the seconds.
  const checkpointOf = (folder: string) =>
    readFileSync(join(scratch, folder, 'checkpoint.bin'), 'latin1')
      .slice(4)
      .replace(SECONDS, '');
  const tableOf = ({ out }: Ended) => out.replace(/ in [\d.]+ s$/m, '');
  const checkpoint = checkpointOf('exhaust');
  for (const [processes, slots] of SLOTS) {
    await createDatabase();
    const workers = Array.from({ length: processes }, () => worker(slots));
    rmSync(join(scratch, 'best'));
    rmSync(join(scratch, 'exhaust'), { recursive: true });
    const [found, explored] = await Promise.all([
      succeeds(orrery(...ECONOMIC, '--pg', '')),
      succeeds(orrery(...EXHAUST, '--pg', '')),
    ]);
    expect(found.out).toBe(economic.out);
    expect(hashOf('best')).toBe(journal);
    expect(tableOf(explored)).toBe(tableOf(exhaust));
    expect(checkpointOf('exhaust')).toBe(checkpoint);
    for (const one of workers) one.kill('SIGTERM');
    await Promise.all(workers.map(({ ended }) => ended));
  }
  // The pages of a campaign by its id alone.
  const listed = await query<{ id: string; kind: string }>(
    'select id, kind from orrery_jobs.campaigns order by kind',
  );
  expect(listed.map(({ kind }) => kind)).toEqual(['economic', 'exhaust']);
  for (const { id, kind } of listed) {
    const out = join('again', kind);
    await succeeds(orrery('report', id.slice(0, 12), '--pg', '', '--out', out, '--json'));
  }
  expect(hashOf(join('again', 'economic', 'best.orrery'))).toBe(journal);
  expect(checkpointOf(join('again', 'exhaust'))).toBe(checkpoint);
});

const SECONDS = /"seconds":[\d.]+,/;

function hashOf(name: string): string | undefined {
  return hashesOf(scratch)[name];
}
