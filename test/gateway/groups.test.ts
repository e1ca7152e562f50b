/**
 * Batches, conditions and attached legs through the gateway: error texts and records (§2–§4,
 *
 */
import { describe, expect, test } from 'vitest';
import type { EndpointId } from '../../src/contract/endpoints.ts';
import type { OrderRecordShape } from '../../src/contract/schemas.ts';
import type { Reply } from '../../src/gateway/context.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { address, marketId } from '../../src/num/units.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { World } from '../setup/world.ts';

const ALICE = address(`0x${'a'.repeat(40)}`);

class Fixture extends World {
  private nonce = 0;

  constructor() {
    super(DEFAULT_EXCHANGE_CONFIG, [{ symbol: 'T', tickSize: '0.1', lotSize: '0.01' }]);
    this.credit(ALICE, 0, 10n ** 12n);
    this.setIndex(marketId(0), 1000, '100');
  }

  call(endpoint: EndpointId, input: unknown): Reply {
    return this.callAs(ALICE, endpoint, input);
  }

  one(endpoint: EndpointId, input: unknown): OrderRecordShape {
    return this.call(endpoint, input).body as OrderRecordShape;
  }

  place(changes: Record<string, unknown>): OrderRecordShape[] {
    return this.call('submitOrder', this.order(changes)).body as OrderRecordShape[];
  }

  total(query: Record<string, unknown>): unknown {
    const { body } = this.call('listOrders', { account: ALICE, subaccountIndex: 0, ...query });
    return (body as { total: number }).total;
  }

  order(changes: Record<string, unknown>): Record<string, unknown> {
    this.nonce += 1;
    return {
      account: ALICE,
      subaccountIndex: 0,
      symbol: 'T',
      orderType: 'limit',
      price: '99',
      quantity: '1',
      nonce: this.nonce,
      expiresAt: 9_007_199_254_741,
      originator: `0x${'0'.repeat(40)}`,
      originatorFee: 0,
      flags: { ioc: false, postOnly: false, reduceOnly: false },
      signatures: [],
      ...changes,
    };
  }
}

const reduce = { ioc: true, postOnly: false, reduceOnly: true };

describe('a single order is rejected with the field and the limit', () => {
  test.each<[Record<string, unknown>, number, string]>([
    [{ period: 0 }, 400, 'May not specify period on Limit order'],
    [{ orderType: 'TWAP' }, 400, 'period: belongs to twap orders, which need it'],
    [{ orderType: 'twap', period: 0 }, 400, 'period: must be above 0'],
    [
      { orderType: 'stopLoss' },
      400,
      'triggerPrice: belongs to takeProfit and stopLoss orders, which need it, and to trailingStop orders',
    ],
    [
      { orderType: 'stopLoss', triggerPrice: '90.05' },
      400,
      'triggerPrice: must be a multiple of the tick size 0.1',
    ],
    [{ orderType: 'stopLoss', triggerPrice: '-1' }, 400, 'triggerPrice: must be positive'],
    [
      { orderType: 'trailingStop' },
      400,
      'trailingPercent: belongs to trailingStop orders, which need it',
    ],
    [
      { orderType: 'trailingStop', trailingPercent: '0.00001' },
      400,
      'trailingPercent: must have at most 4 decimals',
    ],
    [
      { orderType: 'trailingStop', trailingPercent: '100' },
      400,
      'trailingPercent: must be above 0 and below 100',
    ],
    [{ parentOrderId: 'xyz' }, 400, 'parentOrderId: must be an order id: 64 hex digits'],
    [
      { parentOrderId: 'f'.repeat(64) },
      400,
      'parentOrderId: belongs to takeProfit and stopLoss orders',
    ],
    [
      { orderType: 'stopLoss', triggerPrice: '90', parentOrderId: 'f'.repeat(64), flags: reduce },
      404,
      'Order not found',
    ],
    [
      { takeProfit: { triggerPrice: '110.01' } },
      400,
      'takeProfit.triggerPrice: must be a multiple of the tick size 0.1',
    ],
    [{ stopLoss: {} }, 400, 'stopLoss.triggerPrice: is required'],
    [{ stopLoss: { triggerPrice: '1', size: 1 } }, 400, 'stopLoss.size: unknown field'],
    [
      { orderType: 'twap', period: 1, stopLoss: { triggerPrice: '90' } },
      400,
      'stopLoss: cannot be attached to a twap order',
    ],
    [
      { flags: reduce, stopLoss: { triggerPrice: '90' } },
      400,
      'stopLoss: cannot be attached to a reduceOnly order',
    ],
    [
      { orderType: 'iceberg', flags: { ...reduce, reduceOnly: false } },
      400,
      'flags.ioc: an iceberg order rests, so it cannot be ioc',
    ],
  ])('%j', (changes, status, message) => {
    const fixture = new Fixture();
    const before = fixture.engine.stateHash();
    expect(fixture.call('submitOrder', fixture.order(changes))).toEqual({ status, body: message });
    expect(fixture.engine.stateHash()).toBe(before);
  });
});

test('an attached leg has an id that a client can compute, and points to its parent (R-2.10)', () => {
  const fixture = new Fixture();
  const [entry, profit, stop] = fixture.place({
    takeProfit: { triggerPrice: '110' },
    stopLoss: { triggerPrice: '90', price: '89' },
  });
  const id = entry?.orderId ?? '';
  const digest = (kind: number): string =>
    keccak(Uint8Array.from([...Buffer.from(id, 'hex'), kind]));
  const pair = { parentOrderId: id, ocoGroupId: digest(1), groupId: id };
  expect(entry).toMatchObject({ groupId: id, ocoGroupId: null, parentOrderId: null });
  expect(profit).toMatchObject({ ...pair, orderId: digest(1), price: '0.1', flags: { ioc: true } });
  expect(stop).toMatchObject({ ...pair, orderId: digest(2), price: '89', flags: { ioc: false } });
  expect(fixture.one('getOrder', { orderId: `0x${digest(2)}` })).toEqual(stop);
  expect(fixture.one('cancelOrder', { orderId: digest(2) }).status).toBe('cancelled');
  expect(fixture.one('getOrder', { orderId: digest(1) }).status).toBe('pending');
});

test('a rejected batch names the faulty order, and none is placed (R-3.1)', () => {
  const fixture = new Fixture();
  const before = fixture.engine.stateHash();
  const refused = (orders: unknown[]): unknown => fixture.call('submitOrders', { orders }).body;
  const good = (): Record<string, unknown> => fixture.order({});
  expect(refused([good(), { ...good(), account: `0x${'b'.repeat(40)}` }])).toBe(
    'orders[1].account: must be the same for all orders',
  );
  expect(refused([good(), { ...good(), subaccountIndex: 1 }])).toBe(
    'orders[1].subaccountIndex: must be the same for all orders',
  );
  expect(refused([good(), { ...good(), stopLoss: { triggerPrice: '90' } }])).toBe(
    'orders[1].stopLoss: in a batch it is an order of its own',
  );
  expect(refused([good(), { ...good(), flags: { ioc: 1 } }])).toBe(
    'orders[1].flags.ioc: must be true or false',
  );
  expect(refused([good(), { ...good(), nonce: 1, price: '0.05' }])).toBe(
    'nonce: must increase from order to order in a batch',
  );
  expect(refused([fixture.order({ clientId: 'x' }), fixture.order({ clientId: 'x' })])).toBe(
    'clientId is in use by a live order of this account',
  );
  expect(refused(Array.from({ length: 101 }, good))).toBe('orders: must have at most 100 orders');
  expect(fixture.engine.stateHash()).toBe(before);
});

test('order types are case-insensitive on input and uniform on output (R-11.3)', () => {
  const fixture = new Fixture();
  const [order] = fixture.place({
    orderType: 'TRAILINGSTOP',
    trailingPercent: '0.5000',
    triggerPrice: '120',
  });
  expect(order).toMatchObject({
    orderType: 'trailingStop',
    trailingPercent: '0.5',
    triggerPrice: '120',
    status: 'pending',
    groupId: null,
  });
  expect(fixture.total({ orderType: 'TrailingStop,twap' })).toBe(1);
  expect(fixture.total({ orderType: 'limit' })).toBe(0);
  expect(fixture.total({ status: 'active' })).toBe(0);
  expect(fixture.total({ status: 'open' })).toBe(1);
});
