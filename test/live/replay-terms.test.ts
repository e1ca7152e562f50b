/**
 * A live run on a replay that is another one than the backtest: `orrery compare` names other rules,
 * other data and other accounts, and a server that stops ends the run.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type * as CliSupport from '../../src/cli/cli-support.ts';
import { main } from '../../src/cli/main.ts';
import { HttpMatcherClient } from '../../src/http-client/http-matcher-client.ts';
import type { LiveRecord } from '../../src/live/live-record.ts';
import { deposit } from '../../src/live/sim-client.ts';
import { executePlan } from '../../src/run-plan/plan.ts';
import type { RunPlan } from '../../src/run-plan/run-plan.ts';
import { recordedRun } from '../../src/run-plan/run-folder.ts';
import { SIM_TOKEN, type Served } from '../http/served.ts';
import { onAllData, planOf, plannedOf } from '../run-plan/plans.ts';
import { writeDataset } from './made-up-dataset.ts';
import { liveOnReplay, serveReplay } from './replayed.ts';

vi.mock('../../src/cli/cli-support.ts', async (original) => {
  const real = await original<typeof CliSupport>();
  const print = (line = ''): void => {
    printed += `${line}\n`;
  };
  const printJson = (value: unknown): void => {
    print(JSON.stringify(value));
  };
  return { ...real, print, printError: print, printJson };
});

const TESTER = fileURLToPath(new URL('tester.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'orrery-terms-'));
const data = join(folder, 'data');
const OTHER = new Wallet(`0x${'7'.repeat(64)}`);
let plan: RunPlan;
let printed = '';

beforeAll(async () => {
  await writeDataset(data, [{ symbol: 'AAA', steps: 40, everyUs: 100_000, marksEvery: 2 }]);
  const planned = await plannedOf(TESTER);
  const base = onAllData(planOf([planned], { data, sampleUs: 1_000_000 }));
  plan = { ...base, latency: '3ms' };
  const { output, ...notes } = await executePlan(plan);
  write('backtest', 'run.json', recordedRun(output, notes));
});
beforeEach(() => {
  printed = '';
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function write(name: string, file: 'run.json' | 'live.json', content: unknown): void {
  mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, name, file), JSON.stringify(content));
}

/** Exit code of `compare` with the backtest; its text is in `printed`. */
function compared(live: LiveRecord, ...options: readonly string[]): Promise<number> {
  write('live', 'live.json', live);
  return main(['compare', join(folder, 'live'), join(folder, 'backtest'), ...options]);
}

async function liveOn(
  served: Served,
  of: RunPlan = plan,
  during: () => Promise<void> = () => Promise.resolve(),
): Promise<LiveRecord> {
  try {
    const [planned] = of.strategies;
    const [live] = await Promise.all([liveOnReplay(served, of, planned!), during()]);
    return live;
  } finally {
    await served.remove();
  }
}

/** An order of another account, far from the market, which changes nothing. */
async function otherOrder(served: Served, afterOrders = 0): Promise<void> {
  const access = { url: served.url, token: SIM_TOKEN };
  await deposit(access, OTHER.address, 0, '1000');
  await expect
    .poll(() => served.host.view.lastOrderId, { interval: 5, timeout: 20_000 })
    .toBeGreaterThanOrEqual(afterOrders);
  const client = new HttpMatcherClient({ url: served.url, signer: OTHER });
  await client.send('submitOrder', {
    account: OTHER.address.toLowerCase(),
    subaccountIndex: 0,
    symbol: 'AAA',
    orderType: 'limit',
    price: '1',
    quantity: '0.001',
    expiresAt: 9_007_199_254_740,
    originator: `0x${'0'.repeat(40)}`,
    originatorFee: 0,
    flags: { ioc: false, postOnly: false, reduceOnly: false },
  });
}

test('equal terms: nothing is named', async () => {
  const live = await liveOn(await serveReplay(plan));
  expect(await compared(live)).toBe(0);
  expect(printed).toMatch(/^equal: \d+ orders/);
});

test('other fees of the server are named, each with both values', async () => {
  const other = { ...plan, fees: '0,0.001' };
  const live = await liveOn(await serveReplay(other), plan);
  expect(await compared(live)).toBe(1);
  expect(printed).toContain('terms that differ: 2\n');
  expect(printed).toContain('  AAA makerFeePpm: 0 against 100\n');
  expect(printed).toContain('  AAA takerFeePpm: 1000 against 350\n');
});

test('another seed, latency and balance are named, and --json has them', async () => {
  const other = { ...plan, seed: '2', latency: '4ms', balance: '9000' };
  const live = await liveOn(await serveReplay(other), other);
  expect(await compared(live, '--json')).toBe(1);
  const { same, terms } = JSON.parse(printed) as { same: boolean; terms: { name: string }[] };
  expect(same).toBe(false);
  expect(terms.map(({ name }) => name)).toEqual(['seed', 'latency', 'balance']);
});

test('a dataset that changed between the runs is named by its hash', async () => {
  const path = join(folder, 'other');
  await writeDataset(path, [{ symbol: 'AAA', steps: 40, everyUs: 100_001, marksEvery: 2 }]);
  const other = { ...plan, data: path };
  const live = await liveOn(await serveReplay(other), other);
  expect(await compared(live)).toBe(1);
  expect(printed).toMatch(/ {2}data: [0-9a-f]{64} against [0-9a-f]{64}\n/);
});

test('orders of another account are counted, before the run and in it', async () => {
  const before = await serveReplay(plan);
  await otherOrder(before);
  expect(await compared(await liveOn(before))).toBe(1);
  expect(printed).toContain('  orders before the run: 1 against 0\n');
  const long = { ...plan, data: join(folder, 'long') };
  await writeDataset(long.data, [{ symbol: 'AAA', steps: 120, everyUs: 100_000, marksEvery: 2 }]);
  const served = await serveReplay(long);
  const live = await liveOn(served, long, () => otherOrder(served, 2));
  expect(live.foreignOrders).toBe(1);
  await compared(live);
  expect(printed).toContain(': orders of other accounts in its exchange: 1\n');
});

test('a server that stops in the middle ends the run with an error, and no record', async () => {
  const served = await serveReplay(plan);
  const stop = async (): Promise<void> => {
    await expect.poll(() => served.host.view.lastOrderId, { timeout: 20_000 }).toBeGreaterThan(2);
    await served.stop();
  };
  await expect(liveOn(served, plan, stop)).rejects.toThrow(
    /connection|closed|lost|ECONN|fetch failed/i,
  );
}, 60_000);
