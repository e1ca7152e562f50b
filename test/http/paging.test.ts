/**
 * Lists over HTTP: the cursor in a header, unchanged bodies, pages that continue after a
 * restart.
 */
import { Wallet } from 'ethers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HttpMatcherClient, pagesOf } from '../../src/http-client/index.ts';
import { Served } from './served.ts';

const SYMBOL = 'BTC-USD-PERP';
const wallet = new Wallet(`0x${'8'.repeat(64)}`);
const account = wallet.address;
const subaccount = { account, subaccountIndex: 0 };
const ORDERS = 12;

let served: Served;
let client: HttpMatcherClient;
const placed: string[] = [];

const open = async (): Promise<void> => {
  served = await Served.start({
    signatures: 'verify',
    ...(placed.length === 0 ? {} : { path: served.path }),
  });
  client = new HttpMatcherClient({ url: served.url, signer: wallet });
};

beforeAll(async () => {
  await open();
  for (let i = 0; i < 5; i++) {
    await served.sim('deposit', { account, subaccountIndex: 0, amount: '10000' });
  }
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
  for (let i = 0; i < ORDERS; i++) {
    if (i % 4 === 0) await served.sim('clock', { advanceMs: 1 });
    const [record] = await client.send('submitOrder', {
      ...subaccount,
      symbol: SYMBOL,
      orderType: 'limit',
      price: String(50_000 + i),
      quantity: '0.01',
      expiresAt: 9_007_199_254_740_991,
      originator: `0x${'0'.repeat(40)}`,
      originatorFee: 0,
      flags: { ioc: false, postOnly: false, reduceOnly: false },
      clientId: `order ${String(i)}`,
    });
    placed.push(record!.orderId);
  }
  for (const orderId of placed.slice(0, 8)) await client.call('cancelOrder', { orderId });
});
afterAll(() => served.remove());

const closed = { ...subaccount, status: 'closed', limit: 3 };

test('the cursor of the next page is in x-next-cursor; the last page has none', async () => {
  const url = `/account/orders?account=${account}&subaccountIndex=0&limit=7`;
  const headers = { authorization: `Bearer ${await client.bearer()}` };
  const first = await served.send('GET', url, undefined, headers);
  expect(Object.keys(first.body as object).sort()).toEqual(['asks', 'bids', 'total']);
  const cursor = first.headers.get('x-next-cursor');
  expect(cursor).toMatch(/^[0-9a-z.-]+$/);
  expect(first.headers.get('x-kept-since')).toBe(null);
  const last = await served.send('GET', `${url}&cursor=${cursor!}`, undefined, headers);
  expect((last.body as { bids: unknown[] }).bids).toHaveLength(ORDERS - 7);
  expect(last.headers.get('x-next-cursor')).toBe(null);
  const wrong = await served.send('GET', `${url}&cursor=${cursor!}1`, undefined, headers);
  expect([wrong.status, wrong.body]).toEqual([400, 'cursor: is not valid for this list']);
  const single = await served.send('GET', '/time');
  expect(single.headers.get('x-next-cursor')).toBe(null);
});

test('ended orders survive a restart, and pages continue', async () => {
  const first = await client.page('listOrders', closed);
  const shown = first.body.bids.map(({ orderId }) => orderId);
  await served.stop();
  await open();
  let { next } = first;
  while (next !== null) {
    const page = await client.page('listOrders', { ...closed, cursor: next });
    shown.push(...page.body.bids.map(({ orderId }) => orderId));
    next = page.next;
  }
  expect(shown.sort()).toEqual(placed.slice(0, 8).sort());
  const byId = await client.call('getOrder', { orderId: placed[0]! });
  expect(byId).toMatchObject({ status: 'cancelled', reason: 'user', clientId: 'order 0' });
  const byClientId = await client.call('getOrder', { account, clientId: 'order 3' });
  expect(byClientId).toMatchObject({ orderId: placed[3], status: 'cancelled' });
});

test('the typed client reads all pages', async () => {
  const amounts: string[] = [];
  for await (const { body } of pagesOf(client, 'getTransfers', { ...subaccount, limit: 2 })) {
    amounts.push(...body.map(({ amount }) => amount));
  }
  expect(amounts).toEqual(Array.from({ length: 5 }, () => '10000'));
});

test('the documentation names limit, cursor and headers of every list', async () => {
  const document = (await served.send('GET', '/openapi.json')).body as {
    paths: Record<string, Record<string, Operation>>;
  };
  const { parameters, responses } = document.paths['/account/transfers']!['get']!;
  expect(parameters.find(({ name }) => name === 'limit')?.schema).toEqual({
    type: 'integer',
    minimum: 1,
    maximum: 5000,
    default: 50,
  });
  expect(parameters.map(({ name }) => name)).toContain('cursor');
  expect(Object.keys(responses['200']!.headers)).toEqual(['x-next-cursor', 'x-kept-since']);
});

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly schema: unknown }[];
  readonly responses: Record<string, { readonly headers: object }>;
}
