/** A repeated deposit or withdrawal of /sim is made once, by its reference. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ALICE, BOB } from '../gateway/fixture.ts';
import { Served } from './served.ts';

const WIRE = { account: ALICE, amount: '500', reference: 'wire-17' };
const OF = `reference: is that of a deposit of 500, account ${ALICE}, subaccountIndex 0`;

let served: Served;
beforeEach(async () => {
  served = await Served.start();
  await served.sim('deposit', { account: ALICE, amount: '1000' });
});
afterEach(() => served.remove());

async function balance(): Promise<string> {
  const caller = { account: ALICE, signer: ALICE };
  const { body } = await served.call('getBalance', { account: ALICE }, caller);
  return (body as { balance: string }[])[0]!.balance;
}

async function ask(path: string, body: unknown): Promise<[number, unknown]> {
  const answer = await served.sim(path, body);
  return [answer.status, answer.body];
}

test('a deposit that is repeated is made once, with the same answer', async () => {
  for (let i = 0; i < 3; i++) expect(await ask('deposit', WIRE)).toEqual([200, null]);
  const same = { ...WIRE, subaccountIndex: 0, amount: '500.0' };
  expect(await ask('deposit', same)).toEqual([200, null]);
  expect(await balance()).toBe('1500');
});

test('requests that are sent at the same time are made once', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask('deposit', WIRE)));
  expect(answers).toEqual(Array.from({ length: 8 }, () => [200, null]));
  expect(await balance()).toBe('1500');
});

test('a withdrawal has a reference too', async () => {
  for (let i = 0; i < 2; i++) expect(await ask('withdraw', WIRE)).toEqual([200, null]);
  expect(await balance()).toBe('500');
});

test.each([
  ['deposit', { amount: '501' }],
  ['deposit', { account: BOB }],
  ['deposit', { subaccountIndex: 1 }],
  ['withdraw', {}],
])('another request with the reference is refused: %s %o', async (path, other) => {
  await ask('deposit', WIRE);
  const { seq } = served.host.view;
  expect(await ask(path, { ...WIRE, ...other })).toEqual([409, OF]);
  expect(served.host.view.seq).toBe(seq);
  expect(await balance()).toBe('1500');
});

test('references of /sim and of the operator are the same', async () => {
  await ask('deposit', WIRE);
  expect(await served.operator('deposit', WIRE)).toMatchObject({ status: 200 });
  const other = await served.operator('deposit', { ...WIRE, amount: '1' });
  expect([other.status, other.body]).toEqual([409, OF]);
  expect(await balance()).toBe('1500');
});

test('a refused request leaves its reference free', async () => {
  expect((await ask('withdraw', { ...WIRE, amount: '5000' }))[0]).toBe(400);
  expect(await ask('withdraw', WIRE)).toEqual([200, null]);
  expect(await balance()).toBe('500');
});

test.each(['', 'x'.repeat(65), 'wire\n17', 17])(
  'a reference has 1 to 64 printable ASCII characters, not %j',
  async (reference) => {
    const answer = await ask('deposit', { ...WIRE, reference });
    expect(answer).toEqual([400, expect.stringMatching(/^reference: must /)]);
  },
);

test('prices have no reference', async () => {
  const price = { symbol: 'BTC-USD-PERP', price: '60000', reference: 'x' };
  expect(await ask('oracle', price)).toEqual([400, 'reference: unknown field']);
});
