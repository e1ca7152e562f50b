/**
 * Requests that change an account (contract, "Account"; ):
 * transfers, margin settings, delegates and signers. Each is checked in the order of, is
 * signed, and uses an account nonce.
 */
import { invalidField, MESSAGES } from '../contract/messages.ts';
import type { Command } from '../engine/commands.ts';
import { formatDecimal, stepsExact, type Decimal } from '../num/decimal.ts';
import {
  COLLATERAL_DECIMALS,
  ppm,
  quanta,
  type AccountId,
  type Address,
  type MarketId,
  type TimeUs,
} from '../num/units.ts';
import { mustAct, mustBeSigned, mustSubaccount } from './authorise.ts';
import type { Caller, Context } from './context.ts';
import { Fields } from './fields.ts';
import { REFUSAL_REPLIES } from './refusal-reply.ts';
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
  mustBeSigned(context, 'transfer', rights, target, null, {
    kind: 'Transfer',
    body: input as Record<string, unknown>,
    signatures,
  });
  mustHaveNonce(context, target, null, nonce);
  const whole = stepsExact(amount, { digits: 1n, scale: COLLATERAL_DECIMALS });
  if (whole === null) {
    throw new RequestError(
      invalidField('amount', `must have at most ${String(COLLATERAL_DECIMALS)} decimals`),
    );
  }
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
  if (context.engine.accountIdOf(account) === undefined) {
    throw new RequestError(MESSAGES.accountNotFound);
  }
  const subaccount = mustSubaccount(context, account, index);
  const delegate = mustBeSigned(context, 'updateMargin', rights, account, index, {
    kind: 'Margin',
    body: input as Record<string, unknown>,
    signatures,
  });
  mustHaveNonce(context, account, delegate, nonce);
  return dispatch(context, {
    kind: 'updateMargin',
    timeUs,
    subaccount,
    market,
    isolated,
    marginPpm: ppm(marginRatio(context, market, margin)),
    nonce,
    expiresAtMs,
    delegate,
  });
}

/** A ratio in (0, 1], at least the market's own initial ratio. */
function marginRatio(context: Context, market: MarketId, margin: Decimal): number {
  const ratio = stepsExact(margin, { digits: 1n, scale: MARGIN_DECIMALS });
  if (ratio === null) {
    throw new RequestError(
      invalidField('margin', `must have at most ${String(MARGIN_DECIMALS)} decimals`),
    );
  }
  if (ratio <= 0n || ratio > 1_000_000n) {
    throw new RequestError(REFUSAL_REPLIES.margin_out_of_range);
  }
  const min = BigInt(context.engine.market(market).spec.tiers[0]?.initialMarginPpm ?? 0);
  if (ratio < min) {
    const minimum = formatDecimal(min, MARGIN_DECIMALS);
    throw new RequestError(invalidField('margin', `must be at least ${minimum}`));
  }
  return Number(ratio);
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
  mustBeSigned(context, 'updateDelegates', rights, account, null, {
    kind: 'Delegate',
    body: input as Record<string, unknown>,
    signatures,
  });
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
  mustBeSigned(context, 'updateSigners', rights, account, null, {
    kind: 'Signers',
    body: input as Record<string, unknown>,
    signatures,
  });
  mustHaveNonce(context, account, null, nonce);
  if (quorum < 1n || quorum > BigInt(signers.length)) {
    throw new RequestError(REFUSAL_REPLIES.quorum_out_of_range);
  }
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

/** Rejects an expired request. */
function mustBeInTime(context: Context, expiresAtMs: bigint): TimeUs {
  const nowUs = context.nowUs();
  if (expiresAtMs * 1000n < BigInt(nowUs)) throw new RequestError(MESSAGES.requestExpired);
  return nowUs;
}

function mustHaveNonce(
  context: Context,
  account: Address,
  delegate: AccountId | null,
  nonce: bigint,
): void {
  const id = context.engine.accountIdOf(account);
  if (id === undefined) throw new RequestError(MESSAGES.accountNotFound);
  const refusal = context.engine.checkAccountNonce(id, delegate, nonce);
  if (refusal !== null && refusal !== 'ok') throw new RequestError(REFUSAL_REPLIES[refusal]);
}

/** Applies the command; these requests have an empty reply. */
function dispatch(context: Context, command: Command): null {
  const outcome = context.submit(command);
  if (outcome !== 'ok') throw new RequestError(REFUSAL_REPLIES[outcome]);
  return null;
}
