/** Answers that are sent again until the next command. */
import { expect, test } from 'vitest';
import type { Host } from '../../src/http/exchange-host.ts';
import { ReadAnswers } from '../../src/http/read-answers.ts';
import type { Verified } from '../../src/http/wallet-auth.ts';
import { ALICE } from '../gateway/fixture.ts';
import { Served } from './served.ts';

const answer = (text: string) => ({ text, page: undefined });
const caller = (account: string): Verified =>
  ({ caller: { account, signer: account }, claims: {} }) as unknown as Verified;

test('an answer is that of its state, caller and URL', () => {
  const exchange = { engine: { seq: 5 }, replica: null as object | null };
  const answers = new ReadAnswers({ exchange } as unknown as Host);
  const [ann, eve] = [caller('ann'), caller('eve')];
  answers.keep(ann, '/a', answer('of ann'), 5);
  answers.keep(null, '/a', answer('of anyone'), 5);
  expect(answers.find(ann, '/a')?.text).toBe('of ann');
  expect(answers.find(null, '/a')?.text).toBe('of anyone');
  expect(answers.find(eve, '/a')).toBeNull();
  expect(answers.find(ann, '/b')).toBeNull();
  exchange.engine.seq = 6;
  expect(answers.find(ann, '/a')).toBeNull();
  // Made before the last command.
  answers.keep(ann, '/a', answer('old'), 5);
  expect(answers.find(ann, '/a')).toBeNull();
  answers.keep(eve, '/a', answer('of eve'), 6);
  expect(answers.find(ann, '/a')).toBeNull();
  // Another exchange, as after a failure of the disk, is another state.
  exchange.engine = { seq: 6 };
  expect(answers.find(eve, '/a')).toBeNull();
  exchange.replica = {};
  answers.keep(eve, '/a', answer('of eve'), 6);
  expect(answers.find(eve, '/a')).toBeNull();
});

test('answers take a bounded memory', () => {
  const exchange = { engine: { seq: 1 }, replica: null };
  const answers = new ReadAnswers({ exchange } as unknown as Host);
  const long = 'x'.repeat(1_000_000);
  for (let i = 0; i < 10; i++) answers.keep(null, `/${String(i)}`, answer(long), 1);
  const kept = Array.from({ length: 10 }, (_, i) => answers.find(null, `/${String(i)}`));
  expect(kept.filter((one) => one !== null)).toHaveLength(4);
});

test('a repeated read shows each command and each loss of rights', async () => {
  const served = await Served.start();
  try {
    const price = async (): Promise<unknown> => {
      const { body } = await served.call('getPrice', { symbol: 'BTC-USD-PERP' }, null);
      return (body as { readonly index: unknown }).index;
    };
    await served.sim('oracle', { symbol: 'BTC-USD-PERP', price: '50000' });
    expect([await price(), await price()]).toEqual(['50000', '50000']);
    await served.sim('oracle', { symbol: 'BTC-USD-PERP', price: '50001' });
    expect([await price(), await price()]).toEqual(['50001', '50001']);

    await served.sim('deposit', { account: ALICE, amount: '10' });
    const read = async (): Promise<readonly unknown[]> => {
      const { status, body } = await served.call(
        'getBalance',
        { account: ALICE },
        { account: ALICE, signer: ALICE },
      );
      return [status, JSON.stringify(body).includes('"10"')];
    };
    expect([await read(), await read()]).toEqual([
      [200, true],
      [200, true],
    ]);
    const other = `0x${'5'.repeat(40)}`;
    await served.call(
      'updateSigners',
      { account: ALICE, expiresAt: 9e15, nonce: 1, quorum: 1, signers: [other], signatures: [] },
      { account: ALICE, signer: ALICE },
    );
    expect((await read())[0]).toBe(401);
  } finally {
    await served.remove();
  }
});
