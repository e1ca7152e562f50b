/** The typed client against a served exchange: login, signing, nonces, safe retries. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  eip1193Signer,
  HttpMatcherClient,
  MatcherError,
  type RequestSigner,
} from '../../src/http-client/index.ts';
import type { signingPayload } from '../../src/wallet/typed-data.ts';
import { Served } from '../http/served.ts';

const SYMBOL = 'BTC-USD-PERP';
const wallet = new Wallet(`0x${'5'.repeat(64)}`);
const signer = wallet as unknown as RequestSigner;
const limit = (changes: Record<string, unknown> = {}) => ({
  account: wallet.address,
  subaccountIndex: 0,
  symbol: SYMBOL,
  orderType: 'limit',
  price: '50000',
  quantity: '0.01',
  expiresAt: 9_007_199_254_740_991,
  originator: `0x${'0'.repeat(40)}`,
  originatorFee: 0,
  flags: { ioc: false, postOnly: false, reduceOnly: false },
  ...changes,
});

let served: Served;
beforeAll(async () => {
  served = await Served.start({ signatures: 'verify' });
  await served.sim('deposit', { account: wallet.address, amount: '100000' });
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
});
afterAll(() => served.remove());

test('the page of another server is no answer', async () => {
  const other = createServer((_request, answer) => answer.end('<html>Welcome</html>'));
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${String((other.address() as AddressInfo).port)}`;
  const client = new HttpMatcherClient({ url, signer, retries: 0 });
  const message = 'the answer is not JSON, so not that of an exchange';
  await expect(client.call('getTime', {})).rejects.toThrow(`GET ${url}/time: ${message}`);
  await expect(client.send('submitOrder', limit())).rejects.toThrow(message);
  other.close();
});

test('public reads need no wallet', async () => {
  const client = new HttpMatcherClient({ url: `${served.url}/`, signer: null });
  expect((await client.call('getPrice', { symbol: SYMBOL })).mark).toBe('60000');
  expect(await client.call('getPrices', { symbols: [SYMBOL, 'ETH-USD-PERP'] })).toHaveLength(2);
  await expect(client.call('getBalance', { account: wallet.address })).rejects.toThrow(
    'Please add the JWT token to the header',
  );
});

test('requests whose token has ended meanwhile log in once', async () => {
  let logins = 0;
  const counted = { address: signer.address, signTypedData: signer.signTypedData.bind(signer) };
  const signMessage = (text: string): Promise<string> => {
    logins += 1;
    return signer.signMessage(text);
  };
  const client = new HttpMatcherClient({ url: served.url, signer: { ...counted, signMessage } });
  const read = () => client.call('getBalance', { account: wallet.address });
  await read();
  await served.sim('clock', { advanceMs: 24 * 3_600_000 + 1000 });
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
  await Promise.all(Array.from({ length: 20 }, read));
  expect(logins).toBe(2);
});

test('logs in, signs, and chooses nonces', async () => {
  const client = new HttpMatcherClient({ url: served.url, signer });
  expect(client.account).toBe(wallet.address.toLowerCase());
  const [first] = await client.send('submitOrder', limit());
  const [second] = await client.send('submitOrder', limit());
  expect(BigInt(second!.nonce)).toBeGreaterThan(BigInt(first!.nonce));
  const { orders } = await client.send('submitOrders', {
    orders: [limit(), limit({ price: '49000' })],
  });
  expect(orders.map(({ status }) => status)).toEqual(['new', 'new']);
  const done = await client.send('updateMargin', {
    account: wallet.address,
    subaccountIndex: 0,
    symbol: 'ETH-USD-PERP',
    isolated: false,
    margin: '0.5',
    expiresAt: 9_007_199_254_740_991,
  });
  expect(done).toBeNull();
  const error = await client
    .send('submitOrder', limit({ price: '0' }))
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(MatcherError);
  expect(error).toMatchObject({
    status: 400,
    endpoint: 'submitOrder',
    message: 'price must be positive',
  });
});

test('an expired token is replaced', async () => {
  const client = new HttpMatcherClient({ url: served.url, signer });
  await client.call('getBalance', { account: wallet.address });
  await served.sim('clock', { advanceMs: 25 * 3_600_000 });
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
  expect(await client.call('getBalance', { account: wallet.address })).toHaveLength(1);
});

test('a browser wallet signs through EIP-1193', async () => {
  const provider = {
    request: async ({ method, params }: { method: string; params: unknown[] }) => {
      if (method === 'personal_sign')
        return wallet.signMessage(Buffer.from(String(params[0]).slice(2), 'hex'));
      const payload = JSON.parse(String(params[1])) as ReturnType<typeof signingPayload>;
      const types = Object.fromEntries(
        Object.entries(payload.types).filter(([name]) => name !== 'EIP712Domain'),
      );
      return wallet.signTypedData(payload.domain, types, payload.message);
    },
  };
  const client = new HttpMatcherClient({
    url: served.url,
    signer: eip1193Signer(provider, wallet.address),
  });
  const [order] = await client.send('submitOrder', limit());
  expect(order?.status).toBe('new');
});

describe('a network that loses replies', () => {
  /** Forwards requests, and drops the replies of the first requests to paths with this ending. */
  let proxy: Server;
  let lose: { path: string; times: number } = { path: '', times: 0 };
  let url: string;
  beforeAll(async () => {
    proxy = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const headers = Object.fromEntries(
          ['authorization', 'content-type'].flatMap((name) => {
            const value = request.headers[name];
            return typeof value === 'string' ? [[name, value]] : [];
          }),
        );
        const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) as BodyInit };
        void fetch(served.url + (request.url ?? ''), {
          method: request.method ?? 'GET',
          headers,
          ...body,
        }).then(async (answer) => {
          const text = await answer.text();
          if (lose.times > 0 && request.url === lose.path) {
            lose.times -= 1;
            request.socket.destroy();
            return;
          }
          response.writeHead(answer.status, { 'content-type': 'application/json' });
          response.end(text);
        });
      });
    });
    await new Promise<void>((resolve) => {
      proxy.listen(0, '127.0.0.1', resolve);
    });
    url = `http://127.0.0.1:${String((proxy.address() as AddressInfo).port)}`;
  });
  afterAll(() => proxy.close());

  test('an order is placed once, and its record is returned', async () => {
    const client = new HttpMatcherClient({ url, signer });
    const before = served.host.view.lastOrderId;
    lose = { path: '/account/order', times: 2 };
    const [record] = await client.send('submitOrder', limit({ clientId: 'once' }));
    expect(record).toMatchObject({ clientId: 'once', status: 'new' });
    expect(served.host.view.lastOrderId).toBe(before + 1);
  });

  test('a transfer is made once', async () => {
    const client = new HttpMatcherClient({ url, signer });
    const to = `0x${'7'.repeat(40)}`;
    lose = { path: '/account/transfer', times: 1 };
    const { cashFeedId: feedId } = await client.call('getConfig', {});
    const transfer = {
      accountFrom: wallet.address,
      accountTo: to,
      amount: '5',
      expiresAt: 9_007_199_254_740_991,
      feedId,
      subaccountIndexFrom: 0,
      subaccountIndexTo: 0,
      target: wallet.address,
    };
    expect(await client.send('transfer', transfer)).toBe(null);
    const { view } = served.host;
    expect(view.subaccountsOf(to as never)[0]?.balanceQuanta).toBe(5_000_000n);
  });

  test('an order that expires before the repetition is found', async () => {
    const client = new HttpMatcherClient({ url, signer });
    const expiresAt = (await client.call('getTime', {})).time + 10;
    await client.bearer();
    lose = { path: '/account/order', times: 1 };
    const sent = client.send('submitOrder', limit({ expiresAt }));
    await expect.poll(() => lose.times).toBe(0);
    await served.sim('clock', { advanceMs: 20 });
    expect(await sent).toMatchObject([{ expiresAt }]);
  });

  test('an order is found on a server that trusts signatures', async () => {
    const trusting = await Served.start({ signatures: 'trust' });
    await trusting.sim('deposit', { account: wallet.address, amount: '1000' });
    await trusting.sim('oracle', { symbol: SYMBOL, price: '60000' });
    const client = new HttpMatcherClient({ url: trusting.url, signer, timeoutMs: 500 });
    await client.bearer();
    await trusting.sim('faults', { fault: 'lostAnswer', endpoint: 'submitOrder' });
    expect(await client.send('submitOrder', limit({ clientId: 'one' }))).toMatchObject([
      { clientId: 'one' },
    ]);
    await trusting.sim('faults', { fault: 'lostAnswer', endpoint: 'submitOrders' });
    const batch = { orders: [limit({ clientId: 'two' }), limit({ clientId: 'three' })] };
    expect(await client.send('submitOrders', batch)).toMatchObject({
      orders: [{ clientId: 'two' }, { clientId: 'three' }],
    });
    expect(trusting.host.view.lastOrderId).toBe(3);
    await trusting.remove();
  });

  test('an order whose reply is lost is not refused by a server that takes none now', async () => {
    const client = new HttpMatcherClient({ url, signer, retries: 2 });
    await client.bearer();
    const before = served.host.view.lastOrderId;
    lose = { path: '/account/order', times: 1 };
    const sent = client.send('submitOrder', limit());
    await expect.poll(() => lose.times).toBe(0);
    await served.sim('faults', { fault: 'unavailable', times: 2, endpoint: 'submitOrder' });
    await expect(sent).rejects.toThrow(/; repeated, it was refused: Service unavailable$/);
    await expect(sent).rejects.not.toBeInstanceOf(MatcherError);
    expect(served.host.view.lastOrderId).toBe(before + 1);
  });

  test('a change of signers whose reply is lost is no refusal', async () => {
    const own = new Wallet(`0x${'a'.repeat(64)}`);
    await served.sim('deposit', { account: own.address, amount: '10' });
    const client = new HttpMatcherClient({ url, signer: own });
    await client.bearer();
    lose = { path: '/account/signers', times: 1 };
    const sent = client.send('updateSigners', {
      account: own.address,
      expiresAt: 9_007_199_254_740_991,
      quorum: 1,
      signers: [wallet.address],
    });
    await expect(sent).rejects.toThrow(/other side closed.*; repeated, it was refused: /s);
    await expect(sent).rejects.not.toBeInstanceOf(MatcherError);
  });

  test('429 and 503 are retried', async () => {
    const client = new HttpMatcherClient({ url: served.url, signer });
    await served.sim('faults', { fault: 'unavailable', times: 2 });
    expect((await client.call('getTime', {})).time).toBeGreaterThan(0);
  });

  test('an unreachable server is reported', async () => {
    const client = new HttpMatcherClient({ url: 'http://127.0.0.1:9', signer: null, retries: 0 });
    await expect(client.call('getTime', {})).rejects.toThrow(
      /^GET http:\/\/127\.0\.0\.1:9\/time: /,
    );
  });
});
