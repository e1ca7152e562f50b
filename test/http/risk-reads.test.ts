/**
 * Risk data for users and operators: mark components, frozen markets, funds, liquidations in feeds,
 * metrics and log lines.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Compile } from 'typebox/compile';
import { WebSocket } from 'ws';
import { UPDATE_DATA } from '../../src/contract/asyncapi.ts';
import { operatorLog } from '../../src/http/operator-log.ts';
import { logRisk } from '../../src/http/risk-log.ts';
import { ALICE, BOB, order, START, SYMBOL } from '../gateway/fixture.ts';
import { Served } from './served.ts';

const LIQUIDATION = Compile(UPDATE_DATA.liquidation);
const MARKET = Compile(UPDATE_DATA.market);

let served: Served;
const lines: string[] = [];
beforeAll(async () => {
  served = await Served.start();
  logRisk(
    served.host,
    operatorLog('text', (line) => lines.push(line)),
  );
  await served.sim('deposit', { account: ALICE, amount: '1500' });
  await served.sim('deposit', { account: BOB, amount: '100000' });
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
});
afterAll(() => served.remove());

const as = (account: typeof ALICE) => ({ account, signer: account });
let nonce = 100;
const submit = async (account: typeof ALICE, changes: object): Promise<unknown> =>
  (await served.call('submitOrder', order({ account, nonce: ++nonce, ...changes }), as(account)))
    .body;

interface Update {
  readonly type: string;
  readonly data: Record<string, unknown>;
}

async function watch(params: object): Promise<Update[]> {
  const updates: Update[] = [];
  const socket = new WebSocket(`${served.url.replace('http', 'ws')}/ws`);
  await new Promise((resolve) => socket.on('open', resolve));
  await new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as Update | { id: number };
      if ('type' in message) updates.push(message);
      else resolve();
    });
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscribe', params }));
  });
  return updates;
}

async function until(isDone: () => boolean): Promise<void> {
  for (let i = 0; i < 400 && !isDone(); i++) await new Promise((r) => setTimeout(r, 5));
}

test('price and summary show the components of the mark and predicted funding', async () => {
  await submit(BOB, { quantity: '1', price: '59990' });
  await submit(BOB, { quantity: '-1', price: '60010' });
  for (const read of ['getPrice', 'getSummary'] as const) {
    const { body } = await served.call(read, { symbol: SYMBOL }, null);
    expect(body).toMatchObject({
      status: 'open',
      frozen: false,
      frozenSince: null,
      indexTime: START / 1000,
      indexStale: false,
      markComposition: {
        source: 'median',
        index: '60000',
        smoothed: '60000',
        last: null,
        impactBid: '59990',
        impactAsk: '60010',
        lowest: '59700',
        highest: '60300',
      },
      indicativeFundingRate: null,
      fundingSamples: 0,
    });
    const { time, nextFundingTime } = body as { time: number; nextFundingTime: number };
    expect(nextFundingTime).toBe(Math.floor(time / 3_600_000) * 3_600_000 + 3_600_000);
  }
  await served.sim('clock', { advanceMs: 20_000 });
  const { body } = await served.call('getPrice', { symbol: SYMBOL }, null);
  // The index is inside the impact prices, so the premium is 0 and the rate is the interest.
  expect(body).toMatchObject({ indicativeFundingRate: '0.0000125' });
  expect((body as { fundingSamples: number }).fundingSamples).toBeGreaterThanOrEqual(3);
});

test('an oracle outage freezes the market in price, feed, metric and log, and a price thaws it', async () => {
  const updates = await watch({ source: 'market', symbols: [SYMBOL] });
  const { time } = (await served.call('getTime', {}, null)).body as { time: number };
  await served.sim('clock', { advanceMs: 61_000 });
  const { body } = await served.call('getPrice', { symbol: SYMBOL }, null);
  expect(body).toMatchObject({ frozen: true, mark: '60000', indexStale: true });
  const { indexTime } = body as { indexTime: number };
  expect(indexTime).toBeLessThanOrEqual(time);
  const { frozenSince } = body as { frozenSince: number };
  expect(frozenSince).toBeGreaterThan(time);
  expect((await served.send('GET', '/metrics')).text).toContain(
    `orrery_market_frozen{symbol="${SYMBOL}"} 1`,
  );
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
  await until(() => updates.length >= 2);
  expect(updates.map(({ data }) => data['frozen'])).toEqual([true, false]);
  for (const { data } of updates) expect(MARKET.Check(data)).toBe(true);
  expect(lines).toEqual([
    `orrery: ${SYMBOL} is frozen (R-5.3b)`,
    `orrery: ${SYMBOL} is no longer frozen`,
  ]);
  expect((await served.send('GET', '/metrics')).text).toContain(
    `orrery_market_frozen{symbol="${SYMBOL}"} 0`,
  );
});

test('a bankruptcy is in the liquidation feed without its account, and in metrics', async () => {
  const updates = await watch({ source: 'liquidation', symbols: [] });
  expect(await submit(ALICE, { quantity: '1', price: '60010' })).toMatchObject([
    { status: 'filled' },
  ]);
  const { body } = await served.call(
    'getPositions',
    { account: ALICE, subaccountIndex: 0 },
    as(ALICE),
  );
  expect(body).toMatchObject([{ quantity: '1', adlQuantile: 5 }]);
  await served.sim('oracle', { symbol: SYMBOL, price: '50000' });
  await until(() => updates.some(({ data }) => data['event'] === 'transfer'));
  const text = JSON.stringify(updates);
  for (const { data } of updates) expect(LIQUIDATION.Check(data), JSON.stringify(data)).toBe(true);
  expect(text.toLowerCase()).not.toContain(ALICE.slice(2));
  expect(text.toLowerCase()).not.toContain(BOB.slice(2));
  const events = updates.map(({ data }) => `${String(data['event'])} ${String(data['step'])}`);
  expect(events).toContain('step adl');
  expect(events).toContain('transfer adl');
  const metrics = (await served.send('GET', '/metrics')).text;
  expect(metrics).toMatch(/orrery_liquidation_steps_total\{step="adl"\} 1/);
  expect(metrics).toContain('orrery_solvency_violations 0');
  expect(metrics).toMatch(/orrery_insurance_usd \d/);
  expect(metrics).toMatch(/orrery_insurance_allowance_usd \d/);
  expect(metrics).toMatch(/orrery_vault_nav_usd \d/);
  expect(metrics).toMatch(/orrery_shortfall_usd \d/);
});
