/** A repeated request of the operator is made once, by its reference. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { quanta } from '../../src/num/units.ts';
import { ALICE, BOB } from '../gateway/fixture.ts';
import { Served } from './served.ts';

const WIRE = { account: ALICE, amount: '500', reference: 'wire-17' };

let served: Served;
beforeEach(async () => {
  served = await Served.start();
  await served.sim('deposit', { account: ALICE, amount: '1000' });
});
afterEach(() => served.remove());

async function balance(account = ALICE): Promise<string> {
  const { body } = await served.call('getBalance', { account }, { account, signer: account });
  return (body as { balance: string }[])[0]!.balance;
}

async function ask(path: string, body: unknown): Promise<[number, unknown]> {
  const answer = await served.operator(path, body);
  return [answer.status, answer.body];
}

test('a deposit that is repeated is made once, with the same answer', async () => {
  for (let i = 0; i < 3; i++) expect(await ask('deposit', WIRE)).toEqual([200, null]);
  // The same request in other words.
  const same = { ...WIRE, subaccountIndex: 0, amount: '500.0' };
  expect(await ask('deposit', same)).toEqual([200, null]);
  expect(await balance()).toBe('1500');
  const audit = (await served.operator('audit')).body as Record<string, unknown>[];
  expect(audit.filter(({ reference }) => reference !== null)).toMatchObject([
    { command: 'deposit', account: ALICE, amount: '500', reference: 'wire-17' },
  ]);
});

test('requests that are sent at the same time are made once', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask('deposit', WIRE)));
  expect(answers).toEqual(Array.from({ length: 8 }, () => [200, null]));
  expect(await balance()).toBe('1500');
});

test('without a reference each request is made', async () => {
  const { account, amount } = WIRE;
  for (let i = 0; i < 2; i++) await ask('deposit', { account, amount });
  expect(await balance()).toBe('2000');
});

test.each([
  ['deposit', { amount: '501' }],
  ['deposit', { account: BOB }],
  ['deposit', { subaccountIndex: 1 }],
  ['withdraw', {}],
  ['insurance/credit', { account: undefined }],
])('another request with the reference is refused: %s %o', async (path, other) => {
  await ask('deposit', WIRE);
  const { seq } = served.host.view;
  const of = `reference: is that of a deposit of 500, account ${ALICE}, subaccountIndex 0`;
  expect(await ask(path, { ...WIRE, ...other })).toEqual([409, of]);
  expect(await ask(`preview/${path}`, { ...WIRE, ...other })).toEqual([409, of]);
  expect(served.host.view.seq).toBe(seq);
  expect(await balance()).toBe('1500');
});

test('withdrawals and credits of insurance have references too', async () => {
  for (let i = 0; i < 2; i++) {
    expect(await ask('withdraw', { ...WIRE, reference: 'out-1' })).toEqual([200, null]);
    expect(await ask('insurance/credit', { amount: '7', reference: 'in-1' })).toEqual([200, null]);
  }
  expect(await balance()).toBe('500');
  const config = (await served.call('getConfig', {}, null)).body;
  expect(config).toMatchObject({ insuranceBalance: '7' });
});

test('a refused request leaves its reference free', async () => {
  const much = { ...WIRE, amount: '5000' };
  expect((await ask('withdraw', much))[0]).toBe(400);
  expect(await ask('withdraw', WIRE)).toEqual([200, null]);
  expect(await balance()).toBe('500');
});

test('a preview of a repeated request shows no effect, and uses no reference', async () => {
  const seq = (): number => served.host.view.seq;
  const before = seq();
  const out = { ...WIRE, amount: '600' };
  expect((await ask('preview/withdraw', out))[0]).toBe(200);
  expect(seq()).toBe(before);
  expect(await ask('withdraw', out)).toEqual([200, null]);
  // As a further withdrawal it would be refused.
  expect((await ask('preview/withdraw', out))[0]).toBe(200);
  expect((await ask('preview/withdraw', { ...out, reference: 'other' }))[0]).toBe(400);
  expect(await balance()).toBe('400');
});

test.each(['', 'x'.repeat(65), 'wire\n17', 'wïre', 17, null])(
  'a reference has 1 to 64 printable ASCII characters, not %j',
  async (reference) => {
    const answer = await ask('deposit', { ...WIRE, reference });
    if (reference === null) expect(answer).toEqual([200, null]);
    else expect(answer).toEqual([400, expect.stringMatching(/^reference: must /)]);
  },
);

test('commands that cannot be made twice refuse a reference', async () => {
  const answer = await ask('markets/BTC-USD-PERP/status', { status: 'open', reference: 'x' });
  expect(answer).toEqual([400, 'reference: unknown field']);
});

test.each(['replays the journal', 'reads a snapshot'])(
  'a reference is known after a restart that %s',
  async (how) => {
    await ask('deposit', WIRE);
    const { path } = served;
    await served.stop();
    const isSnapshot = (name: string): boolean => name.startsWith('snapshot-');
    expect(readdirSync(path).filter(isSnapshot)).toHaveLength(1);
    if (how === 'replays the journal') {
      for (const name of readdirSync(path).filter(isSnapshot)) rmSync(join(path, name));
    }
    served = await Served.start({ path });
    expect(served.recovery.snapshotSeq > 0).toBe(how === 'reads a snapshot');
    expect(await ask('deposit', WIRE)).toEqual([200, null]);
    expect((await ask('deposit', { ...WIRE, amount: '1' }))[0]).toBe(409);
    expect(await balance()).toBe('1500');
  },
);

test('a reference is forgotten after ten thousand later commands of the operator', async () => {
  await ask('deposit', WIRE);
  const { host } = served;
  const more = (count: number): void => {
    for (let i = 0; i < count; i++) {
      const { nowUs: timeUs } = host.view;
      const amount = quanta(1n);
      host.submit({ kind: 'deposit', timeUs, account: BOB, subaccountIndex: 0, amount });
    }
  };
  more(7000);
  expect(await ask('deposit', WIRE)).toEqual([200, null]);
  expect(await balance()).toBe('1500');
  more(3500);
  await ask('deposit', WIRE);
  expect(await balance()).toBe('2000');
  expect(host.view.operatorLog().length).toBeLessThanOrEqual(10_000);
});
