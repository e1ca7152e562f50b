/**
 * `orrery/server`: the exchange as a server inside a test. The program under test gets `url`; the
 * test sets prices, moves the clock and injects faults.
 */
import assert from 'node:assert/strict';
import { Wallet } from 'ethers';
import { startServer } from 'orrery/server';

const server = await startServer({ markets: ['BTC-USD-PERP'] });
try {
  const wallet = new Wallet(`0x${'1'.repeat(64)}`);
  await server.setPrice('BTC-USD-PERP', '60000');
  await server.deposit(wallet.address, '1000');

  // Your program would do this: log in, sign and trade over HTTP.
  const client = server.client(wallet);
  const [order] = await client.send('submitOrder', {
    account: wallet.address,
    subaccountIndex: 0,
    symbol: 'BTC-USD-PERP',
    orderType: 'limit',
    price: '59000',
    quantity: '0.01',
    expiresAt: server.now().getTime() + 3_600_000,
    originator: `0x${'0'.repeat(40)}`,
    originatorFee: 0,
    flags: { ioc: false, postOnly: true, reduceOnly: false },
  });
  assert(order);
  assert.equal(order.status, 'new');

  // The order expires after an hour on the clock of the exchange, at once for the test.
  await server.advance('61m');
  const { account, orderId } = order;
  const after = await client.call('getOrder', { account, orderId });
  assert.equal(after.status, 'expired');

  // An error that is rare otherwise.
  await server.inject('internalError', { endpoint: 'getPrice' });
  await assert.rejects(client.call('getPrice', { symbol: 'BTC-USD-PERP' }), /injected fault/);
  console.log(server.url, order.status, after.status, server.hash().chainHash);
} finally {
  await server.close();
}
