/**
 * Account reads (contract, "Account"; ). A delegate sees the subaccounts delegated to it and no others.
 */
import type { EndpointId } from '../contract/endpoints.ts';
import { limitRange, MESSAGES } from '../contract/messages.ts';
import type { SubaccountView, VaultSnapshotView } from '../engine/views.ts';
import { formatDecimal } from '../num/decimal.ts';
import {
  timeUs,
  type Address,
  type MarketId,
  type SubaccountId,
  type TimeUs,
} from '../num/units.ts';
import { feedMarket } from './account-updates.ts';
import { mustAct, mustSubaccount, rightsOf } from './authorise.ts';
import type { Caller, Context } from './context.ts';
import { encodePosition, encodeStats, encodeTransfer, millis, money } from './encode.ts';
import { Fields } from './fields.ts';
import { RequestError } from './request-error.ts';

const MAX_TRANSFERS = 5000;
const DEFAULT_TRANSFERS = 50;
const MAX_SHARES = 10_000;
/** Vault shares and margin ratios have as many decimals. */
const SHARE_DECIMALS = 6;

export function getBalance(context: Context, input: unknown, caller: Caller): unknown {
  const fields = new Fields(input, ['account', 'subaccountIndex'], true);
  const account = fields.address('account');
  const index = fields.has('subaccountIndex') ? fields.subaccountIndex('subaccountIndex') : null;
  const { may } = mustAct(context, 'getBalance', caller, account, index);
  return context.engine
    .subaccountsOf(account)
    .filter((subaccount) => (index === null || subaccount.index === index) && may(subaccount.index))
    .map((subaccount) => ({
      account,
      balance: money(subaccount.balanceQuanta),
      subaccountIndex: subaccount.index,
      updatedAt: millis(subaccount.updatedAtUs),
    }));
}

export function getStats(context: Context, input: unknown, caller: Caller): unknown {
  const fields = new Fields(input, ['account', 'subaccountIndex'], true);
  return encodeStats(context.engine, mustRead(context, 'getStats', fields, caller).id);
}

/** What a transfer may take: cash, or the excess isolated margin of the market whose feed is named. */
export function getTransferMax(context: Context, input: unknown, caller: Caller): unknown {
  const fields = new Fields(input, ['account', 'subaccountIndex', 'feedId'], true);
  const feedId = fields.has('feedId') ? fields.feedId('feedId') : context.engine.config.cashFeedId;
  const { id } = mustRead(context, 'getTransferMax', fields, caller);
  const market = feedMarket(context, feedId);
  return {
    amount: money(
      market === null
        ? context.engine.margin(id).withdrawableQuanta
        : context.engine.isolatedExcess(id, market),
    ),
  };
}

export function getPositions(context: Context, input: unknown, caller: Caller): unknown {
  const { id, market } = mustReadMarket(context, 'getPositions', input, caller);
  return context.engine
    .positions(id)
    .filter((position) => market === null || position.market === market)
    .map((position) => encodePosition(context.engine, position));
}

/** The setting in each market: its mode, and the initial ratio, the account's own or the market's. */
export function getMargin(context: Context, input: unknown, caller: Caller): unknown {
  const { id, market, account, index } = mustReadMarket(context, 'getMargin', input, caller);
  return context.engine
    .marginSettings(id)
    .filter((setting) => market === null || setting.market === market)
    .map((setting) => ({
      account,
      isolated: setting.isolated,
      margin: formatDecimal(BigInt(setting.marginPpm), SHARE_DECIMALS),
      subaccountIndex: index,
      symbol: context.engine.market(setting.market).spec.symbol,
    }));
}

interface Read {
  readonly account: Address;
  readonly index: number;
  readonly id: SubaccountId;
}

/** The subaccount that a read names, which the caller may see. */
function mustRead(context: Context, endpoint: EndpointId, fields: Fields, caller: Caller): Read {
  const account = fields.address('account');
  const index = fields.subaccountIndex('subaccountIndex');
  mustAct(context, endpoint, caller, account, index);
  return { account, index, id: mustSubaccount(context, account, index) };
}

function mustReadMarket(
  context: Context,
  endpoint: EndpointId,
  input: unknown,
  caller: Caller,
): Read & { readonly market: MarketId | null } {
  const fields = new Fields(input, ['account', 'subaccountIndex', 'symbol'], true);
  const symbol = fields.has('symbol') ? fields.symbol('symbol') : null;
  const market = symbol === null ? null : context.engine.marketIdOf(symbol);
  fields.address('account');
  fields.subaccountIndex('subaccountIndex');
  if (market === undefined) throw new RequestError(MESSAGES.symbolNotFound);
  return { ...mustRead(context, endpoint, fields, caller), market };
}

/** until it is replaced, the signer set is the account itself. */
export function getSigners(context: Context, input: unknown, caller: Caller): unknown {
  const account = new Fields(input, ['account'], true).address('account');
  mustAct(context, 'getSigners', caller, account, null);
  const { signers, quorum } = context.engine.signersOf(account);
  return { account, signers: [...signers], quorum };
}

export function getDelegates(context: Context, input: unknown, caller: Caller): unknown {
  const fields = new Fields(input, ['account', 'subaccountIndex'], true);
  const account = fields.address('account');
  const index = fields.has('subaccountIndex') ? fields.subaccountIndex('subaccountIndex') : null;
  const { may } = mustAct(context, 'getDelegates', caller, account, index);
  return context.engine
    .delegatesOf(account)
    .filter(
      (held) => (index === null || held.subaccountIndex === index) && may(held.subaccountIndex),
    )
    .map((held) => ({
      account,
      delegate: context.engine.addressOf(held.delegate),
      subaccountIndex: held.subaccountIndex,
    }));
}

/** GET /account/cls/shares/history: of the token's account, newest first; from inclusive, to exclusive. */
export function getClsHistory(context: Context, input: unknown, caller: Caller): unknown {
  const { engine } = context;
  const fields = new Fields(input, ['from', 'to', 'limit'], true);
  const from = fields.has('from') ? fields.int64('from') : 0n;
  const to = fields.has('to') ? fields.int64('to') : null;
  const limit = readLimit(fields, MAX_SHARES, MAX_SHARES);
  const account = caller.account;
  const { may } = rightsOf(context, caller, account);
  const toUs = to === null ? timeUs(Infinity) : clampUs(to);
  const found = engine
    .subaccountsOf(account)
    .filter((subaccount) => may(subaccount.index))
    .flatMap((subaccount) =>
      engine
        .vaultSnapshots(subaccount.id, clampUs(from), toUs, limit)
        .items.map((snapshot) => ({ subaccount, snapshot })),
    );
  return found
    .sort((a, b) => b.snapshot.seq - a.snapshot.seq || b.snapshot.timeUs - a.snapshot.timeUs)
    .slice(0, limit)
    .map(({ subaccount, snapshot }) => encodeShares(account, subaccount, snapshot));
}

function encodeShares(account: Address, subaccount: SubaccountView, snapshot: VaultSnapshotView) {
  return {
    account,
    lockupEndsAt: millis(snapshot.lockupEndsAtUs),
    netDeposits: money(snapshot.netDepositsQuanta),
    shares: formatDecimal(snapshot.shares, SHARE_DECIMALS),
    subaccountIndex: subaccount.index,
    timestamp: millis(snapshot.timeUs),
    usdValue: money(snapshot.valueQuanta),
  };
}

export function getTransfers(context: Context, input: unknown, caller: Caller): unknown {
  const fields = new Fields(input, ['account', 'subaccountIndex', 'from', 'to', 'limit'], true);
  // Both ends inclusive, in milliseconds.
  const from = fields.has('from') ? fields.int64('from') : 0n;
  const to = fields.has('to') ? fields.int64('to') : null;
  const limit = readLimit(fields, MAX_TRANSFERS, DEFAULT_TRANSFERS);
  const { id } = mustRead(context, 'getTransfers', fields, caller);
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
