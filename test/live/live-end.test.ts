/** The end of a live run: nothing of it goes on, and its last lines state what stays. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import type { Command } from '../../src/engine/commands.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { FeedClient } from '../../src/http-client/feed-client.ts';
import { FeedError } from '../../src/http-client/feed.ts';
import { HttpMatcherClient } from '../../src/http-client/http-matcher-client.ts';
import { EndableFetch } from '../../src/live/endable-fetch.ts';
import { listenPatiently } from '../../src/live/listen-patiently.ts';
import { countsOf } from '../../src/live/live-counts.ts';
import type { LiveRecord } from '../../src/live/live-record.ts';
import { LiveRun } from '../../src/live/live-run.ts';
import { bundleStrategy } from '../../src/strategy-loader/bundle.ts';
import { loadStrategy } from '../../src/strategy-loader/sandbox.ts';
import { madeUpTape, specOf } from '../backtest/made-up.ts';
import { Served } from '../http/served.ts';

const WALLET = new Wallet(`0x${'8'.repeat(64)}`);
const folder = mkdtempSync(join(tmpdir(), 'orrery-live-end-'));
const path = join(folder, 'endless.ts');
let served: Served;

beforeAll(async () => {
  const config = DEFAULT_EXCHANGE_CONFIG;
  const opening: Command[] = [
    { kind: 'listMarket', timeUs: config.genesisTimeUs, spec: specOf('T') },
    ...madeUpTape(3),
  ];
  served = await Served.start({ config, opening });
  await served.sim('deposit', { account: WALLET.address, amount: '10000' });
  writeFileSync(
    path,
    `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: 'endless', parameters: {}, create: () => ({
  async onStart({ submit, sleep, log }) {
    for (;;) {
      await submit({ side: 'buy', size: '0.001', price: '950' });
      log('sent');
      await sleep(100_000);
    }
  },
}) });`,
  );
});
afterAll(async () => {
  await served.remove();
  rmSync(folder, { recursive: true, force: true });
});

const args = (strategy: string, out: string, ...more: string[]): string[] => [
  ...['--import', 'tsx', join(import.meta.dirname, '../../src/cli/main.ts')],
  ...['live', strategy, '--url', served.url, '--out', out, ...more],
];
const env = { ...process.env, ORRERY_KEY: WALLET.privateKey };
const recordOf = (out: string): LiveRecord =>
  JSON.parse(readFileSync(join(out, 'live.json'), 'utf8')) as LiveRecord;
const ordersAtExchange = async (): Promise<number> => {
  const client = new HttpMatcherClient({ url: served.url, signer: WALLET });
  const { total } = await client.call('listOrders', {
    account: WALLET.address,
    subaccountIndex: 0,
  });
  return total;
};

test('a handler that never ends places no order after the run', async () => {
  const { definition, bindClock } = loadStrategy(await bundleStrategy(path));
  const stop = new AbortController();
  const run = new LiveRun({
    definition,
    bindClock,
    parameters: {},
    client: new HttpMatcherClient({ url: served.url, signer: WALLET }),
    account: WALLET.address.toLowerCase(),
    subaccountIndex: 0,
    symbols: null,
    seed: '1',
    stop: stop.signal,
    onLog: () => {
      stop.abort();
    },
  });
  const { orders, log } = await run.complete();
  expect(orders.length).toBeGreaterThan(10);
  const [rows, lines] = [orders.length, log.length];
  await new Promise((resolve) => setTimeout(resolve, 500));
  const placed = await ordersAtExchange();
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await ordersAtExchange()).toBe(placed);
  // At most the order that was on its way is later than the record.
  expect(placed - rows).toBeLessThanOrEqual(1);
  expect(log.length).toBe(lines);
}, 30_000);

test('the last lines state the orders that stay', async () => {
  const two = join(folder, 'two.ts');
  writeFileSync(
    two,
    `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: 'two', parameters: {}, create: () => ({
  async onStart({ submit }) {
    await submit({ side: 'buy', size: '0.001', price: '950' });
    await submit({ side: 'sell', size: '0.001', price: '1100', postOnly: true });
    await submit({ side: 'buy', size: '0.001', reduceOnly: true });
  },
}) });`,
  );
  const out = join(folder, 'two');
  const { stdout } = await promisify(execFile)(process.execPath, args(two, out, '--for', '1s'), {
    env,
  });
  expect(stdout.split('\n').slice(0, 2)).toEqual([
    expect.stringMatching(/^2 orders, 1 rejected, 0 fills in [0-9.]+ s$/),
    'open     2 orders of this run, which the exchange keeps',
  ]);
});

test('a closed stdout ends the run with its record', async () => {
  const out = join(folder, 'closed');
  const child = spawn(process.execPath, args(path, out), {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  child.stdout.destroy();
  const [code] = (await once(child, 'exit')) as [number];
  expect(code).toBe(0);
  const record = recordOf(out);
  expect(record.failure).toBeNull();
  expect(record.orders.length).toBeGreaterThan(1);
}, 30_000);

test('orders are counted by what became of them', () => {
  const row = (status: string | null, refusal: string | null = null, orderId = '1'): unknown => ({
    order: status === null ? null : { orderId, status },
    refusal,
  });
  const orders = [
    row('new'),
    row('new', null, '2'),
    row('pending', null, '3'),
    row('filled', null, '4'),
    row('rejected', null, '5'),
    row(null, 'price: must be positive'),
    row(null, 'no answer'),
    row(null, 'no answer: reset'),
  ];
  const ends = [{ orderId: '1', status: 'cancelled' }];
  expect(countsOf({ orders, ends } as unknown as LiveRecord)).toEqual({
    accepted: 4,
    rejected: 2,
    unanswered: 2,
    open: 2,
  });
});

test('a subscription waits while the account has sent too many requests', async () => {
  const { signal } = new AbortController();
  let tries = 0;
  const subscribe = (status: number, refusals: number) => (): Promise<void> => {
    tries += 1;
    const refused = tries <= refusals;
    return refused ? Promise.reject(new FeedError('refused', status)) : Promise.resolve();
  };
  await listenPatiently(subscribe(429, 1), signal);
  expect(tries).toBe(2);
  await expect(listenPatiently(subscribe(400, 9), signal)).rejects.toThrow('refused');
  await listenPatiently(subscribe(429, Infinity), AbortSignal.abort());
});

test('after the end no request is sent again, and an open one ends', async () => {
  let asked = 0;
  const silent = createServer(() => {
    asked += 1;
  }).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const requests = new EndableFetch();
  const client = new HttpMatcherClient({
    url: `http://127.0.0.1:${String((silent.address() as AddressInfo).port)}`,
    signer: null,
    fetch: requests.fetch,
  });
  const answer = client.call('getTime', {});
  answer.catch(() => undefined);
  await vi.waitUntil(() => asked === 1);
  const startMs = performance.now();
  requests.end();
  await expect(answer).rejects.toThrow('the run has ended');
  expect(performance.now() - startMs).toBeLessThan(5000);
  expect(asked).toBe(1);
  silent.close();
});

test('a server that does not answer the end of a connection holds it for two seconds', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const feeds = new FeedClient({ url: `ws://127.0.0.1:${String(port)}`, bearer: null });
  server.once('connection', (socket) => {
    socket.once('message', () => {
      socket.pause();
    });
  });
  const listened = feeds.listen(
    'trade',
    { symbols: [] },
    { onUpdate: () => undefined, onError: () => undefined },
  );
  listened.catch(() => undefined);
  await once(server, 'connection');
  await new Promise((resolve) => setTimeout(resolve, 100));
  const cut = vi.spyOn(WebSocket.prototype, 'terminate');
  void feeds.close();
  await vi.waitUntil(() => cut.mock.calls.length > 0, 4000);
  cut.mockRestore();
  server.close();
  for (const socket of server.clients) socket.terminate();
});
