/**
 * Fills of a lost connection that the server does not give: a live run names them in its log and
 * its record, and goes on with the positions of the exchange.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Wallet } from 'ethers';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { ENDPOINTS } from '../../src/contract/endpoints.ts';
import { HttpMatcherClient } from '../../src/http-client/http-matcher-client.ts';
import { readCompared } from '../../src/live/compare-runs.ts';
import type { LiveRecord } from '../../src/live/live-record.ts';
import { LiveRun } from '../../src/live/live-run.ts';
import { gapText } from '../../src/live/reconcile.ts';
import { address } from '../../src/num/units.ts';
import { bundleStrategy } from '../../src/strategy-loader/bundle.ts';
import { loadStrategy } from '../../src/strategy-loader/sandbox.ts';
import { BOB, order, SYMBOL } from '../gateway/fixture.ts';
import { Served } from '../http/served.ts';
import { LossyProxy } from './lossy-proxy.ts';

const WALLET = new Wallet(`0x${'7'.repeat(64)}`);
const OWN = address(WALLET.address.toLowerCase());
const FILLS = '/account/history/fills';
const folder = mkdtempSync(join(tmpdir(), 'orrery-missed-'));
const STRATEGY = join(folder, 'idle.ts');
writeFileSync(
  STRATEGY,
  `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: 'idle', parameters: {}, create: () => {
  let ready = false;
  return {
    // Its feed begins after that of fills.
    onBook: (_book, context) => {
      if (!ready) context.log('ready');
      ready = true;
    },
    onFill: ({ position }, context) => context.log('position ' + position),
  };
} });`,
);

let served: Served;
let proxy: LossyProxy;
let lines: string[];
let warnings: string[];
let stop: AbortController;
let running: Promise<LiveRecord>;

beforeEach(async () => {
  served = await Served.start();
  for (const account of [OWN, BOB]) await served.sim('deposit', { account, amount: '100000' });
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
  proxy = await LossyProxy.start(served.url);
  await send(OWN, { price: '60000', quantity: '0.5' });
  [lines, warnings, stop] = [[], [], new AbortController()];
  const { definition, bindClock } = loadStrategy(await bundleStrategy(STRATEGY));
  running = new LiveRun({
    ...{ definition, bindClock, parameters: {}, seed: '1', symbols: [SYMBOL], subaccountIndex: 0 },
    client: new HttpMatcherClient({ url: proxy.url, signer: WALLET }),
    account: OWN,
    stop: stop.signal,
    onLog: (text) => lines.push(text),
    onWarning: (text) => warnings.push(text),
  }).complete();
  running.catch(() => undefined);
});
afterEach(async () => {
  stop.abort();
  await running.catch(() => undefined);
  await proxy.stop();
  await served.remove();
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function send(account: typeof OWN, terms: Record<string, unknown>): Promise<void> {
  const { body } = await served.call('submitOrder', order({ account, ...terms }), {
    account,
    signer: account,
  });
  expect(body).not.toMatchObject([{ status: 'rejected' }]);
}

/** Bob sells to the resting order of the run's account. */
async function sell(quantity: string): Promise<void> {
  const flags = { ioc: true, postOnly: false, reduceOnly: false };
  await send(BOB, { price: '60000', quantity: `-${quantity}`, flags });
}

async function read(endpoint: 'getPositions' | 'getBalance'): Promise<Record<string, string>> {
  const { body } = await served.call(
    endpoint,
    { account: OWN, subaccountIndex: 0 },
    { account: OWN, signer: OWN },
  );
  return (body as Record<string, string>[])[0]!;
}

/** The run gets its feeds, and a first fill. */
async function begun(): Promise<void> {
  await expect.poll(() => lines, { timeout: 15_000 }).toEqual(['ready']);
  await sell('0.03');
  await expect.poll(() => lines, { timeout: 15_000 }).toEqual(['ready', 'position 0.03']);
}

async function stopped(): Promise<LiveRecord> {
  stop.abort();
  return running;
}

test('without a history of fills the run says which positions differ, and corrects them', async () => {
  await begun();
  proxy.hidden = FILLS;
  const startUs = Date.now() * 1000;
  proxy.lose();
  await sell('0.02');
  proxy.restore();
  await expect.poll(() => warnings.length, { timeout: 15_000 }).toBe(1);
  const { balance } = await read('getBalance');
  // The next fill has the position of the exchange.
  await sell('0.01');
  await expect.poll(() => lines.at(-1)).toBe('position 0.06');
  expect(lines).toHaveLength(3);
  const record = await stopped();
  const positions = [{ symbol: SYMBOL, counted: '0.03', exchange: '0.05' }];
  const unknownFills = 'the server has no history of fills';
  expect(record.gaps).toMatchObject([{ unknownFills, positions, balance }]);
  const [gap] = record.gaps!;
  expect(gap!.fromUs).toBeGreaterThanOrEqual(startUs);
  expect(gap!.toUs).toBeGreaterThan(gap!.fromUs);
  const text = `WARNING: ${gapText(gap!)}`;
  const [from, to] = [gap!.fromUs, gap!.toUs].map((us) => new Date(us / 1000).toISOString());
  expect(text).toBe(
    `WARNING: fills from ${from} to ${to} are missing (${unknownFills}); positions differ: ` +
      `${SYMBOL}: 0.03 counted, 0.05 at the exchange; ` +
      `the run goes on with those of the exchange; balance ${balance}`,
  );
  expect(warnings).toEqual([text]);
  expect(record.log.map((row) => row.text)).toContain(text);
  // A comparison of the run shows it.
  writeFileSync(join(folder, 'live.json'), JSON.stringify(record));
  expect((await readCompared(folder, null)).gaps).toEqual(record.gaps);
});

test('a server that was restarted meanwhile has the later fills only', async () => {
  await begun();
  proxy.lose();
  await served.sim('clock', { advanceMs: 10_000 });
  await sell('0.02');
  const { path } = served;
  await served.stop();
  // Without a replay of its journal, its history begins with this process.
  served = await Served.start({ path });
  proxy.restore(served.url);
  await expect.poll(() => warnings.length, { timeout: 15_000 }).toBe(1);
  const { gaps } = await stopped();
  const positions = [{ symbol: SYMBOL, counted: '0.03', exchange: '0.05' }];
  expect(gaps).toMatchObject([{ positions }]);
  expect(gaps![0]!.unknownFills).toMatch(/^the server's history of fills begins at 2\d{3}-/);
});

test('unknown fills that leave the position are named as possible', async () => {
  await begun();
  proxy.hidden = FILLS;
  proxy.lose();
  await new Promise((resolve) => setTimeout(resolve, 300));
  proxy.restore();
  await expect.poll(() => warnings.length, { timeout: 15_000 }).toBe(1);
  const { balance } = await read('getBalance');
  expect(warnings[0]).toContain('may be missing (the server has no history of fills)');
  expect(warnings[0]).toContain(`positions are those of the exchange; balance ${balance}`);
  expect((await stopped()).gaps).toMatchObject([{ positions: [], balance }]);
});

test('with a history the missed fills are delivered, and nothing is missing', async () => {
  await begun();
  proxy.lose();
  await sell('0.02');
  await sell('0.03');
  proxy.restore();
  await expect.poll(() => lines.slice(2), { timeout: 15_000 }).toHaveLength(2);
  expect(lines.slice(2)).toEqual(['position 0.05', 'position 0.08']);
  // Positions have been compared meanwhile.
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect((await stopped()).gaps).toEqual([]);
  expect(warnings).toEqual([]);
});

test('fills before the feed is there are missing too', async () => {
  // After the position is read, and before the first subscription.
  proxy.beforeUpgrade = () => sell('0.02');
  await expect.poll(() => warnings.length, { timeout: 15_000 }).toBe(1);
  await sell('0.01');
  await expect.poll(() => lines.at(-1)).toBe('position 0.03');
  expect((await stopped()).gaps).toMatchObject([
    { unknownFills: null, positions: [{ symbol: SYMBOL, counted: '0', exchange: '0.02' }] },
  ]);
});

test('a run that ends before positions are compared names the time', async () => {
  await begun();
  // The feeds come back, but no position.
  proxy.hidden = ENDPOINTS.getPositions.path;
  proxy.lose();
  await sell('0.02');
  proxy.restore();
  await expect.poll(() => lines.at(-1), { timeout: 15_000 }).toBe('position 0.05');
  await new Promise((resolve) => setTimeout(resolve, 500));
  const { gaps } = await stopped();
  expect(gaps).toMatchObject([{ unknownFills: null, positions: [], balance: null }]);
  expect(gapText(gaps![0]!)).toMatch(/ may be missing; positions were not compared$/);
});

test('a run that ends without a connection names the time', async () => {
  await begun();
  proxy.lose();
  await sell('0.02');
  const { gaps } = await stopped();
  expect(gaps).toMatchObject([
    { unknownFills: 'the run ended without a connection', positions: [], balance: null },
  ]);
});
