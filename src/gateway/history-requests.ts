/** Reads of an account's history, with the rights of `GET /account/transfers`. */
import { HISTORY_LISTS, type HistoryList } from '../contract/history-lists.ts';
import { formatDecimal } from '../num/decimal.ts';
import { timeUs, type SubaccountId } from '../num/units.ts';
import type { Retained } from '../engine/read/views.ts';
import { clampUs } from './account.ts';
import type {
  AccountHistory,
  AccountLog,
  AccountState,
  FundingEntry,
  LiquidationEntry,
} from './account-history.ts';
import { mustAct, mustToken, subaccountOrEmpty } from './authorise.ts';
import type { Caller, Context } from './context.ts';
import { marketTime, millis, money, sizeText } from './encode.ts';
import { FeedRecords } from './feeds/feed-records.ts';
import { Fields } from './fields.ts';
import { readIntervalUs } from './market-data.ts';
import { MOMENT_PLACES, Page, pageOfMoments, Paging, retentionStart } from './paging.ts';

const RATE_DECIMALS = 9;
/** Marks that a page of equity reads; a page of many positions is shorter. */
const MAX_MARKS = 20_000;

export interface HistoryContext extends Pick<Context, 'engine' | 'keccak' | 'ids'> {
  readonly history: AccountHistory;
}

interface Asked {
  readonly fields: Fields;
  readonly account: string;
  readonly index: number;
  /** null: the wallet never deposited. */
  readonly id: SubaccountId | null;
}

function mustRead(
  context: HistoryContext,
  caller: Caller | null,
  input: unknown,
  names: readonly string[],
): Asked {
  const fields = new Fields(input, ['account', 'subaccountIndex', ...names], true);
  const account = fields.address('account', context.keccak);
  const index = fields.subaccountIndex('subaccountIndex');
  mustAct(context, 'getTransfers', mustToken(context, caller), account, index);
  return { fields, account, index, id: subaccountOrEmpty(context, account, index) };
}

/** Sums since the history begins; `since` is null if that is the first command. */
export function historyTotals(context: HistoryContext, input: unknown, caller: Caller | null) {
  const { account, index, id } = mustRead(context, caller, input, []);
  const { history } = context;
  const totals = id === null ? undefined : history.of(id)?.totals;
  return {
    account,
    subaccountIndex: index,
    since: history.sinceUs === null ? null : millis(history.sinceUs),
    fills: totals?.fills ?? 0,
    fees: money(totals?.feesQuanta ?? 0n),
    funding: money(totals?.fundingQuanta ?? 0n),
    realizedPnl: money(totals?.realizedQuanta ?? 0n),
  };
}

const NAMES = ['from', 'to', 'limit', 'cursor'];

/** `from` and `to` are in milliseconds, both ends inclusive. */
export function readHistory(
  context: HistoryContext,
  list: HistoryList,
  input: unknown,
  caller: Caller | null,
): Page {
  const names = list === 'equity' ? [...NAMES, 'interval'] : NAMES;
  const { fields, id } = mustRead(context, caller, input, names);
  const fromUs = fields.has('from') ? clampUs(fields.int64('from')) : timeUs(0);
  const toUs = fields.has('to') ? clampUs(fields.int64('to') + 1n) : timeUs(Infinity);
  const paging = new Paging(HISTORY_LISTS[list], fields, list === 'equity' ? 1 : MOMENT_PLACES);
  const intervalUs = list === 'equity' ? readIntervalUs(fields, '1m') : 0;
  const log = id === null ? undefined : context.history.of(id);
  if (log === undefined) return new Page([], null, null);
  if (list === 'equity') return pageOfEquity(context, log, paging, { fromUs, toUs, intervalUs });
  const records = new FeedRecords({ view: context.engine, ids: context.ids });
  switch (list) {
    case 'fills':
      return pageOfMoments(
        paging,
        fromUs,
        (limit, upTo) => since(context, log.fills.read(fromUs, toUs, limit, upTo)),
        ({ fill, side }) => records.fill(fill, side),
      );
    case 'funding':
      return pageOfMoments(
        paging,
        fromUs,
        (limit, upTo) => since(context, log.funding.read(fromUs, toUs, limit, upTo)),
        (entry) => encodeFunding(context, entry),
      );
    case 'liquidations':
      return pageOfMoments(
        paging,
        fromUs,
        (limit, upTo) => since(context, log.liquidations.read(fromUs, toUs, limit, upTo)),
        (entry) => encodeLiquidation(context, records, entry),
      );
  }
}

/** Nothing is known from before the history began. */
function since<T>({ history }: HistoryContext, kept: Retained<T>): Retained<T> {
  return { items: kept.items, keptSinceUs: kept.keptSinceUs ?? history.sinceUs };
}

function encodeFunding({ engine }: HistoryContext, entry: FundingEntry) {
  const market = engine.market(entry.market);
  return {
    symbol: market.spec.symbol,
    time: marketTime(engine, timeUs(entry.timeUs)),
    amount: money(entry.amountQuanta),
    rate: formatDecimal(BigInt(entry.ratePpb), RATE_DECIMALS),
    quantity: sizeText(market, entry.lots),
    isolated: entry.isolated,
  };
}

/** As in the public feed; the size of a transfer has the sign of this account's side. */
function encodeLiquidation(
  { engine }: HistoryContext,
  records: FeedRecords,
  { event, lots }: LiquidationEntry,
): unknown {
  const record = records.liquidation(event) as Readonly<Record<string, unknown>>;
  if (event.kind !== 'positionTransferred') return record;
  return { ...record, quantity: sizeText(engine.market(event.market), lots) };
}

interface EquityRange {
  readonly fromUs: number;
  readonly toUs: number;
  readonly intervalUs: number;
}

/**
 * Equity at ends of whole intervals, newest first. An end counts the changes before it, at the last
 * marks before it.
 */
function pageOfEquity(
  context: HistoryContext,
  log: AccountLog,
  paging: Paging,
  { fromUs, toUs, intervalUs }: EquityRange,
): Page {
  const { engine } = context;
  const states = newestFirst(log);
  const [oldest] = states.slice(-1);
  if (oldest === undefined) return new Page([], null, null);
  const newest = paging.after?.[0] ?? Math.min(engine.nowUs, toUs - 1) + 1;
  const points: { time: number; equity: string }[] = [];
  let atUs = (Math.ceil(newest / intervalUs) - 1) * intervalUs;
  let marks = 0;
  let keptSinceUs =
    log.states.keptSinceUs === null ? context.history.sinceUs : timeUs(oldest.timeUs);
  let place = 0;
  let next: number | null = null;
  for (; atUs >= fromUs && atUs > oldest.timeUs; atUs -= intervalUs) {
    while ((states[place]?.timeUs ?? 0) >= atUs) place += 1;
    const state = states[place] ?? oldest;
    marks += state.held.length;
    if (points.length > 0 && (points.length >= paging.limit || marks > MAX_MARKS)) {
      next = atUs + intervalUs;
      break;
    }
    const equity = equityAt(context, state, atUs);
    if (equity === null) {
      keptSinceUs = timeUs(atUs + intervalUs);
      break;
    }
    points.push({ time: millis(timeUs(atUs)), equity: money(equity) });
  }
  return new Page(
    points,
    next === null ? null : paging.cursorAt([next]),
    retentionStart(fromUs, keptSinceUs),
  );
}

function newestFirst(log: AccountLog): readonly AccountState[] {
  const { now } = log;
  const kept = log.states.items.toReversed();
  return now === null ? kept : [now, ...kept];
}

/** null if a mark of that time is not kept. */
function equityAt(
  { engine, history }: HistoryContext,
  { baseQuanta, held }: AccountState,
  endUs: number,
): bigint | null {
  let equity = baseQuanta;
  for (const [id, lots] of held) {
    const ticks = history.marksOf(id)?.before(endUs) ?? null;
    if (ticks === null) return null;
    const { quantaPerTickLot } = engine.market(id).spec;
    equity += BigInt(lots) * BigInt(ticks) * BigInt(quantaPerTickLot);
  }
  return equity;
}
