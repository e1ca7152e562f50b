/** Tables of closed trades, fills, liquidations and funding. */
import type { FillRow, FundingRow, LiquidationRow } from '../../backtest/output.ts';
import type { ExcursionTrip } from '../analysis/excursions.ts';
import type { MarketReport, StrategyReport } from '../report.ts';
import {
  amount,
  duration,
  grouped,
  money,
  percent,
  signed,
  time,
} from '../../design/number-text.ts';
import { table, type Column } from '../text.ts';

/** Decimals of the tick of each market. */
export type TickDecimals = ReadonlyMap<string, number>;

export function tickDecimals(
  markets: readonly Pick<MarketReport, 'symbol' | 'tickSize'>[],
): TickDecimals {
  return new Map(
    markets.map(({ symbol, tickSize }) => [symbol, tickSize.split('.')[1]?.length ?? 0]),
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

/** Omitted where all rows are of one market. */
function marketColumn<T extends { readonly symbol: string }>(rows: readonly T[]): Column<T>[] {
  if (new Set(rows.map(({ symbol }) => symbol)).size < 2) return [];
  return [{ title: 'Market', isText: true, cell: ({ symbol }) => symbol }];
}

export function tradeTable(
  { trades }: Pick<StrategyReport, 'trades'>,
  index: number,
  ticks: TickDecimals,
): string {
  if (trades.length === 0) return '<p>No position was closed.</p>';
  return table<ExcursionTrip>(
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
        ? [{ title: 'Reason', isText: true, cell: ({ tag }: ExcursionTrip) => tag ?? '–' }]
        : []),
      { title: 'Size', cell: ({ size }) => plain(size) },
      { title: 'Entry', cell: ({ entryPrice, symbol }) => average(entryPrice, ticks.get(symbol)) },
      { title: 'Exit', cell: ({ exitPrice, symbol }) => average(exitPrice, ticks.get(symbol)) },
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
        tone: ({ pnl }) => pnl,
      },
      { title: 'Of notional', cell: ({ pnlShare }) => percent(pnlShare) },
      { title: 'MAE', cell: ({ mae }) => percent(-mae) },
      { title: 'MFE', cell: ({ mfe }) => percent(mfe) },
    ],
    { id: `trades-${String(index)}`, filter: 'short 08-08', caption: 'closed trades' },
  );
}

/** Pages that a fill links to. */
export interface FillLinks {
  readonly order: (orderNumber: number) => string | null;
  /** Null without a page of instants. */
  readonly instant: ((fill: FillRow) => string | null) | null;
}

export function fillTable(
  { fills }: Pick<StrategyReport, 'fills'>,
  index: number,
  links: FillLinks,
): string {
  if (fills.length === 0) return '<p>No order was filled.</p>';
  const { instant } = links;
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
      { title: 'Price', cell: ({ price }) => grouped(price) },
      { title: 'Size', cell: ({ size }) => size },
      { title: 'Fee', cell: ({ fee }) => amount(Number(fee)), exact: ({ fee }) => fee },
      {
        title: 'Realised',
        cell: ({ realizedPnl }) => money(Number(realizedPnl)),
        exact: ({ realizedPnl }) => realizedPnl,
        tone: ({ realizedPnl }) => Number(realizedPnl),
      },
      { title: 'Position after', cell: ({ position }) => grouped(position) },
      ...(fills.some(({ tag }) => tag !== null)
        ? [{ title: 'Reason', isText: true, cell: ({ tag }: FillRow) => tag ?? '–' }]
        : []),
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
      filter: 'sell maker 61,8',
      caption: 'fills',
      rowId: ({ fillId }: FillRow) => `fill-${String(index)}-${String(fillId)}`,
    },
  );
}

/** Empty without liquidations. */
export function liquidationTable({ liquidations }: StrategyReport): string {
  if (liquidations.length === 0) return '';
  return `<h2>Liquidations and auto-deleveraging</h2>${table<LiquidationRow>(
    liquidations,
    [
      { title: 'Time', isText: true, cell: ({ timeUs }) => time(timeUs) },
      { title: 'Market', isText: true, cell: ({ symbol }) => symbol ?? 'all cross positions' },
      { title: 'Step', isText: true, cell: ({ step }) => step },
      { title: 'Equity', cell: ({ equity }) => grouped(equity) },
      { title: 'Maintenance', cell: ({ maintenance }) => grouped(maintenance) },
      { title: 'Size', cell: ({ size }) => grouped(size) },
      { title: 'Limit', cell: ({ limitPrice }) => grouped(limitPrice ?? '–') },
      { title: 'Bankruptcy price', cell: ({ bankruptcyPrice }) => grouped(bankruptcyPrice ?? '–') },
      {
        title: 'Amount',
        cell: ({ amount: of }) => money(Number(of)),
        exact: ({ amount: of }) => of,
        tone: ({ amount: of }) => Number(of),
      },
    ],
    { caption: 'liquidations and auto-deleveraging' },
  )}`;
}

/** Empty without funding payments. */
export function fundingTable({ funding }: Pick<StrategyReport, 'funding'>, index: number): string {
  if (funding.length === 0) return '';
  return `<h2>Funding</h2>${table<FundingRow>(
    funding,
    [
      timeColumn('Time', funding, ({ timeUs }) => timeUs),
      ...marketColumn(funding),
      {
        title: 'Rate',
        cell: ({ rate }) => `${signed((Number(rate) * 100).toFixed(4))}\u202f%`,
        exact: ({ rate }) => rate,
      },
      { title: 'Position', cell: ({ position }) => grouped(position) },
      {
        title: 'Payment',
        cell: ({ payment }) => money(Number(payment)),
        exact: ({ payment }) => payment,
        tone: ({ payment }) => Number(payment),
      },
    ],
    { id: `funding-${String(index)}`, filter: '2024-08', caption: 'funding payments' },
  )}`;
}

/** An average price: one decimal more than the tick. */
const average = (value: number, decimals = 2): string =>
  grouped(value.toFixed(Math.min(12, decimals + 1)));

/** Six decimals, those of money. */
const exact = (value: number): string => value.toFixed(6).replace(/^-(0\.0*)$/, '$1');

/** Significant digits of a size. */
function plain(value: number): string {
  return grouped(String(Number(value.toPrecision(10))));
}
