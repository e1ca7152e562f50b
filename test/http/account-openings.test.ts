/**
 * New accounts are kept for ever, so an address opens a limited number an hour, by transfers and by
 * grants to delegates (R-11.2, decision 0155).
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { ALICE, BOB } from '../gateway/fixture.ts';
import { Served, type Answer } from './served.ts';

const NEVER = 9_007_199_254_740_991;
const TOO_MANY = 'Too many new accounts and subaccounts from this address';
const wallet = (n: number): string => `0x${n.toString(16).padStart(40, '1')}`;

let served: Served;
let nowMs = Date.now();
let nonce = 0;
beforeEach(async () => {
  served = await Served.start({
    clock: 'wall',
    wallMs: () => nowMs,
    requestsPerSecond: 200,
    limits: { accountsPerHour: 4 },
    trustProxy: ['127.0.0.1'],
  });
  for (const account of [ALICE, BOB]) await served.sim('deposit', { account, amount: '1000' });
});
afterEach(() => served.remove());

async function post(path: string, body: object, from = '192.0.2.1'): Promise<Answer> {
  const sender = (body as { accountFrom?: typeof ALICE }).accountFrom ?? ALICE;
  const bearer = await served.token({ account: sender, signer: sender });
  const text = JSON.stringify({ expiresAt: NEVER, nonce: ++nonce, signatures: [], ...body });
  const headers = { authorization: `Bearer ${bearer}`, 'x-forwarded-for': from };
  return served.send('POST', path, text, headers);
}

const transfer = (to: string, more: object = {}, from?: string): Promise<Answer> =>
  post(
    '/account/transfer',
    {
      ...{ accountFrom: ALICE, accountTo: to, target: ALICE, amount: '0.000001' },
      ...{ subaccountIndexFrom: 0, subaccountIndexTo: 0 },
      feedId: DEFAULT_EXCHANGE_CONFIG.cashFeedId,
      ...more,
    },
    from,
  );

const grant = (delegate: string, delegated = true): Promise<Answer> =>
  post('/account/delegates', { account: ALICE, subaccountIndex: 0, delegate, delegated });

const refusalOf = ({ status, body, headers }: Answer): unknown[] => [
  status,
  body,
  headers.get('retry-after'),
];

describe('beyond the budget of its address', () => {
  beforeEach(async () => {
    expect((await transfer(wallet(1))).status).toBe(200);
    expect((await transfer(wallet(1), { subaccountIndexTo: 7 })).status).toBe(200);
    expect((await grant(wallet(2))).status).toBe(200);
    expect((await transfer(wallet(3), { accountFrom: BOB, target: BOB })).status).toBe(200);
  });

  test('no account opens another one, or a subaccount, or a delegate', async () => {
    const accounts = served.host.view.subaccountCount;
    const refused = [429, TOO_MANY, '900'];
    expect(refusalOf(await transfer(wallet(4)))).toEqual(refused);
    expect(refusalOf(await transfer(ALICE, { subaccountIndexTo: 1 }))).toEqual(refused);
    expect(refusalOf(await grant(wallet(4)))).toEqual(refused);
    const asBob = { accountFrom: BOB, target: BOB };
    expect(refusalOf(await transfer(wallet(4), asBob))).toEqual(refused);
    expect(served.host.view.subaccountCount).toBe(accounts);
  });

  test('other transfers and delegates go on, as do other addresses', async () => {
    expect((await transfer(wallet(1))).status).toBe(200);
    expect((await transfer(BOB)).status).toBe(200);
    expect((await grant(wallet(2), false)).status).toBe(200);
    expect((await grant(wallet(2))).status).toBe(200);
    expect((await grant(BOB)).status).toBe(200);
    expect((await transfer(wallet(5), {}, '192.0.2.2')).status).toBe(200);
  });

  test('a quarter of an hour admits one of four an hour', async () => {
    nowMs += 899_000;
    expect(refusalOf(await transfer(wallet(4)))).toEqual([429, TOO_MANY, '1']);
    nowMs += 1000;
    expect((await transfer(wallet(4))).status).toBe(200);
    expect((await transfer(wallet(5))).status).toBe(429);
  });
});

test('a refused request counts as none', async () => {
  for (let i = 0; i < 5; i++) {
    expect((await transfer(wallet(9), { amount: '2000' })).status).toBe(400);
    expect((await transfer(wallet(9), { amount: 'x' })).status).toBe(400);
  }
  expect((await transfer(wallet(9))).status).toBe(200);
});

test('without limits of requests there is none', async () => {
  await served.remove();
  served = await Served.start({ limits: { accountsPerHour: 1 } });
  await served.sim('deposit', { account: ALICE, amount: '1000' });
  for (let i = 1; i < 4; i++) expect((await transfer(wallet(i))).status).toBe(200);
});
