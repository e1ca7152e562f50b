/** A replay on the system clock: its pace, clients that do not read, and its end by SIGTERM. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { replayJournal } from '../../src/journal-files/replay-journal.ts';
import { LiveBook, type BookMessage } from '../../src/live/live-book.ts';
import { readMarkets } from '../../src/live/exchange-facts.ts';
import { HttpMatcherClient } from '../../src/http-client/http-matcher-client.ts';
import type { RunPlan } from '../../src/run-plan/run-plan.ts';
import { CLI } from '../cli/serve-process.ts';
import { onAllData, planOf } from '../run-plan/plans.ts';
import { FROM_US, writeDataset } from './made-up-dataset.ts';
import { serveReplay } from './replayed.ts';

const STEPS = 300;
const EVERY_US = 100_000;
const SPEED = 10;
/** Allowance for a busy machine: half of the pace is later than this at the end. */
const LATE_MS = 2000;
const folder = mkdtempSync(join(tmpdir(), 'orrery-speed-'));
const data = join(folder, 'data');
let plan: RunPlan;

beforeAll(async () => {
  await writeDataset(data, [{ symbol: 'AAA', steps: STEPS, everyUs: EVERY_US }]);
  plan = onAllData(planOf([], { data }));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Update {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly atMs: number;
}

/** A connection with trades and the book; `updates` grows as they arrive. */
async function subscribed(url: string): Promise<{ socket: WebSocket; updates: Update[] }> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws`);
  const updates: Update[] = [];
  socket.on('message', (bytes: Buffer) => {
    const message = JSON.parse(bytes.toString()) as Partial<Update>;
    const { type, data } = message;
    if (type !== undefined && data !== undefined) {
      updates.push({ type, data, atMs: performance.now() });
    }
  });
  await once(socket, 'open');
  for (const [id, source] of ['trade', 'book'].entries()) {
    const params = { source, symbols: ['AAA'] };
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'subscribe', params }));
  }
  return { socket, updates };
}

const tradesOf = (updates: readonly Update[]) => updates.filter(({ type }) => type === 'Trade');
const lastTradeMs = (FROM_US + (STEPS - 1) * EVERY_US + EVERY_US / 2) / 1000;
const hasEnded = (updates: readonly Update[]): boolean =>
  tradesOf(updates).at(-1)?.data['time'] === lastTradeMs;

test('events arrive at their time divided by the speed: none early, and none far behind', async () => {
  // History begins when the server listens, between these times.
  const earliestMs = performance.now();
  const served = await serveReplay(plan, { speed: SPEED });
  const latestMs = performance.now();
  const { socket, updates } = await subscribed(served.url);
  try {
    await expect.poll(() => hasEnded(updates), { timeout: 30_000 }).toBe(true);
    const trades = tradesOf(updates);
    expect(trades.length).toBeGreaterThan(STEPS / 2);
    for (const { data: trade, atMs } of trades) {
      const dueMs = (Number(trade['time']) - FROM_US / 1000) / SPEED;
      expect(atMs).toBeGreaterThan(earliestMs + dueMs);
      expect(atMs).toBeLessThan(latestMs + dueMs + LATE_MS);
    }
    const status = (await served.sim('replay')).body as { speed: number };
    expect(status.speed).toBe(SPEED);
  } finally {
    socket.terminate();
    await served.remove();
  }
}, 60_000);

test('a client that stops reading gets every trade and the book as it is', async () => {
  // Slow until both are subscribed, and one of them has stopped reading.
  const served = await serveReplay(plan, { speed: 1 });
  const { socket, updates } = await subscribed(served.url);
  const reader = await subscribed(served.url);
  try {
    const clients = [updates, reader.updates];
    await expect
      .poll(() => clients.every((of) => tradesOf(of).length > 0), { timeout: 25_000 })
      .toBe(true);
    socket.pause();
    const before = updates.length;
    expect((await served.sim('replay', { speed: 5 * SPEED })).status).toBe(200);
    await expect.poll(() => hasEnded(reader.updates), { timeout: 30_000 }).toBe(true);
    expect(updates.length).toBe(before);
    socket.resume();
    await expect.poll(() => hasEnded(updates), { timeout: 60_000 }).toBe(true);
    const prices = (of: readonly Update[]) => tradesOf(of).map(({ data: trade }) => trade);
    const missed = prices(reader.updates);
    const both = prices(updates);
    expect(both.slice(-missed.length)).toEqual(missed.slice(-both.length));
    const client = new HttpMatcherClient({ url: served.url, signer: null });
    const { markets } = await readMarkets(client, null);
    const book = new LiveBook(markets[0]!.terms);
    let best: unknown = null;
    for (const { type, data: message } of updates) {
      if (type !== 'Book') continue;
      best = book.take(message as unknown as BookMessage, 0, 1) ?? best;
    }
    const held = await client.call('getBook', { symbol: 'AAA' });
    const { bids, asks } = best as { bids: { price: string; size: string }[]; asks: unknown[] };
    expect(bids[0]).toEqual({ price: held.bids[0]?.price, size: held.bids[0]?.quantity });
    expect(asks.length).toBe(1);
  } finally {
    socket.terminate();
    reader.socket.terminate();
    await served.remove();
  }
}, 60_000);

test('it pauses, continues at another speed, and ends once', async () => {
  const served = await serveReplay(plan, { speed: 1 });
  interface State {
    readonly timeUs: number;
    readonly speed: number;
    readonly paused: boolean;
    readonly ended: boolean;
  }
  const set = async (body: object): Promise<State> =>
    (await served.sim('replay', body)).body as State;
  const read = async (): Promise<State> => (await served.sim('replay')).body as State;
  try {
    for (const body of [
      { speed: 0 },
      { speed: -1 },
      { speed: 1e7 },
      { speed: true },
      { what: 1 },
    ]) {
      expect((await served.sim('replay', body)).status, JSON.stringify(body)).toBe(400);
    }
    expect((await served.sim('replay', { speed: '2' })).status).toBe(400);
    expect(await set({ paused: true })).toMatchObject({ paused: true, speed: 1 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    const { timeUs } = await read();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await read()).timeUs).toBe(timeUs);
    // Another speed leaves it paused.
    expect(await set({ speed: 1000 })).toMatchObject({ paused: true, speed: 1000 });
    expect(await set({ paused: false })).toMatchObject({ paused: false });
    await expect.poll(async () => (await read()).ended, { timeout: 60_000 }).toBe(true);
    expect(await set({ paused: false })).toMatchObject({ ended: true, paused: false });
  } finally {
    await served.remove();
  }
}, 60_000);

test('SIGTERM ends it cleanly, and the next start continues', async () => {
  const path = join(folder, 'exchange');
  // Slow enough that the recording outlasts both starts.
  const flags = ['--replay', data, '--clock', 'wall', '--speed', '0.5'];
  const start = async () => {
    const args = [CLI, 'serve', '--port', '0', '--sim-token', 'dev', '--data-dir', path, ...flags];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const url = await new Promise<string>((resolve, reject) => {
      child.on('exit', () => {
        reject(new Error(text));
      });
      child.stdout.on('data', (chunk: Buffer) => {
        const found = /listens on (\S+)/.exec(chunk.toString())?.[1];
        if (found !== undefined) resolve(found);
      });
    });
    return { child, url };
  };
  const end = async (child: Awaited<ReturnType<typeof start>>['child']): Promise<unknown> => {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    return (await ended)[0];
  };
  const one = await start();
  const { socket, updates } = await subscribed(one.url);
  socket.on('error', () => undefined);
  await expect.poll(() => tradesOf(updates).length, { timeout: 15_000 }).toBeGreaterThan(3);
  expect(await end(one.child)).toBe(0);
  const first = replayJournal(path);
  expect(first.mismatch).toBeNull();
  expect(first.engine.nowUs).toBeGreaterThan(FROM_US);
  const two = await start();
  const later = await subscribed(two.url);
  await expect.poll(() => tradesOf(later.updates).length, { timeout: 15_000 }).toBeGreaterThan(3);
  expect(await end(two.child)).toBe(0);
  const second = replayJournal(path);
  expect([second.mismatch, second.torn]).toEqual([null, null]);
  expect(second.engine.nowUs).toBeGreaterThan(first.engine.nowUs);
}, 60_000);
