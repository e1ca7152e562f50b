/**
 * A wallet logs in, places a signed order with a stop-loss, and reads it back.
 *
 * Run against `npx orrery serve --sim-token dev`:
 * `URL=http://127.0.0.1:8080 npx tsx examples/wallet-order.ts`
 */
import { Wallet } from 'ethers';
import { HttpMatcherClient } from 'orrery/client';

const url = process.env['URL'] ?? 'http://127.0.0.1:8080';
const wallet = Wallet.createRandom();
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

await sim('deposit', { account: wallet.address, amount: '10000' });
await sim('oracle', { symbol: 'BTC-USD-PERP', price: '60000' });

const [order, stop] = await client.send('submitOrder', {
  account: wallet.address,
  subaccountIndex: 0,
  symbol: 'BTC-USD-PERP',
  orderType: 'limit',
  price: '59000',
  quantity: '0.1',
  expiresAt: 9_007_199_254_740_991,
  originator: '0x0000000000000000000000000000000000000000',
  originatorFee: 0,
  flags: { ioc: false, postOnly: true, reduceOnly: false },
  stopLoss: { triggerPrice: '57000' },
});
console.log('order', order?.orderId, order?.status);
console.log('stop-loss', stop?.orderId, stop?.status);

const stats = await client.call('getStats', { account: wallet.address, subaccountIndex: 0 });
console.log('free collateral', stats.freeCollateral);
await client.call('cancelAllOrders', { account: wallet.address, subaccountIndex: 0 });
