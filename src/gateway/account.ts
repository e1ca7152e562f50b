/**
 * Account reads (contract, "Account"; ), restricted by delegation.
 */
import type { EndpointId } from '../contract/endpoints.ts';
import { MESSAGES } from '../contract/messages.ts';
import type { Moment, Retained, SubaccountView, VaultSnapshotView } from '../engine/read/views.ts';
import { formatDecimal } from '../num/decimal.ts';
import {
  timeUs,
  type Address,
  type MarketId,
  type SubaccountId,
  type TimeUs,
} from '../num/units.ts';
import { feedMarket } from './account-updates.ts';
import { mustAct, rightsOf, subaccountOrEmpty } from './authorise.ts';
import type { Caller, Context } from './context.ts';
import {
  emptyStats,
  encodePosition,
  encodeStats,
  encodeTransfer,
  millis,
  money,
} from './encode.ts';
import { Fields } from './fields.ts';
import { MOMENT_PLACES, Page, pageOfAll, pageOfMoments, Paging } from './paging.ts';
import { RequestError } from './request-error.ts';

/** Decimals of vault shares and of margin ratios. */
const SHARE_DECIMALS = 6;

/** Subaccount of a list; null for all, if the parameter is absent or empty. */
function optionalIndex(fields: Fields): number | null {
  const isGiven = fields.has('subaccountIndex') && fields.get('subaccountIndex') !== '';
  return isGiven ? fields.subaccountIndex('subaccountIndex') : null;
}

export function getBalance(context: Context, input: unknown, caller: Caller): Page {
  const fields = new Fields(input, ['account', 'subaccountIndex', 'limit', 'cursor'], true);
  const account = fields.address('account', context.keccak);
  const index = optionalIndex(fields);
  const paging = new Paging('getBalance', fields, 1);
  const { may } = mustAct(context, 'getBalance', caller, account, index);
  const found = context.engine
    .subaccountsOf(account)
    .filter((held) => (index === null || held.index === index) && may(held.index));
  return pageOfAll(
    paging,
    found,
    (held) => [held.index],
    (held) => ({
      account,
      balance: money(held.balanceQuanta),
      subaccountIndex: held.index,
      updatedAt: millis(held.updatedAtUs),
    }),
  );
}

export function getStats(context: Context, input: unknown, caller: Caller): unknown {
  const fields = new Fields(input, ['account', 'subaccountIndex'], true);
  const { account, index, id } = mustRead(context, 'getStats', fields, caller);
  return id === null ? emptyStats(account, index) : encodeStats(context.engine, id);
}

/** Largest transferable amount: cash, or the excess isolated margin of the market of `feedId`. */
export function getTransferMax(context: Context, input: unknown, caller: Caller): unknown {
  const fields = new Fields(input, ['account', 'subaccountIndex', 'feedId'], true);
  const feedId = fields.has('feedId') ? fields.feedId('feedId') : context.engine.config.cashFeedId;
  const { id } = mustRead(context, 'getTransferMax', fields, caller);
  const market = feedMarket(context, feedId);
  if (id === null) return { amount: money(0n), shortfallPart: money(0n) };
  const amount =
    market === null
      ? context.engine.margin(id).withdrawableQuanta
      : context.engine.isolatedExcess(id, market);
  // A transfer leaves nothing to the shortfall; a cash withdrawal of the same amount does.
  const part = market === null ? context.engine.shortfallPart(id, amount) : 0n;
  return { amount: money(amount), shortfallPart: money(part) };
}

export function getPositions(context: Context, input: unknown, caller: Caller): Page {
  const { id, market, paging } = mustReadMarket(context, 'getPositions', input, caller);
  return pageOfAll(
    paging,
    id === null
      ? []
      : context.engine.positions(id).filter((held) => market === null || held.market === market),
    (position) => [position.market],
    (position) => encodePosition(context.engine, position),
  );
}

/** Settings by market: the margin mode, and the account's own initial ratio or the market's. */
export function getMargin(context: Context, input: unknown, caller: Caller): Page {
  const { id, market, account, index, paging } = mustReadMarket(
    context,
    'getMargin',
    input,
    caller,
  );
  return pageOfAll(
    paging,
    id === null
      ? []
      : context.engine.marginSettings(id).filter((one) => market === null || one.market === market),
    (setting) => [setting.market],
    (setting) => ({
      account,
      isolated: setting.isolated,
      margin: formatDecimal(BigInt(setting.marginPpm), SHARE_DECIMALS),
      subaccountIndex: index,
      symbol: context.engine.market(setting.market).spec.symbol,
    }),
  );
}

interface Read {
  readonly account: Address;
  readonly index: number;
  /** null: the wallet never deposited. */
  readonly id: SubaccountId | null;
}

/** The subaccount of a read, after a check of the caller's access. */
function mustRead(context: Context, endpoint: EndpointId, fields: Fields, caller: Caller): Read {
  const account = fields.address('account', context.keccak);
  const index = fields.subaccountIndex('subaccountIndex');
  mustAct(context, endpoint, caller, account, index);
  return { account, index, id: subaccountOrEmpty(context, account, index) };
}

function mustReadMarket(
  context: Context,
  endpoint: 'getPositions' | 'getMargin',
  input: unknown,
  caller: Caller,
): Read & { readonly market: MarketId | null; readonly paging: Paging } {
  const names = ['account', 'subaccountIndex', 'symbol', 'limit', 'cursor'];
  const fields = new Fields(input, names, true);
  const symbol = fields.has('symbol') ? fields.symbol('symbol') : null;
  const market = symbol === null ? null : context.engine.marketIdOf(symbol);
  fields.address('account', context.keccak);
  fields.subaccountIndex('subaccountIndex');
  const paging = new Paging(endpoint, fields, 1);
  if (market === undefined) throw new RequestError(MESSAGES.symbolNotFound);
  return { ...mustRead(context, endpoint, fields, caller), market, paging };
}

/** the default signer set is the account itself. */
export function getSigners(context: Context, input: unknown, caller: Caller): unknown {
  const account = new Fields(input, ['account'], true).address('account', context.keccak);
  mustAct(context, 'getSigners', caller, account, null);
  const { signers, quorum } = context.engine.signersOf(account);
  return { account, signers: [...signers], quorum };
}

export function getDelegates(context: Context, input: unknown, caller: Caller): Page {
  const fields = new Fields(input, ['account', 'subaccountIndex', 'limit', 'cursor'], true);
  const account = fields.address('account', context.keccak);
  const index = optionalIndex(fields);
  const paging = new Paging('getDelegates', fields, 2);
  const { may } = mustAct(context, 'getDelegates', caller, account, index);
  const held = context.engine
    .delegatesOf(account)
    .filter(({ subaccountIndex: at }) => (index === null || at === index) && may(at))
    .sort((a, b) => a.subaccountIndex - b.subaccountIndex || a.delegate - b.delegate);
  return pageOfAll(
    paging,
    held,
    ({ subaccountIndex, delegate }) => [subaccountIndex, delegate],
    ({ subaccountIndex, delegate }) => ({
      account,
      delegate: context.engine.addressOf(delegate),
      subaccountIndex,
    }),
  );
}

/** Shares history of the token's account, newest first; `from` inclusive, `to` exclusive. */
export function getClsHistory(context: Context, input: unknown, caller: Caller): Page {
  const { engine } = context;
  const fields = new Fields(input, ['from', 'to', 'limit', 'cursor'], true);
  const fromUs = fields.has('from') ? clampUs(fields.int64('from')) : timeUs(0);
  const toUs = fields.has('to') ? clampUs(fields.int64('to')) : timeUs(Infinity);
  const paging = new Paging('getClsHistory', fields, MOMENT_PLACES);
  const account = caller.account;
  const { may } = rightsOf(context, caller, account);
  const holders = engine.subaccountsOf(account).filter(({ index }) => may(index));
  const read = (limit: number, upTo?: Moment): Retained<Shares> => {
    const items: Shares[] = [];
    let keptSinceUs: TimeUs | null = null;
    for (const holder of holders) {
      const kept = engine.vaultSnapshots(holder.id, fromUs, toUs, limit, upTo);
      for (const snapshot of kept.items) items.push({ ...snapshot, holder });
      if (kept.keptSinceUs !== null && kept.keptSinceUs > (keptSinceUs ?? -1)) {
        keptSinceUs = kept.keptSinceUs;
      }
    }
    items.sort((a, b) => b.timeUs - a.timeUs || b.seq - a.seq);
    return { items: items.slice(0, limit), keptSinceUs };
  };
  return pageOfMoments(paging, fromUs, read, (shares) => encodeShares(account, shares));
}

interface Shares extends VaultSnapshotView {
  readonly holder: SubaccountView;
}

function encodeShares(account: Address, held: Shares) {
  return {
    account,
    lockupEndsAt: millis(held.lockupEndsAtUs),
    netDeposits: money(held.netDepositsQuanta),
    shares: formatDecimal(held.shares, SHARE_DECIMALS),
    subaccountIndex: held.holder.index,
    timestamp: millis(held.timeUs),
    usdValue: money(held.valueQuanta),
  };
}

export function getTransfers(context: Context, input: unknown, caller: Caller): Page {
  const { engine } = context;
  const names = ['account', 'subaccountIndex', 'from', 'to', 'limit', 'cursor'];
  const fields = new Fields(input, names, true);
  // A time range in milliseconds, both ends inclusive.
  const fromUs = fields.has('from') ? clampUs(fields.int64('from')) : timeUs(0);
  const toUs = fields.has('to') ? clampUs(fields.int64('to') + 1n) : timeUs(Infinity);
  const paging = new Paging('getTransfers', fields, MOMENT_PLACES);
  const { id } = mustRead(context, 'getTransfers', fields, caller);
  if (id === null) return new Page([], null, null);
  return pageOfMoments(
    paging,
    fromUs,
    (limit, upTo) => engine.transfers(id, fromUs, toUs, limit, upTo),
    (movement) => encodeTransfer(engine, movement),
  );
}

/** Milliseconds as engine time; a value beyond its range is clamped. */
export function clampUs(ms: bigint): TimeUs {
  return ms > 9_007_199_254_740n ? timeUs(Infinity) : timeUs(Number(ms) * 1000);
}
