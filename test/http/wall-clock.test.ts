/**
 * A wall clock that jumps: reads show the effects of every timer that is due, and time
 * enters by commands of the journal only.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { StoreStopped } from '../../src/journal/store-stopped.ts';
import { ALICE, order, SYMBOL } from '../gateway/fixture.ts';
import { Served } from './served.ts';

const AS_ALICE = { account: ALICE, signer: ALICE } as const;
const MINUTE_MS = 60_000;

let served: Served;
let offsetMs = 0;
/** Stands still, so that only the jumps of a test move the exchange. */
const startMs = Date.now();

beforeEach(async () => {
  offsetMs = 0;
  served = await Served.start({ clock: 'wall', wallMs: () => startMs + offsetMs });
  await served.sim('deposit', { account: ALICE, amount: '100000' });
});
afterEach(() => served.remove());

/** Places an order that expires in a minute, or later. */
async function place(inMs = MINUTE_MS): Promise<string> {
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
  const placed = order({ expiresAt: startMs + offsetMs + inMs });
  const { body } = await served.call('submitOrder', placed, AS_ALICE);
  return (body as { orderId: string }[])[0]!.orderId;
}

async function statusOf(orderId: string): Promise<unknown> {
  const { body } = await served.call('getOrder', { orderId }, AS_ALICE);
  return (body as { status: unknown }).status;
}

async function bidsInBook(): Promise<number> {
  const { body } = await served.call('getBook', { symbol: SYMBOL }, null);
  return (body as { bids: unknown[] }).bids.length;
}

describe('after a jump ahead', () => {
  test('a read over HTTP shows no expired order, also one whose answer was kept', async () => {
    const orderId = await place();
    for (let i = 0; i < 2; i++) {
      expect(await statusOf(orderId)).not.toBe('expired');
      expect(await bidsInBook()).toBe(1);
    }
    offsetMs += 2 * MINUTE_MS;
    expect(await bidsInBook()).toBe(0);
    expect(await statusOf(orderId)).toBe('expired');
  });

  test('the first update of a subscription shows no expired order', async () => {
    await place();
    offsetMs += 2 * MINUTE_MS;
    const [book] = await updatesOf('book', 1);
    expect(book).toMatchObject({ snapshot: true, bids: [] });
  });

  test('every read of the operator and of the history shows it', async () => {
    const reads = ['operator/audit', 'operator/accounts', 'operator/status'] as const;
    const own = `account=${ALICE}&subaccountIndex=0`;
    const history = ['account/history', 'account/history/fills'] as const;
    for (const path of [...reads, ...history]) {
      await place();
      const before = served.host.view.seq;
      offsetMs += 2 * MINUTE_MS;
      const isOperator = path.startsWith('operator/');
      const bearer = isOperator ? 'operator' : await served.token(AS_ALICE);
      const headers = { authorization: `Bearer ${bearer}` };
      const url = isOperator ? `/${path}` : `/${path}?${own}`;
      expect((await served.send('GET', url, undefined, headers)).status).toBe(200);
      // The timers ran at the read, and not by the next wake-up.
      expect([path, served.host.view.seq]).toEqual([path, before + 1]);
    }
  });

  test('without any request a subscriber sees it within a second', async () => {
    await place(10 * MINUTE_MS);
    // With an old index price the market is frozen, and its price has no timers.
    offsetMs += 2 * MINUTE_MS;
    await bidsInBook();
    const dueUs = served.host.exchange.engine.nextTimerUs();
    expect(dueUs).toBeGreaterThan(served.host.nowUs() + 30_000_000);
    const updates = updatesOf('book', 2);
    await vi.waitFor(() => {
      expect(subscribed).toBe(true);
    });
    offsetMs += 20 * MINUTE_MS;
    const jumpedMs = performance.now();
    expect((await updates)[1]).toMatchObject({ bids: [{ quantity: '0' }] });
    expect(performance.now() - jumpedMs).toBeLessThan(1000);
  });
});

test('a clock that goes back leaves the time and the state, and is awaited', async () => {
  const orderId = await place();
  const { seq, nowUs } = served.host.view;
  offsetMs -= 10 * MINUTE_MS;
  expect(served.host.clockBehindMs).toBe(10 * MINUTE_MS);
  await sleep(700);
  expect(await statusOf(orderId)).not.toBe('expired');
  expect(served.host.view).toMatchObject({ seq, nowUs });
  offsetMs += 12 * MINUTE_MS;
  expect(await statusOf(orderId)).toBe('expired');
});

test('a time that was shown is not after that of the next command (R-12.2)', async () => {
  const time = async (): Promise<unknown> =>
    ((await served.send('GET', '/time')).body as { time: unknown }).time;
  offsetMs += 100;
  const shownMs = startMs + offsetMs;
  expect(await time()).toBe(shownMs);
  // As a time server corrects it: no command came meanwhile.
  offsetMs -= 40;
  expect(await time()).toBe(shownMs);
  expect(served.host.clockBehindMs).toBe(40);
  await served.sim('deposit', { account: ALICE, amount: '1' });
  expect(served.host.view.nowUs).toBe(shownMs * 1000);
});

test('limits of requests go on while the time stands still (R-11.2)', async () => {
  await served.remove();
  const wallMs = (): number => startMs + offsetMs;
  served = await Served.start({ clock: 'wall', wallMs, requestsPerSecond: 3 });
  offsetMs = 60 * MINUTE_MS;
  await served.sim('deposit', { account: ALICE, amount: '1' });
  offsetMs = 0;
  const statuses: number[] = [];
  for (let i = 0; i < 5; i++) {
    if (i === 4) offsetMs += 1000;
    statuses.push((await served.send('GET', '/time')).status);
  }
  expect(statuses).toEqual([200, 200, 200, 429, 200]);
});

test('while nothing is due, neither reads nor time add a command', async () => {
  const orderId = await place();
  const { seq } = served.host.view;
  await sleep(1200);
  await statusOf(orderId);
  await bidsInBook();
  expect(served.host.view.seq).toBe(seq);
});

test('a server that takes no commands shows the state of its journal', async () => {
  const orderId = await place();
  const { seq } = served.host.view;
  vi.spyOn(served.host.exchange, 'failure', 'get').mockReturnValue(new StoreStopped('follows'));
  offsetMs += 2 * MINUTE_MS;
  expect(await statusOf(orderId)).not.toBe('expired');
  await sleep(700);
  expect(served.host.view.seq).toBe(seq);
  vi.restoreAllMocks();
  expect(await statusOf(orderId)).toBe('expired');
});

test('time enters by commands: a restart replays to the same state', async () => {
  const orderId = await place();
  offsetMs += 2 * MINUTE_MS;
  expect(await statusOf(orderId)).toBe('expired');
  const hash = served.host.exchange.engine.stateHash();
  const { path } = served;
  await served.stop();
  served = await Served.start({ path, clock: 'wall', wallMs: () => startMs + offsetMs });
  expect(served.recovery.stateHash).toBe(hash);
});

let subscribed = false;

async function updatesOf(source: string, count: number): Promise<Record<string, unknown>[]> {
  subscribed = false;
  const socket = new WebSocket(`${served.url.replace('http', 'ws')}/ws`);
  const updates: Record<string, unknown>[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject);
      socket.on('open', () => {
        const params = { source, symbols: [SYMBOL] };
        socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscribe', params }));
      });
      socket.on('message', (data: Buffer) => {
        const message = JSON.parse(data.toString()) as Record<string, unknown>;
        if (message['id'] === 1) subscribed = true;
        if ('type' in message) updates.push(message['data'] as Record<string, unknown>);
        if (updates.length === count) resolve();
      });
    });
  } finally {
    socket.close();
  }
  return updates;
}
