/**
 * `orrery`: an exchange in this process, a resting order placed as an engine command in integer
 * units, and one that fills it through the gateway in decimal text.
 */
import assert from 'node:assert/strict';
import {
  addressOfName,
  DEFAULT_EXCHANGE_CONFIG,
  DEFAULT_MARKETS,
  Exchange,
  Gateway,
  InProcessClient,
  keccak,
  marketId,
  parseMarketSpec,
  priceTicks,
  quanta,
  type Command,
  type EngineEvent,
} from 'orrery';

const exchange = new Exchange(DEFAULT_EXCHANGE_CONFIG);
const events: EngineEvent[] = [];
const submit = (command: Command) => exchange.apply(command, (event) => events.push(event));

const spec = parseMarketSpec(DEFAULT_MARKETS[0], keccak);
if (!spec.ok) throw new Error(spec.error);
const { symbol, tickSize } = spec.value;
const timeUs = DEFAULT_EXCHANGE_CONFIG.genesisTimeUs;
const [alice, bob] = [addressOfName('alice'), addressOfName('bob')];

submit({ kind: 'listMarket', timeUs, spec: spec.value });
for (const account of [alice, bob]) {
  submit({ kind: 'deposit', timeUs, account, subaccountIndex: 0, amount: quanta(10_000_000_000n) });
}
const index = { priceTicks: priceTicks(60_000 / Number(tickSize)), text: '60000' };
submit({ kind: 'setIndex', timeUs, market: marketId(0), ...index });

const gateway = new Gateway({
  engine: exchange,
  submit,
  nowUs: () => exchange.nowUs,
  keccak,
  signatures: 'trust',
});
const order = {
  subaccountIndex: 0,
  symbol,
  orderType: 'limit',
  price: '60000',
  expiresAt: 9_007_199_254_740_991,
  nonce: 1,
  originator: '0x0000000000000000000000000000000000000000',
  originatorFee: 0,
  flags: { ioc: false, postOnly: false, reduceOnly: false },
  signatures: [],
};
for (const [account, quantity] of [
  [alice, '0.1'],
  [bob, '-0.1'],
] as const) {
  const client = new InProcessClient(gateway, { account, signer: account });
  const [record] = await client.call('submitOrder', { ...order, account, quantity });
  console.log(account, record?.status);
}

const fills = events.filter(({ kind }) => kind === 'orderFilled');
assert.equal(fills.length, 2);
assert.deepEqual(exchange.checkInvariants(), []);
console.log('state hash', exchange.stateHash());
