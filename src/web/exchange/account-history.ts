/** Lists of the account's history on the server, read page by page, newest first. */
import { batch, signal, type Signal } from '@preact/signals';
import {
  HISTORY_LISTS,
  HISTORY_TOTALS,
  type HistoryRow,
  type HistoryTotals,
} from '../../contract/history-lists.ts';
import { ask, type Page } from './requests.ts';
import { account, subaccountIndex, token } from './session.ts';

export type Fill = HistoryRow<'fills'>;
export type FundingRow = HistoryRow<'funding'>;
export type OwnLiquidation = HistoryRow<'liquidations'>;
export type EquityRow = HistoryRow<'equity'>;

const PAGE = 200;
const ALL_PAGE = 1000;
/** Rows of a file; a longer history is read by a program. */
const MAX_ROWS = 20_000;

type Query = Readonly<Record<string, string>>;

/** The account in use as a query; null without a login. */
function owner(): Query | null {
  if (account.value === null || token.value === null) return null;
  return { account: account.value, subaccountIndex: String(subaccountIndex.value) };
}

async function read<T>(path: string, query: Query): Promise<Page<T>> {
  const text = new URLSearchParams(query).toString();
  return ask<T>('GET', `${path}?${text}`, { token: token.value });
}

export class HistoryTable<T extends object> {
  readonly rows: Signal<readonly T[]> = signal([]);
  /** Cursor of older rows; null if there are none. */
  readonly next = signal<string | null>(null);
  private readonly path: string;
  private readonly keyOf: (row: T) => string;
  /** Rows of a feed while a page is on its way, which may have them too. */
  private arrived: T[] = [];
  /** First rows that a feed added since the last page was read: there may be a hole after them. */
  private fed = 0;
  private reads = 0;
  private owner = '';

  constructor(path: string, keyOf: (row: T) => string) {
    this.path = path;
    this.keyOf = keyOf;
  }

  /**
   * Reads the newest page. Older rows stay if the page reaches them; after a longer time without a
   * connection they are dropped, and the cursor reads them again. False if the page was not taken,
   * after a later read or `forget`. Rejects with `Refused` and `NoAnswer`.
   */
  async load(): Promise<boolean> {
    const of = owner();
    if (of === null) return false;
    this.reads += 1;
    const { reads } = this;
    const name = JSON.stringify(of);
    this.arrived = [];
    const { body, next } = await read<T[]>(this.path, { ...of, limit: String(PAGE) });
    if (reads !== this.reads) return false;
    const isSame = this.owner === name;
    const known = isSame ? this.rows.value.slice(this.fed) : [];
    this.owner = name;
    this.fed = 0;
    const isJoined = next === null || withoutKnown(body, known, this.keyOf).length < body.length;
    const missing = withoutKnown(this.arrived, body, this.keyOf);
    const held = isJoined && isSame ? this.rows.value : [];
    const older = withoutKnown(held, [...missing, ...body], this.keyOf);
    batch(() => {
      this.rows.value = [...missing, ...body, ...older];
      if (older.length === 0) this.next.value = next;
    });
    return true;
  }

  /** Reads older rows: a page, or all of them. */
  async loadOlder(isAll: boolean): Promise<void> {
    const of = owner();
    const { reads } = this;
    while (of !== null && this.next.value !== null && this.rows.value.length < MAX_ROWS) {
      const page = { cursor: this.next.value, limit: String(isAll ? ALL_PAGE : PAGE) };
      const { body, next } = await read<T[]>(this.path, { ...of, ...page });
      if (reads !== this.reads) return;
      batch(() => {
        this.rows.value = [...this.rows.value, ...body];
        this.next.value = next;
      });
      if (!isAll) return;
    }
  }

  /** New rows of a feed, newest first. */
  add(rows: readonly T[]): void {
    this.fed += rows.length;
    this.arrived = [...rows, ...this.arrived];
    this.rows.value = [...rows, ...this.rows.value].slice(0, MAX_ROWS);
  }

  forget(): void {
    this.reads += 1;
    this.owner = '';
    this.fed = 0;
    this.arrived = [];
    this.rows.value = [];
    this.next.value = null;
  }
}

/** Rows that are not among the known ones; equal rows count as often as they occur. */
function withoutKnown<T>(rows: readonly T[], known: readonly T[], keyOf: (row: T) => string): T[] {
  const counts = new Map<string, number>();
  for (const row of known) counts.set(keyOf(row), (counts.get(keyOf(row)) ?? 0) + 1);
  return rows.filter((row) => {
    const left = counts.get(keyOf(row)) ?? 0;
    counts.set(keyOf(row), left - 1);
    return left <= 0;
  });
}

export const fillKey = (row: Fill): string =>
  [row.time, row.order_id, row.symbol, row.price, row.quantity, row.fee].join(' ');

export const fills = new HistoryTable<Fill>(HISTORY_LISTS.fills.path, fillKey);
export const funding = new HistoryTable<FundingRow>(HISTORY_LISTS.funding.path, (row) =>
  [row.time, row.symbol, row.amount, row.quantity].join(' '),
);
export const ownLiquidations = new HistoryTable<OwnLiquidation>(
  HISTORY_LISTS.liquidations.path,
  (row) => JSON.stringify(row),
);

/** Sums since the history begins. */
export const totals = signal<HistoryTotals | null>(null);

export const RANGES = {
  '1 hour': ['1m', 3_600_000],
  '1 day': ['5m', 86_400_000],
  '1 week': ['1h', 604_800_000],
  '1 year': ['1d', 31_536_000_000],
} as const;
export type Range = keyof typeof RANGES;
export const range = signal<Range>('1 hour');
/** Oldest first. */
export const equity = signal<readonly EquityRow[]>([]);

/** Reads sums and the equity of the chosen range, up to the exchange's time. */
export async function loadEquity(nowMs: number): Promise<void> {
  const of = owner();
  if (of === null) return;
  const [interval, lengthMs] = RANGES[range.value];
  const from = String(Math.max(0, nowMs - lengthMs));
  const asked = { ...of, interval, from, limit: String(ALL_PAGE) };
  const [points, sums] = await Promise.all([
    read<EquityRow[]>(HISTORY_LISTS.equity.path, asked),
    read<HistoryTotals>(HISTORY_TOTALS.path, of),
  ]);
  batch(() => {
    equity.value = points.body.toReversed();
    totals.value = sums.body;
  });
}

export function forgetHistory(): void {
  for (const table of [fills, funding, ownLiquidations]) table.forget();
  equity.value = [];
  totals.value = null;
}
