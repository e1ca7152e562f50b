/**
 * Memory of resting orders: 1 M orders over 5,000 subaccounts with clientIds and nonces, and a
 * complete order-id index, relative to an empty exchange in the same process. Run with --expose-gc;
 * prints bytes as JSON.
 */
import { Gateway } from '../../src/gateway/gateway.ts';
import { lots, marketId, ppm, priceTicks, subaccountId, timeUs } from '../../src/num/units.ts';
import { CONFIG, accountAddress, openExchange } from './engine-flow.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';

const SUBACCOUNTS = 5000;
const EACH = Number(process.argv[2] ?? 200);

function settledRss(): number {
  for (let i = 0; i < 4; i++) globalThis.gc?.();
  return process.memoryUsage().rss;
}

const exchange = openExchange(SUBACCOUNTS);
const gateway = new Gateway({
  engine: exchange,
  submit: (command) => exchange.apply(command),
  nowUs: () => exchange.nowUs,
  keccak,
  signatures: 'trust',
});
const before = settledRss();
let order = 0;
for (let round = 0; round < EACH; round++) {
  for (let i = 0; i < SUBACCOUNTS; i++) {
    order += 1;
    const outcome = exchange.apply({
      kind: 'placeOrder',
      timeUs: timeUs(CONFIG.genesisTimeUs + order),
      subaccount: subaccountId(6 + i),
      market: marketId(0),
      orderType: 'limit',
      lots: lots(i % 2 === 0 ? 1 : -1),
      priceTicks: priceTicks(i % 2 === 0 ? 99_990 - (order % 900) : 100_010 + (order % 900)),
      ioc: false,
      postOnly: false,
      reduceOnly: false,
      nonce: BigInt(round),
      expiresAtMs: 1_800_000_000_000n + BigInt(order),
      delegate: null,
      clientId: `order-${String(order)}`,
      originator: null,
      originatorFeePpm: ppm(0),
    });
    if (outcome !== 'ok') throw new Error(outcome.code);
  }
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
process.stdout.write(JSON.stringify({ orders: order, bytes: after - before }));
