import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { HttpMatcherClient } from '../../src/http-client/http-matcher-client.ts';
import { mustHaveMoney } from '../../src/live/exchange-facts.ts';
import { executePlan } from '../../src/run-plan/plan.ts';
import { recordedRun } from '../../src/run-plan/run-folder.ts';
import { SIM_TOKEN } from '../http/served.ts';
import { planOf, plannedOf, RECORDED_FROM_US } from '../run-plan/plans.ts';
import { liveOnReplay, serveReplay, WALLET } from './replayed.ts';

const OBSERVER = fileURLToPath(new URL('observer.ts', import.meta.url));
const LATENCY = 'constant:feed=2ms,entry=5ms,response=5ms,compute=500us';
const folder = mkdtempSync(join(tmpdir(), 'orrery-replay-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Writes the two runs as their commands do. */
function write(name: string, file: 'run.json' | 'live.json', content: unknown): string {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, file), JSON.stringify(content));
  return path;
}

test.each([
  ['none', 'trust', 0, 0],
  [LATENCY, 'verify', 0, 0],
  // The planted fault: the strategy orders at every twentieth trade.
  [LATENCY, 'trust', 200, 1],
] as const)(
  'latency %s, signatures %s, delayed message %i: compare exits with %i',
  async (latency, signatures, delayed, code) => {
    const planned = await plannedOf(OBSERVER);
    const toUs = RECORDED_FROM_US + 8_000_000;
    const plan = planOf([planned], { latency, toUs, sampleUs: 1_000_000 });
    const { output } = await executePlan(plan);
    const [backtest] = output.strategies;
    const served = await serveReplay(plan, { signatures });
    try {
      const live = await liveOnReplay(served, plan, planned, delayed);
      expect(live.orders.length).toBeGreaterThan(3);
      expect(live.fills.length).toBeGreaterThan(3);
      const run = recordedRun(output, { assumptions: [], data: [] });
      const left = write(`live-${latency}-${String(delayed)}`, 'live.json', live);
      const right = write(`backtest-${latency}-${String(delayed)}`, 'run.json', run);
      expect(await main(['compare', left, right])).toBe(code);
      if (code !== 0) return;
      // Every update at its exact time, in the same order.
      expect(live.log).toEqual(backtest!.log);
      expect(live.equity.length).toBe(backtest!.equity.length);
    } finally {
      await served.remove();
    }
  },
  240_000,
);

test('a wallet without money gets an error that names the remedy; a replay has one driver and its own prices', async () => {
  const plan = planOf([], { toUs: RECORDED_FROM_US + 2_000_000 });
  const served = await serveReplay(plan);
  const driver = { token: SIM_TOKEN, untilUs: RECORDED_FROM_US + 500_000 };
  const client = new HttpMatcherClient({ url: served.url, signer: WALLET });
  const [first, second] = [client.feeds(), client.feeds()];
  try {
    await expect(mustHaveMoney(client, WALLET.address.toLowerCase(), 0)).rejects.toThrow(
      /has no money in subaccount 0; deposit first/,
    );
    await first.advance(driver);
    await expect(second.advance(driver)).rejects.toThrow('driven by another connection');
    await expect(second.advance({ ...driver, token: 'wrong' })).rejects.toThrow();
    // A driver that disconnects leaves the replay to others.
    await first.close();
    await expect
      .poll(() =>
        second.advance(driver).then(
          () => 'drives',
          () => 'refused',
        ),
      )
      .toBe('drives');
    const { status } = await served.sim('oracle', { symbol: 'BTCUSDT', price: '1' });
    expect(status).toBe(400);
  } finally {
    await second.close();
    await served.remove();
  }
}, 60_000);

test('a submit in the warm-up is a row without an order, as in real time', async () => {
  const source = `export default {
    name: 'early', parameters: {}, warmUpUs: () => 2_000_000,
    create: () => ({
      onTrade(_trade, context) {
        const order = { side: 'buy', size: '0.001' };
        if (context.warmingUp) void context.submit(order).catch((error) => context.log(error.message));
      },
    }),
  };`;
  const path = join(folder, 'early.mjs');
  writeFileSync(path, source);
  const planned = await plannedOf(path);
  const plan = planOf([planned], { toUs: RECORDED_FROM_US + 3_000_000 });
  const served = await serveReplay(plan);
  try {
    const { orders, log } = await liveOnReplay(served, plan, planned);
    expect(orders.length).toBeGreaterThan(3);
    expect(orders).toHaveLength(log.length);
    for (const { order, refusal, sentUs, answeredUs } of orders) {
      expect({ order, refusal }).toEqual({
        order: null,
        refusal: 'The strategy is warming up: writes are rejected',
      });
      expect(answeredUs).toBe(sentUs);
    }
  } finally {
    await served.remove();
  }
}, 60_000);
