/**
 * Requests that change an account (contract, "Account"; ):
 * transfers, margin settings, delegates and signers. Each is checked in the order of, is
 * signed, and uses an account nonce.
 */
import { MESSAGES } from '../contract/messages.ts';
import { signersRefusal } from '../engine/accounts/authority.ts';
import type { Command } from '../engine/commands.ts';
import { stepsExact } from '../num/decimal.ts';
import {
  COLLATERAL_DECIMALS,
  ppm,
  quanta,
  type AccountId,
  type Address,
  type MarketId,
} from '../num/units.ts';
import { mustAccount, mustAct, mustBeInTime, mustBeSigned, mustSubaccount } from './authorise.ts';
import type { Caller, Context } from './context.ts';
import { Fields } from './fields.ts';
import { mustSucceed } from './refusal-reply.ts';
import { RequestError } from './request-error.ts';
import { MAX_SIGNATURES } from './signed-requests.ts';

const MARGIN_DECIMALS = 6;

const TRANSFER_FIELDS = [
  'accountFrom',
  'accountTo',
  'amount',
  'expiresAt',
  'feedId',
  'nonce',
  'signatures',
  'subaccountIndexFrom',
  'subaccountIndexTo',
  'target',
];

/** POST /account/transfer: the target is the debited account or the vault's payee. */
export function transfer(context: Context, input: unknown, caller: Caller): unknown {
  const fields = new Fields(input, TRANSFER_FIELDS, false);
  const from = fields.address('accountFrom', context.keccak);
  const to = fields.address('accountTo', context.keccak);
  const amount = fields.decimal('amount');
  const expiresAtMs = fields.int64('expiresAt');
  const feedId = fields.feedId('feedId');
  const nonce = fields.int64('nonce');
  const signatures = fields.texts('signatures', MAX_SIGNATURES);
  const fromIndex = fields.subaccountIndex('subaccountIndexFrom');
  const toIndex = fields.subaccountIndex('subaccountIndexTo');
  const target = fields.address('target', context.keccak);
  const market = feedMarket(context, feedId);
  const timeUs = mustBeInTime(context, expiresAtMs);
  const rights = mustAct(context, 'transfer', caller, target, null);
  if (target !== (from === context.engine.config.clsAccount ? to : from)) {
    throw new RequestError(MESSAGES.targetNotSource);
  }
  mustBeSigned(
    context,
    'transfer',
    rights,
    { account: target, index: null },
    {
      kind: 'Transfer',
      body: fields.body,
      signatures,
    },
  );
  mustHaveNonce(context, target, null, nonce);
  const whole =
    stepsExact(amount, { digits: 1n, scale: COLLATERAL_DECIMALS }) ??
    fields.fail('amount', `must have at most ${String(COLLATERAL_DECIMALS)} decimals`);
  return dispatch(context, {
    kind: 'transfer',
    timeUs,
    from,
    fromIndex,
    to,
    toIndex,
    // An amount beyond int64 exceeds every balance, as its substitute does.
    amount: quanta(BigInt.asIntN(64, whole) === whole ? whole : 2n ** 62n),
    market,
    signer: target,
    nonce,
    expiresAtMs,
  });
}

/** The market of a feed, null for cash. */
export function feedMarket(context: Context, feedId: string): MarketId | null {
  const { engine } = context;
  if (feedId === engine.config.cashFeedId) return null;
  const feed = engine.markets().find((view) => view.spec.feedId === feedId);
  if (feed === undefined) throw new RequestError(MESSAGES.unknownFeed);
  return feed.id;
}

const MARGIN_FIELDS = [
  'account',
  'expiresAt',
  'isolated',
  'margin',
  'nonce',
  'signatures',
  'subaccountIndex',
  'symbol',
];

/** POST /account/margin. */
export function updateMargin(context: Context, input: unknown, caller: Caller): unknown {
  const fields = new Fields(input, MARGIN_FIELDS, false);
  const account = fields.address('account', context.keccak);
  const expiresAtMs = fields.int64('expiresAt');
  const isolated = fields.boolean('isolated');
  const margin = fields.decimal('margin');
  const nonce = fields.int64('nonce');
  const signatures = fields.texts('signatures', MAX_SIGNATURES);
  const index = fields.subaccountIndex('subaccountIndex');
  const symbol = fields.symbol('symbol');
  const market = context.engine.marketIdOf(symbol);
  if (market === undefined) throw new RequestError(MESSAGES.symbolNotFound);
  const timeUs = mustBeInTime(context, expiresAtMs);
  const rights = mustAct(context, 'updateMargin', caller, account, index);
  const subaccount = mustSubaccount(context, account, index);
  const delegate = mustBeSigned(
    context,
    'updateMargin',
    rights,
    { account, index },
    {
      kind: 'Margin',
      body: fields.body,
      signatures,
    },
  );
  mustHaveNonce(context, account, delegate, nonce);
  const marginPpm = Number(
    stepsExact(margin, { digits: 1n, scale: MARGIN_DECIMALS }) ??
      fields.fail('margin', `must have at most ${String(MARGIN_DECIMALS)} decimals`),
  );
  mustSucceed(context.engine.checkMarginRatio(market, marginPpm));
  return dispatch(context, {
    kind: 'updateMargin',
    timeUs,
    subaccount,
    market,
    isolated,
    marginPpm: ppm(marginPpm),
    nonce,
    expiresAtMs,
    delegate,
  });
}

const DELEGATE_FIELDS = [
  'account',
  'delegate',
  'delegated',
  'expiresAt',
  'nonce',
  'signatures',
  'subaccountIndex',
];

/** POST /account/delegates: grants or revokes one delegate of one subaccount. */
export function updateDelegates(context: Context, input: unknown, caller: Caller): unknown {
  const fields = new Fields(input, DELEGATE_FIELDS, false);
  const account = fields.address('account', context.keccak);
  const delegate = fields.address('delegate', context.keccak);
  const delegated = fields.boolean('delegated');
  const expiresAtMs = fields.int64('expiresAt');
  const nonce = fields.int64('nonce');
  const signatures = fields.texts('signatures', MAX_SIGNATURES);
  const subaccountIndex = fields.subaccountIndex('subaccountIndex');
  const timeUs = mustBeInTime(context, expiresAtMs);
  const rights = mustAct(context, 'updateDelegates', caller, account, null);
  mustSubaccount(context, account, subaccountIndex);
  mustBeSigned(
    context,
    'updateDelegates',
    rights,
    { account, index: null },
    {
      kind: 'Delegate',
      body: fields.body,
      signatures,
    },
  );
  mustHaveNonce(context, account, null, nonce);
  return dispatch(context, {
    kind: 'updateDelegate',
    timeUs,
    account,
    subaccountIndex,
    delegate,
    delegated,
    nonce,
    expiresAtMs,
  });
}

const SIGNERS_FIELDS = ['account', 'expiresAt', 'nonce', 'quorum', 'signatures', 'signers'];

/** POST /account/signers: the current signer set signs its successor. */
export function updateSigners(context: Context, input: unknown, caller: Caller): unknown {
  const fields = new Fields(input, SIGNERS_FIELDS, false);
  const account = fields.address('account', context.keccak);
  const expiresAtMs = fields.int64('expiresAt');
  const nonce = fields.int64('nonce');
  const quorum = fields.int64('quorum');
  const signatures = fields.texts('signatures', MAX_SIGNATURES);
  const signers = fields.addresses('signers', MAX_SIGNATURES, context.keccak);
  const timeUs = mustBeInTime(context, expiresAtMs);
  const rights = mustAct(context, 'updateSigners', caller, account, null);
  mustBeSigned(
    context,
    'updateSigners',
    rights,
    { account, index: null },
    {
      kind: 'Signers',
      body: fields.body,
      signatures,
    },
  );
  mustHaveNonce(context, account, null, nonce);
  mustSucceed(signersRefusal(signers, Number(quorum)));
  return dispatch(context, {
    kind: 'updateSigners',
    timeUs,
    account,
    signers,
    quorum: Number(quorum),
    nonce,
    expiresAtMs,
  });
}

function mustHaveNonce(
  context: Context,
  account: Address,
  delegate: AccountId | null,
  nonce: bigint,
): void {
  const id = mustAccount(context, account);
  mustSucceed(context.engine.checkAccountNonce(id, delegate, nonce));
}

/** Applies the command; these requests have an empty reply. */
function dispatch(context: Context, command: Command): null {
  mustSucceed(context.submit(command));
  return null;
}
