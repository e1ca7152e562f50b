/** The history of an account over HTTP: access, pages, fields, and what a restart keeps. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rebuildHistory } from '../../src/http/rebuild-history.ts';
import { ALICE, BOB, order, STRANGER, SYMBOL } from '../gateway/fixture.ts';
import { Served } from './served.ts';

const AS_ALICE = { account: ALICE, signer: ALICE } as const;
const AS_BOB = { account: BOB, signer: BOB } as const;
const NOW = { ioc: true, postOnly: false, reduceOnly: false };
const LISTS = ['equity', 'fills', 'funding', 'liquidations'] as const;

let served: Served;

beforeAll(async () => {
  served = await Served.start();
  for (const account of [ALICE, BOB]) await served.sim('deposit', { account, amount: '10000' });
  for (const price of ['60001', '60002', '60003']) {
    await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
    await served.call('submitOrder', order({ account: BOB, price, quantity: '-0.1' }), AS_BOB);
    const buy = order({ price, quantity: '0.1', flags: NOW });
    await served.call('submitOrder', buy, AS_ALICE);
    await served.sim('clock', { advanceMs: 60_000 });
  }
  await served.sim('oracle', { symbol: SYMBOL, price: '60100' });
  await served.sim('clock', { advanceMs: 3_600_000 });
});
afterAll(() => served.remove());

async function read(
  path: string,
  query: Readonly<Record<string, string>> = {},
  caller: typeof AS_ALICE | null = AS_ALICE,
) {
  const headers = caller === null ? {} : { authorization: `Bearer ${await served.token(caller)}` };
  const at = new URLSearchParams({ account: ALICE, subaccountIndex: '0', ...query });
  const url = `/account/history${path}?${at.toString()}`;
  return served.send('GET', url, undefined, headers);
}

test('only the owner and delegates read it, and bad requests say what is wrong', async () => {
  for (const path of ['', ...LISTS.map((list) => `/${list}`)]) {
    expect((await read(path, {}, null)).status).toBe(401);
    expect((await read(path, { account: BOB })).status).toBe(403);
    expect((await read(path)).status).toBe(200);
    for (const [query, text] of [
      [{ account: 'me' }, /^account: must be an address/],
      [{ subaccountIndex: '-1' }, /^subaccountIndex/],
      [{ what: '1' }, /^what/],
    ] as const) {
      const { status, body } = await read(path, query);
      expect(status).toBe(400);
      expect(body).toMatch(text);
    }
  }
  for (const [query, text] of [
    [{ limit: '0' }, /^Limit must be/],
    [{ limit: '1001' }, /^Limit must be/],
    [{ interval: '7m' }, /^interval/],
    [{ from: '1e9' }, /^from/],
    [{ cursor: 'x' }, /^cursor/],
  ] as const) {
    const { status, body } = await read('/equity', query);
    expect(status, JSON.stringify(query)).toBe(400);
    expect(body).toMatch(text);
  }
  // The longest range and the largest numbers end at the first change of the account.
  const huge = { limit: '1000', from: '0', to: '9223372036854775807' };
  expect((await read('/equity', huge)).body).toHaveLength(63);
  expect((await read('/equity', { ...huge, interval: '1d' })).body).toEqual([]);
  const stranger = { account: STRANGER, signer: STRANGER } as unknown as typeof AS_ALICE;
  expect((await read('/fills', { account: STRANGER }, stranger)).body).toEqual([]);
});

test('pages follow each other, and a cursor is of its list', async () => {
  const all = (await read('/fills')).body as { readonly price: string; readonly fee: string }[];
  expect(all.map(({ price }) => price)).toEqual(['60003', '60002', '60001']);
  const first = await read('/fills', { limit: '2' });
  const cursor = first.headers.get('x-next-cursor') ?? '';
  expect((await read('/fills', { limit: '2', cursor })).body).toEqual(all.slice(2));
  expect((await read('/funding', { limit: '2', cursor })).status).toBe(400);
  const { body } = await read('');
  expect(body).toMatchObject({ since: null, fills: 3, funding: expect.any(String) as string });
  const fees = all.reduce((sum, { fee }) => sum + Number(fee), 0);
  expect(Number((body as { fees: string }).fees)).toBeCloseTo(fees, 9);
  // The newest minute has the equity that the account has now.
  const stats = await served.call('getStats', { account: ALICE, subaccountIndex: 0 }, AS_ALICE);
  const [newest] = (await read('/equity', { limit: '1' })).body as { readonly equity: string }[];
  expect(newest?.equity).toBe((stats.body as { accountValue: string }).accountValue);
});

test('a restart rebuilds it from the journal', async () => {
  const answers = async () => {
    const lists = LISTS.map((list) => read(`/${list}`, { limit: '1000' }));
    return (await Promise.all([read(''), ...lists])).map(({ text }) => text);
  };
  const before = await answers();
  const { path } = served;
  await served.stop();
  served = await Served.start({ path });
  expect((await answers())[2]).toBe('[]');
  expect(rebuildHistory(served.host)).toBeGreaterThan(10);
  expect(await answers()).toEqual(before);
});

test('pages for many accounts are made one after another, and cheap reads come between', async () => {
  const accounts = Array.from(
    { length: 40 },
    (_, i) => `0x${String(i).padStart(40, 'e')}` as const,
  );
  const { hostname, port } = new URL(served.url);
  const open = async (path: string, ...headers: string[]) => {
    const socket = connect({ host: hostname, port: Number(port) });
    await once(socket, 'connect');
    const ask = (at = path): void => {
      socket.write([`GET ${at} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n'));
    };
    return { socket, ask };
  };
  const openPage = async (account: string) => {
    const token = await served.token({ account, signer: account } as unknown as typeof AS_ALICE);
    const of = `account=${account}&subaccountIndex=0`;
    const page = await open(
      `/account/history/equity?${of}&limit=1000`,
      `Authorization: Bearer ${token}`,
    );
    // The first request of a token waits for its check.
    page.ask(`/account/stats?${of}`);
    await once(page.socket, 'data');
    return page;
  };
  const pages = await Promise.all(accounts.map(openPage));
  const cheap = await open('/price');
  const answered: string[] = [];
  const answers = [...pages, cheap].map(async (one) => {
    const [chunk] = (await once(one.socket, 'data')) as [Buffer];
    expect(chunk.toString('latin1')).toMatch(/^HTTP\/1.1 200 /);
    answered.push(one === cheap ? 'cheap' : 'page');
    one.socket.destroy();
  });
  for (const { ask } of [...pages, cheap]) ask();
  await Promise.all(answers);
  expect(answered.indexOf('cheap')).toBeLessThan(pages.length / 2);
});
