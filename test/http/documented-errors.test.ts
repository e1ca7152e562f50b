/**
 * Every error that the contract documents, provoked over HTTP: endpoint, text and status (R-11.1,
 *
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EndpointId } from '../../src/contract/endpoints.ts';
import { MESSAGES } from '../../src/contract/messages.ts';
import type { Caller } from '../../src/gateway/context.ts';
import { ALICE, BOB, order, STRANGER, SYMBOL } from '../gateway/fixture.ts';
import { Served, type Answer } from './served.ts';

const as = (account: Caller['account']): Caller => ({ account, signer: account });
const AS_ALICE = as(ALICE);
const ZERO_FEED = `0x${'0'.repeat(64)}`;
const NEVER = 9_007_199_254_740_991;

let served: Served;
let verifying: Served;
let nonce = 1_000_000;
beforeAll(async () => {
  served = await Served.start();
  verifying = await Served.start({ signatures: 'verify' });
  for (const one of [served, verifying]) {
    for (const account of [ALICE, BOB]) await one.sim('deposit', { account, amount: '1000' });
    await one.sim('oracle', { symbol: SYMBOL, price: '60000' });
  }
});
afterAll(async () => {
  await served.remove();
  await verifying.remove();
});

const fault = async (name: string, endpoint: EndpointId): Promise<void> => {
  const armed = await served.sim('faults', { fault: name, endpoint });
  expect(armed.status).toBe(200);
};
const of = (account: string): object => ({ account, subaccountIndex: 0 });
const signed = (more: object): object => ({
  expiresAt: NEVER,
  nonce: ++nonce,
  signatures: [],
  ...more,
});
const margin = (account: string): object =>
  signed({ ...of(account), symbol: SYMBOL, isolated: false, margin: '0.5' });
const transfer = (amount: string): object =>
  signed({
    accountFrom: ALICE,
    accountTo: BOB,
    amount,
    feedId: ZERO_FEED,
    subaccountIndexFrom: 0,
    subaccountIndexTo: 0,
    target: ALICE,
  });
const delegation = (): object => signed({ ...of(ALICE), delegate: STRANGER, delegated: true });
const signers = (): object => signed({ account: ALICE, quorum: 1, signers: [BOB] });

/** Endpoint as named by the contract, error text, status, and a request that provokes it. */
const ROWS: readonly (readonly [string, string, number, () => Promise<Answer>])[] = [
  [
    'GET /auth',
    'Request timed out',
    408,
    async () => {
      await fault('timeout', 'getAuth');
      return served.call('getAuth', { account: ALICE }, null);
    },
  ],
  [
    'GET /auth',
    'Failed to store auth nonce',
    500,
    async () => {
      await fault('nonceStore', 'getAuth');
      return served.call('getAuth', { account: ALICE }, null);
    },
  ],
  [
    'GET /auth/claims',
    'Invalid token',
    401,
    () => served.send('GET', '/auth/claims', undefined, { authorization: 'Bearer a.b.c' }),
  ],
  [
    'POST /account/order',
    'May not specify period on Limit order',
    400,
    () => served.call('submitOrder', order({ period: 0 }), AS_ALICE),
  ],
  [
    'POST /account/order',
    'Invalid signature',
    403,
    () => verifying.call('submitOrder', order({ signatures: [`0x${'1'.repeat(130)}`] }), AS_ALICE),
  ],
  [
    'POST /account/orders',
    'Not delegated for account and subaccount',
    403,
    () => served.call('submitOrders', { orders: [order()] }, as(BOB)),
  ],
  [
    'POST /account/orders',
    'Invalid subaccount index',
    400,
    () => served.call('submitOrders', { orders: [order({ subaccountIndex: 9 })] }, AS_ALICE),
  ],
  [
    'DELETE /account/order',
    'Not delegated for account and subaccount',
    403,
    () => served.call('cancelOrder', { clientId: 'x', account: ALICE }, as(BOB)),
  ],
  [
    'GET /account/order',
    'Order not found',
    404,
    () => served.call('getOrder', { orderId: '0'.repeat(64) }, AS_ALICE),
  ],
  [
    'GET /account/stats',
    'Delegation not allowed for request',
    403,
    () => served.call('getStats', of(ALICE), as(BOB)),
  ],
  [
    'GET /account/transfers',
    'Delegation not allowed for request',
    403,
    () => served.call('getTransfers', of(ALICE), as(BOB)),
  ],
  [
    'POST /account/delegates',
    'Delegation not allowed for request',
    403,
    () => served.call('updateDelegates', delegation(), as(BOB)),
  ],
  [
    'POST /account/transfer',
    'Delegation not allowed for request',
    403,
    () => served.call('transfer', transfer('1'), as(BOB)),
  ],
  [
    'POST /account/transfer',
    'Transfer amount exceeds available balance',
    400,
    () => served.call('transfer', transfer('1000000'), AS_ALICE),
  ],
  [
    'POST /account/transfer',
    'Please add the JWT token to the header',
    401,
    () => served.call('transfer', transfer('1'), null),
  ],
  [
    'POST /account/delegates',
    'Please add the JWT token to the header',
    401,
    () => served.call('updateDelegates', delegation(), null),
  ],
  [
    'POST /account/signers',
    'Please add the JWT token to the header',
    401,
    () => served.call('updateSigners', signers(), null),
  ],
  [
    'POST /account/signers',
    'Not authorized to update signers for this account',
    403,
    () => served.call('updateSigners', signers(), as(BOB)),
  ],
  [
    'GET /account/transfers',
    'Limit must be between 1 and 5000, got <n>',
    400,
    () => served.call('getTransfers', { ...of(ALICE), limit: 5001 }, AS_ALICE),
  ],
  [
    'GET /trades/{symbol}',
    'Limit must be between 1 and 5000, got <n>',
    400,
    () => served.call('getTrades', { symbol: SYMBOL, limit: 0 }, null),
  ],
  [
    'GET /trades/{symbol}',
    'Symbol not found',
    404,
    () => served.call('getTrades', { symbol: 'NONE' }, null),
  ],
  [
    'GET /summary/{symbol}',
    'Symbol not found',
    404,
    () => served.call('getSummary', { symbol: 'NONE' }, null),
  ],
  [
    'GET /candles/{symbol}',
    'Market <symbol> not found',
    404,
    () => served.call('getCandles', { symbol: 'NONE' }, null),
  ],
  [
    'GET /candles/{symbol}',
    'Internal server error: <detail>',
    500,
    async () => {
      await fault('internalError', 'getCandles');
      return served.call('getCandles', { symbol: SYMBOL }, null);
    },
  ],
  [
    'GET /account/balance',
    'Unauthorized',
    403,
    () => served.call('getBalance', { account: ALICE }, as(BOB)),
  ],
  [
    'GET /account/delegates',
    'Please add the JWT token to the header',
    401,
    () => served.call('getDelegates', { account: ALICE }, null),
  ],
  [
    'POST /account/margin',
    'Unauthorized to change margin for account <address>',
    403,
    () => served.call('updateMargin', margin(ALICE), as(BOB)),
  ],
  [
    'POST /account/margin',
    'Account not found',
    404,
    () => served.call('updateMargin', margin(STRANGER), as(STRANGER)),
  ],
  [
    'Limits',
    'HTTP 429',
    429,
    async () => {
      await fault('rateLimit', 'getTime');
      return served.call('getTime', {}, null);
    },
  ],
];

test.each(ROWS)('%s: %s', async (_endpoint, words, status, provoke) => {
  const answer = await provoke();
  expect(answer.status).toBe(status);
  expect(answer.headers.get('content-type')).toContain('text/plain');
  const pattern = words
    .replace('HTTP 429', MESSAGES.tooManyRequests.message)
    .replace(/<(n|symbol|address|detail)>/, '\u0000')
    .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replace('\u0000', '.+');
  expect(answer.body).toMatch(new RegExp(`^${pattern}$`));
  if (status === 429) expect(answer.headers.get('retry-after')).toBe('1');
});

test('the page of errors of the API has all of these texts', async () => {
  const text = await readFile(new URL('../../docs/API.md', import.meta.url), 'utf8');
  // Columns of tables are padded.
  const page = text.replace(/ +/g, ' ');
  for (const [, words, status] of ROWS) {
    if (words !== 'HTTP 429') expect(page).toContain(`| ${String(status)} | ${words} |`);
  }
});
