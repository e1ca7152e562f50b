/**
 * The history of accounts beside the exchange: equity, fills, funding and liquidations, and their
 * sums, must follow from the events alone. Lists are read page by page and with ranges of time. A
 * history that begins later, and one that loses its last commands, know the same from where they
 * begin and up to where they end.
 */
import { sha256Hex } from '../../base/sha256.ts';
import type { EngineEvent, LiquidationStep, PositionTransferred } from '../../engine/events.ts';
import { Exchange } from '../../engine/exchange.ts';
import type { Engine, ExchangeView } from '../../engine/read/views.ts';
import { AccountHistory } from '../../gateway/account-history.ts';
import { historyTotals, readHistory } from '../../gateway/history-requests.ts';
import { TrustOrderIds } from '../../gateway/order-ids.ts';
import { subaccountId, type SubaccountId } from '../../num/units.ts';
import type { Checker, Violation } from '../checker.ts';
import { SYSTEM } from './reads.ts';
import { differingField } from './differing-field.ts';
import {
  dataTime,
  fillRecord,
  liquidationRecord,
  moneyText,
  ratePpbText,
  sizeOf,
  type Fields,
} from './records.ts';

const MINUTE_US = 60_000_000;
/** Entries of a list that an exchange keeps; longer lists are not compared. */
const KEPT = 2000;
const MAX_PAGES = 80;
/** Entries of a list that are compared. */
const SHOWN = 40;
/** Ends of intervals in one read of equity. */
const POINTS = 12;
const INTERVALS = [
  ['1m', 1],
  ['3m', 3],
  ['15m', 15],
  ['1h', 60],
  ['8h', 480],
] as const;
const LISTS = ['equity', 'fills', 'funding', 'liquidations'] as const;
/** Commands until another history begins, and until one loses its last commands. */
const LATE_AFTER = 192;
const LOST_AFTER = 24;

/** An event with what an account sees of it. */
interface Seen<E extends EngineEvent = EngineEvent> {
  readonly event: E;
  /** Of a transferred position: 0 for its giver. */
  readonly side: number;
}

type FillEvent = Extract<EngineEvent, { kind: 'orderFilled' | 'positionTransferred' }>;
type Change = Extract<
  EngineEvent,
  { kind: 'balanceChanged' | 'isolatedMarginChanged' | 'positionChanged' }
>;

interface Paid {
  readonly event: Extract<EngineEvent, { kind: 'fundingSettled' }>;
  readonly amount: bigint;
  readonly lots: number;
  readonly isolated: boolean;
}

/** The events of an account, oldest first. */
class Account {
  readonly fills: Seen<FillEvent>[] = [];
  readonly funding: Paid[] = [];
  readonly liquidations: Seen<LiquidationStep | PositionTransferred>[] = [];
  readonly changes: Change[] = [];
}

/** The part of the events that a history has: commands after `since` and up to `until`. */
interface Part {
  readonly sinceSeq: number;
  readonly sinceUs: number | null;
  readonly untilSeq: number;
  /** Accounts that existed where it begins: ids below it. */
  readonly accounts: number;
}

const WHOLE: Part = { sinceSeq: -1, sinceUs: null, untilSeq: Infinity, accounts: 0 };

interface Subject {
  readonly history: AccountHistory;
  readonly view: ExchangeView;
  readonly ids: TrustOrderIds;
  readonly part: Part;
}

export function historyCheck(every: number): Checker {
  const accounts = new Map<SubaccountId, Account>();
  const marks: Extract<EngineEvent, { kind: 'markChanged' }>[] = [];
  const paid: Extract<Change, { kind: 'balanceChanged' | 'isolatedMarginChanged' }>[] = [];
  const between = Math.max(1, every >> 4);
  let whole: AccountHistory | null = null;
  let late: { readonly history: AccountHistory; readonly part: Part } | null = null;
  let saved: { readonly bytes: Uint8Array; readonly seq: number } | null = null;
  let ids: TrustOrderIds | null = null;
  let turn = 0;

  const accountOf = (id: SubaccountId): Account => {
    let account = accounts.get(id);
    if (account === undefined) {
      account = new Account();
      accounts.set(id, account);
    }
    return account;
  };
  const note = (event: EngineEvent): void => {
    switch (event.kind) {
      case 'markChanged':
        marks.push(event);
        return;
      case 'balanceChanged':
      case 'isolatedMarginChanged':
        accountOf(event.subaccount).changes.push(event);
        if (event.reason === 'funding') paid.push(event);
        return;
      case 'positionChanged':
        accountOf(event.subaccount).changes.push(event);
        return;
      case 'orderFilled':
        accountOf(event.subaccount).fills.push({ event, side: 0 });
        return;
      case 'positionTransferred':
        for (const [side, id] of [event.from, event.to].entries()) {
          accountOf(id).fills.push({ event, side });
          accountOf(id).liquidations.push({ event, side });
        }
        return;
      case 'liquidationStep':
        if (event.step !== 'safe')
          accountOf(event.subaccount).liquidations.push({ event, side: 0 });
        return;
      case 'fundingSettled':
        for (const { kind, subaccount, deltaQuanta } of paid) {
          const account = accountOf(subaccount);
          const lots = lotsOf(account, event.market);
          const isolated = kind === 'isolatedMarginChanged';
          account.funding.push({ event, amount: deltaQuanta, lots, isolated });
        }
        paid.length = 0;
        return;
      default:
    }
  };
  const read = (subject: Subject, nth: number): string | null => {
    const { subaccountCount } = subject.view;
    if (subaccountCount <= SYSTEM) return null;
    const place = Math.imul(nth, 0x9e3779b1) >>> 8;
    const id = subaccountId(SYSTEM + (place % (subaccountCount - SYSTEM)));
    return historyFault(subject, { id, account: accountOf(id), marks }, nth, place >> 4);
  };
  const compare = (engine: Engine): string | null => {
    turn += 1;
    const history = whole;
    if (history === null || ids === null) return null;
    const found = read({ history, view: engine, ids, part: WHOLE }, turn);
    if (found !== null || late === null) return found;
    return read({ ...late, view: engine, ids }, turn);
  };
  /** The later history loses the commands since the snapshot. */
  const lose = (): string | null => {
    if (late === null || saved === null) return null;
    const view = Exchange.restore(saved.bytes);
    const { history } = late;
    history.reset(view);
    const part = { ...late.part, untilSeq: saved.seq };
    const subject = { history, view, ids: new TrustOrderIds(view, sha256Hex), part };
    late = null;
    saved = null;
    for (let i = 0; i < 3 * LISTS.length; i += 1) {
      turn += 1;
      const found = read(subject, turn);
      if (found !== null) return `after a loss of commands: ${found}`;
    }
    return null;
  };
  const follow = (engine: Engine): string | null => {
    const step = every === 1 ? 8 : 1;
    if (late === null) {
      if (engine.seq % Math.ceil(LATE_AFTER / step) !== 0) return null;
      const { seq, nowUs, subaccountCount } = engine;
      const part = { sinceSeq: seq, sinceUs: nowUs, untilSeq: Infinity, accounts: subaccountCount };
      late = { history: new AccountHistory(engine, () => saved?.seq ?? engine.seq), part };
      return null;
    }
    const age = engine.seq - late.part.sinceSeq;
    if (saved === null && age >= LATE_AFTER / step) {
      saved = { bytes: engine.snapshot(), seq: engine.seq };
    }
    return saved !== null && engine.seq >= saved.seq + LOST_AFTER / step ? lose() : null;
  };
  return {
    before: (engine) => {
      whole ??= new AccountHistory(engine, () => Infinity);
      ids ??= new TrustOrderIds(engine, sha256Hex);
    },
    onEvent: (event) => {
      note(event);
      whole?.take(event);
      late?.history.take(event);
    },
    after: (engine) => {
      const found = engine.seq % between === 0 ? compare(engine) : null;
      const fault = found ?? follow(engine);
      return fault === null ? null : broken(engine, fault);
    },
    end: (engine) => {
      for (let i = 0; i < END_READS; i += 1) {
        const found = compare(engine);
        if (found !== null) return broken(engine, found);
      }
      return null;
    },
  };
}

/** Reads after the last command of a run. */
const END_READS = 40;

function lotsOf({ changes }: Account, market: number): number {
  for (let i = changes.length - 1; i >= 0; i -= 1) {
    const change = changes[i];
    if (change?.kind === 'positionChanged' && change.market === market) return change.lots;
  }
  return 0;
}

interface Known {
  readonly id: SubaccountId;
  readonly account: Account;
  readonly marks: readonly Extract<EngineEvent, { kind: 'markChanged' }>[];
}

/** One read of a list, and of the sums; null if both follow from the events. */
function historyFault(subject: Subject, known: Known, nth: number, turn: number): string | null {
  const { view, history, ids } = subject;
  const { account: owner, index } = view.subaccount(known.id);
  const account = view.addressOf(owner);
  const request = { account, subaccountIndex: index };
  const [signer = account] = view.signersOf(account).signers;
  const context = { engine: view, keccak: sha256Hex, ids, history };
  const caller = { account, signer };
  const list = LISTS[nth % LISTS.length] ?? 'equity';
  if (list === 'equity' ? known.account.changes.length > KEPT : known.account[list].length > KEPT) {
    return null;
  }
  const sums = differingField(sumsOf(subject, known), historyTotals(context, request, caller));
  if (sums !== null) return `history: ${sums}`;
  const { asked, expected, keptSinceMs } =
    list === 'equity' ? equityRead(subject, known, turn) : entriesRead(subject, known, list, turn);
  const limit = Math.max(1 + (turn % 4), Math.ceil((2 * expected.length) / MAX_PAGES));
  const entries: unknown[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const fields = { ...request, ...asked, limit, ...(cursor === null ? {} : { cursor }) };
    const { body, next, keptSinceMs: kept } = readHistory(context, list, fields, caller);
    if (next === null && kept !== keptSinceMs) {
      return `history of ${list} ${text(asked)} is kept since ${String(kept)}, not ${String(keptSinceMs)}`;
    }
    entries.push(...(body as readonly unknown[]));
    cursor = next;
    if (cursor === null || entries.length > expected.length) break;
  }
  const differs = differingField(expected, entries, 'pages');
  const where = `history of ${list} ${text(asked)} in pages of ${String(limit)}`;
  return differs === null ? null : `${where}: ${differs}`;
}

const text = (value: unknown): string => JSON.stringify(value);

const isIn = ({ sinceSeq, untilSeq }: Part, { seq }: EngineEvent): boolean =>
  seq > sinceSeq && seq <= untilSeq;

function sumsOf({ part }: Subject, { account }: Known): Fields {
  const fills = account.fills.filter(({ event }) => isIn(part, event));
  const funding = account.funding.filter(({ event }) => isIn(part, event));
  const fees = fills.map(({ event }) =>
    event.kind === 'orderFilled' ? event.feeQuanta + event.originatorFeeQuanta : 0n,
  );
  const realized = fills.map(({ event, side }) => {
    if (event.kind === 'orderFilled') return event.realizedPnlQuanta;
    return side === 0
      ? event.fromRealizedQuanta - event.moneyQuanta
      : event.toRealizedQuanta + event.moneyQuanta;
  });
  return {
    since: part.sinceUs === null ? null : Math.floor(part.sinceUs / 1000),
    fills: fills.length,
    fees: moneyText(sum(fees)),
    funding: moneyText(sum(funding.map(({ amount }) => amount))),
    realizedPnl: moneyText(sum(realized)),
  };
}

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((a, b) => a + b, 0n);

interface Read {
  readonly asked: Fields;
  readonly expected: readonly unknown[];
  readonly keptSinceMs: number | null;
}

/** Start of the history, if a request reaches back beyond it. */
const keptSince = (fromMs: number | undefined, sinceUs: number | null): number | null =>
  sinceUs !== null && (fromMs ?? 0) * 1000 < sinceUs ? Math.floor(sinceUs / 1000) : null;

function entriesRead(
  { view, part }: Subject,
  { account }: Known,
  list: 'fills' | 'funding' | 'liquidations',
  turn: number,
): Read {
  const rows: readonly { readonly event: EngineEvent }[] = account[list];
  const all = rows.filter(({ event }) => isIn(part, event)).toReversed();
  const asked = rangeOf(
    all.map(({ event }) => event.timeUs),
    turn,
  );
  const { from, to } = asked;
  // Both ends are inclusive.
  const isShown = ({ event: { timeUs: us } }: { readonly event: EngineEvent }): boolean =>
    us >= (from ?? 0) * 1000 && us < (to === undefined ? Infinity : (to + 1) * 1000);
  const expected = all.filter(isShown).map((row) => {
    if (list === 'funding') return fundingRecord(view, row as Paid);
    const { event, side } = row as Seen<FillEvent | LiquidationStep>;
    if (list === 'fills') return fillRecord(view, event as FillEvent, side);
    return ownRecord(view, event as LiquidationStep | PositionTransferred, side);
  });
  return { asked, expected, keptSinceMs: keptSince(from, part.sinceUs) };
}

/** Two entries, to the millisecond or one beside it; narrow, so that few pages have all. */
function rangeOf(
  times: readonly number[],
  turn: number,
): { readonly from?: number; readonly to?: number } {
  if (times.length === 0 || (times.length <= SHOWN && turn % 3 === 0)) return {};
  const at = (n: number): number => Math.floor((times[n % times.length] ?? 0) / 1000);
  const place = turn % times.length;
  const from = at(Math.min(times.length - 1, place + ((turn >> 3) % SHOWN)));
  return { from: from + ((turn >> 2) % 2), to: at(place) - (turn % 2) };
}

function fundingRecord(view: ExchangeView, { event, amount, lots, isolated }: Paid): Fields {
  const market = view.market(event.market);
  return {
    symbol: market.spec.symbol,
    time: dataTime(view, event.timeUs),
    amount: moneyText(amount),
    rate: ratePpbText(event.ratePpb),
    quantity: sizeOf(market, lots),
    isolated,
  };
}

/** The public record; the size of a transferred position is that of the account's side. */
function ownRecord(
  view: ExchangeView,
  event: LiquidationStep | PositionTransferred,
  side: number,
): Fields {
  const record = liquidationRecord(view, event);
  if (event.kind !== 'positionTransferred') return record;
  const lots = side === 0 ? -event.lots : event.lots;
  return { ...record, quantity: sizeOf(view.market(event.market), lots) };
}

/** Equity at ends of intervals around a change of the account, newest first. */
function equityRead({ view, part }: Subject, known: Known, turn: number): Read {
  const { changes } = known.account;
  const [name, minutes] = INTERVALS[turn % INTERVALS.length] ?? INTERVALS[0];
  const intervalUs = minutes * MINUTE_US;
  const anchor = changes[(turn >> 3) % Math.max(1, changes.length)]?.timeUs ?? view.nowUs;
  const middle = Math.floor(anchor / intervalUs);
  const lastUs = (middle + ((turn >> 2) % POINTS)) * intervalUs;
  const firstUs = Math.max(0, lastUs - POINTS * intervalUs);
  const asked = {
    interval: name,
    from: firstUs / 1000 + (turn % 2),
    to: lastUs / 1000 - ((turn >> 1) % 2),
  };
  const isOld = known.id < part.accounts;
  const knownUs = isOld
    ? (part.sinceUs ?? 0)
    : (changes.find(({ seq }) => seq > part.sinceSeq && seq <= part.untilSeq)?.timeUs ?? Infinity);
  const expected: Fields[] = [];
  let keptUs = part.sinceUs;
  const newestUs = Math.min(view.nowUs, (asked.to + 1) * 1000 - 1);
  let atUs = Math.floor(newestUs / intervalUs) * intervalUs;
  for (; atUs >= asked.from * 1000 && atUs > knownUs; atUs -= intervalUs) {
    const equity = equityAt(view, known, part, atUs);
    if (equity === null) {
      keptUs = atUs + intervalUs;
      break;
    }
    expected.push({ time: atUs / 1000, equity: moneyText(equity) });
  }
  const isEmpty = knownUs === Infinity;
  return { asked, expected, keptSinceMs: isEmpty ? null : keptSince(asked.from, keptUs) };
}

/** Equity by the changes and marks before a time; null if a mark of that time is not known. */
function equityAt(
  view: ExchangeView,
  { account, marks }: Known,
  part: Part,
  atUs: number,
): bigint | null {
  let cash = 0n;
  const held = new Map<number, { lots: number; cost: bigint; margin: bigint }>();
  const positionIn = (market: number) => {
    const found = held.get(market) ?? { lots: 0, cost: 0n, margin: 0n };
    held.set(market, found);
    return found;
  };
  for (const change of account.changes) {
    if (change.timeUs >= atUs || change.seq > part.untilSeq) break;
    if (change.kind === 'balanceChanged') cash = change.balanceQuanta;
    else if (change.kind === 'isolatedMarginChanged') {
      positionIn(change.market).margin = change.marginQuanta;
    } else {
      const position = positionIn(change.market);
      position.lots = change.lots;
      position.cost = change.costQuanta;
    }
  }
  let equity = cash;
  for (const [id, { lots, cost, margin }] of held) {
    equity += margin - cost;
    if (lots === 0) continue;
    const mark = marks.findLast(
      ({ market, timeUs, seq }) => market === id && timeUs < atUs && seq <= part.untilSeq,
    );
    if (mark === undefined) return null;
    const { quantaPerTickLot } = view.market(mark.market).spec;
    equity += BigInt(lots) * BigInt(mark.markTicks) * BigInt(quantaPerTickLot);
  }
  return equity;
}

function broken({ seq }: Engine, what: string): Violation {
  return {
    invariant: 'history',
    rule: 'docs/API.md',
    says: 'the history of an account is that of its events',
    detail: `after command ${String(seq)}: ${what}`,
  };
}
