/**
 * The pace of a replay whose clock a strategy drives: it waits, steps and goes on; another account
 * trades meanwhile; and orders, fills and times are those of a run without a pace.
 */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { HttpMatcherClient } from '../../src/http-client/http-matcher-client.ts';
import { SIM_TOKEN, type Served } from '../http/served.ts';
import { planOf, plannedOf, RECORDED_FROM_US } from '../run-plan/plans.ts';
import { liveOnReplay, serveReplay, WALLET } from './replayed.ts';

const OBSERVER = fileURLToPath(new URL('observer.ts', import.meta.url));

interface State {
  readonly timeUs: number;
  readonly pace: number | null;
  readonly paused: boolean;
  readonly driven: boolean;
}

const stateOf = async (served: Served): Promise<State> =>
  (await served.sim('replay')).body as State;

test('a paced run has the orders, fills and updates of one without a pace', async () => {
  const planned = await plannedOf(OBSERVER);
  const toUs = RECORDED_FROM_US + 3_000_000;
  const plan = planOf([planned], { latency: 'constant:feed=2ms,entry=5ms', toUs });
  const runs = [];
  for (const pace of [null, 4]) {
    const served = await serveReplay(plan);
    try {
      served.host.replay?.setPace(pace, false);
      const beganMs = performance.now();
      const { orders, fills, log, equity } = await liveOnReplay(served, plan, planned);
      const tookMs = performance.now() - beganMs;
      const times = orders.map(({ sentUs, answeredUs }) => [sentUs, answeredUs]);
      // Ids follow nonces, which are times of the system clock.
      const plain = fills.map((fill) => ({ ...fill, orderId: '' }));
      runs.push({ tookMs, seen: { times, fills: plain, log, equity } });
    } finally {
      await served.remove();
    }
  }
  const [free, paced] = runs;
  expect(paced?.seen.fills.length).toBeGreaterThan(0);
  expect(paced?.seen).toEqual(free?.seen);
  // Three seconds of history at four times real time.
  expect(paced?.tookMs).toBeGreaterThan(700);
}, 60_000);

test('a driver waits while it is paused, and another account trades meanwhile', async () => {
  const plan = planOf([], { toUs: RECORDED_FROM_US + 20_000_000 });
  const served = await serveReplay(plan);
  const client = new HttpMatcherClient({ url: served.url, signer: WALLET });
  const feeds = client.feeds();
  const at = (us: number): number => RECORDED_FROM_US + us;
  const drive = (untilUs: number, lingerUs = 1e12) =>
    feeds.advance({ token: SIM_TOKEN, untilUs, lingerUs });
  try {
    expect(await served.sim('replay', { paused: true })).toMatchObject({
      status: 400,
      body: expect.stringContaining('POST /sim/clock moves this replay') as string,
    });
    const wrong = { token: SIM_TOKEN, untilUs: at(1), pastEnd: 'yes' as unknown as boolean };
    await expect(feeds.advance(wrong)).rejects.toThrow('pastEnd');
    await drive(at(1_000_000));
    expect(await stateOf(served)).toMatchObject({ driven: true, paused: false, pace: null });
    await served.sim('replay', { paused: true });
    let isBack = false;
    const far = drive(at(9_000_000)).finally(() => {
      isBack = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect((await stateOf(served)).timeUs).toBe(at(1_000_000));
    // No other client moves the clock of a driver that waits.
    expect((await served.sim('clock', { advanceMs: 1 })).status).toBe(400);
    expect(await served.sim('clock', { advanceMs: 0 })).toMatchObject({
      body: { time: at(1_000_000) / 1000 },
    });
    for (const stepMs of [500, 250]) await served.sim('replay', { stepMs });
    await expect.poll(async () => (await stateOf(served)).timeUs).toBe(at(1_750_000));
    expect(isBack).toBe(false);
    for (const wrong of [
      { stepMs: 0 },
      { stepMs: 1, paused: true },
      { speed: 0 },
      { stepMs: 'x' },
    ]) {
      expect((await served.sim('replay', wrong)).status, JSON.stringify(wrong)).toBe(400);
    }
    await served.sim('replay', { paused: false, speed: 1000 });
    expect((await far).timeUs).toBe(at(9_000_000));
    // A request of another account ends the wait: the driver gets its updates at their time.
    await served.sim('replay', { paused: true });
    const next = drive(at(12_000_000), 2000);
    await served.sim('deposit', { account: WALLET.address, amount: '100' });
    await served.sim('replay', { stepMs: 10 });
    const { timeUs } = await next;
    expect(timeUs).toBeLessThanOrEqual(at(9_010_000));
    // A driver that leaves while it waits frees the clock.
    const lost = drive(at(15_000_000)).catch(() => null);
    await new Promise((resolve) => setTimeout(resolve, 30));
    await feeds.close();
    await lost;
    await expect.poll(async () => (await stateOf(served)).driven).toBe(false);
    expect(await served.sim('clock', { toMs: at(10_000_000) / 1000 })).toMatchObject({
      status: 200,
      body: { time: at(10_000_000) / 1000 },
    });
  } finally {
    await feeds.close();
    await served.remove();
  }
}, 60_000);

test('a driver that leaves takes its queued calls along, and a refused call drives nothing', async () => {
  const served = await serveReplay(planOf([], { toUs: RECORDED_FROM_US + 20_000_000 }));
  const client = new HttpMatcherClient({ url: served.url, signer: WALLET });
  const feeds = client.feeds();
  const at = (us: number): number => RECORDED_FROM_US + us;
  const drive = (untilUs: number) =>
    feeds.advance({ token: SIM_TOKEN, untilUs, lingerUs: 1e12, pastEnd: false });
  try {
    await expect(drive(-1)).rejects.toThrow('untilUs');
    expect(await stateOf(served)).toMatchObject({ driven: false });
    await drive(at(1_000_000));
    await served.sim('replay', { paused: true });
    const lost = [at(2_000_000), at(3_000_000)].map((us) => drive(us).catch(() => null));
    await new Promise((resolve) => setTimeout(resolve, 30));
    await feeds.close();
    await Promise.all(lost);
    await expect.poll(async () => (await stateOf(served)).driven).toBe(false);
    const moved = served.sim('clock', { toMs: at(4_000_000) / 1000 });
    const late = new Promise((resolve) => setTimeout(resolve, 2000, 'late'));
    expect(await Promise.race([moved, late])).toMatchObject({ status: 200 });
  } finally {
    await feeds.close();
    await served.remove();
  }
}, 20_000);

test('a driver that must stop waits no longer, and plays no more history for it', async () => {
  const served = await serveReplay(planOf([], { toUs: RECORDED_FROM_US + 20_000_000 }));
  const feeds = new HttpMatcherClient({ url: served.url, signer: WALLET }).feeds();
  const at = (us: number): number => RECORDED_FROM_US + us;
  const drive = (untilUs: number) =>
    feeds.advance({ token: SIM_TOKEN, untilUs, lingerUs: 1e12, pastEnd: false });
  try {
    await drive(at(1_000_000));
    await served.sim('replay', { paused: true });
    const waiting = drive(at(9_000_000));
    await new Promise((resolve) => setTimeout(resolve, 30));
    served.host.replay?.release();
    expect(await waiting).toMatchObject({ timeUs: at(1_000_000), ended: false });
    await served.sim('replay', { paused: true });
    expect(await drive(at(2_000_000))).toMatchObject({ timeUs: at(2_000_000) });
  } finally {
    await feeds.close();
    await served.remove();
  }
}, 20_000);
