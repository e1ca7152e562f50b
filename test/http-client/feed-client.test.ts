/** Feeds through the typed client: clean end of iterators, reconnects, repair of gaps. */
import { Wallet } from 'ethers';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FeedClient, HttpMatcherClient } from '../../src/http-client/index.ts';
import { ALICE, order } from '../gateway/fixture.ts';
import { Served } from '../http/served.ts';

const SYMBOL = 'BTC-USD-PERP';
const AS_ALICE = { account: ALICE, signer: ALICE };
let served: Served;
beforeAll(async () => {
  served = await Served.start();
  await served.sim('deposit', { account: ALICE, amount: '100000' });
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
});
afterAll(() => served.remove());

const rest = (price: string) => served.call('submitOrder', order({ price }), AS_ALICE);

test('a book: snapshot, deltas, a lost connection, and a snapshot again', async () => {
  const feeds = new HttpMatcherClient({ url: served.url, signer: null }).feeds();
  const book = await feeds.subscribe('book', { symbols: [SYMBOL] });
  const first = (await book.next()).value as Record<string, unknown>;
  expect(first).toMatchObject({ snapshot: true, symbol: SYMBOL });
  await rest('51000');
  const delta = (await book.next()).value as Record<string, unknown>;
  expect(delta).toMatchObject({
    snapshot: false,
    bids: [{ price: '51000', quantity: '0.01' }],
    previous_sequence_number: first['sequence_number'],
  });
  const { server } = served.app;
  const lost = new Promise((resolve) => {
    server.once('upgrade', resolve);
  });
  // The server drops every connection; the client reconnects.
  await (feeds as unknown as { socket: Promise<WebSocket> }).socket.then((socket) => {
    socket.terminate();
  });
  await lost;
  expect((await book.next()).value).toMatchObject({ snapshot: true });
  await book.return?.();
  expect(await book.next()).toEqual({ done: true, value: undefined });
  await feeds.close();
});

test('private feeds log in automatically; a rejection has its reason', async () => {
  const wallet = new Wallet(`0x${'6'.repeat(64)}`);
  await served.sim('deposit', { account: wallet.address, amount: '100' });
  const client = new HttpMatcherClient({ url: served.url, signer: wallet });
  const feeds = client.feeds();
  const balances = await feeds.subscribe('balance', { account: wallet.address });
  await served.sim('deposit', { account: wallet.address, amount: '5' });
  expect((await balances.next()).value).toMatchObject({ balance: '105', subaccountIndex: 0 });
  await expect(feeds.subscribe('balance', { account: ALICE })).rejects.toThrow('Not delegated');
  await expect(feeds.subscribe('trade', { symbols: ['X'] })).rejects.toThrow('Symbol not found');
  const ended = balances.next();
  await feeds.close();
  expect(await ended).toEqual({ done: true, value: undefined });
});

test('a missing update is detected, and the client resubscribes to the book', async () => {
  const asked: string[] = [];
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  server.on('connection', (socket) => {
    let subscriptions = 0;
    socket.on('message', (data: Buffer) => {
      const { id, method } = JSON.parse(data.toString()) as { id: number; method: string };
      asked.push(method);
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: {} }));
      if (method !== 'subscribe') return;
      subscriptions += 1;
      const book = (snapshot: boolean, previous: number | null, sequence: number) => {
        const data = {
          symbol: 'M',
          snapshot,
          previous_sequence_number: previous,
          sequence_number: sequence,
        };
        socket.send(JSON.stringify({ type: 'Book', data }));
      };
      book(true, null, 10 * subscriptions);
      book(false, 10 * subscriptions, 10 * subscriptions + 1);
      // Update 12 is missing in the first subscription.
      if (subscriptions === 1) book(false, 12, 13);
    });
  });
  const { port } = server.address() as AddressInfo;
  const feeds = new FeedClient({ url: `ws://127.0.0.1:${String(port)}`, bearer: null });
  const book = await feeds.subscribe('book', { symbols: ['M'] });
  const seen: unknown[] = [];
  for await (const { sequence_number: sequence } of book) {
    seen.push(sequence);
    if (seen.length === 4) break;
  }
  expect(seen).toEqual([10, 11, 20, 21]);
  await feeds.close();
  server.close();
  expect(asked.slice(0, 3)).toEqual(['subscribe', 'unsubscribe', 'subscribe']);
});

test('a client that is closed between two attempts to reconnect opens no connection', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  let connections = 0;
  server.on('connection', (socket) => {
    connections += 1;
    socket.on('message', (data: Buffer) => {
      const { id } = JSON.parse(data.toString()) as { id: number };
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: {} }));
    });
  });
  const { port } = server.address() as AddressInfo;
  const feeds = new FeedClient({ url: `ws://127.0.0.1:${String(port)}`, bearer: null });
  const trades = await feeds.subscribe('trade', { symbols: ['M'] });
  const socket = await (feeds as unknown as { socket: Promise<WebSocket> }).socket;
  const lost = new Promise((resolve) => socket.once('close', resolve));
  for (const connection of server.clients) connection.terminate();
  await lost;
  await feeds.close();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(connections).toBe(1);
  expect(await trades.next()).toEqual({ done: true, value: undefined });
  await expect(feeds.subscribe('trade')).rejects.toThrow('this client is closed');
  server.close();
});

test('a client can be closed while its connection is opening', async () => {
  // Accepts connections and says nothing.
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const feeds = new FeedClient({ url: `ws://127.0.0.1:${String(port)}`, bearer: null });
  const subscribed = feeds.subscribe('trade');
  await feeds.close();
  await expect(subscribed).rejects.toThrow('closed before the connection was established');
  for (const socket of sockets) socket.destroy();
  silent.close();
});

describe('updates missed by a lost connection are delivered in order', () => {
  const wallet = new Wallet(`0x${'7'.repeat(64)}`);
  const account = wallet.address;
  let client: HttpMatcherClient;
  let feeds: FeedClient;
  beforeAll(async () => {
    await served.sim('deposit', { account, amount: '100000' });
    client = new HttpMatcherClient({ url: served.url, signer: wallet });
  });
  beforeEach(() => {
    feeds = client.feeds();
    return () => feeds.close();
  });

  const limit = (price: string, quantity: string, ioc = false) => ({
    account,
    subaccountIndex: 0,
    symbol: SYMBOL,
    orderType: 'limit',
    price,
    quantity,
    expiresAt: 9_007_199_254_740_991,
    originator: `0x${'0'.repeat(40)}`,
    originatorFee: 0,
    flags: { ioc, postOnly: false, reduceOnly: false },
  });
  /** Disconnects, runs `what`, and reconnects. */
  const miss = async (what: () => Promise<unknown>): Promise<void> => {
    const socket = await (feeds as unknown as { socket: Promise<WebSocket> }).socket;
    const gone = new Promise((resolve) => socket.once('close', resolve));
    socket.terminate();
    await gone;
    await what();
  };
  const next = async (feed: AsyncIterator<unknown>): Promise<Record<string, unknown>> =>
    (await feed.next()).value as Record<string, unknown>;

  test('trades: each once', async () => {
    const trades = await feeds.subscribe('trade', { symbols: [SYMBOL] });
    const trade = async (quantity: string) => {
      await served.call(
        'submitOrder',
        order({ price: '60000', quantity: `-${quantity}` }),
        AS_ALICE,
      );
      await client.send('submitOrder', limit('60000', quantity, true));
    };
    await trade('0.001');
    expect(await next(trades)).toMatchObject({ quantity: '0.001' });
    await miss(async () => {
      await trade('0.002');
      await served.sim('clock', { advanceMs: 5 });
      await trade('0.003');
    });
    expect(await next(trades)).toMatchObject({ quantity: '0.002' });
    expect(await next(trades)).toMatchObject({ quantity: '0.003' });
    await trade('0.004');
    expect(await next(trades)).toMatchObject({ quantity: '0.004' });
  });

  test('fills: each once', async () => {
    const fills = await feeds.subscribe('fill', { account });
    const fill = async (quantity: string) => {
      const against = order({ price: '60000', quantity: `-${quantity}` });
      await served.call('submitOrder', against, AS_ALICE);
      await client.send('submitOrder', limit('60000', quantity, true));
    };
    await served.sim('clock', { advanceMs: 5 });
    await fill('0.001');
    expect(await next(fills)).toMatchObject({ quantity: '0.001' });
    await miss(async () => {
      await fill('0.002');
      await served.sim('clock', { advanceMs: 5 });
      await fill('0.003');
    });
    for (const quantity of ['0.002', '0.003']) {
      expect(await next(fills)).toMatchObject({ quantity, order_id: expect.any(String) as string });
    }
    await fill('0.004');
    expect(await next(fills)).toMatchObject({ quantity: '0.004' });
    // The position is as before for the tests that follow.
    await served.call('submitOrder', order({ price: '60000', quantity: '0.01' }), AS_ALICE);
    await client.send('submitOrder', limit('60000', '-0.01', true));
  });

  test('orders, positions and balances: in their current state', async () => {
    await served.sim('clock', { advanceMs: 5 });
    const orders = await feeds.subscribe('order', { account });
    const positions = await feeds.subscribe('position', { account });
    const balances = await feeds.subscribe('balance', { account });
    const [placed] = await feeds.send('submitOrder', {
      ...limit('50000', '0.01'),
      clientId: 'held',
    });
    expect(await next(orders)).toMatchObject({ clientId: 'held', status: 'new' });
    const held = await client.call('getPositions', { account, subaccountIndex: 0 });
    expect(held).toHaveLength(1);
    await served.call('submitOrder', order({ price: '60000', quantity: '0.1' }), AS_ALICE);
    await feeds.send('submitOrder', limit('60000', '-0.001', true));
    const before = await next(positions);
    expect(before).toMatchObject({ symbol: SYMBOL });
    expect(await next(orders)).toMatchObject({ status: 'filled' });
    await next(balances);
    await served.sim('clock', { advanceMs: 5 });
    await miss(async () => {
      await client.call('cancelOrder', { orderId: placed!.orderId });
      await client.send('submitOrder', limit('60000', `-${String(before['quantity'])}`, true));
      await served.sim('deposit', { account, amount: '1' });
    });
    expect(await next(orders)).toMatchObject({ clientId: 'held', status: 'cancelled' });
    expect(await next(orders)).toMatchObject({ status: 'filled' });
    expect(await next(positions)).toMatchObject({ symbol: SYMBOL, quantity: '0' });
    const [balance] = await client.call('getBalance', { account });
    expect(await next(balances)).toEqual(balance);
  });

  test('a subaccount that does not exist yet stops no feed', async () => {
    const subaccountIndices = [0, 7];
    const orders = await feeds.subscribe('order', { account, subaccountIndices });
    await feeds.subscribe('position', { account, subaccountIndices });
    await served.sim('clock', { advanceMs: 5 });
    const [placed] = await client.send('submitOrder', limit('48000', '0.01'));
    expect(await next(orders)).toMatchObject({ status: 'new' });
    await miss(() => client.call('cancelOrder', { orderId: placed!.orderId }));
    expect(await next(orders)).toMatchObject({ status: 'cancelled' });
    await orders.return?.();
  });

  test('signed orders over the socket; rejections are those of HTTP', async () => {
    const { orders } = await feeds.send('submitOrders', {
      orders: [limit('50000', '0.01'), limit('49000', '0.01')],
    });
    const ids = orders.map(({ orderId }) => orderId);
    expect(await feeds.send('cancelOrder', { orderId: ids[0]! })).toMatchObject({
      status: 'cancelled',
    });
    const { cancelled, failed } = await feeds.send('cancelOrders', { orderIds: ids });
    expect([cancelled.length, failed.length]).toEqual([1, 1]);
    const refused = feeds.send('submitOrder', limit('0', '0.01'));
    await expect(refused).rejects.toMatchObject({ status: 400, message: 'price must be positive' });
  });

  test('an expired token is replaced at the next connection', async () => {
    const balances = await feeds.subscribe('balance', { account });
    await served.sim('clock', { advanceMs: 25 * 3_600_000 });
    await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
    await miss(() => served.sim('deposit', { account, amount: '2' }));
    const [balance] = await client.call('getBalance', { account });
    expect(await next(balances)).toEqual(balance);
  });
});
