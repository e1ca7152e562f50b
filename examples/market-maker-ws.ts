/**
 * A market maker over WebSocket: follows the book, keeps one quote on each side of the mark, and
 * stops after a few rounds.
 *
 * Run against `npx orrery serve --sim-token dev`:
 * `URL=http://127.0.0.1:8080 npx tsx examples/market-maker-ws.ts`
 */
import { Wallet } from 'ethers';
import { HttpMatcherClient } from 'orrery/client';

const url = process.env['URL'] ?? 'http://127.0.0.1:8080';
const symbol = 'BTC-USD-PERP';
const rounds = 3;
const wallet = Wallet.createRandom();
const account = wallet.address;
const client = new HttpMatcherClient({ url, signer: wallet });

async function sim(path: string, body: unknown): Promise<void> {
  const headers = { authorization: 'Bearer dev', 'content-type': 'application/json' };
  const response = await fetch(`${url}/sim/${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  }).catch(() => null);
  if (response?.ok === true) return;
  console.error(`${url}/sim/${path}: ${(await response?.text()) ?? 'does not answer'}`);
  process.exit(1);
}

await sim('deposit', { account, amount: '50000' });
await sim('oracle', { symbol, price: '60000' });

// One socket for feeds and orders: logs in, reconnects, and reads the updates that it missed.
const feeds = client.feeds();
const bids = new Map<string, string>();

async function followBook(): Promise<void> {
  for await (const { snapshot, bids: levels } of await feeds.subscribe('book', {
    symbols: [symbol],
  })) {
    if (snapshot) bids.clear();
    for (const { price, quantity } of levels) {
      if (quantity === '0') bids.delete(price);
      else bids.set(price, quantity);
    }
  }
}

async function followFills(): Promise<void> {
  for await (const { price, quantity } of await feeds.subscribe('fill', { account })) {
    console.log(`filled ${quantity} at ${price}`);
  }
}

const following = Promise.all([followBook(), followFills()]);

for (let round = 0; round < rounds; round++) {
  const { mark } = await client.call('getPrice', { symbol });
  const middle = Number(mark ?? 60_000);
  const quote = (side: 1 | -1) => ({
    account,
    subaccountIndex: 0,
    symbol,
    orderType: 'limit',
    price: String(Math.round(middle - side * (20 + round))),
    quantity: side > 0 ? '0.05' : '-0.05',
    expiresAt: 9_007_199_254_740_991,
    originator: '0x0000000000000000000000000000000000000000',
    originatorFee: 0,
    flags: { ioc: false, postOnly: true, reduceOnly: false },
  });
  const { orders } = await feeds.send('submitOrders', { orders: [quote(1), quote(-1)] });
  console.log(
    `round ${String(round + 1)}:`,
    orders.map(({ price, status }) => `${price} ${status}`).join(', '),
  );
  await new Promise((resolve) => setTimeout(resolve, 50));
  console.log('  best bid', [...bids.keys()].map(Number).sort((a, b) => b - a)[0]);
  await feeds.send('cancelOrders', { account, orderIds: orders.map(({ orderId }) => orderId) });
}
await feeds.close();
await following;
