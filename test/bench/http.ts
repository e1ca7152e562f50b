/**
 * `npm run bench:http`: what the served API carries, as ratios to a bare Fastify echo in the same run. Servers are processes of their own; the load
 * generator has the other core. Orders are ioc and find nobody, so that books stay empty; every write is on disk before it is answered.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import autocannon, { type Request, type Result } from 'autocannon';
import Table from 'cli-table3';
import { getBytes, SigningKey, Wallet } from 'ethers';
import { SignJWT } from 'jose';
import secp256k1 from 'secp256k1';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/market-config.ts';
import { recover } from '../../src/wallet/recover.ts';
import { TypedData } from '../../src/wallet/typed-data.ts';

const ACCOUNTS = 200;
const SIGNED_ORDERS = 80_000;
const SECONDS = 4;
const CONNECTIONS = 50;
const SECRET = 's'.repeat(32);
const SYMBOL = 'BTC-USD-PERP';
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const processes: ChildProcess[] = [];
const folders: string[] = [];

function start(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ORRERY_SECRET: SECRET },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  processes.push(child);
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      const url = /listens on (\S+)/.exec(chunk.toString())?.[1];
      if (url !== undefined) resolve(url);
    });
    child.on('exit', () => {
      reject(new Error('a server ended'));
    });
  });
}

async function serve(...more: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'orrery-bench-'));
  folders.push(folder);
  const cli = join(ROOT, 'dist/cli/main.js');
  const flags = ['--port', '0', '--data-dir', folder, '--sim-token', 't', '--clock', 'virtual'];
  const url = await start([cli, 'serve', ...flags, ...more]);
  await post(url, '/sim/oracle', { symbol: SYMBOL, price: '60000' });
  for (const { address } of keys)
    await post(url, '/sim/deposit', { account: address, amount: '1000000' });
  return url;
}

async function post(url: string, path: string, body: unknown): Promise<void> {
  const headers = { authorization: 'Bearer t', 'content-type': 'application/json' };
  const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
}

const keys = Array.from({ length: ACCOUNTS }, (_, i) => {
  const secret = `0x${(i + 1).toString(16).padStart(64, '0')}`;
  return { secret, key: new SigningKey(secret), address: new Wallet(secret).address.toLowerCase() };
});
const now = Math.floor(DEFAULT_EXCHANGE_CONFIG.genesisTimeUs / 1_000_000);
const tokens = await Promise.all(
  keys.map(({ address }) =>
    new SignJWT({ account: address, signer: address })
      .setProtectedHeader({ alg: 'HS512' })
      .setIssuedAt(now)
      .setExpirationTime(4_000_000_000)
      .sign(new TextEncoder().encode(SECRET)),
  ),
);

function orderOf(account: number, nonce: number): Record<string, unknown> {
  return {
    account: keys[account]!.address,
    subaccountIndex: 0,
    symbol: SYMBOL,
    orderType: 'Limit',
    price: '59000',
    quantity: '0.001',
    nonce,
    expiresAt: 9_007_199_254_740_991,
    originator: `0x${'0'.repeat(40)}`,
    originatorFee: 0,
    flags: { ioc: true, postOnly: false, reduceOnly: false },
    signatures: [] as string[],
  };
}

const typedData = new TypedData(DEFAULT_EXCHANGE_CONFIG);

function signedOrders(): string[] {
  return Array.from({ length: SIGNED_ORDERS }, (_, i) => {
    const account = i % ACCOUNTS;
    const body = orderOf(account, i + 1);
    const digest = getBytes(typedData.digestOf('Order', body));
    const { signature, recid } = secp256k1.ecdsaSign(digest, getBytes(keys[account]!.secret));
    const v = recid === 0 ? '1b' : '1c';
    return JSON.stringify({ ...body, signatures: [Buffer.from(signature).toString('hex') + v] });
  });
}

const JSON_TYPE = { 'content-type': 'application/json' };

async function load(url: string, request: Request): Promise<Result> {
  await autocannon({ url, connections: CONNECTIONS, duration: 1, requests: [request] });
  return autocannon({ url, connections: CONNECTIONS, duration: SECONDS, requests: [request] });
}

/** Bodies one after the other; each is sent once. */
function orders(bodies: (i: number) => { body: string; account: number }): Request {
  let next = 0;
  return {
    method: 'POST',
    path: '/account/order',
    setupRequest: (request) => {
      const { body, account } = bodies(next++);
      return {
        ...request,
        body,
        headers: { ...JSON_TYPE, authorization: `Bearer ${tokens[account]!}` },
      };
    },
  };
}

function recoversPerSecond(): number {
  const digest = getBytes(typedData.digestOf('Order', orderOf(0, 1)));
  const { serialized } = keys[0]!.key.sign(digest);
  const started = performance.now();
  let done = 0;
  for (; performance.now() - started < 1000; done++) recover(digest, serialized);
  return (done / (performance.now() - started)) * 1000;
}

try {
  const recovers = recoversPerSecond();
  const echo = await start(['--import', 'tsx', join(ROOT, 'test/bench/echo-server.ts')]);
  const trusting = await serve('--trust-signatures');
  const verifying = await serve();
  const echoBody = JSON.stringify({ account: keys[0]!.address, price: '60000', nonce: 1 });
  const base = await load(echo, {
    method: 'POST',
    path: '/echo',
    headers: JSON_TYPE,
    body: echoBody,
  });
  const prices = await load(trusting, { path: `/price/${SYMBOL}` });
  const unsigned = await load(
    trusting,
    orders((i) => ({ account: i % ACCOUNTS, body: JSON.stringify(orderOf(i % ACCOUNTS, i + 1)) })),
  );
  const bodies = signedOrders();
  const signed = await load(
    verifying,
    orders((i) => ({ account: i % ACCOUNTS, body: bodies[i % bodies.length]! })),
  );
  const table = new Table({
    head: ['one run, 50 connections', 'requests/s', 'of echo', 'p50 ms', 'p99 ms', 'not 200'],
    colAligns: ['left', 'right', 'right', 'right', 'right', 'right'],
    style: { head: [], border: [], compact: true },
  });
  for (const [name, result] of [
    ['Fastify echo with schemas', base],
    ['GET /price/{symbol}', prices],
    ['POST /account/order, durable, trusted', unsigned],
    ['POST /account/order, durable, signed', signed],
  ] as const) {
    const { requests, latency, non2xx, errors } = result;
    table.push([
      name,
      Math.round(requests.average).toLocaleString('en'),
      (requests.average / base.requests.average).toFixed(2),
      latency.p50,
      latency.p99,
      non2xx + errors,
    ]);
  }
  console.log(table.toString());
  console.log(
    `native recovery on one core: ${Math.round(recovers).toLocaleString('en')}/s; ` +
      `signed orders are ${(signed.requests.average / recovers).toFixed(2)} of it`,
  );
} finally {
  for (const child of processes) child.kill('SIGKILL');
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
}
process.exit(0);
