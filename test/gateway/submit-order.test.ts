/** Orders as a client sends them: bounds of prices, batches, attached orders, signed ids. */
import { expect, test } from 'vitest';
import { Gateway } from '../../src/gateway/gateway.ts';
import { attachedDigest, SignedOrderIds } from '../../src/gateway/order-ids.ts';
import type { SignatureVerifier } from '../../src/gateway/ports.ts';
import { address } from '../../src/num/units.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { RiskWorld } from '../engine/risk-world.ts';

type Changes = Record<string, unknown>;

const IOC = { ioc: true, postOnly: false, reduceOnly: false };

function opened(): RiskWorld {
  const world = new RiskWorld([{}]);
  world.fund({ ann: '100000', bob: '100000' });
  world.price('100');
  return world;
}

const body = (world: RiskWorld, changes: Changes): Changes => world.orderBody('ann', changes);

/** Records of the orders, or the refusal. */
const placed = (world: RiskWorld, changes: Changes): unknown =>
  world.call('submitOrder', body(world, changes), 'ann').body;

test.each([
  { quantity: '1', price: '99.5', bound: '99' },
  { quantity: '-1', price: '99.5', bound: '100' },
  { quantity: '1', price: '99', bound: '99' },
  { quantity: '-1', price: '100', bound: '100' },
])('an immediate order of $quantity at $price is bounded by $bound', ({ bound, ...order }) => {
  expect(placed(opened(), { ...order, flags: IOC })).toMatchObject([{ price: bound }]);
});

test('an immediate order has a price above 0, and other orders are on the tick', () => {
  const world = opened();
  expect({
    'a buy below one tick': placed(world, { price: '0.5', flags: IOC }),
    'a buy at 0': placed(world, { price: '0', flags: IOC }),
    'a buy below 0': placed(world, { price: '-0.5', flags: IOC }),
    'a resting order off the tick': placed(world, { price: '99.5' }),
    'a buy off the lot': placed(world, { quantity: '0.0005' }),
    'a sale off the lot': placed(world, { quantity: '-0.0005' }),
  }).toEqual({
    'a buy at 0': 'price must be positive',
    'a buy below 0': 'price must be positive',
    'a buy below one tick': 'price: a buy needs at least one tick, 1',
    'a buy off the lot': 'quantity: must be a multiple of the lot size 0.001',
    'a resting order off the tick': 'price: must be a multiple of the tick size 1',
    'a sale off the lot': 'quantity: must be a multiple of the lot size 0.001',
  });
});

test.each([
  { quantity: '1', legs: ['1', '1'] },
  { quantity: '-1', legs: ['1000000', '1000000'] },
])('attached orders of $quantity without a price take any', ({ quantity, legs }) => {
  const [up, down] = ['110', '90'];
  const records = placed(opened(), {
    quantity,
    takeProfit: { triggerPrice: quantity === '1' ? up : down },
    stopLoss: { triggerPrice: quantity === '1' ? down : up },
  }) as { readonly price: string; readonly quantity: string }[];
  expect(records.slice(1).map(({ price }) => price)).toEqual(legs);
});

test('a batch has 1 to 100 orders of one subaccount, without attached orders', () => {
  const world = opened();
  const many = (count: number): unknown[] =>
    Array.from({ length: count }, () => body(world, { quantity: '0.001', price: '90' }));
  const send = (orders: readonly unknown[]): unknown => {
    const reply = world.call('submitOrders', { orders }, 'ann').body;
    return typeof reply === 'string' ? reply : (reply as { orders: unknown[] }).orders.length;
  };
  const leg = { triggerPrice: '110' };
  expect({
    none: send([]),
    most: send(many(100)),
    more: send(many(101)),
    'more, with a fault': send([...many(100), {}]),
    'another account': send([...many(1), { ...body(world, {}), account: world.addressOf('bob') }]),
    'another subaccount': send([...many(1), body(world, { subaccountIndex: 1 })]),
    'a take-profit': send([...many(1), body(world, { takeProfit: leg })]),
    'a stop-loss': send([...many(1), body(world, { stopLoss: leg })]),
    both: send([body(world, { takeProfit: leg, stopLoss: leg })]),
  }).toEqual({
    'a stop-loss': 'orders[1].stopLoss: in a batch it is an order of its own',
    'a take-profit': 'orders[1].takeProfit: in a batch it is an order of its own',
    'another account': 'orders[1].account: must be the same for all orders',
    'another subaccount': 'orders[1].subaccountIndex: must be the same for all orders',
    both: 'orders[0].takeProfit: in a batch it is an order of its own',
    more: 'orders: must have at most 100 orders',
    'more, with a fault': 'orders: must have at most 100 orders',
    most: 100,
    none: 'orders: must have at least one order',
  });
});

/** The digest of a request depends on its body only; all requests are signed by Ann. */
class Signatures implements SignatureVerifier {
  private readonly signer: string;

  constructor(signer: string) {
    this.signer = signer;
  }

  signersOf(): readonly ReturnType<typeof address>[] {
    return [address(this.signer)];
  }

  digestOf(request: { readonly kind: string; readonly body: object }): string {
    return keccak(new TextEncoder().encode(JSON.stringify([request.kind, request.body])));
  }
}

test.each([
  { legs: [] },
  { legs: ['takeProfit'] },
  { legs: ['stopLoss'] },
  { legs: ['takeProfit', 'stopLoss'] },
] as const)('signed orders have ids of their digest, attached: $legs', ({ legs }) => {
  const world = opened();
  const verifier = new Signatures(world.addressOf('ann'));
  const gateway = new Gateway({
    engine: world.engine,
    submit: (command) => world.submit(command),
    nowUs: () => world.now,
    keccak,
    signatures: verifier,
    ids: new SignedOrderIds(world.engine, keccak, () => undefined),
  });
  const prices = { takeProfit: '110', stopLoss: '90' };
  const request = body(world, {
    signatures: [`0x${'0'.repeat(130)}`],
    ...Object.fromEntries(legs.map((leg) => [leg, { triggerPrice: prices[leg] }])),
  });
  const caller = world.addressOf('ann');
  const reply = gateway.handle('submitOrder', request, { account: caller, signer: caller })
    .body as { readonly orderId: string }[];
  const digest = verifier.digestOf({ kind: 'Order', body: request });
  expect(reply.map(({ orderId }) => orderId)).toEqual([
    digest,
    ...legs.map((leg) => attachedDigest(keccak, digest, leg)),
  ]);
});
