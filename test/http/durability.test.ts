/**
 * Crashes, full disks and damaged files: no acknowledged command is lost or half applied,
 * and no fault goes unreported.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Wallet } from 'ethers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { replay } from '../../src/journal/replay/replay.ts';
import { EFFORT } from '../setup/effort.ts';
import { openJournal } from '../../src/journal-files/folder-journal.ts';
import type { Recovery } from '../../src/journal-files/durable-exchange.ts';
import { DataFolder } from '../../src/journal-files/data-folder.ts';
import { HttpMatcherClient } from '../../src/http-client/http-matcher-client.ts';
import { ALICE, order } from '../gateway/fixture.ts';
import { FailingDisk } from '../journal-files/failing-disk.ts';
import { Served } from './served.ts';

const AS_ALICE = { account: ALICE, signer: ALICE };
const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

let path: string;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'orrery-'));
});
afterEach(() => rm(path, { recursive: true, force: true }));

/** A served exchange with a few orders, stopped. Returns its state hash. */
async function fill(orders = 5): Promise<string> {
  const served = await Served.start({ path });
  await served.sim('deposit', { account: ALICE, amount: '100000' });
  await served.sim('oracle', { symbol: 'BTC-USD-PERP', price: '60000' });
  for (let i = 0; i < orders; i++) await served.call('submitOrder', order(), AS_ALICE);
  const hash = served.host.exchange.engine.stateHash();
  await served.stop();
  return hash;
}

const snapshots = async (): Promise<string[]> =>
  (await readdir(path)).filter((name) => name.startsWith('snapshot-'));

async function reopen(): Promise<{
  hash: string;
  recovery: Recovery;
}> {
  const served = await Served.start({ path });
  const { recovery } = served;
  const hash = served.host.exchange.engine.stateHash();
  await served.stop();
  return { hash, recovery };
}

describe('a restart', () => {
  test('uses the snapshot and replays later commands', async () => {
    const hash = await fill();
    const { recovery, hash: found } = await reopen();
    expect(found).toBe(hash);
    expect(recovery).toMatchObject({
      isNew: false,
      replayed: 0,
      cutBytes: 0,
      passedOver: [],
    });
    expect(recovery.snapshotSeq).toBeGreaterThan(0);
  });

  test('without snapshots replays everything', async () => {
    const hash = await fill();
    for (const name of await snapshots()) await rm(join(path, name));
    const { recovery, hash: found } = await reopen();
    expect(found).toBe(hash);
    expect(recovery.replayed).toBe(10);
  });

  test('a damaged snapshot falls back to the one before, or to the journal', async () => {
    const hash = await fill();
    const [name] = await snapshots();
    const bytes = await readFile(join(path, name!));
    bytes[bytes.length - 5]! ^= 1;
    await writeFile(join(path, name!), bytes);
    const { recovery, hash: found } = await reopen();
    expect(found).toBe(hash);
    expect(recovery.passedOver).toEqual([`${name!} is damaged`]);
    expect(recovery.replayed).toBe(10);
  });

  test('a different configuration is rejected', async () => {
    await fill();
    await expect(
      Served.start({ path, config: { ...(await configOf()), name: 'Other' } }),
    ).rejects.toThrow('was created with a different configuration');
  });
  const configOf = async () => {
    const served = await Served.start({ path });
    const { config } = served.host.view;
    await served.stop();
    return config;
  };

  test('two writers: the second is rejected until the first is gone', async () => {
    const first = await DataFolder.open(path);
    await expect(DataFolder.open(path)).rejects.toThrow(
      `${path}: in use by process ${String(process.pid)} on `,
    );
    // Files of the folder lock nothing.
    await rm(join(path, 'lock'));
    await expect(DataFolder.open(path)).rejects.toThrow('in use by another process;');
    first.abandon();
    await writeFile(join(path, 'lock'), '1 on elsewhere\n');
    const second = await DataFolder.open(path);
    await second.unlock();
  });
});

test('a failing disk stops writes with 503, rolls back no published state, and keeps reads', async () => {
  const disk = new FailingDisk();
  const served = await Served.start({ path, disk });
  await served.sim('deposit', { account: ALICE, amount: '100000' });
  await served.sim('oracle', { symbol: 'BTC-USD-PERP', price: '60000' });
  const kept = await served.call('submitOrder', order({ clientId: 'kept' }), AS_ALICE);
  expect(kept.status).toBe(200);
  const hash = served.host.exchange.engine.stateHash();

  disk.code = 'EIO';
  const lost = await served.call('submitOrder', order({ clientId: 'lost' }), AS_ALICE);
  expect([lost.status, lost.body]).toEqual([
    503,
    `Writes have stopped: ${path}: input/output error`,
  ]);
  const again = await served.call('submitOrder', order(), AS_ALICE);
  expect(again.status).toBe(503);
  expect((await find(served, 'kept')).status).toBe(200);
  expect((await find(served, 'lost')).body).toBe('Order not found');
  expect(served.host.exchange.engine.stateHash()).toBe(hash);
  expect((await served.send('GET', '/readyz')).status).toBe(503);
  await served.stop();
  disk.code = null;
  expect((await reopen()).hash).toBe(hash);
});

/** An order, once reads are available: they are rejected during a rebuild. */
async function find(served: Served, clientId: string) {
  for (;;) {
    const found = await served.call('getOrder', { clientId, account: ALICE }, AS_ALICE);
    if (found.status !== 503) return found;
  }
}

test('a full disk stops writes with 503, and they resume once there is space', async () => {
  const disk = new FailingDisk();
  const served = await Served.start({ path, disk });
  await served.sim('deposit', { account: ALICE, amount: '100000' });
  await served.sim('oracle', { symbol: 'BTC-USD-PERP', price: '60000' });
  disk.code = 'ENOSPC';
  const lost = await served.call('submitOrder', order({ clientId: 'lost' }), AS_ALICE);
  expect([lost.status, lost.body]).toEqual([
    503,
    `Writes have stopped: ${path}: no space left on the device`,
  ]);
  expect((await find(served, 'lost')).body).toBe('Order not found');
  expect((await served.send('GET', '/metrics')).text).toContain('orrery_writes_stopped 1');
  disk.code = null;
  await expect.poll(() => served.host.exchange.failure, { timeout: 5000 }).toBeNull();
  expect((await served.send('GET', '/readyz')).status).toBe(200);
  const taken = await served.call('submitOrder', order({ clientId: 'taken' }), AS_ALICE);
  expect(taken.status).toBe(200);
  expect(served.problems).toEqual([
    `writes have stopped: ${path}: no space left on the device`,
    'the disk has space again; writes have resumed',
  ]);
  const hash = served.host.exchange.engine.stateHash();
  await served.stop();
  expect((await reopen()).hash).toBe(hash);
});

test('a deleted folder stops writes, which would end with the process', async () => {
  const served = await Served.start({ path });
  await served.sim('deposit', { account: ALICE, amount: '100000' });
  await served.sim('oracle', { symbol: 'BTC-USD-PERP', price: '60000' });
  await rm(path, { recursive: true });
  const segment = join(path, 'journal-0000000000000001.orrery');
  const refusal = `Writes have stopped: ${segment}: was deleted while the server ran`;
  await expect
    .poll(async () => (await served.call('submitOrder', order(), AS_ALICE)).body, {
      timeout: 20_000,
    })
    .toBe(refusal);
  expect((await served.send('GET', '/readyz')).status).toBe(503);
  expect(served.problems[0]).toBe(
    `writes have stopped: ${segment}: was deleted while the server ran`,
  );
  await served.stop();
}, 30_000);

test('signals of a start are carried out when it is ready', async () => {
  const secretFile = join(path, 'secret');
  await writeFile(secretFile, 'k'.repeat(32));
  const child = spawn(
    process.execPath,
    [
      ...[CLI, 'serve', '--port', '0', '--metrics-port', 'off', '--data-dir', join(path, 'var')],
      ...['--secret-file', secretFile, '--trust-signatures'],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      resolve(code ?? signal);
    });
  });
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => {
    // The first line, before the folder is locked and the exchange is opened.
    if (log === '') for (const signal of ['SIGHUP', 'SIGTERM'] as const) child.kill(signal);
    log += chunk.toString();
  });
  expect(await ended).toBe(0);
  expect(log).toContain('the secrets of tokens were read again');
}, 60_000);

test.each(['', 's'.repeat(32)])(
  'SIGHUP without a secret file ends neither the server nor its tokens',
  async (secret) => {
    const child = spawn(
      process.execPath,
      [CLI, 'serve', '--port', '0', '--metrics-port', 'off', '--data-dir', path],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, ...(secret === '' ? {} : { ORRERY_SECRET: secret }) },
      },
    );
    const ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        resolve(code ?? signal);
      });
    });
    let log = '';
    child.stderr.on('data', (chunk: Buffer) => {
      log += chunk.toString();
    });
    const url = await new Promise<string>((resolve) => {
      child.stdout.once('data', (chunk: Buffer) => {
        resolve(/listens on (\S+)/.exec(chunk.toString())?.[1] ?? '');
      });
    });
    const client = new HttpMatcherClient({ url, signer: new Wallet(`0x${'1'.repeat(64)}`) });
    const token = await client.bearer();
    child.kill('SIGHUP');
    const read = 'the secrets of tokens were read again';
    await Promise.race([ended, expect.poll(() => log, { timeout: 20_000 }).toContain(read)]);
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${url}/auth/claims`, { headers })).status).toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  },
  60_000,
);

test('a log on a full disk does not end the server', async () => {
  const log = openSync('/dev/full', 'w');
  const child = spawn(
    process.execPath,
    [
      CLI,
      'serve',
      '--port',
      '0',
      '--metrics-port',
      'off',
      '--data-dir',
      path,
      '--log-level',
      'info',
    ],
    { stdio: ['ignore', 'pipe', log] },
  );
  closeSync(log);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const address = new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      resolve(/listens on (\S+)/.exec(chunk.toString())?.[1] ?? '');
    });
    child.once('exit', reject);
  });
  for (const route of ['/time', '/none', '/time']) await fetch((await address) + route);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
}, 60_000);

/** Max orders per round. */
const MAX_ORDERS = 150;
/** Number of crashes, each at a different moment. */
const ROUNDS = Math.min(50, 3 * EFFORT);

describe('kill -9 under load', () => {
  interface Server {
    readonly child: ChildProcess;
    readonly url: string;
    /** Output at start. */
    readonly emitted: string;
  }
  const started: ChildProcess[] = [];
  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL');
  });

  function start(): Promise<Server> {
    const child = spawn(
      process.execPath,
      [CLI, 'serve', '--port', '0', '--data-dir', path, '--sim-token', 't', '--trust-signatures'],
      { env: { ...process.env, ORRERY_SECRET: 's'.repeat(32) }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    started.push(child);
    return new Promise((resolve, reject) => {
      let text = '';
      child.stdout.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        const url = /listens on (\S+)/.exec(text)?.[1];
        if (url !== undefined) resolve({ child, url, emitted: text });
      });
      child.stderr.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      child.on('exit', () => {
        reject(new Error(text));
      });
    });
  }

  async function post(url: string, route: string, body: unknown, token: string) {
    const response = await fetch(url + route, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as unknown };
  }

  test(
    'nothing acknowledged is lost, nothing appears twice, the hash is that of an independent replay',
    async () => {
      const { SignJWT } = await import('jose');
      const now = Math.floor(Date.now() / 1000);
      const token = await new SignJWT({ account: ALICE, signer: ALICE })
        .setProtectedHeader({ alg: 'HS512' })
        .setIssuedAt(now - 60)
        .setExpirationTime(now + 3600)
        .sign(new TextEncoder().encode('s'.repeat(32)));
      const acknowledged = new Set<string>();
      for (let round = 0; round < ROUNDS; round++) {
        const server = await start();
        // Each round uses its own subaccount, because one holds at most 200 open orders.
        const deposit = { account: ALICE, subaccountIndex: round, amount: '1000000' };
        await post(server.url, '/sim/deposit', deposit, 't');
        await post(server.url, '/sim/oracle', { symbol: 'BTC-USD-PERP', price: '60000' }, 't');
        let running = true;
        let sent = 0;
        const client = async (): Promise<void> => {
          while (running && sent < MAX_ORDERS) {
            sent += 1;
            const clientId = `r${String(round)}-${String(sent)}`;
            const body = order({
              clientId,
              subaccountIndex: round,
              price: '30000',
              quantity: '0.0001',
            });
            try {
              const answer = await post(server.url, '/account/order', body, token);
              const [record] = answer.body as { orderId: string; status: string }[];
              if (answer.status === 200 && record!.status === 'new') acknowledged.add(clientId);
            } catch {
              return;
            }
          }
        };
        const clients = [client(), client(), client(), client()];
        await new Promise((resolve) => setTimeout(resolve, 40 + ((90 * round) % 400)));
        // A busy machine answers later.
        const enough = (21 * (round + 1)) / ROUNDS;
        await expect.poll(() => acknowledged.size).toBeGreaterThanOrEqual(enough);
        server.child.kill('SIGKILL');
        running = false;
        await Promise.all(clients);

        // The journal on disk replays on its own, up to a torn tail.
        const alone = replay(openJournal(path), { verify: true, recover: true });
        const again = await start();
        expect(again.emitted).toContain(`state hash ${alone.engine.stateHash()}`);
        const seen = new Map<string, number>();
        for (const { id } of alone.engine.subaccountsOf(ALICE)) {
          for (const { clientId } of alone.engine.openOrders(id)) {
            if (clientId !== null) seen.set(clientId, (seen.get(clientId) ?? 0) + 1);
          }
        }
        for (const clientId of acknowledged) expect(seen.get(clientId), clientId).toBe(1);
        again.child.kill('SIGTERM');
        await new Promise((resolve) => again.child.on('exit', resolve));
      }
      expect(acknowledged.size).toBeGreaterThan(20);
    },
    240_000 * EFFORT,
  );
});
