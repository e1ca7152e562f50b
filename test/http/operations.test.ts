/** Reads of an operator: accounts near liquidation and the state of the server. */
import { WebSocket } from 'ws';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALICE, BOB, order, SYMBOL } from '../gateway/fixture.ts';
import { Served } from './served.ts';

const AS_ALICE = { account: ALICE, signer: ALICE } as const;
const AS_BOB = { account: BOB, signer: BOB } as const;

interface Risk {
  readonly accounts: readonly {
    readonly account: string;
    readonly ratio: string;
    readonly equity: string;
    readonly maintenanceMargin: string;
    readonly positions: readonly string[];
  }[];
  readonly holders: number;
}

let served: Served;
beforeAll(async () => {
  served = await Served.start({ requestsPerSecond: 200 });
  await served.sim('deposit', { account: ALICE, amount: '3000' });
  await served.sim('deposit', { account: BOB, amount: '10000' });
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
});
afterAll(() => served.remove());

test('the riskiest account is first, and its ratio is that of its figures', async () => {
  expect(((await served.operator('accounts')).body as Risk).accounts).toEqual([]);
  await served.call('submitOrder', order({ account: BOB, price: '60000', quantity: '-1' }), AS_BOB);
  await served.call('submitOrder', order({ price: '60000', quantity: '1' }), AS_ALICE);
  // The scan before is shared for a second.
  await new Promise((resolve) => setTimeout(resolve, 1100));
  const { accounts, holders } = (await served.operator('accounts')).body as Risk;
  expect(holders).toBe(2);
  expect(accounts.map(({ account }) => account)).toEqual([ALICE, BOB]);
  for (const { account, equity, maintenanceMargin, ratio, positions } of accounts) {
    const as = account === ALICE ? AS_ALICE : AS_BOB;
    const { body } = await served.call('getStats', { account, subaccountIndex: 0 }, as);
    expect(body).toMatchObject({ accountValue: equity, maintMargin: maintenanceMargin });
    expect(Number(ratio)).toBeCloseTo(Number(equity) / Number(maintenanceMargin), 5);
    expect(positions).toEqual([SYMBOL]);
  }
  const one = (await served.operator('accounts?limit=1')).body as Risk;
  expect(one.accounts).toHaveLength(1);
});

test('both reads need the operator token, and bad limits are refused', async () => {
  for (const path of ['accounts', 'status']) {
    expect((await served.operator(path, undefined, 'wrong')).status).toBe(401);
  }
  for (const limit of ['0', '501', '-1', 'x', '1e3']) {
    expect((await served.operator(`accounts?limit=${limit}`)).status, limit).toBe(400);
  }
});

test('the status counts connections, refusals and bytes', async () => {
  const read = async () =>
    (await served.operator('status')).body as Readonly<Record<string, number | boolean>>;
  const before = await read();
  expect(before).toMatchObject({ writesStopped: false, feedConnections: 0, slowReaders: 0 });
  expect(before['diskFreeBytes']).toBeGreaterThan(0);
  expect(before['journalBytes']).toBeGreaterThan(0);
  const socket = new WebSocket(`${served.url.replace('http', 'ws')}/ws`);
  await new Promise((resolve) => {
    socket.onopen = resolve;
  });
  expect((await read())['feedConnections']).toBe(1);
  socket.close();
  for (let i = 0; i < 205; i++) await served.send('GET', '/time');
  expect((await read())['rateRefusals']).toBeGreaterThan(0);
});
