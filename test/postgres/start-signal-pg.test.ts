/** Signals to a start on a shared journal, and a pull from a database without a journal. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DataFolder } from '../../src/journal-files/data-folder.ts';
import { verifyJournal } from '../../src/journal-files/verify-journal.ts';
import { migrate } from '../../src/postgres/migrations.ts';
import { pullJournal } from '../../src/postgres/pull-journal.ts';
import { Session } from '../../src/postgres/session.ts';
import { Cluster } from './cluster.ts';
import { CLI, ServerProcess, until } from './server-process.ts';

const LEASE_MS = 900;
const FLAGS = ['--lease-ms', String(LEASE_MS), '--clock', 'virtual'];

let cluster: Cluster;
beforeAll(async () => {
  cluster = await Cluster.start();
});
afterAll(() => {
  cluster.stop();
});

test('SIGTERM ends a start whose first commit waits, and a later start leads', async () => {
  const journal = cluster.address();
  const session = new Session({ address: journal, connectMs: LEASE_MS, answerMs: LEASE_MS });
  await migrate(session);
  await session.close();
  const holder = new pg.Client({ connectionString: journal });
  await holder.connect();
  await holder.query('begin');
  await holder.query('lock table orrery.journal in share mode');
  const args = ['serve', '--port', '0', '--metrics-port', 'off', '--journal', journal, ...FLAGS];
  const child = spawn(process.execPath, [CLI, ...args, '--sim-token', 'dev'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const ended = once(child, 'close');
  await until(() => Promise.resolve(log.includes('not committed yet')));
  child.kill('SIGTERM');
  expect((await ended) as unknown[]).toEqual([null, 'SIGTERM']);
  expect(log).toContain('SIGTERM: the start ends before it is complete');
  // It has the lead and gives it up: the next server need not wait for the lease.
  const { rows } = await holder.query<{ holder: string }>('select holder from orrery.lease');
  expect(rows).toEqual([{ holder: '' }]);
  await holder.query('rollback');
  await holder.end();
  const next = await ServerProcess.start(journal, FLAGS);
  expect(await next.leads()).toBe(true);
  expect(await next.stop()).toBe(0);
}, 30_000);

test('a pull from a database without a journal names it', async () => {
  const admin = new pg.Client({ connectionString: cluster.address() });
  await admin.connect();
  await admin.query('create database empty');
  await admin.end();
  const folder = join(tmpdir(), 'orrery-no-pull');
  const pull = pullJournal(cluster.address('empty'), folder);
  await expect(pull).rejects.toThrow(
    /\/empty: has no journal; orrery serve --journal creates one$/,
  );
  expect(existsSync(folder)).toBe(false);
});

test('a pull leaves a folder that another process writes to', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-pull-'));
  const held = await DataFolder.open(folder);
  const partial = join(folder, 'journal-0000000000000001.orrery.partial');
  writeFileSync(partial, 'of another pull');
  await expect(pullJournal(cluster.address(), folder)).rejects.toThrow('in use by process');
  expect(readFileSync(partial, 'utf8')).toBe('of another pull');
  await held.unlock();
  const { commands } = await pullJournal(cluster.address(), folder);
  expect(verifyJournal(folder)).toMatchObject({ isWhole: true, lastSeq: commands });
  expect(existsSync(partial)).toBe(false);
  rmSync(folder, { recursive: true });
});

test('a signal ends a pull that waits for a database, and leaves nothing', async () => {
  const silent = createServer((socket) => socket.on('error', () => undefined).resume());
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const folder = join(tmpdir(), `orrery-waiting-pull-${String(process.pid)}`);
  const stop = new AbortController();
  const connected = once(silent, 'connection');
  const pull = pullJournal(`postgres://postgres@127.0.0.1:${String(port)}/db`, folder, {
    signal: stop.signal,
  });
  pull.catch(() => undefined);
  await connected;
  stop.abort(new Error('interrupted'));
  await expect(pull).rejects.toThrow('interrupted');
  expect(existsSync(folder)).toBe(false);
  silent.close();
}, 20_000);

test('a schema whose commit waits for a standby is no schema that cannot be created', async () => {
  const admin = new pg.Client({ connectionString: cluster.address() });
  await admin.connect();
  await admin.query('create database standby_away');
  await admin.query("alter system set synchronous_standby_names = 'away'");
  await admin.query('select pg_reload_conf()');
  const once = (): Promise<number> => {
    const address = cluster.address('standby_away');
    const session = new Session({ address, connectMs: LEASE_MS, answerMs: LEASE_MS });
    return migrate(session).finally(() => session.close());
  };
  await expect(once()).rejects.toThrow('waits for its commit, as while a synchronous standby is');
  await expect(once()).rejects.toThrow('by another process, or its commit is not confirmed');
  await admin.query('alter system reset synchronous_standby_names');
  await admin.query('select pg_reload_conf()');
  await until(() => once().then(() => true));
  await admin.end();
}, 30_000);
