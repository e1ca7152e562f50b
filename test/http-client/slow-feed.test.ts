/** A feed whose connection is slower than the reads of what it has missed. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HttpMatcherClient } from '../../src/http-client/index.ts';
import { address } from '../../src/num/units.ts';
import { BOB, order, SYMBOL } from '../gateway/fixture.ts';
import { Served } from '../http/served.ts';

const WALLET = new Wallet(`0x${'7'.repeat(64)}`);
const OWN = address(WALLET.address.toLowerCase());
const DELAY_MS = 300;
const TRADES = 60;
let served: Served;
let url = '';
const feeds = new Set<Socket>();
/** Forwards bytes; what the server sends to a feed comes later. */
const slow = createServer((client) => {
  const server = connect(Number(new URL(served.url).port), '127.0.0.1');
  for (const socket of [client, server]) socket.on('error', () => socket.destroy());
  client.on('close', () => server.destroy());
  server.on('close', () => client.destroy());
  let delayMs = 0;
  client.on('data', (data: Buffer) => {
    if (data.toString('latin1').startsWith('GET /ws')) {
      delayMs = DELAY_MS;
      feeds.add(client);
    }
    server.write(data);
  });
  server.on('data', (data) => {
    setTimeout(() => client.writable && client.write(data), delayMs);
  });
});

beforeAll(async () => {
  served = await Served.start();
  for (const account of [OWN, BOB]) await served.sim('deposit', { account, amount: '100000' });
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${String((slow.address() as AddressInfo).port)}`;
});
afterAll(async () => {
  for (const feed of feeds) feed.destroy();
  slow.close();
  await served.remove();
});

test('trades, fills and orders come once', async () => {
  const client = new HttpMatcherClient({ url, signer: WALLET });
  const connection = client.feeds();
  const seen = { trade: [] as string[], fill: [] as string[], order: [] as string[] };
  let resumed = 0;
  for (const source of ['trade', 'fill', 'order'] as const) {
    const params = source === 'trade' ? { symbols: [SYMBOL] } : { account: OWN };
    await connection.listen(source, params, {
      onUpdate: (update) => {
        const { time, orderId, lastUpdateSequenceNumber } = update as Record<string, unknown>;
        seen[source].push(
          source === 'order'
            ? `${String(orderId)} ${String(lastUpdateSequenceNumber)}`
            : String(time),
        );
      },
      onError: (error) => {
        throw error;
      },
      onResumed: () => (resumed += 1),
    });
  }
  const sell = { price: '60000', quantity: '-0.001' };
  const buy = { account: OWN, price: '60000', quantity: '0.001' };
  for (let i = 0; i < TRADES; i++) {
    if (i === 1) for (const feed of feeds) feed.destroy();
    await served.sim('clock', { advanceMs: 1 });
    await served.call('submitOrder', order({ ...sell, account: BOB }), {
      account: BOB,
      signer: BOB,
    });
    await served.call('submitOrder', order(buy), { account: OWN, signer: OWN });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await new Promise((resolve) => setTimeout(resolve, 4 * DELAY_MS));
  expect(resumed).toBe(3);
  for (const source of ['trade', 'fill', 'order'] as const) {
    expect(new Set(seen[source]).size, source).toBe(seen[source].length);
  }
  expect(seen.trade).toHaveLength(TRADES);
  expect(seen.fill).toEqual(seen.trade);
  await connection.close();
});
