/** Tables of closed trades, fills, liquidations and funding. */
import type { FillRow, FundingRow, LiquidationRow } from '../../backtest/output.ts';
import type { ExcursionTrip } from '../analysis/excursions.ts';
import type { MarketReport, StrategyReport } from '../report.ts';
import {
  duration,
  grouped,
  isNoMoney,
  money,
  percent,
  signed,
  time,
} from '../../design/number-text.ts';
import { exitText } from '../reason-text.ts';
import { table, type Column } from '../text.ts';

/** Decimals of the tick and of the lot of each market. */
export type Decimals = ReadonlyMap<string, { readonly tick: number; readonly lot: number }>;

/** How the rows of a run are shown, and the file that has all of them. */
interface Shown {
  readonly decimals: Decimals;
  readonly allRows: string;
}

export function decimalsOf(
  markets: readonly Pick<MarketReport, 'symbol' | 'tickSize' | 'lotSize'>[],
): Decimals {
  const count = (step: string): number => step.split('.')[1]?.length ?? 0;
  return new Map(
    markets.map(({ symbol, tickSize, lotSize }) => [
      symbol,
      { tick: count(tickSize), lot: count(lotSize) },
    ]),
  );
}

/** Column of times: the date once, in the title, if all rows have one date. */
function timeColumn<T>(title: string, rows: readonly T[], of: (row: T) => number): Column<T> {
  const dates = new Set(rows.map((row) => time(of(row)).slice(0, 10)));
  const [date = ''] = dates;
  const isOne = dates.size === 1;
  return {
    title: isOne ? `${title}, ${date}` : title,
    isText: true,
    cell: (row) => time(of(row)).slice(isOne ? 11 : 0),
    exact: (row) => time(of(row)),
  };
}

/** Reasons of up to 80 characters; a long one ends in dots where the table has no room. */
function reasonColumn<T>(of: (row: T) => string | null, title = 'Reason'): Column<T> {
  const cell = (row: T): string => of(row) ?? '–';
  return { title, isText: true, isClipped: true, cell, exact: cell };
}

/** Omitted where all rows are of one market. */
function marketColumn<T extends { readonly symbol: string }>(rows: readonly T[]): Column<T>[] {
  if (new Set(rows.map(({ symbol }) => symbol)).size < 2) return [];
  return [{ title: 'Market', isText: true, cell: ({ symbol }) => symbol }];
}

export function tradeTable(
  { trades: closed, openTrades: open }: Pick<StrategyReport, 'trades' | 'openTrades'>,
  index: number,
  { decimals, allRows }: Shown,
): string {
  const trades = [...closed, ...open];
  if (trades.length === 0) return '<p>No position was opened.</p>';
  const rows = table<ExcursionTrip>(
    trades,
    [
      timeColumn('Opened', trades, ({ entryUs }) => entryUs),
      {
        title: 'Held',
        cell: ({ entryUs, exitUs }) => duration(exitUs - entryUs),
        exact: ({ entryUs, exitUs }) => String((exitUs - entryUs) / 1e6),
      },
      ...marketColumn(trades),
      {
        title: 'Side',
        isText: true,
        cell: ({ side, liquidated }) => (liquidated ? `${side}, liquidated` : side),
      },
      ...(trades.some(({ tag }) => tag !== null)
        ? [reasonColumn(({ tag }: ExcursionTrip) => tag, 'Entry reason')]
        : []),
      // Omitted if plain orders without a tag closed all of them.
      ...(trades.some((trade) => exitText(trade) !== 'order')
        ? [reasonColumn<ExcursionTrip>(exitText, 'Exit reason')]
        : []),
      { title: 'Size', cell: ({ size, symbol }) => sized(plain(size), decimals.get(symbol)) },
      {
        title: 'Entry',
        cell: ({ entryPrice, symbol }) => average(entryPrice, decimals.get(symbol)),
      },
      { title: 'Exit', cell: ({ exitPrice, symbol }) => average(exitPrice, decimals.get(symbol)) },
      { title: 'Fees', cell: ({ fees }) => money(-fees), exact: ({ fees }) => exact(-fees) },
      {
        title: 'Funding',
        cell: ({ funding }) => money(funding),
        exact: ({ funding }) => exact(funding),
      },
      {
        title: 'PnL',
        cell: ({ pnl }) => money(pnl),
        exact: ({ pnl }) => exact(pnl),
        tone: ({ pnl }) => shown(pnl),
      },
      { title: 'Of notional', cell: ({ pnlShare }) => percent(pnlShare) },
      { title: 'MAE', cell: ({ mae }) => percent(-mae) },
      { title: 'MFE', cell: ({ mfe }) => percent(mfe) },
    ],
    {
      id: `trades-${String(index)}`,
      all: allRows,
      filter: `${trades[0]?.side ?? ''} ${dayOf(trades[0]?.entryUs ?? 0)}`,
      caption: open.length === 0 ? 'closed trades' : 'closed and open trades',
    },
  );
  return open.length === 0 ? rows : `${rows}${openNote(open.length)}`;
}

const openNote = (count: number): string =>
  `<p class="caption">${count === 1 ? 'The position that is' : `The ${String(count)} positions that are`} open at the end ${count === 1 ? 'ends' : 'end'} here at the last mark, and ${count === 1 ? 'is' : 'are'} not among the closed trades of the metrics.</p>`;

/** Reasons of fills, and pages that a fill links to. */
export interface FillLinks {
  /** By the number of the order. */
  readonly reasons: ReadonlyMap<number, string | null>;
  readonly order: (orderNumber: number) => string | null;
  /** Null without a page of instants. */
  readonly instant: ((fill: FillRow) => string | null) | null;
}

export function fillTable(
  { fills }: Pick<StrategyReport, 'fills'>,
  index: number,
  links: FillLinks,
  { decimals, allRows }: Shown,
): string {
  if (fills.length === 0) return '<p>No order was filled.</p>';
  const { instant, reasons } = links;
  const reason = ({ orderNumber, tag }: FillRow): string | null => reasons.get(orderNumber) ?? tag;
  return table<FillRow>(
    fills,
    [
      timeColumn('Time', fills, ({ timeUs }) => timeUs),
      ...marketColumn(fills),
      {
        title: 'Side',
        isText: true,
        cell: ({ side }) => side,
        tone: ({ side }) => (side === 'buy' ? 1 : -1),
      },
      { title: 'Role', isText: true, cell: ({ role }) => role },
      { title: 'Price', cell: ({ price, symbol }) => priced(price, decimals.get(symbol)) },
      { title: 'Size', cell: ({ size, symbol }) => sized(size, decimals.get(symbol)) },
      {
        title: 'Fee',
        cell: ({ fee }) => money(-Number(fee)),
        exact: ({ fee }) => exact(-Number(fee)),
      },
      {
        title: 'Realised',
        cell: ({ realizedPnl }) => money(Number(realizedPnl)),
        exact: ({ realizedPnl }) => realizedPnl,
        tone: ({ realizedPnl }) => shown(Number(realizedPnl)),
      },
      {
        title: 'Position after',
        cell: ({ position, symbol }) => sized(position, decimals.get(symbol)),
      },
      ...(fills.some((fill) => reason(fill) !== null) ? [reasonColumn(reason)] : []),
      {
        title: 'Order',
        cell: ({ orderNumber }) => `#${String(orderNumber)}`,
        link: ({ orderNumber }) => links.order(orderNumber),
      },
      ...(instant === null
        ? []
        : [{ title: 'Instant', cell: ({ seq }: FillRow) => String(seq), link: instant }]),
      { title: 'Fill', cell: ({ fillId }) => String(fillId) },
    ],
    {
      id: `fills-${String(index)}`,
      all: allRows,
      filter: `${fills[0]?.side ?? ''} ${fills[0]?.role ?? ''} ${dayOf(fills[0]?.timeUs ?? 0)}`,
      caption: 'fills',
      rowId: ({ fillId }: FillRow) => `fill-${String(index)}-${String(fillId)}`,
    },
  );
}

/** Empty without liquidations. */
export function liquidationTable(
  { liquidations }: Pick<StrategyReport, 'liquidations'>,
  { decimals, allRows }: Shown,
): string {
  if (liquidations.length === 0) return '';
  return `<h2>Liquidations and auto-deleveraging</h2>${table<LiquidationRow>(
    liquidations,
    [
      { title: 'Time', isText: true, cell: ({ timeUs }) => time(timeUs) },
      { title: 'Market', isText: true, cell: ({ symbol }) => symbol ?? 'all cross positions' },
      { title: 'Step', isText: true, cell: ({ step }) => step },
      { title: 'Equity', cell: ({ equity }) => grouped(equity) },
      { title: 'Maintenance', cell: ({ maintenance }) => grouped(maintenance) },
      { title: 'Size', cell: ({ size, symbol }) => sized(size, decimals.get(symbol ?? '')) },
      {
        title: 'Limit',
        cell: ({ limitPrice, symbol }) => priced(limitPrice ?? '–', decimals.get(symbol ?? '')),
      },
      {
        title: 'Bankruptcy price',
        cell: ({ bankruptcyPrice, symbol }) =>
          priced(bankruptcyPrice ?? '–', decimals.get(symbol ?? '')),
      },
      {
        title: 'Amount',
        cell: ({ amount: of }) => money(Number(of)),
        exact: ({ amount: of }) => of,
        tone: ({ amount: of }) => shown(Number(of)),
      },
    ],
    { all: allRows, caption: 'liquidations and auto-deleveraging' },
  )}`;
}

/** Empty without funding payments. */
export function fundingTable(
  { funding }: Pick<StrategyReport, 'funding'>,
  index: number,
  { decimals, allRows }: Shown,
): string {
  if (funding.length === 0) return '';
  return `<h2>Funding</h2>${table<FundingRow>(
    funding,
    [
      timeColumn('Time', funding, ({ timeUs }) => timeUs),
      ...marketColumn(funding),
      {
        title: 'Rate, a settlement',
        cell: ({ rate }) => `${signed((Number(rate) * 100).toFixed(4))}\u202f%`,
        exact: ({ rate }) => rate,
      },
      {
        title: 'Position',
        cell: ({ position, symbol }) => sized(position, decimals.get(symbol)),
      },
      {
        title: 'Payment',
        cell: ({ payment }) => money(Number(payment)),
        exact: ({ payment }) => payment,
        tone: ({ payment }) => shown(Number(payment)),
      },
    ],
    {
      id: `funding-${String(index)}`,
      all: allRows,
      filter: time(funding[0]?.timeUs ?? 0).slice(0, 7),
      caption: 'funding payments',
    },
  )}`;
}

/** An average price: one decimal more than the tick. */
const average = (value: number, { tick } = { tick: 2 }): string =>
  grouped(value.toFixed(Math.min(12, tick + 1)));

/** A price with all decimals of the tick. */
const priced = (text: string, { tick } = { tick: 0 }): string => padded(text, tick);

/** A size with all decimals of the lot. */
const sized = (text: string, { lot } = { lot: 0 }): string => padded(text, lot);

function padded(text: string, decimals: number): string {
  if (text === '–') return text;
  const [whole = '', fraction = ''] = text.split('.');
  const digits = fraction.padEnd(decimals, '0');
  return grouped(digits === '' ? whole : `${whole}.${digits}`);
}

/** Money for the colour of its sign. */
const shown = (value: number): number => (isNoMoney(value) ? 0 : value);

/** 08-24 */
const dayOf = (us: number): string => time(us).slice(5, 10);

/** Six decimals, those of money. */
const exact = (value: number): string => value.toFixed(6).replace(/^-(0\.0*)$/, '$1');

/** Significant digits of a size. */
function plain(value: number): string {
  return String(Number(value.toPrecision(10)));
}
