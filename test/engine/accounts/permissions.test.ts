/**
 * Permissions (§9): every endpoint of the table, called by every kind of caller. A refusal has the
 * contract's text and changes nothing: the state hash and the number of commands stay.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { ENDPOINT_IDS, ENDPOINTS, type EndpointId } from '../../../src/contract/endpoints.ts';
import { Gateway } from '../../../src/gateway/gateway.ts';
import type { Address } from '../../../src/num/units.ts';
import { keccak } from '../../../src/wallet/crypto-ports.ts';
import {
  callerOf,
  INVALID,
  KINDS,
  margin,
  MARGIN,
  MISSING,
  ok,
  own,
  query,
  QUERY,
  ROWS,
  setUp,
} from './permission-table.ts';
import { RiskWorld } from '../risk-world.ts';

describe('each endpoint responds to each kind of caller as in the table', () => {
  for (const [endpoint, input, answers] of ROWS) {
    test.each(KINDS.map((kind, i) => [kind, answers[i]!] as const))(
      `${endpoint} by %s: %s`,
      (kind, expected) => {
        const world = setUp();
        const body = input(world);
        const hash = world.engine.stateHash();
        const { seq } = world.engine;
        const reply = world.gateway.handle(endpoint, body, callerOf(world, kind));
        const answer = reply.status === 200 ? ok : `${String(reply.status)} ${String(reply.body)}`;
        const words = { [QUERY]: query(world), [MARGIN]: margin(world) }[expected] ?? expected;
        expect(answer).toBe(words);
        if (answer !== ok) {
          expect(world.engine.stateHash()).toBe(hash);
          expect(world.engine.seq).toBe(seq);
        }
      },
    );
  }

  test('the table covers every endpoint', () => {
    const named = new Set(ROWS.map(([endpoint]) => endpoint));
    expect([...named].sort()).toEqual([...ENDPOINT_IDS].sort());
  });

  test('exactly the public endpoints need no caller', () => {
    for (const [endpoint, , [anonymous]] of ROWS) {
      expect(anonymous === MISSING, endpoint).toBe(ENDPOINTS[endpoint].access !== 'public');
    }
  });
});

describe('a delegate reads and changes only the delegated subaccount (R-9.6)', () => {
  let world: RiskWorld;
  beforeAll(() => {
    world = setUp();
  });

  test('balances and delegates are filtered by it', () => {
    const account = world.addressOf('ann');
    const as = { account, signer: world.addressOf('eli') };
    expect(world.gateway.handle('getBalance', { account }, as).body).toMatchObject([
      { subaccountIndex: 2, balance: '500' },
    ]);
    expect(world.gateway.handle('getDelegates', { account }, as).body).toEqual([
      { account, delegate: world.addressOf('eli'), subaccountIndex: 2 },
    ]);
  });

  test('its orders have its identity, with separate nonce windows and a lower fee limit', () => {
    const body = { ...world.orderBody('ann', { price: '80' }), nonce: 5_000_000 };
    const del = { account: world.addressOf('ann'), signer: world.addressOf('del') };
    const owner = { account: world.addressOf('ann'), signer: world.addressOf('key1') };
    expect(world.gateway.handle('submitOrder', body, del).status).toBe(200);
    // A nonce used in one window of the scope is used for all.
    expect(world.gateway.handle('submitOrder', body, owner)).toEqual({
      status: 409,
      body: 'Nonce already used',
    });
    const tooHigh = { originator: world.addressOf('bob'), originatorFee: 101 };
    const costly = world.orderBody('ann', { price: '80', ...tooHigh });
    expect(world.gateway.handle('submitOrder', costly, del)).toEqual({
      status: 400,
      body: 'originatorFee: must be at most 100 ppm',
    });
    expect(world.gateway.handle('submitOrder', costly, owner).status).toBe(200);
  });

  test('revocation takes effect at once, and its nonce floor survives a new grant', () => {
    const account = world.addressOf('ann');
    const owner = { account, signer: world.addressOf('key1') };
    const del = { account, signer: world.addressOf('del') };
    const update = (delegated: boolean) =>
      world.gateway.handle('updateDelegates', world.delegateBody('ann', 'del', delegated), owner);
    expect(update(false).status).toBe(200);
    expect(world.gateway.handle('getStats', own(world), del)).toEqual({
      status: 401,
      body: 'Invalid token',
    });
    const itself = { account: world.addressOf('del'), signer: world.addressOf('del') };
    expect(world.gateway.handle('getStats', own(world), itself).status).toBe(403);
    expect(update(true).status).toBe(200);
    const old = { ...world.orderBody('ann', { price: '80' }), nonce: 4_000_000 };
    expect(world.gateway.handle('submitOrder', old, del)).toMatchObject({ status: 409 });
    const fresh = { ...old, nonce: 5_000_001 };
    expect(world.gateway.handle('submitOrder', fresh, del).status).toBe(200);
  });
});

/** Changes of a valid request, and their responses. */
const ACCOUNT_REQUESTS: readonly (readonly [string, (w: RiskWorld) => string, string])[] = [
  [
    'delegates: the account itself',
    (w) => w.delegate('bob', 'bob'),
    '400 delegate: must be neither the account itself, nor the zero address, nor an account of the exchange',
  ],
  [
    'delegates: the vault',
    (w) => w.delegate('bob', 'vault'),
    '400 delegate: must be neither the account itself, nor the zero address, nor an account of the exchange',
  ],
  [
    'delegates: a subaccount never credited',
    (w) => w.delegate('bob', 'cat', true, 9),
    '400 Invalid subaccount index',
  ],
  [
    'delegates: a seventeenth',
    (w) => {
      for (let i = 0; i < 16; i++) w.delegate('bob', `d${String(i)}`);
      return w.delegate('bob', 'd16');
    },
    '400 delegate: the subaccount has 16 delegates already',
  ],
  [
    'delegates: expired',
    (w) => w.answer('updateDelegates', w.delegateBody('bob', 'cat', true, { expiresAt: 1 }), 'bob'),
    '400 Request expired: expiresAt is in the past',
  ],
  [
    'delegates: a nonce twice',
    (w) => {
      const body = w.delegateBody('bob', 'cat', true);
      w.answer('updateDelegates', body, 'bob');
      return w.answer('updateDelegates', body, 'bob');
    },
    '409 Nonce already used',
  ],
  [
    'signers: none',
    (w) => w.answer('updateSigners', w.signersBody('bob', [], 1), 'bob'),
    '400 signers: must have at least one entry',
  ],
  [
    'signers: 17',
    (w) =>
      w.answer(
        'updateSigners',
        w.signersBody(
          'bob',
          Array.from({ length: 17 }, (_, i) => `s${String(i)}`),
          1,
        ),
        'bob',
      ),
    '400 signers: must have at most 16 entries',
  ],
  [
    'signers: a duplicate',
    (w) => w.answer('updateSigners', w.signersBody('bob', ['a', 'b', 'a'], 1), 'bob'),
    '400 signers: must be distinct addresses and not the zero address',
  ],
  [
    'signers: a quorum of 0',
    (w) => w.answer('updateSigners', w.signersBody('bob', ['a'], 0), 'bob'),
    '400 quorum: must be from 1 to the number of signers',
  ],
  [
    'signers: a quorum above their number',
    (w) => w.answer('updateSigners', w.signersBody('bob', ['a', 'b'], 3), 'bob'),
    '400 quorum: must be from 1 to the number of signers',
  ],
  [
    'signers: no address',
    (w) => w.answer('updateSigners', w.signersBody('bob', [], 1, { signers: ['0x1'] }), 'bob'),
    '400 signers[0]: must be an address: 0x and 40 hex digits',
  ],
  [
    'signers: an account without money',
    (w) => w.answer('updateSigners', w.signersBody('zoe', ['a'], 1), 'zoe'),
    '404 Account not found',
  ],
  [
    'margin: an account without money',
    (w) => w.answer('updateMargin', w.marginBody('zoe', false, '0.5'), 'zoe'),
    '404 Account not found',
  ],
  [
    'margin: another subaccount',
    (w) =>
      w.answer('updateMargin', w.marginBody('bob', false, '0.5', { subaccountIndex: 3 }), 'bob'),
    '400 Invalid subaccount index',
  ],
  [
    'margin: an unknown market',
    (w) => w.answer('updateMargin', w.marginBody('bob', false, '0.5', { symbol: 'X' }), 'bob'),
    '404 Symbol not found',
  ],
  [
    'margin: an unknown field',
    (w) => w.answer('updateMargin', w.marginBody('bob', false, '0.5', { leverage: 2 }), 'bob'),
    '400 leverage: unknown field',
  ],
  [
    'margin: no boolean',
    (w) => w.answer('updateMargin', w.marginBody('bob', false, '0.5', { isolated: 'yes' }), 'bob'),
    '400 isolated: must be true or false',
  ],
];

describe('account requests are refused with a text, and change nothing', () => {
  test.each(ACCOUNT_REQUESTS)('%s', (_name, attempt, words) => {
    const world = new RiskWorld();
    world.fund({ bob: '1000' });
    world.price('100');
    let hash = '';
    let seq = 0;
    const handle = world.gateway.handle.bind(world.gateway);
    world.gateway.handle = (...call) => {
      hash = world.engine.stateHash();
      seq = world.engine.seq;
      return handle(...call);
    };
    expect(attempt(world)).toBe(words);
    expect(world.engine.stateHash()).toBe(hash);
    // A refusal by the engine is a command without effect except its number.
    expect(world.engine.seq - seq).toBeLessThanOrEqual(1);
  });
});

test('granting twice and revoking an absent grant succeed', () => {
  const world = new RiskWorld();
  world.fund({ bob: '1000' });
  expect(world.delegate('bob', 'del')).toBe('ok');
  expect(world.delegate('bob', 'del')).toBe('ok');
  expect(world.delegate('bob', 'eve', false)).toBe('ok');
  const account = world.addressOf('bob');
  expect(world.ask('getDelegates', { account }, 'bob')).toHaveLength(1);
});

test('orders of a revoked delegate stay, and those that wait fire (R-9.6)', () => {
  const world = new RiskWorld();
  world.fund({ bob: '1000' });
  world.price('100');
  world.delegate('bob', 'del');
  const stop = { orderType: 'stopLoss', triggerPrice: '105', clientId: 'stop' };
  for (const changes of [
    { price: '90', clientId: 'rests' },
    { price: '106', ...stop },
  ]) {
    const body = world.orderBody('bob', { quantity: '1', ...changes });
    expect(world.answer('submitOrder', body, 'del')).toBe('ok');
  }
  expect(world.delegate('bob', 'del', false)).toBe('ok');
  const body = world.orderBody('bob', { quantity: '1', price: '90' });
  expect(world.answer('submitOrder', body, 'del')).not.toBe('ok');
  world.price('105');
  const account = world.addressOf('bob');
  const status = (clientId: string): unknown =>
    (world.ask('getOrder', { account, clientId }, 'bob') as { status: string }).status;
  expect(['rests', 'stop'].map(status)).toEqual(['new', 'new']);
});

test('new signers replace the old ones, which sign the change', () => {
  const world = new RiskWorld();
  world.fund({ bob: '1000' });
  const account = world.addressOf('bob');
  expect(
    world.answer('updateSigners', world.signersBody('bob', ['k1', 'k2', 'k3'], 2), 'bob'),
  ).toBe('ok');
  expect(world.answer('getSigners', { account }, 'bob')).toBe(INVALID);
  const k1 = { account, signer: world.addressOf('k1') };
  expect(world.gateway.handle('getSigners', { account }, k1).body).toEqual({
    account,
    signers: ['k1', 'k2', 'k3'].map((name) => world.addressOf(name)),
    quorum: 2,
  });
});

describe('verified signatures (R-9.1, R-9.3)', () => {
  /** A verifier for which a signature is its signer's address. */
  function verified(): {
    world: RiskWorld;
    call: (endpoint: EndpointId, body: unknown, by: string) => string;
  } {
    const world = new RiskWorld();
    world.fund({ ann: '1000', bob: '1000' });
    world.price('100');
    world.delegate('ann', 'del');
    world.ask('updateSigners', world.signersBody('ann', ['k1', 'k2', 'k3'], 2), 'ann');
    const gateway = new Gateway({
      engine: world.engine,
      submit: (command) => world.submit(command),
      nowUs: () => world.engine.nowUs,
      keccak,
      signatures: {
        signersOf: ({ signatures }) => [...new Set(signatures)] as Address[],
        digestOf: () => '',
      },
    });
    const call = (endpoint: EndpointId, body: unknown, by: string): string => {
      const caller = { account: world.addressOf('ann'), signer: world.addressOf(by) };
      const reply = gateway.handle(endpoint, body, caller);
      return reply.status === 200 ? 'ok' : String(reply.body);
    };
    return { world, call };
  }
  const by = (world: RiskWorld, ...names: string[]): { signatures: string[] } => ({
    signatures: names.map((name) => world.addressOf(name)),
  });

  test.each([
    ['the quorum', ['k1', 'k3'], 'ok'],
    ['one of two', ['k1'], 'Invalid signature'],
    ['the same twice', ['k1', 'k1'], 'Invalid signature'],
    ['a replaced key with one signer', ['ann', 'k2'], 'Invalid signature'],
    ['no signer', [], 'Invalid signature'],
    ['a delegate', ['del'], 'Invalid signature'],
  ] as const)('a transfer signed by %s', (_name, names, answer) => {
    const { world, call } = verified();
    const body = world.transferBody('ann', 'bob', '1', by(world, ...names));
    expect(call('transfer', body, 'k1')).toBe(answer);
  });

  test.each([
    ['the quorum', ['k2', 'k3'], null],
    ['a delegate', ['del'], 'del'],
    ['one signer', ['k2'], 'refused'],
    ['a stranger', ['bob'], 'refused'],
  ] as const)('an order signed by %s has that identity', (_name, names, delegate) => {
    const { world, call } = verified();
    const body = world.orderBody('ann', { price: '90', ...by(world, ...names) });
    const answer = call('submitOrder', body, 'k1');
    expect(answer).toBe(delegate === 'refused' ? 'Invalid signature' : 'ok');
    if (delegate === 'refused') return;
    const order = world.engine.order(world.engine.lastOrderId);
    const expected = delegate === null ? null : world.engine.accountIdOf(world.addressOf(delegate));
    expect(order?.delegate).toBe(expected);
  });

  test('a batch is signed by one identity', () => {
    const { world, call } = verified();
    const orders = [
      world.orderBody('ann', { price: '90', ...by(world, 'k1', 'k2') }),
      world.orderBody('ann', { price: '91', ...by(world, 'del') }),
    ];
    expect(call('submitOrders', { orders }, 'k1')).toBe(
      'orders: all must be signed by the same signer',
    );
  });
});
