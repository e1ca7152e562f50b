/**
 * The contract through the gateway: every body matches its schema, every rejection has its text,
 * and a rejection changes nothing.
 */
import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { beforeEach, describe, expect, test } from 'vitest';
import { ENDPOINTS, type EndpointId } from '../../src/contract/endpoints.ts';
import { OrderRequest } from '../../src/contract/schemas.ts';
import { RequestError } from '../../src/gateway/request-error.ts';
import { decodeOrder } from '../../src/gateway/submit-order.ts';
import { SUBMIT_REFUSALS } from './submit-refusals.ts';
import { ALICE, BOB, order, START, STRANGER, SYMBOL, Fixture } from './fixture.ts';

let fixture: Fixture;
beforeEach(() => {
  fixture = new Fixture();
});

function mustOk(endpoint: EndpointId, input: unknown, as?: string): unknown {
  const { status, body } = fixture.call(endpoint, input, as);
  expect(body, endpoint).not.toBeTypeOf('string');
  expect(status).toBe(200);
  const check = Compile(ENDPOINTS[endpoint].response);
  expect(check.Check(body), `${endpoint}: ${JSON.stringify(body)}`).toBe(true);
  return body;
}

interface Record_ {
  orderId: string;
  status: string;
  reason: string | null;
  settled: string;
  remaining: string;
}

function submit(changes: Record<string, unknown> = {}, as?: string): Record_ {
  const [record] = mustOk('submitOrder', order(changes), as) as Record_[];
  return record!;
}

test('every implemented endpoint replies as its schema requires', () => {
  submit({ clientId: 'resting' });
  submit({ account: BOB, price: '60001', quantity: '-0.02' }, BOB);
  const taker = submit({
    price: '60010',
    quantity: '0.01',
    flags: { ioc: true, postOnly: false, reduceOnly: false },
  });
  expect(taker).toMatchObject({ status: 'filled', settled: '0.01', remaining: '0', reason: null });
  const subaccount = { account: ALICE, subaccountIndex: 0 };
  mustOk('getOrder', { orderId: taker.orderId });
  mustOk('getOrder', { clientId: 'resting', account: ALICE });
  mustOk('listOrders', { ...subaccount, status: 'Open', orderType: 'Limit,twap', limit: 500 });
  mustOk('getBalance', { account: ALICE });
  mustOk('getStats', subaccount);
  mustOk('getPositions', { ...subaccount, symbol: SYMBOL });
  mustOk('getMargin', subaccount);
  mustOk('getSigners', { account: ALICE });
  mustOk('getDelegates', { account: ALICE });
  mustOk('getTransferMax', subaccount);
  mustOk('getTransfers', subaccount);
  mustOk('getClsHistory', {});
  mustOk('getSummary', { symbol: SYMBOL });
  mustOk('getCandles', { symbol: SYMBOL, interval: '5m' });
  mustOk('getTrades', { symbol: SYMBOL, limit: '5' });
  mustOk('getPrice', { symbol: SYMBOL });
  expect(mustOk('getPrices', {})).toHaveLength(3);
  mustOk('getPrices', { symbols: `${SYMBOL},ETH-USD-PERP` });
  mustOk('getBook', { symbol: SYMBOL, depth: 5000, tickSize: '100' });
  mustOk('getConfig', {});
  expect(mustOk('getMarkets', {})).toHaveLength(3);
  expect(mustOk('getTime', {})).toEqual({ time: START / 1000 });
  mustOk('cancelAllOrders', subaccount);
  mustOk('cancelOrders', { clientIds: ['resting'], orderIds: ['zz'] });
});

test('figures of a fill are exact, without trailing zeros (R-1.5, R-8.1)', () => {
  submit({ account: BOB, price: '60001', quantity: '-0.02' }, BOB);
  submit({ price: '60001', quantity: '0.01' });
  // Taker fee 0.035 % of 600.01.
  expect(mustOk('getBalance', { account: ALICE })).toMatchObject([{ balance: '9999.789996' }]);
  expect(mustOk('getPositions', { account: ALICE, subaccountIndex: 0 })).toMatchObject([
    { quantity: '0.01', basis: '600.01', entryPrice: '60001', upnl: '-0.01', fees: '0.210004' },
  ]);
  expect(mustOk('getTrades', { symbol: SYMBOL })).toEqual([
    { price: '60001', quantity: '0.01', symbol: SYMBOL, time: START / 1000 },
  ]);
  expect(mustOk('getPrice', { symbol: SYMBOL })).toMatchObject({
    index: '60000.04',
    mark: '60000',
  });
});

test.each(SUBMIT_REFUSALS)(
  '%s is rejected and changes nothing',
  (_name, changes, status, message) => {
    const before = fixture.engine.stateHash();
    const request = order();
    // As a JSON parser creates it: an own property, whatever its name.
    for (const [key, value] of Object.entries(changes)) {
      Object.defineProperty(request, key, { value, enumerable: true, configurable: true });
    }
    const reply = fixture.call('submitOrder', request);
    expect(reply.status).toBe(status);
    expect(reply.body).toContain(message);
    expect(fixture.engine.stateHash()).toBe(before);
  },
);

/** Two faults at once: the first in the order of is reported. */
const PRECEDENCE: readonly (readonly [Record<string, unknown>, string])[] = [
  [{ symbol: 'DOGE', price: 5 }, 'price: must be a string'],
  [{ symbol: 'DOGE', expiresAt: 1 }, 'Symbol not found'],
  [{ expiresAt: 1, account: BOB }, 'Request expired: expiresAt is in the past'],
  [{ account: BOB, nonce: 0 }, 'Not delegated for account and subaccount'],
  [{ nonce: 424_242, clientId: 'taken' }, 'Nonce already used'],
  [{ clientId: 'taken', price: '0.05' }, 'clientId is in use by a live order of this account'],
  [{ price: '0.05', quantity: '0' }, 'price: must be a multiple of the tick size 0.1'],
];

test.each(PRECEDENCE)('of the faults %j the first is reported (R-2.8)', (changes, message) => {
  submit({ nonce: 424_242, clientId: 'taken' });
  expect(fixture.call('submitOrder', order(changes)).body).toBe(message);
});

describe('other requests', () => {
  const subaccount = { account: ALICE, subaccountIndex: 0 };
  const rows: readonly (readonly [EndpointId, unknown, number, string, string?])[] = [
    ['submitOrder', 'a string', 400, 'body: must be an object'],
    ['submitOrder', null, 400, 'body: must be an object'],
    ['submitOrders', { orders: [] }, 400, 'orders: must have at least one order'],
    ['submitOrders', {}, 400, 'orders: is required'],
    ['submitOrders', { orders: {} }, 400, 'orders: must be an array'],
    ['submitOrders', { orders: [7] }, 400, 'orders[0]: must be an object'],
    ['getOrder', {}, 400, 'orderId, or clientId with account, is required'],
    ['getOrder', { orderId: 'f'.repeat(64) }, 404, 'Order not found'],
    ['getOrder', { clientId: 'x', account: ALICE }, 404, 'Order not found'],
    ['getOrder', { orderId: 'xyz' }, 400, 'orderId: must be an order id: 64 hex digits'],
    ['cancelOrder', { orderId: 'f'.repeat(64) }, 404, 'Order not found'],
    ['cancelAllOrders', { ...subaccount, symbol: 'DOGE' }, 404, 'Symbol not found'],
    ['listOrders', { ...subaccount, limit: 501 }, 400, 'Limit must be between 1 and 500, got 501'],
    [
      'listOrders',
      { ...subaccount, createdFrom: 1, updatedTo: 2 },
      400,
      'Created and updated filters cannot be combined',
    ],
    [
      'listOrders',
      { ...subaccount, status: 'new' },
      400,
      'status: must be open, active, filled or closed',
    ],
    [
      'listOrders',
      { ...subaccount, createdFrom: 1, 'submitted-on-or-after': 1 },
      400,
      'submitted-on-or-after: means the same as createdFrom; give one of them',
    ],
    ['getBalance', { account: ALICE }, 403, 'Unauthorized', STRANGER],
    ['getStats', subaccount, 403, 'Delegation not allowed for request', STRANGER],
    ['getTransfers', { ...subaccount, limit: 0 }, 400, 'Limit must be between 1 and 5000, got 0'],
    ['getTransfers', subaccount, 403, 'Delegation not allowed for request', STRANGER],
    ['getMargin', subaccount, 403, `Unauthorized to query account ${ALICE}`, STRANGER],
    ['getSummary', { symbol: 'DOGE' }, 404, 'Symbol not found'],
    ['getTrades', { symbol: 'DOGE' }, 404, 'Symbol not found'],
    [
      'getTrades',
      { symbol: SYMBOL, limit: '5001' },
      400,
      'Limit must be between 1 and 5000, got 5001',
    ],
    ['getCandles', { symbol: 'DOGE' }, 404, 'Market DOGE not found'],
    [
      'getCandles',
      { symbol: SYMBOL, interval: '7m' },
      400,
      'interval: must be one of 1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 8h, 12h, 1d',
    ],
    ['getBook', { symbol: SYMBOL, depth: 0 }, 400, 'Depth must be between 1 and 5000'],
    [
      'getBook',
      { symbol: SYMBOL, tickSize: '0.3' },
      400,
      'tickSize: must be one of 0.1, 0.2, 0.5, 1, 10, 100',
    ],
    ['updateMargin', {}, 400, 'account: is required'],
    ['getAuth', { account: ALICE }, 400, 'wallet login is not offered by this version'],
  ];
  test.each(rows)('%s %j is answered %i %s', (...row) => {
    const [endpoint, input, status, message, as] = row as unknown as (typeof rows)[number];
    expect(fixture.call(endpoint, input, as)).toEqual({ status, body: message });
  });

  test('a request without a token is rejected', () => {
    expect(fixture.call('getBalance', { account: ALICE }, null)).toEqual({
      status: 401,
      body: 'Please add the JWT token to the header',
    });
  });
});

describe('transfers (R-9.3, R-5.9)', () => {
  const transfer = (changes: Record<string, unknown>): Record<string, unknown> => ({
    accountFrom: ALICE,
    accountTo: BOB,
    amount: '25.5',
    expiresAt: 9_007_199_254_740_991,
    feedId: `0x${'0'.repeat(64)}`,
    nonce: 1,
    signatures: [],
    subaccountIndexFrom: 0,
    subaccountIndexTo: 3,
    target: ALICE,
    ...changes,
  });

  test('a transfer moves money and is recorded on both sides', () => {
    expect(fixture.call('transfer', transfer({}))).toEqual({ status: 200, body: null });
    expect(mustOk('getTransfers', { account: BOB, subaccountIndex: 3 }, BOB)).toMatchObject([
      { amount: '25.5', transferType: 'transferIn', counterpartyAccount: ALICE },
    ]);
    expect(mustOk('getBalance', { account: BOB, subaccountIndex: 3 }, BOB)).toMatchObject([
      { balance: '25.5' },
    ]);
  });

  test.each([
    [{ amount: '99999999' }, 400, 'Transfer amount exceeds available balance'],
    [{ amount: '9'.repeat(38) }, 400, 'Transfer amount exceeds available balance'],
    [{ amount: '-1' }, 400, 'amount must be positive'],
    [{ amount: '0.0000001' }, 400, 'amount: must have at most 6 decimals'],
    [{ target: BOB }, 403, 'Delegation not allowed for request'],
    [
      { accountFrom: BOB },
      403,
      'target must be accountFrom, or accountTo for a transfer from the vault',
    ],
    [
      { feedId: `0x${'5'.repeat(64)}` },
      400,
      'feedId is neither the cash feed nor the feed of a market',
    ],
  ])('%j is refused', (changes, status, message) => {
    expect(fixture.call('transfer', transfer(changes))).toEqual({ status, body: message });
  });
});

test('order ids can be computed before sending (R-2.10)', () => {
  const { orderId } = submit({ nonce: 77 });
  expect(orderId).toMatch(/^[0-9a-f]{64}$/);
  expect(mustOk('getOrder', { orderId: `0x${orderId.toUpperCase()}` })).toMatchObject({
    orderId,
    nonce: 77,
  });
});

test('an ended order is found by GET, not by DELETE (R-11.3)', () => {
  const { orderId } = submit();
  expect(mustOk('cancelOrder', { orderId })).toMatchObject({ status: 'cancelled', reason: 'user' });
  expect(mustOk('getOrder', { orderId })).toMatchObject({ status: 'cancelled' });
  expect(fixture.call('cancelOrder', { orderId })).toEqual({
    status: 404,
    body: 'Order not found',
  });
});

test('the filter agrees with a naive filter', () => {
  const size = fc.integer({ min: -3, max: 3 }).filter((n) => n !== 0);
  fc.assert(
    fc.property(
      fc.array(fc.record({ size, cancel: fc.boolean(), waitMs: fc.nat(3) }), { maxLength: 20 }),
      fc.constantFrom(undefined, 'open', 'active', 'filled', 'closed'),
      fc.integer({ min: 1, max: 8 }),
      fc.nat(20),
      (steps, status, limit, fromMs) => {
        fixture = new Fixture();
        for (const step of steps) {
          fixture.atUs += step.waitMs * 1000;
          const { orderId } = submit({
            price: step.size > 0 ? '59000' : '61000',
            quantity: String(step.size / 100),
          });
          if (step.cancel) fixture.call('cancelOrder', { orderId });
        }
        const query = { account: ALICE, subaccountIndex: 0 };
        interface Listed {
          asks: { orderId: string }[];
          bids: { orderId: string }[];
          total: number;
        }
        const all = mustOk('listOrders', { ...query, limit: 500 }) as Listed;
        const records = [...all.asks, ...all.bids] as unknown as {
          orderId: string;
          status: string;
          createdAt: number;
        }[];
        const createdFrom = START / 1000 + fromMs;
        const expected = records.filter(
          (record) =>
            record.createdAt >= createdFrom &&
            (status === undefined ||
              (status === 'closed'
                ? record.status === 'cancelled'
                : status !== 'filled' && record.status === 'new')),
        );
        const found = mustOk('listOrders', {
          ...query,
          createdFrom,
          limit,
          ...(status === undefined ? {} : { status }),
        }) as Listed;
        expect(found.total).toBe(expected.length);
        expect(found.asks.length + found.bids.length).toBe(Math.min(limit, expected.length));
        const ids = new Set(expected.map((record) => record.orderId));
        for (const record of [...found.asks, ...found.bids])
          expect(ids.has(record.orderId)).toBe(true);
      },
    ),
    { numRuns: 40 },
  );
});

test('the hand decoder accepts exactly what the schema accepts', () => {
  const schema = Compile(OrderRequest);
  const names = Object.keys(OrderRequest.properties);
  const junk = fc.oneof(
    fc.constantFrom(
      null,
      true,
      '',
      '0x',
      'Limit',
      'LIMIT',
      'iceberg',
      '1.5',
      '-0',
      '1.',
      '.5',
      '1e5',
      [],
      {},
      ['a'],
      [1],
    ),
    fc.constantFrom(0, -1, 1.5, 2 ** 31, 2 ** 31 - 1, 2 ** 53 - 1),
    fc.string({ maxLength: 70 }),
    fc.constantFrom(
      { triggerPrice: '5' },
      { triggerPrice: '5', price: null },
      { price: '5' },
      { ioc: true },
    ),
  );
  const mutation = fc.record({
    field: fc.constantFrom(...names, 'extra', 'constructor'),
    value: junk,
    remove: fc.boolean(),
  });
  let accepted = 0;
  fc.assert(
    fc.property(fc.array(mutation, { maxLength: 2 }), (mutations) => {
      const request = order();
      for (const { field, value, remove } of mutations) {
        if (remove) Reflect.deleteProperty(request, field);
        else request[field] = value;
      }
      let byHand = true;
      try {
        decodeOrder(request);
      } catch (error) {
        expect(error).toBeInstanceOf(RequestError);
        byHand = false;
      }
      if (byHand) accepted += 1;
      expect(byHand, JSON.stringify(request)).toBe(schema.Check(request));
    }),
    { numRuns: 3000 },
  );
  expect(accepted).toBeGreaterThan(300);
});
