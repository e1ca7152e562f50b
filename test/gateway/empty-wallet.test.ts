/**
 * A wallet that never deposited (D-1): reads and cancels answer as for an empty account, requests
 * that need an account are refused with `Account not found`. One row per endpoint.
 */
import { Compile } from 'typebox/compile';
import { beforeEach, expect, test } from 'vitest';
import { ENDPOINTS, type EndpointId } from '../../src/contract/endpoints.ts';
import { ALICE, BOB, order, STRANGER, SYMBOL, Fixture } from './fixture.ts';

const NEVER = 9_007_199_254_740_991;
const CASH = `0x${'0'.repeat(64)}`;
const NO_ACCOUNT = '404 Account not found';
const NO_ORDER = '404 Order not found';

type Row = readonly [EndpointId, Readonly<Record<string, unknown>>, unknown];

/** Every endpoint that needs a token: the request of a wallet, and what it is answered. */
const rows = (account: string): readonly Row[] => {
  const of = { account, subaccountIndex: 0 };
  const signed = { expiresAt: NEVER, nonce: 1, signatures: [] };
  const sends = {
    amount: '1',
    feedId: CASH,
    target: account,
    subaccountIndexFrom: 0,
    subaccountIndexTo: 0,
    ...signed,
  };
  return [
    ['submitOrder', order({ account }), NO_ACCOUNT],
    ['submitOrders', { orders: [order({ account })] }, NO_ACCOUNT],
    ['getOrder', { orderId: '0'.repeat(64) }, NO_ORDER],
    ['getOrder', { account, clientId: 'none' }, NO_ORDER],
    ['cancelOrder', { orderId: '0'.repeat(64) }, NO_ORDER],
    ['cancelOrder', { account, clientId: 'none' }, NO_ORDER],
    [
      'cancelOrders',
      { account, clientIds: ['none'] },
      { cancelled: [], failed: [{ clientId: 'none', orderId: '', reason: 'Order not found' }] },
    ],
    ['cancelAllOrders', of, { message: 'Cancelled 0 orders' }],
    ['listOrders', of, { asks: [], bids: [], total: 0 }],
    ['getBalance', { account }, []],
    ['getBalance', of, []],
    ['getStats', of, expect.objectContaining({ ...of, accountValue: '0', upnl: '0' })],
    ['getDelegates', { account }, []],
    ['getDelegates', of, []],
    ['updateDelegates', { ...of, delegate: BOB, delegated: true, ...signed }, NO_ACCOUNT],
    ['transfer', { accountFrom: account, accountTo: BOB, ...sends }, NO_ACCOUNT],
    ['getTransferMax', of, { amount: '0', shortfallPart: '0' }],
    ['getTransfers', of, []],
    ['updateSigners', { account, quorum: 1, signers: [BOB], ...signed }, NO_ACCOUNT],
    ['getSigners', { account }, { account, signers: [account], quorum: 1 }],
    [
      'updateMargin',
      { ...of, symbol: SYMBOL, isolated: false, margin: '0.5', ...signed },
      NO_ACCOUNT,
    ],
    ['getMargin', of, []],
    ['getPositions', of, []],
    ['getClsHistory', {}, []],
  ];
};

let fixture: Fixture;
beforeEach(() => {
  fixture = new Fixture();
});

function answer(endpoint: EndpointId, request: unknown, as: string): unknown {
  const { status, body } = fixture.call(endpoint, request, as);
  if (status !== 200) return `${String(status)} ${String(body)}`;
  expect(Compile(ENDPOINTS[endpoint].response).Check(body), endpoint).toBe(true);
  return body;
}

test('every endpoint that needs a token has a row', () => {
  const tested = new Set(rows(STRANGER).map(([endpoint]) => endpoint));
  // The host answers claims from the token alone.
  const needed = (Object.keys(ENDPOINTS) as EndpointId[]).filter(
    (id) => ENDPOINTS[id].access !== 'public' && id !== 'getClaims',
  );
  expect([...tested].sort()).toEqual(needed.sort());
});

test.each(rows(STRANGER))(
  '%s of a wallet that never deposited, %j',
  (endpoint, request, expected) => {
    const before = fixture.engine.stateHash();
    expect(answer(endpoint, request, STRANGER)).toEqual(expected);
    expect(fixture.engine.stateHash()).toBe(before);
  },
);

test('a delegate that never deposited is such a wallet for itself, and acts for its owner', () => {
  const grant = { account: ALICE, subaccountIndex: 0, delegate: STRANGER, delegated: true };
  const signed = { expiresAt: NEVER, nonce: 7, signatures: [] };
  expect(answer('updateDelegates', { ...grant, ...signed }, ALICE)).toBeNull();
  for (const [endpoint, request, expected] of rows(STRANGER)) {
    expect(answer(endpoint, request, STRANGER), endpoint).toEqual(expected);
  }
  expect(answer('submitOrder', order(), STRANGER)).toHaveLength(1);
});

test('an unknown subaccount of an account with others is refused, and lists filter by it', () => {
  const of = { account: ALICE, subaccountIndex: 7 };
  for (const endpoint of [
    ...(['getStats', 'getTransferMax', 'getTransfers', 'getMargin', 'getPositions'] as const),
    ...(['listOrders', 'cancelAllOrders'] as const),
  ]) {
    expect(answer(endpoint, of, ALICE), endpoint).toBe('400 Invalid subaccount index');
  }
  expect(answer('getBalance', of, ALICE)).toEqual([]);
  expect(answer('getDelegates', of, ALICE)).toEqual([]);
});

test('an empty subaccountIndex lists all subaccounts', () => {
  fixture.credit(ALICE, 3, 5_000_000n);
  for (const subaccountIndex of [undefined, '']) {
    const query = subaccountIndex === undefined ? {} : { subaccountIndex };
    expect(answer('getBalance', { account: ALICE, ...query }, ALICE)).toMatchObject([
      { subaccountIndex: 0 },
      { subaccountIndex: 3, balance: '5' },
    ]);
    expect(answer('getDelegates', { account: ALICE, ...query }, ALICE)).toEqual([]);
  }
});
