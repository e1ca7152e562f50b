/** Feeds through the typed client: iterators that end cleanly, connections that come back, gaps that are repaired. */
import { Wallet } from 'ethers';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FeedClient, HttpMatcherClient } from '../../src/client.ts';
import { ALICE, order } from '../gateway/fixture.ts';
import { Served } from './served.ts';

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
  // The server drops every connection; the client comes back by itself.
  await (feeds as unknown as { socket: Promise<WebSocket> }).socket.then((socket) => {
    socket.terminate();
  });
  await lost;
  expect((await book.next()).value).toMatchObject({ snapshot: true });
  await book.return?.();
  expect(await book.next()).toEqual({ done: true, value: undefined });
  await feeds.close();
});

test('private feeds log in by themselves; a refusal says why', async () => {
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

test('an update that is missing is noticed, and the book is asked for anew', async () => {
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
      // 12 is missing the first time.
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
