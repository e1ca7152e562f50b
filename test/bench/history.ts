/**
 * Cost of the filter over a history of a million ended orders of one account, queried through the
 * gateway. Prints the median of each query in milliseconds as JSON.
 */
import { performance } from 'node:perf_hooks';
import { Exchange } from '../../src/engine/exchange.ts';
import { Gateway } from '../../src/gateway/gateway.ts';
import { lots, marketId, ppm, priceTicks, subaccountId, timeUs } from '../../src/num/units.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { accountAddress, CONFIG, openingCommands } from './engine-flow.ts';

const ORDERS = 1_000_000;
const ROUNDS = 41;

const exchange = new Exchange({
  ...CONFIG,
  retention: { ...CONFIG.retention, endedOrdersPerAccount: ORDERS },
});
for (const command of openingCommands(1)) exchange.apply(command);
for (let i = 0; i < ORDERS; i++) {
  exchange.apply({
    kind: 'placeOrder',
    timeUs: timeUs(CONFIG.genesisTimeUs + i),
    subaccount: subaccountId(6),
    market: marketId(0),
    orderType: 'limit',
    lots: lots(i % 3 === 0 ? 1 : -1),
    priceTicks: priceTicks(100_000),
    // The other side of the book is empty.
    ioc: true,
    postOnly: false,
    reduceOnly: false,
    nonce: BigInt(i + 1),
    expiresAtMs: 9_007_199_254_741n,
    delegate: null,
    clientId: null,
    originator: null,
    originatorFeePpm: ppm(0),
  });
}
const gateway = new Gateway({
  engine: exchange,
  submit: (command) => exchange.apply(command),
  nowUs: () => exchange.nowUs,
  keccak,
  signatures: 'trust',
});
const account = accountAddress(0);
const questions = {
  'the newest 100': {},
  'the newest 500 closed ones': { status: 'closed', limit: 500 },
  'the filled ones': { status: 'filled' },
};
const medians = Object.entries(questions).map(([name, asked]) => {
  const times = Array.from({ length: ROUNDS }, () => {
    const started = performance.now();
    const reply = gateway.handle(
      'listOrders',
      { account, subaccountIndex: 0, ...asked },
      { account, signer: account },
    );
    if (reply.status !== 200) throw new Error(String(reply.body));
    return performance.now() - started;
  });
  return [name, times.sort((a, b) => a - b)[ROUNDS >> 1] ?? 0];
});
process.stdout.write(JSON.stringify(Object.fromEntries(medians)));
