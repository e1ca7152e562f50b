/** Fills, funding, liquidations and the equity curve, from the history on the server. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { grouped } from '../../design/number-text.ts';
import { money, rateText, result } from '../exact-text.ts';
import {
  equity,
  fillKey,
  fills,
  funding,
  loadEquity,
  ownLiquidations,
  range,
  RANGES,
  totals,
  type Fill,
  type FundingRow,
  type HistoryTable,
  type OwnLiquidation,
  type Range,
} from './account-history.ts';
import { balances, stats } from './account-state.ts';
import { MarketLink, marketOf, Result, Side } from './cells.tsx';
import { DataTable } from '../data-table.tsx';
import type { Column } from '../table.tsx';
import { everySecond, nowMs } from './market-bar.tsx';
import { liquidations, type Liquidation } from './markets.ts';
import { csvOf } from '../csv.ts';
import { download } from '../page-parts.ts';
import { messageOf } from './requests.ts';
import { account, loggedIn, subaccountIndex, token } from './session.ts';
import { priceText, sizeText, timeText, UNKNOWN } from './text.ts';

const problem = signal<string | null>(null);

function run(work: Promise<unknown>): void {
  work.then(
    () => {
      problem.value = null;
    },
    (error: unknown) => {
      problem.value = messageOf(error);
    },
  );
}

/** Buttons for the rows that are not read yet. */
function Older<T extends object>({ of }: { readonly of: HistoryTable<T> }): ComponentChildren {
  return (
    <>
      {problem.value === null ? null : (
        <span class="danger small" role="alert">
          {problem.value}
        </span>
      )}
      {of.next.value === null ? null : (
        <button
          type="button"
          class="button"
          onClick={() => {
            run(of.loadOlder(true));
          }}
        >
          Load all
        </button>
      )}
    </>
  );
}

/** Reads a list when its tab opens, and again when money of the account moves. */
function useHistory<T extends object>(of: HistoryTable<T>): void {
  useEffect(() => {
    run(of.load());
  }, [account.value, subaccountIndex.value, token.value, balances.value]);
}

const time = <T extends { readonly time: number }>(): Column<T> => ({
  name: 'Time, UTC',
  width: 1.9,
  left: true,
  of: (row) => timeText(row.time),
  by: (row) => row.time,
});

const FILLS: readonly Column<Fill>[] = [
  time(),
  {
    name: 'Market',
    width: 1.4,
    left: true,
    of: (row) => <MarketLink of={row.symbol} />,
    by: (row) => row.symbol,
  },
  { name: 'Side', left: true, of: (row) => <Side quantity={row.quantity} /> },
  { name: 'Price', of: (row) => priceText(row.price, marketOf(row.symbol)) },
  { name: 'Size', of: (row) => sizeText(row.quantity, marketOf(row.symbol)) },
  { name: 'Fee', of: (row) => money(row.fee), by: (row) => Number(row.fee) },
  { name: 'Funding', of: (row) => <Result text={row.realized_funding} /> },
  {
    name: 'Result',
    of: (row) => <Result text={row.realized_pnl} />,
    by: (row) => +row.realized_pnl,
  },
];

export function Fills() {
  return (
    <DataTable
      caption="Fills"
      rows={fills.rows.value}
      columns={FILLS}
      keyOf={fillKey}
      empty={loggedIn.value ? 'No fill yet' : 'Log in to see fills'}
      file="fills"
    >
      <Older of={fills} />
    </DataTable>
  );
}

const FUNDING: readonly Column<FundingRow>[] = [
  time(),
  {
    name: 'Market',
    width: 1.4,
    left: true,
    of: (row) => <MarketLink of={row.symbol} />,
    by: (row) => row.symbol,
  },
  {
    name: 'Received, USD',
    of: (row) => <Result text={row.amount} />,
    by: (row) => Number(row.amount),
  },
  { name: 'Rate', of: (row) => rateText(row.rate) },
  { name: 'Position', of: (row) => sizeText(row.quantity, marketOf(row.symbol)) },
  { name: 'Margin', left: true, of: (row) => (row.isolated ? 'isolated' : 'cross') },
];

export function Funding() {
  useHistory(funding);
  return (
    <DataTable
      caption="Funding received and paid"
      rows={funding.rows.value}
      columns={FUNDING}
      keyOf={(row) => `${String(row.time)} ${row.symbol}`}
      empty={loggedIn.value ? 'No funding yet' : 'Log in to see funding'}
      file="funding"
    >
      <Older of={funding} />
    </DataTable>
  );
}

const LIQUIDATIONS: readonly Column<Liquidation | OwnLiquidation>[] = [
  time(),
  { name: 'Event', left: true, of: (row) => <span class="danger">{row.event}</span> },
  { name: 'Step', left: true, of: (row) => row.step ?? UNKNOWN },
  { name: 'Market', width: 1.4, left: true, of: (row) => row.symbol ?? 'cross positions' },
  { name: 'Size', of: (row) => row.quantity ?? UNKNOWN },
  { name: 'Price', of: (row) => row.price ?? UNKNOWN },
  { name: 'Amount, USD', of: (row) => (row.amount === null ? UNKNOWN : money(row.amount)) },
];
/** Whose liquidations are listed. */
export const whose = signal<'all' | 'own'>('all');

export function Liquidations() {
  useHistory(ownLiquidations);
  const isOwn = whose.value === 'own' && loggedIn.value;
  return (
    <DataTable
      caption={
        isOwn
          ? 'Liquidations and auto-deleveraging of this account'
          : 'Liquidations and auto-deleveraging since this page opened'
      }
      rows={isOwn ? ownLiquidations.rows.value : liquidations.value}
      columns={LIQUIDATIONS}
      keyOf={(row) => JSON.stringify(row)}
      empty={isOwn ? 'This account was never liquidated' : 'No liquidation since this page opened'}
      file={isOwn ? 'own-liquidations' : 'liquidations'}
    >
      {isOwn ? <Older of={ownLiquidations} /> : null}
      {loggedIn.value ? (
        <select
          aria-label="Whose liquidations"
          value={whose.value}
          onChange={({ currentTarget }) => {
            whose.value = currentTarget.value === 'own' ? 'own' : 'all';
          }}
        >
          <option value="all">All accounts, live</option>
          <option value="own">This account</option>
        </select>
      ) : null}
    </DataTable>
  );
}

/** Sums of fees and funding since the history begins. */
export function PaidFigures() {
  const { value: sums } = totals;
  if (sums === null) return null;
  const since = sums.since === null ? '' : `, since ${timeText(sums.since)} UTC`;
  return (
    <>
      <div>
        <dt>Fees paid{since}</dt>
        <dd title={sums.fees}>{money(sums.fees)} USD</dd>
      </div>
      <div>
        <dt>Funding received{since}</dt>
        <dd title={sums.funding}>
          <Result text={sums.funding} /> USD
        </dd>
      </div>
      <div>
        <dt>
          Realised by {sums.fills} {sums.fills === 1 ? 'fill' : 'fills'}, before both
        </dt>
        <dd title={sums.realizedPnl}>
          <Result text={sums.realizedPnl} /> USD
        </dd>
      </div>
    </>
  );
}

/** Reads of the curve; the newest point is the account's present value. */
const READ_S = 10;

/** Equity of the chosen range. */
export function EquityCurve() {
  const tick = Math.floor(everySecond() / READ_S);
  useEffect(() => {
    run(loadEquity(nowMs()));
  }, [account.value, subaccountIndex.value, token.value, range.value, tick, balances.value]);
  const points = equity.value.map((row) => ({ ms: row.time, value: Number(row.equity) }));
  if (stats.value !== null) points.push({ ms: nowMs(), value: Number(stats.value.accountValue) });
  return (
    <figure class="equity">
      <figcaption class="bar">
        <h2>Equity</h2>
        <span class="space" />
        <select
          aria-label="Range of the equity curve"
          value={range.value}
          onChange={({ currentTarget }) => {
            range.value = currentTarget.value as Range;
          }}
        >
          {Object.keys(RANGES).map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <EquityFile />
      </figcaption>
      <Curve points={points} />
    </figure>
  );
}

interface Point {
  readonly ms: number;
  readonly value: number;
}

function Curve({ points }: { readonly points: readonly Point[] }) {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || points.length < 2) {
    return <p class="empty">No whole interval in this range yet</p>;
  }
  const values = points.map(({ value }) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (ms: number): number => ((ms - first.ms) / (last.ms - first.ms || 1)) * 400;
  const y = (value: number): number => 94 - ((value - low) / (high - low || 1)) * 88;
  const path = points
    .map(({ ms, value }, i) => `${i === 0 ? 'M' : 'L'}${x(ms).toFixed(1)} ${y(value).toFixed(1)}`)
    .join(' ');
  const change = last.value - first.value;
  return (
    <>
      <svg
        viewBox="0 0 400 100"
        preserveAspectRatio="none"
        role="img"
        aria-label={`Equity from ${first.value.toFixed(2)} to ${last.value.toFixed(2)} USD`}
      >
        <path d={path} />
      </svg>
      <p class="small quiet">
        {timeText(first.ms)} – {timeText(last.ms)} UTC: {grouped(low.toFixed(2))} –{' '}
        {grouped(high.toFixed(2))} USD, change {result(change.toFixed(2))}
      </p>
    </>
  );
}

function EquityFile() {
  return (
    <button
      type="button"
      class="button"
      aria-label="Equity as CSV"
      disabled={equity.value.length === 0}
      onClick={() => {
        const text = csvOf(['time', 'equity'], equity.value);
        download(new Blob([text], { type: 'text/csv' }), 'equity.csv');
      }}
    >
      CSV
    </button>
  );
}
