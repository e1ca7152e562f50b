import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Wallet } from 'ethers';
import { afterAll, expect, test } from 'vitest';
import type { Command } from '../../src/engine/commands.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { HttpMatcherClient, type FetchLike } from '../../src/http-client/http-matcher-client.ts';
import { LiveRun } from '../../src/live/live-run.ts';
import { FundingPayments } from '../../src/live/funding-payments.ts';
import { address } from '../../src/num/units.ts';
import { bundleStrategy } from '../../src/strategy-loader/bundle.ts';
import { loadStrategy } from '../../src/strategy-loader/sandbox.ts';
import { madeUpTape, specOf } from '../backtest/made-up.ts';
import { Served } from '../http/served.ts';

const WALLET = new Wallet(`0x${'9'.repeat(64)}`);
const folder = mkdtempSync(join(tmpdir(), 'orrery-funding-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('a payment is the change of the funding, without what a fill realised', () => {
  const payments = new FundingPayments();
  payments.begin('T', '-0.5');
  expect(payments.settled('T', '-0.7')).toBe('-0.2');
  // Half of the position is closed, then all of it.
  payments.realized('T', '-0.35');
  expect(payments.settled('T', '-0.45')).toBe('-0.1');
  payments.realized('T', '-0.45');
  expect(payments.settled('T', '0')).toBe('0');
  expect(payments.settled('U', '1.000001')).toBe('1.000001');
});

const INTERVAL_US = 1_000_000;
const TAPE = madeUpTape(6);
const STRATEGY = `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: 'carry', parameters: {}, create: () => {
  let step = 0;
  return {
    async onBook(_book, context) {
      if (step > 0) return;
      step = 1;
      await context.submit({ side: 'buy', size: '0.02' });
      context.log('open');
    },
    async onFunding({ payment }, context) {
      const size = { 1: '0.015', 2: '0.005' }[step++];
      if (size !== undefined) await context.submit({ side: 'sell', size });
      context.log(payment);
    },
  };
} });`;

/** A server with a recording of six intervals, of which the first two are played. */
async function carried() {
  const config = DEFAULT_EXCHANGE_CONFIG;
  const spec = specOf('T', {
    funding: { source: 'external', intervalMs: INTERVAL_US / 1000, sampleIntervalMs: 1000 },
  });
  const opening: Command[] = [{ kind: 'listMarket', timeUs: config.genesisTimeUs, spec }];
  const served = await Served.start({ config, opening });
  await served.sim('deposit', { account: WALLET.address, amount: '10000' });
  /** Plays an interval of the recording. */
  const play = async (interval: number): Promise<void> => {
    for (const command of TAPE) {
      if (Math.floor((command.timeUs - TAPE[0]!.timeUs) / INTERVAL_US) !== interval) continue;
      served.host.submit({ ...command });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  // Orders need a mark.
  await play(0);
  await play(1);
  return { served, play };
}

/** Starts the strategy; its lines and warnings. */
async function started(url: string, source: string, fetch?: FetchLike) {
  const path = join(folder, 'carry.ts');
  writeFileSync(path, source);
  const { definition, bindClock } = loadStrategy(await bundleStrategy(path));
  const stop = new AbortController();
  const lines: string[] = [];
  const warnings: string[] = [];
  const running = new LiveRun({
    ...{ definition, bindClock, parameters: {}, seed: '1', symbols: null, subaccountIndex: 0 },
    client: new HttpMatcherClient({ url, signer: WALLET, ...(fetch && { fetch, retries: 0 }) }),
    account: WALLET.address.toLowerCase(),
    stop: stop.signal,
    onLog: (text) => lines.push(text),
    onWarning: (text) => warnings.push(text),
  }).complete();
  running.catch(() => undefined);
  return { running, stop, lines, warnings };
}

test('payments are those of the exchange while the position shrinks (D-46)', async () => {
  const { served, play } = await carried();
  const { running, stop, lines } = await started(served.url, STRATEGY);
  for (const interval of [2, 3, 4, 5]) {
    await Promise.race([running, play(interval)]);
    await Promise.race([running, expect.poll(() => lines.length).toBe(interval - 1)]);
    // The strategy gets it in the next interval.
    await served.sim('funding', { symbol: 'T', rate: '0.001' });
  }
  stop.abort();
  await running;
  const account = address(WALLET.address.toLowerCase());
  const token = await served.token({ account, signer: account });
  const at = `/account/history/funding?account=${account}&subaccountIndex=0`;
  const headers = { authorization: `Bearer ${token}` };
  const { body } = await served.send('GET', at, undefined, headers);
  const paid = (body as { amount: string; quantity: string }[]).toReversed();
  expect(paid.map(({ quantity }) => quantity)).toEqual(['0.02', '0.005']);
  expect(lines).toEqual(['open', ...paid.map(({ amount }) => amount), '0']);
  await served.remove();
});

test('a payment that cannot be read is in the next one, and the run goes on', async () => {
  const { served, play } = await carried();
  let isAway = false;
  const fetchOrNot: FetchLike = async (url, init) => {
    if (isAway && url.includes('/summary')) throw new TypeError('fetch failed');
    return fetch(url, init);
  };
  const held = STRATEGY.replace(/ {6}const size.*\n.*\n/, '');
  expect(held).not.toContain('0.015');
  const { running, stop, lines, warnings } = await started(served.url, held, fetchOrNot);
  for (const interval of [2, 3, 4, 5]) {
    isAway = interval === 4;
    const count = [1, 2, 2, 3][interval - 2];
    await Promise.race([running, play(interval)]);
    const reached = expect.poll(() => [lines.length, warnings.length > 0]);
    await Promise.race([running, reached.toEqual([count, interval >= 4])]);
    await served.sim('funding', { symbol: 'T', rate: '0.001' });
  }
  stop.abort();
  await running;
  expect(warnings).toEqual([
    expect.stringMatching(/^WARNING: no onFunding of T, the next one has/),
  ]);
  const [open, first, later] = lines;
  expect(open).toBe('open');
  expect(Number(later) / Number(first)).toBeCloseTo(2, 1);
  await served.remove();
});
