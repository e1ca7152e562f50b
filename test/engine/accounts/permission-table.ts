/**
 * Every endpoint × every kind of caller, with the expected responses: in process, and over HTTP.
 */
import type { EndpointId } from '../../../src/contract/endpoints.ts';
import type { Caller } from '../../../src/gateway/context.ts';
import { RiskWorld } from '../risk-world.ts';

/**
 * Ann has subaccounts 0, 1 and 2 and the signers key1 and key2, quorum 1. Del is a delegate of
 * subaccount 0, eli of subaccount 2. Bob is unrelated.
 */
export const CALLERS = {
  anonymous: null,
  owner: { account: 'ann', signer: 'key1' },
  'a replaced signer': { account: 'ann', signer: 'ann' },
  'a delegate as the account': { account: 'ann', signer: 'del' },
  'a delegate as itself': { account: 'del', signer: 'del' },
  'a delegate of another subaccount': { account: 'ann', signer: 'eli' },
  'a stranger': { account: 'bob', signer: 'bob' },
} as const;
export type Kind = keyof typeof CALLERS;
export const KINDS = Object.keys(CALLERS) as Kind[];

export const MISSING = '401 Please add the JWT token to the header';
export const INVALID = '401 Invalid token';
export const ok = 'ok';

/** Responses by caller, in the order of CALLERS. */
type Row = readonly [
  endpoint: EndpointId,
  input: (world: RiskWorld) => unknown,
  answers: readonly [string, string, string, string, string, string, string],
];

export const own = (world: RiskWorld): Record<string, unknown> => ({
  account: world.addressOf('ann'),
  subaccountIndex: 0,
});
const REFUSED_ORDER = '403 Not delegated for account and subaccount';
const REFUSED = '403 Delegation not allowed for request';
export const query = (world: RiskWorld): string =>
  `403 Unauthorized to query account ${world.addressOf('ann')}`;
export const margin = (world: RiskWorld): string =>
  `403 Unauthorized to change margin for account ${world.addressOf('ann')}`;
export const QUERY = 'QUERY';
export const MARGIN = 'MARGIN';
const SIGNERS = '403 Not authorized to update signers for this account';
const NOT_FOUND = '404 Order not found';
const LOGIN = '400 wallet login is not offered by this version';

const delegable = (words: string, elsewhere: string = words): Row[2] => [
  MISSING,
  ok,
  INVALID,
  ok,
  ok,
  elsewhere,
  words,
];
const ownerOnly = (words: string): Row[2] => [MISSING, ok, INVALID, words, words, words, words];
const everyone = (answer: string): Row[2] => [
  answer,
  answer,
  answer,
  answer,
  answer,
  answer,
  answer,
];

let orderId = '';

export const ROWS: readonly Row[] = [
  ['getAuth', (w) => ({ account: w.addressOf('ann') }), everyone(LOGIN)],
  ['postAuth', () => ({}), everyone(LOGIN)],
  ['getClaims', () => ({}), [MISSING, LOGIN, INVALID, LOGIN, LOGIN, LOGIN, LOGIN]],
  ['submitOrder', (w) => w.orderBody('ann', { price: '90' }), delegable(REFUSED_ORDER)],
  [
    'submitOrders',
    (w) => ({ orders: [w.orderBody('ann', { price: '90' }), w.orderBody('ann', { price: '91' })] }),
    delegable(REFUSED_ORDER),
  ],
  [
    'getOrder',
    (w) => ({ orderId, account: w.addressOf('ann') }),
    delegable(REFUSED_ORDER, NOT_FOUND),
  ],
  ['getOrder', () => ({ orderId }), delegable(NOT_FOUND)],
  [
    'getOrder',
    (w) => ({ clientId: 'mine', account: w.addressOf('ann') }),
    delegable(REFUSED_ORDER, NOT_FOUND),
  ],
  [
    'cancelOrder',
    (w) => ({ orderId, account: w.addressOf('ann') }),
    delegable(REFUSED_ORDER, NOT_FOUND),
  ],
  [
    'cancelOrders',
    (w) => ({ account: w.addressOf('ann'), clientIds: ['mine'] }),
    // A delegate of another subaccount gets the response for an unknown order.
    delegable(REFUSED_ORDER, ok),
  ],
  ['cancelAllOrders', own, delegable(REFUSED_ORDER)],
  ['listOrders', own, delegable(REFUSED_ORDER)],
  ['getBalance', own, delegable('403 Unauthorized')],
  ['getBalance', (w) => ({ account: w.addressOf('ann') }), delegable('403 Unauthorized', ok)],
  ['getStats', own, delegable(REFUSED)],
  ['getDelegates', own, delegable(QUERY)],
  ['getDelegates', (w) => ({ account: w.addressOf('ann') }), delegable(QUERY, ok)],
  ['updateDelegates', (w) => w.delegateBody('ann', 'fay', true), ownerOnly(REFUSED)],
  ['transfer', (w) => w.transferBody('ann', 'bob', '1'), ownerOnly(REFUSED)],
  ['getTransferMax', own, delegable(REFUSED)],
  ['getTransfers', own, delegable(REFUSED)],
  ['updateSigners', (w) => w.signersBody('ann', ['key1'], 1), ownerOnly(SIGNERS)],
  ['getSigners', (w) => ({ account: w.addressOf('ann') }), delegable(QUERY, ok)],
  ['updateMargin', (w) => w.marginBody('ann', false, '0.2'), delegable(MARGIN)],
  ['getMargin', own, delegable(QUERY)],
  ['getPositions', own, delegable(REFUSED)],
  ['getClsHistory', () => ({}), [MISSING, ok, INVALID, ok, ok, ok, ok]],
  ['getSummary', () => ({ symbol: 'M' }), everyone(ok)],
  ['getCandles', () => ({ symbol: 'M' }), everyone(ok)],
  ['getTrades', () => ({ symbol: 'M' }), everyone(ok)],
  ['getConfig', () => ({}), everyone(ok)],
  ['getMarkets', () => ({}), everyone(ok)],
  ['getPrice', () => ({ symbol: 'M' }), everyone(ok)],
  ['getPrices', () => ({}), everyone(ok)],
  ['getBook', () => ({ symbol: 'M' }), everyone(ok)],
  ['getTime', () => ({}), everyone(ok)],
];

export function setUp(): RiskWorld {
  const world = new RiskWorld();
  world.fund({ ann: '1000', bob: '1000' });
  world.deposit('ann', '500', 1);
  world.deposit('ann', '500', 2);
  world.price('100');
  world.delegate('ann', 'del');
  world.delegate('ann', 'eli', true, 2);
  const placed = world.order('ann', '1', '90', { clientId: 'mine' });
  if (typeof placed === 'string') throw new Error(placed);
  orderId = placed.orderId;
  world.ask('updateSigners', world.signersBody('ann', ['key1', 'key2'], 1), 'ann');
  return world;
}

export function callerOf(world: RiskWorld, kind: Kind): Caller | null {
  const caller = CALLERS[kind];
  if (caller === null) return null;
  return { account: world.addressOf(caller.account), signer: world.addressOf(caller.signer) };
}
