/**
 * An exchange on a journal in PostgreSQL: the leader is killed, paused and cut off from the
 * database, and no answered command is lost or done twice.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { replayJournal } from '../../src/journal-files/replay-journal.ts';
import { openJournal } from '../../src/journal-files/folder-journal.ts';
import { migrate } from '../../src/postgres/migrations.ts';
import { PostgresNonces } from '../../src/postgres/postgres-nonces.ts';
import { PostgresStore } from '../../src/postgres/postgres-store.ts';
import { Session } from '../../src/postgres/session.ts';
import type { Finding } from '../../src/cli/doctor/finding.ts';
import type { JournalRow } from '../../src/replication/ports.ts';
import { EFFORT } from '../setup/effort.ts';
import { Cluster } from './cluster.ts';
import { Proxy } from './proxy.ts';
import { CLI, ServerProcess, sleep, until } from './server-process.ts';

const ACCOUNT = `0x${'a'.repeat(40)}`;
const LEASE_MS = 900;
/** Losses of a leader in one test; more in `npm run prove`. */
const ROUNDS = EFFORT === 1 ? 2 : 30;
const LOSSES = EFFORT === 1 ? (['kill'] as const) : (['kill', 'pause', 'cut'] as const);
/** Under a virtual clock no timer adds a command between two reads. */
const FLAGS = ['--lease-ms', String(LEASE_MS), '--clock', 'virtual'];

let cluster: Cluster;
let admin: pg.Client;
let journal: string;
let servers: ServerProcess[];
let databases = 0;

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
  servers = [];
  await admin.query(`create database journal_${databases}`);
  journal = cluster.address(`journal_${databases}`);
});
afterEach(async () => {
  for (const { child, ended } of servers) {
    child.kill('SIGCONT');
    child.kill('SIGKILL');
    await ended;
  }
});

async function serve(...flags: string[]): Promise<ServerProcess> {
  const server = await ServerProcess.start(journal, [...FLAGS, ...flags]);
  servers.push(server);
  return server;
}

async function query<R extends pg.QueryResultRow>(text: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: journal });
  await client.connect();
  try {
    return (await client.query<R>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Amounts of the deposits in the journal, in their order. */
async function depositsOf(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-pull-'));
  try {
    await promisify(execFile)(process.execPath, [CLI, 'journal', 'pull', journal, folder]);
    const amounts: string[] = [];
    const source = openJournal(folder);
    for (let frame = source.next(); frame !== null; frame = source.next()) {
      if (frame.kind !== 'command' || frame.command.kind !== 'deposit') continue;
      amounts.push(String(frame.command.amount));
    }
    expect(replayJournal(folder, { verify: true }).mismatch).toBeNull();
    return amounts;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Clients that deposit distinct amounts at whichever server leads, until `stop`. */
function startClients(count: number) {
  const answered: string[] = [];
  const sent: string[] = [];
  let stopped = false;
  const client = async (): Promise<void> => {
    let at = 0;
    while (!stopped) {
      sent.push('');
      const amount = sent.length;
      sent[amount - 1] = String(amount * 1_000_000);
      const server = servers[at % servers.length];
      if (server === undefined) return;
      const status = await server.deposit(ACCOUNT, String(amount)).catch(() => 0);
      if (status === 200) answered.push(String(amount * 1_000_000));
      else {
        at += 1;
        await sleep(5);
      }
    }
  };
  const clients = Array.from({ length: count }, client);
  return {
    answered,
    sent,
    stop: async () => {
      stopped = true;
      await Promise.all(clients);
    },
  };
}

async function expectAllOnce(answered: readonly string[]): Promise<void> {
  const found = await depositsOf();
  expect(new Set(found).size).toBe(found.length);
  const kept = new Set(found);
  expect(answered.filter((amount) => !kept.has(amount))).toEqual([]);
}

/** A server that reaches the database through a proxy of its own. */
async function serveBehindProxy(...flags: string[]): Promise<Proxied> {
  const direct = journal;
  const proxy = await Proxy.start(cluster.port);
  journal = direct.replace(String(cluster.port), String(proxy.port));
  const server = await serve(...flags).finally(() => (journal = direct));
  return { server, proxy };
}

interface Proxied {
  readonly server: ServerProcess;
  readonly proxy: Proxy;
}

test(`${ROUNDS} rounds: a follower takes over from a lost leader, and no answer is lost`, async () => {
  let leader = await serveBehindProxy();
  let follower = await serveBehindProxy('--follow');
  const proxies = [leader.proxy, follower.proxy];
  const clients = startClients(8);
  const takeovers: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await sleep(300);
    const { server: old, proxy } = leader;
    const { server: next } = follower;
    const before = clients.answered.length;
    const loss = LOSSES[round % LOSSES.length];
    if (loss === 'cut') proxy.cut();
    else old.child.kill(loss === 'pause' ? 'SIGSTOP' : 'SIGKILL');
    takeovers.push(await until(() => next.leads()));
    servers = [next];
    // The lost leader is back, and ends by itself.
    if (loss === 'cut') proxy.heal();
    if (loss === 'pause') old.child.kill('SIGCONT');
    if (loss !== 'kill') expect(await old.ended, loss).toBe(1);
    await until(() => Promise.resolve(clients.answered.length > before));
    leader = follower;
    follower = await serveBehindProxy('--follow');
    proxies.push(follower.proxy);
  }
  if (ROUNDS > 2) console.log(`take-overs of ${ROUNDS} rounds: ${takeoverText(takeovers)}`);
  await clients.stop();
  // Of the proof; a machine that runs other tests is slower.
  expect(Math.max(...takeovers)).toBeLessThan(ROUNDS > 2 ? 3000 : 10_000);
  expect(clients.answered.length).toBeGreaterThan(20);
  await expectAllOnce(clients.answered);
  // The leader may add commands meanwhile, so both are asked at a time.
  const hashes = () => Promise.all([leader.server.hash(), follower.server.hash()]);
  let [ahead, behind] = await hashes();
  await until(async () => {
    [ahead, behind] = await hashes();
    return ahead.sequenceNumber === behind.sequenceNumber;
  }).catch(() => undefined);
  expect(behind).toEqual(ahead);
  for (const proxy of proxies) proxy.stop();
});

function takeoverText(ms: readonly number[]): string {
  const sorted = [...ms].sort((a, b) => a - b).map((one) => String(Math.round(one)));
  return `median ${sorted[sorted.length >> 1] ?? ''} ms, worst ${sorted.at(-1) ?? ''} ms`;
}

test('a leader that is paused past its lease answers nothing and ends with the reason', async () => {
  const old = await serve();
  const follower = await serve('--follow');
  const clients = startClients(4);
  await until(() => Promise.resolve(clients.answered.length > 5));
  const socket = new WebSocket(`${old.url.replace('http', 'ws')}/ws`);
  const closed = new Promise<string>((resolve) => {
    socket.on('close', (_code, reason) => {
      resolve(reason.toString());
    });
  });
  await new Promise((resolve) => socket.once('open', resolve));
  old.child.kill('SIGSTOP');
  await until(() => follower.leads());
  await sleep(100);
  const read = old.get('/markets');
  old.child.kill('SIGCONT');
  const status = await read.then((answer) => answer.status).catch(() => 0);
  expect([0, 503]).toContain(status);
  expect(await closed).toMatch(/leadership is lost: epoch/);
  expect(await old.ended).toBe(1);
  expect(old.log).toMatch(/this server stops: leadership is lost/);
  servers = [follower];
  await clients.stop();
  await expectAllOnce(clients.answered);
});

test('a leader that is cut off from the database is replaced, and stops once it is back', async () => {
  const direct = journal;
  const proxy = await Proxy.start(cluster.port);
  try {
    journal = direct.replace(String(cluster.port), String(proxy.port));
    const old = await serve();
    journal = direct;
    const follower = await serve('--follow');
    const clients = startClients(4);
    await until(() => Promise.resolve(clients.answered.length > 5));
    proxy.cut();
    await until(() => follower.leads());
    // It neither answers reads of an old state nor takes commands.
    expect((await old.get('/markets')).status).toBe(503);
    expect(await old.deposit(ACCOUNT, '0.5')).toBe(503);
    proxy.heal();
    expect(await old.ended).toBe(1);
    servers = [follower];
    await clients.stop();
    await expectAllOnce(clients.answered);
  } finally {
    proxy.stop();
  }
});

test('a restart of the database delays answers and loses none', async () => {
  const leader = await serve();
  const clients = startClients(4);
  await sleep(300);
  await admin.end();
  cluster.stopServer('immediate');
  await sleep(300);
  cluster.startServer();
  admin = new pg.Client({ connectionString: cluster.address() });
  admin.on('error', () => undefined);
  await admin.connect();
  const before = clients.answered.length;
  await until(() => Promise.resolve(clients.answered.length > before + 10));
  await clients.stop();
  expect(await leader.leads()).toBe(true);
  await expectAllOnce(clients.answered);
});

test('a follower serves reads with its lag and refuses commands', async () => {
  const leader = await serve('--advertise', 'http://leader.example');
  const follower = await serve('--follow');
  expect(await leader.deposit(ACCOUNT, '7')).toBe(200);
  const { sequenceNumber } = await leader.hash();
  await until(async () => (await follower.hash()).sequenceNumber === sequenceNumber, 2000);
  const { headers } = await follower.get('/markets');
  expect(headers.get('x-orrery-role')).toBe('follower');
  expect(headers.get('x-orrery-place')).toBe(String(sequenceNumber));
  expect(Date.now() - Number(headers.get('x-orrery-time'))).toBeLessThan(60_000);
  expect(Number(headers.get('x-orrery-lag-ms'))).toBeGreaterThanOrEqual(0);
  expect((await leader.get('/markets')).headers.get('x-orrery-role')).toBe('leader');
  expect(await follower.deposit(ACCOUNT, '7')).toBe(503);
  const ready = (await (await follower.get('/readyz')).json()) as Record<string, unknown>;
  expect(ready).toMatchObject({ role: 'follower', leader: 'http://leader.example' });
  expect(await follower.leads()).toBe(false);
});

test('a second leader is refused, and one that ends hands over at once', async () => {
  const leader = await serve('--log-format', 'json');
  await expect(serve()).rejects.toThrow(/is led by .*--follow/);
  const follower = await serve('--follow');
  expect(await leader.stop()).toBe(0);
  expect(await until(() => follower.leads())).toBeLessThan(LEASE_MS);
  expect(leader.log).toContain('SIGTERM: requests end, pending commands are committed"');
});

test('a follower stops at a row that is not what the leader wrote', async () => {
  const leader = await serve();
  await leader.deposit(ACCOUNT, '7');
  await leader.stop();
  // The last row: how commands share rows depends on the speed of the machine.
  const last = '(select max(first_seq) from orrery.journal)';
  await query(`update orrery.journal set chain_hash = repeat('0', 32) where first_seq = ${last}`);
  await expect(serve('--follow')).rejects.toThrow(/row of commands \d+ to \d+ .* replays to/);
});

test('a leader without commands stops when the database has lost rows', async () => {
  const leader = await serve();
  await leader.deposit(ACCOUNT, '7');
  // As a promoted standby that lacks the last commit; the epoch is the same.
  await query(
    'delete from orrery.journal where first_seq = (select max(first_seq) from orrery.journal)',
  );
  expect(await Promise.race([leader.ended, sleep(20_000)])).toBe(1);
  expect(leader.log).toContain('the database has lost committed rows');
});

test('a snapshot shortens the replay of a start', async () => {
  const leader = await serve('--snapshot-every', '5');
  for (let i = 1; i <= 12; i++) await leader.deposit(ACCOUNT, String(i));
  await until(async () => (await query('select seq from orrery.snapshots')).length > 0);
  const { chainHash } = await leader.hash();
  await leader.stop();
  const again = await serve();
  expect(again.log).toMatch(/snapshot of command/);
  expect((await again.hash()).chainHash).toBe(chainHash);
});

test('the roles of docs/SCALING.md suffice, and the journal cannot be changed by them', async () => {
  await (await serve()).stop();
  const page = readFileSync(new URL('../../docs/SCALING.md', import.meta.url), 'utf8');
  const sql = /```sql\n([^`]*)```/.exec(page)![1]!;
  const as = (role: string): string => journal.replace('postgres@', `${role}@`);
  const owner = journal;
  await query(sql);
  try {
    journal = as('orrery_server');
    const leader = await serve('--snapshot-every', '2');
    expect(await leader.deposit(ACCOUNT, '7')).toBe(200);
    expect(await leader.deposit(ACCOUNT, '8')).toBe(200);
    await until(async () => (await query('select seq from orrery.snapshots')).length > 0);
    await leader.stop();
    await expect(query('delete from orrery.journal')).rejects.toThrow(/permission denied/);
    await expect(query('update orrery.journal set epoch = 9')).rejects.toThrow(/permission denied/);
    journal = as('orrery_reader');
    expect(await depositsOf()).toEqual(['7000000', '8000000']);
  } finally {
    journal = owner;
    await query('drop owned by orrery_server, orrery_reader');
    await query('drop role orrery_server, orrery_reader');
  }
});

test('doctor checks the database of --journal', async () => {
  const doctor = async (address: string, ...flags: string[]) => {
    const args = [CLI, 'doctor', '--port', '0', '--json', '--journal', address, ...flags];
    const { stdout } = await promisify(execFile)(process.execPath, args).catch(
      (error: unknown) => error as { stdout: string },
    );
    const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: Finding[] };
    const verdicts = findings.map(
      ({ check, verdict, found }) => [check, `${verdict}: ${found}`] as const,
    );
    return new Map<string, unknown>([['ok', ok], ...verdicts]);
  };
  expect((await doctor(journal)).get('schema')).toBe('ok: the start creates it');
  const leader = await serve();
  await leader.deposit(ACCOUNT, '7');
  await leader.stop();
  const good = await doctor(journal, '--full');
  expect([good.get('ok'), good.get('schema')]).toEqual([true, 'ok: version 1']);
  expect(good.get('journal')).toMatch(/^ok: (\d+ commands), epoch 1, no leader; \1 replayed$/);
  expect(good.get('clock')).toBe('ok: agrees with the database');
  expect(good.has('folder')).toBe(false);
  expect((await doctor(`${journal}_none`)).get('database')).toMatch(/^fail: .* does not exist$/);
  await query('create role reader login; grant usage on schema orrery to reader');
  await query('grant select on all tables in schema orrery to reader');
  await query('alter role reader set synchronous_commit = off');
  const reader = await doctor(journal.replace('postgres@', 'reader@'));
  expect(reader.get('rights')).toMatch(
    /^fail: no insert on orrery.journal, update on orrery.leader/,
  );
  expect(reader.get('durability')).toBe('warn: synchronous_commit is off');
  await query("update orrery.journal set chain_hash = repeat('0', 32) where first_seq = 1");
  expect((await doctor(journal, '--full')).get('journal')).toMatch(/^fail: .* replays to/);
  await query('drop owned by reader');
  await query('drop role reader');
});

test('an address without a user name takes the user of the process, as libpq does', async () => {
  const unnamed = journal.replace('postgres@', '');
  const named = ['USER', 'PGUSER'];
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !named.includes(name)),
  );
  const pull = [CLI, 'journal', 'pull', unnamed, join(tmpdir(), 'orrery-never-written')];
  const failed: unknown = await promisify(execFile)(process.execPath, pull, { env }).catch(
    (error: unknown) => error,
  );
  const { stderr } = failed as { readonly stderr: string };
  expect(stderr).toMatch(/^orrery: postgres:/);
  expect(stderr).not.toContain('no PostgreSQL user name');
});

test('a write that the database confirms with a warning only is not done', async () => {
  const session = new Session({ address: journal, answerMs: 5000, connectMs: 5000 });
  await migrate(session);
  // As of a server that gives up waiting for its synchronous standby.
  await session.run(`create function gives_up() returns trigger language plpgsql as $$
    begin raise warning 'canceling the wait'; perform pg_sleep(0.3); return new; end $$;
    create trigger gives_up before insert or update on orrery.lease
      for each row execute function gives_up();
    create trigger gives_up before insert on orrery.logins
      for each row execute function gives_up()`);
  const change = 'update orrery.lease set beat = beat + 1 returning beat';
  const unconfirmed = session.write('change', change, []).catch((error: unknown) => error);
  await sleep(150);
  expect(await session.write('other', 'select 1 as one', [])).toEqual([{ one: 1 }]);
  expect(await unconfirmed).toMatchObject({
    message: 'the commit is not confirmed: canceling the wait',
  });
  const nonces = new PostgresNonces(session);
  await expect(nonces.use(randomUUID(), 1, 0)).rejects.toThrow('the commit is not confirmed');
  await session.close();
});

test('a server whose clock is ahead leaves the login nonces of the others', async () => {
  const session = new Session({ address: journal, answerMs: 5000, connectMs: 5000 });
  await migrate(session);
  const nonces = new PostgresNonces(session);
  const [old, recent] = [randomUUID(), randomUUID()];
  const nowMs = Date.now();
  const aheadMs = 10 * 60_000;
  await nonces.use(old, nowMs - 3_700_000, nowMs);
  await nonces.use(recent, nowMs + 300_000, nowMs);
  // Enough for a deletion of expired ones.
  for (let i = 0; i < 1000; i++) await nonces.use(randomUUID(), nowMs + aheadMs, nowMs + aheadMs);
  expect(await nonces.use(recent, nowMs + 300_000, nowMs)).toBe(false);
  expect(await nonces.use(old, nowMs, nowMs)).toBe(true);
  await session.close();
});

test('an append holds only for the epoch in force, the next place and the same history', async () => {
  const session = new Session({ address: journal, answerMs: 5000, connectMs: 5000 });
  expect(await migrate(session)).toBe(1);
  expect(await migrate(session)).toBe(0);
  await session.close();
  const store = new PostgresStore({ address: journal, answerMs: 5000 });
  const self = { holder: 'one', address: '' };
  const { lead, end } = await store.poll(0);
  expect([lead.epoch, end.seq]).toEqual([0, 0]);
  const both = await Promise.all([store.takeLead(lead, self), store.takeLead(lead, self)]);
  expect(both.sort()).toEqual([1, null]);
  const bytes = new Uint8Array([1, 2, 3]);
  const row: JournalRow = {
    ...{ firstSeq: 1, lastSeq: 2, epoch: 1, checksum: 7, chainHash: 'aa', bytes },
    header: bytes,
  };
  expect(await store.append({ ...row, epoch: 2 }, end)).toBe(false);
  expect(await store.append(row, { seq: 0, chainHash: 'other' })).toBe(false);
  expect(await store.append(row, end)).toBe(true);
  expect(await store.append(row, end)).toBe(false);
  const next: JournalRow = { ...row, firstSeq: 3, lastSeq: 3, chainHash: 'bb', header: null };
  expect(await store.append(next, { seq: 2, chainHash: 'xx' })).toBe(false);
  expect(await store.beat(1, { seq: 2, chainHash: 'xx' })).toBe(false);
  expect(await store.beat(1, { seq: 3, chainHash: 'aa' })).toBe(false);
  expect(await store.beat(1, { seq: 2, chainHash: 'aa' })).toBe(true);
  expect(await store.takeLead({ ...lead, epoch: 1, beat: 0 }, self)).toBeNull();
  expect(await store.takeLead({ ...lead, epoch: 1, beat: 1 }, self)).toBe(2);
  expect(await store.beat(1, { seq: 2, chainHash: 'aa' })).toBe(false);
  expect(await store.append(next, { seq: 2, chainHash: 'aa' })).toBe(false);
  expect(await store.append({ ...next, epoch: 2 }, { seq: 2, chainHash: 'aa' })).toBe(true);
  const found = await store.poll(0);
  expect(found.rows.map(({ firstSeq, epoch }) => [firstSeq, epoch])).toEqual([
    [1, 1],
    [3, 2],
  ]);
  expect(found.rows[0]).toMatchObject({ checksum: 7, chainHash: 'aa', lastSeq: 2 });
  await store.close();
});
