/**
 * Account reads and transfers (contract, "Account"; ).
 */
import { invalidField, limitRange, MESSAGES, unauthorizedQuery } from '../contract/messages.ts';
import { formatDecimal, stepsExact } from '../num/decimal.ts';
import {
  COLLATERAL_DECIMALS,
  quanta,
  timeUs,
  type MarketId,
  type SubaccountId,
  type TimeUs,
} from '../num/units.ts';
import { mustBeSigned, mustCaller, mustOwn, mustSubaccount } from './authorise.ts';
import type { Caller, Context } from './context.ts';
import { encodePosition, encodeStats, encodeTransfer, millis, money } from './encode.ts';
import { Fields } from './fields.ts';
import { REFUSAL_REPLIES } from './refusal-reply.ts';
import { RequestError } from './request-error.ts';

const MAX_TRANSFERS = 5000;
const DEFAULT_TRANSFERS = 50;
const MAX_SHARES = 10_000;

export function getBalance(context: Context, input: unknown, caller: Caller | null): unknown {
  const fields = new Fields(input, ['account', 'subaccountIndex'], true);
  const account = fields.address('account');
  const index = fields.has('subaccountIndex') ? fields.subaccountIndex('subaccountIndex') : null;
  mustOwn(caller, account, MESSAGES.unauthorized);
  return context.engine
    .subaccountsOf(account)
    .filter((subaccount) => index === null || subaccount.index === index)
    .map((subaccount) => ({
      account,
      balance: money(subaccount.balanceQuanta),
      subaccountIndex: subaccount.index,
      updatedAt: millis(subaccount.updatedAtUs),
    }));
}

export function getStats(context: Context, input: unknown, caller: Caller | null): unknown {
  return encodeStats(context.engine, ownSubaccount(context, input, caller));
}

export function getTransferMax(context: Context, input: unknown, caller: Caller | null): unknown {
  const id = ownSubaccount(context, input, caller);
  return { amount: money(context.engine.margin(id).withdrawableQuanta) };
}

function ownSubaccount(context: Context, input: unknown, caller: Caller | null): SubaccountId {
  const fields = new Fields(input, ['account', 'subaccountIndex'], true);
  const account = fields.address('account');
  const index = fields.subaccountIndex('subaccountIndex');
  mustOwn(caller, account, MESSAGES.delegationNotAllowed);
  return mustSubaccount(context, account, index);
}

export function getPositions(context: Context, input: unknown, caller: Caller | null): unknown {
  const { id, market } = ownMarket(context, input, caller, 'delegation');
  return context.engine
    .positions(id)
    .filter((position) => market === null || position.market === market)
    .map((position) => encodePosition(context.engine, position));
}

/** Every market's setting: all are cross at the market's own initial rate. */
export function getMargin(context: Context, input: unknown, caller: Caller | null): unknown {
  const { id, market } = ownMarket(context, input, caller, 'query');
  const subaccount = context.engine.subaccount(id);
  return context.engine
    .markets()
    .filter((view) => market === null || view.id === market)
    .map((view) => ({
      account: context.engine.addressOf(subaccount.account),
      isolated: false,
      margin: formatDecimal(BigInt(view.spec.tiers[0]?.initialMarginPpm ?? 0), 6),
      subaccountIndex: subaccount.index,
      symbol: view.spec.symbol,
    }));
}

function ownMarket(
  context: Context,
  input: unknown,
  caller: Caller | null,
  refusal: 'delegation' | 'query',
): { id: SubaccountId; market: MarketId | null } {
  const fields = new Fields(input, ['account', 'subaccountIndex', 'symbol'], true);
  const account = fields.address('account');
  const index = fields.subaccountIndex('subaccountIndex');
  const symbol = fields.has('symbol') ? fields.symbol('symbol') : null;
  const market = symbol === null ? null : context.engine.marketIdOf(symbol);
  if (market === undefined) throw new RequestError(MESSAGES.symbolNotFound);
  mustOwn(
    caller,
    account,
    refusal === 'query' ? unauthorizedQuery(account) : MESSAGES.delegationNotAllowed,
  );
  return { id: mustSubaccount(context, account, index), market };
}

/** until it is replaced, the signer set is the account itself. */
export function getSigners(_context: Context, input: unknown, caller: Caller | null): unknown {
  const account = new Fields(input, ['account'], true).address('account');
  mustOwn(caller, account, unauthorizedQuery(account));
  return { account, signers: [account], quorum: 1 };
}

/** Nobody holds a delegation: the list is empty. */
export function getDelegates(_context: Context, input: unknown, caller: Caller | null): unknown {
  const fields = new Fields(input, ['account', 'subaccountIndex'], true);
  const account = fields.address('account');
  if (fields.has('subaccountIndex')) fields.subaccountIndex('subaccountIndex');
  mustOwn(caller, account, unauthorizedQuery(account));
  return [];
}

/** No vault shares exist: the history is empty. */
export function getClsHistory(_context: Context, input: unknown, caller: Caller | null): unknown {
  const fields = new Fields(input, ['from', 'to', 'limit'], true);
  if (fields.has('from')) fields.int64('from');
  if (fields.has('to')) fields.int64('to');
  readLimit(fields, MAX_SHARES, MAX_SHARES);
  mustCaller(caller);
  return [];
}

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

export function transfer(context: Context, input: unknown, caller: Caller | null): unknown {
  const fields = new Fields(input, TRANSFER_FIELDS, false);
  const from = fields.address('accountFrom');
  const to = fields.address('accountTo');
  const amount = fields.decimal('amount');
  const expiresAtMs = fields.int64('expiresAt');
  const feedId = fields.feedId('feedId');
  const nonce = fields.int64('nonce');
  const signatures = fields.texts('signatures', 16);
  const fromIndex = fields.subaccountIndex('subaccountIndexFrom');
  const toIndex = fields.subaccountIndex('subaccountIndexTo');
  const target = fields.address('target');
  const { engine } = context;
  let market: MarketId | null = null;
  if (feedId !== engine.config.cashFeedId) {
    const feed = engine.markets().find((view) => view.spec.feedId === feedId);
    if (feed === undefined) throw new RequestError(MESSAGES.unknownFeed);
    market = feed.id;
  }
  const timeNow = context.nowUs();
  if (expiresAtMs * 1000n < BigInt(timeNow)) throw new RequestError(MESSAGES.requestExpired);
  mustOwn(caller, target, MESSAGES.delegationNotAllowed);
  if (target !== from) throw new RequestError(MESSAGES.targetNotSource);
  mustBeSigned(context, target, {
    kind: 'Transfer',
    body: input as Record<string, unknown>,
    signatures,
  });
  const account = engine.accountIdOf(from);
  const refusal = account === undefined ? null : engine.checkAccountNonce(account, nonce);
  if (refusal !== null && refusal !== 'ok') throw new RequestError(REFUSAL_REPLIES[refusal]);
  const whole = stepsExact(amount, { digits: 1n, scale: COLLATERAL_DECIMALS });
  if (whole === null) {
    throw new RequestError(
      invalidField('amount', `must have at most ${String(COLLATERAL_DECIMALS)} decimals`),
    );
  }
  const outcome = context.submit({
    kind: 'transfer',
    timeUs: timeNow,
    from,
    fromIndex,
    to,
    toIndex,
    amount: quanta(BigInt.asIntN(64, whole) === whole ? whole : 2n ** 62n),
    market,
    signer: target,
    nonce,
    expiresAtMs,
  });
  if (outcome !== 'ok') throw new RequestError(REFUSAL_REPLIES[outcome]);
  return null;
}

export function getTransfers(context: Context, input: unknown, caller: Caller | null): unknown {
  const fields = new Fields(input, ['account', 'subaccountIndex', 'from', 'to', 'limit'], true);
  const account = fields.address('account');
  const index = fields.subaccountIndex('subaccountIndex');
  // Both ends inclusive, in milliseconds.
  const from = fields.has('from') ? fields.int64('from') : 0n;
  const to = fields.has('to') ? fields.int64('to') : null;
  const limit = readLimit(fields, MAX_TRANSFERS, DEFAULT_TRANSFERS);
  mustOwn(caller, account, MESSAGES.delegationNotAllowed);
  const id = mustSubaccount(context, account, index);
  return context.engine
    .transfers(id, clampUs(from), to === null ? timeUs(Infinity) : clampUs(to + 1n), limit)
    .items.map((movement) => encodeTransfer(context.engine, movement));
}

/** A limit in 1…most, in the contract's words. */
export function readLimit(fields: Fields, most: number, fallback: number): number {
  if (!fields.has('limit')) return fallback;
  const limit = fields.integer('limit');
  if (limit < 1n || limit > BigInt(most)) {
    throw new RequestError(limitRange(most, limit.toString()));
  }
  return Number(limit);
}

/** Milliseconds as engine time; beyond its range means never. */
export function clampUs(ms: bigint): TimeUs {
  return ms > 9_007_199_254_740n ? timeUs(Infinity) : timeUs(Number(ms) * 1000);
}
