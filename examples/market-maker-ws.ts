/**
 * A market maker over WebSocket: follows the book, keeps one quote on each side around the mark, and stops after a few rounds. Run against
 * `npx orrery serve --sim-token dev`: `URL=http://127.0.0.1:8080 npx tsx examples/market-maker-ws.ts`
 */
import { Wallet } from 'ethers';
import { HttpMatcherClient } from 'orrery/client';
import { WebSocket } from 'ws';

const url = process.env['URL'] ?? 'http://127.0.0.1:8080';
const symbol = 'BTC-USD-PERP';
const rounds = 3;
const wallet = Wallet.createRandom();
const client = new HttpMatcherClient({ url, signer: wallet });

async function sim(path: string, body: unknown): Promise<void> {
  const headers = { authorization: 'Bearer dev', 'content-type': 'application/json' };
  const response = await fetch(`${url}/sim/${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
}

await sim('deposit', { account: wallet.address, amount: '50000' });
await sim('oracle', { symbol, price: '60000' });

const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws`);
await new Promise((resolve) => socket.once('open', resolve));
let nextId = 0;
const waiting = new Map<
  number,
  (answer: { result?: unknown; error?: { message: string } }) => void
>();
const ask = (method: string, params: unknown): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const id = ++nextId;
    waiting.set(id, ({ result, error }) => {
      if (error === undefined) resolve(result);
      else reject(new Error(error.message));
    });
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  });

interface Level {
  readonly price: string;
  readonly quantity: string;
}
const book = { bids: new Map<string, string>(), asks: new Map<string, string>() };
let sequence: number | null = null;

socket.on('message', (data: Buffer) => {
  const message = JSON.parse(data.toString()) as {
    readonly id?: number;
    readonly type?: string;
    readonly data?: unknown;
    readonly result?: unknown;
    readonly error?: { message: string };
  };
  if (message.id !== undefined) waiting.get(message.id)?.(message);
  if (message.type !== 'Book') return;
  const update = message.data as {
    bids: Level[];
    asks: Level[];
    snapshot: boolean;
    previous_sequence_number: number | null;
    sequence_number: number;
  };
  if (!update.snapshot && update.previous_sequence_number !== sequence) {
    throw new Error('a gap: subscribe again');
  }
  sequence = update.sequence_number;
  for (const side of ['bids', 'asks'] as const) {
    if (update.snapshot) book[side].clear();
    for (const { price, quantity } of update[side]) {
      if (quantity === '0') book[side].delete(price);
      else book[side].set(price, quantity);
    }
  }
});

await ask('auth', { bearer: await client.bearer() });
await ask('subscribe', { source: 'book', symbols: [symbol] });
await ask('subscribe', { source: 'fill', account: wallet.address, subaccountIndices: [] });

for (let round = 0; round < rounds; round++) {
  const { mark } = await client.call('getPrice', { symbol });
  const middle = Number(mark ?? 60_000);
  const quote = (side: 1 | -1) => ({
    account: wallet.address,
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
  const { orders } = await client.send('submitOrders', { orders: [quote(1), quote(-1)] });
  console.log(
    `round ${String(round + 1)}:`,
    orders.map(({ price, status }) => `${price} ${status}`).join(', '),
  );
  await new Promise((resolve) => setTimeout(resolve, 50));
  console.log('  best bid', [...book.bids.keys()].map(Number).sort((a, b) => b - a)[0]);
  const orderIds = orders.map(({ orderId }) => orderId);
  await ask('cancel', { account: wallet.address, orderIds });
}
socket.close();
