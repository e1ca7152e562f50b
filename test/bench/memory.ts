/**
 * Memory of resting orders: 1 M orders over 5,000 subaccounts with clientIds and nonces, and a
 * complete order-id index, relative to an empty exchange in the same process. Run with --expose-gc;
 * prints bytes as JSON.
 */
import { Gateway } from '../../src/gateway/gateway.ts';
import { accountAddress, openExchange } from './engine-flow.ts';
import { restingOrder, RESTING_SUBACCOUNTS } from './resting-orders.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';

const EACH = Number(process.argv[2] ?? 200);

function settledRss(): number {
  for (let i = 0; i < 4; i++) globalThis.gc?.();
  return process.memoryUsage().rss;
}

const exchange = openExchange(RESTING_SUBACCOUNTS);
const gateway = new Gateway({
  engine: exchange,
  submit: (command) => exchange.apply(command),
  nowUs: () => exchange.nowUs,
  keccak,
  signatures: 'trust',
});
const before = settledRss();
const orders = EACH * RESTING_SUBACCOUNTS;
for (let i = 0; i < orders; i++) {
  const outcome = exchange.apply(restingOrder(i));
  if (outcome !== 'ok') throw new Error(outcome.code);
}
// An unknown digest forces the index to include every order.
const account = accountAddress(0);
const reply = gateway.handle(
  'getOrder',
  { orderId: 'f'.repeat(64), account },
  { account, signer: account },
);
if (reply.status !== 404) throw new Error(String(reply.body));
const after = settledRss();
process.stdout.write(JSON.stringify({ orders, bytes: after - before }));
