/** Tables of closed trades, fills, liquidations and funding. */
import type { FillRow, FundingRow, LiquidationRow } from '../../backtest/output.ts';
import type { RoundTrip } from '../analysis/round-trips.ts';
import type { StrategyReport } from '../report.ts';
import { duration, grouped, money, percent, signed, time } from '../../design/number-text.ts';
import { table } from '../text.ts';

export function tradeTable({ id, trades }: StrategyReport): string {
  if (trades.length === 0) return '<p>No position was closed.</p>';
  return table<RoundTrip>(
    trades,
    [
      { title: 'Opened', isText: true, cell: ({ entryUs }) => time(entryUs) },
      { title: 'Held', cell: ({ entryUs, exitUs }) => duration(exitUs - entryUs) },
      { title: 'Market', isText: true, cell: ({ symbol }) => symbol },
      {
        title: 'Side',
        isText: true,
        cell: ({ side, liquidated }) => (liquidated ? `${side}, liquidated` : side),
      },
      { title: 'Size', cell: ({ size }) => plain(size) },
      { title: 'Entry', cell: ({ entryPrice }) => average(entryPrice) },
      { title: 'Exit', cell: ({ exitPrice }) => average(exitPrice) },
      { title: 'Fees', cell: ({ fees }) => money(-fees) },
      { title: 'Funding', cell: ({ funding }) => money(funding) },
      { title: 'PnL', cell: ({ pnl }) => money(pnl), tone: ({ pnl }) => pnl },
      { title: 'Of notional', cell: ({ pnlShare }) => percent(pnlShare, 3) },
    ],
    { id: `trades-${nameOf(id)}`, filter: 'sell 2024-08', caption: 'closed trades' },
  );
}

export function fillTable({ id, fills }: StrategyReport): string {
  if (fills.length === 0) return '<p>No order was filled.</p>';
  const name = `fills-${nameOf(id)}`;
  return table<FillRow>(
    fills,
    [
      { title: 'Time', isText: true, cell: ({ timeUs }) => time(timeUs) },
      { title: 'Market', isText: true, cell: ({ symbol }) => symbol },
      {
        title: 'Side',
        isText: true,
        cell: ({ side }) => side,
        tone: ({ side }) => (side === 'buy' ? 1 : -1),
      },
      { title: 'Role', isText: true, cell: ({ role }) => role },
      { title: 'Price', cell: ({ price }) => grouped(price) },
      { title: 'Size', cell: ({ size }) => size },
      { title: 'Fee', cell: ({ fee }) => fee },
      {
        title: 'Realised',
        cell: ({ realizedPnl }) => signed(realizedPnl),
        tone: ({ realizedPnl }) => Number(realizedPnl),
      },
      { title: 'Position after', cell: ({ position }) => grouped(position) },
      ...(fills.some(({ tag }) => tag !== null)
        ? [{ title: 'Reason', isText: true, cell: ({ tag }: FillRow) => tag ?? '–' }]
        : []),
      { title: 'Order', cell: ({ orderNumber }) => `#${String(orderNumber)}` },
      { title: 'Fill', cell: ({ fillId }) => String(fillId) },
    ],
    {
      id: name,
      filter: 'sell maker 61,8',
      caption: 'fills',
      rowId: ({ fillId }: FillRow) => `fill-${nameOf(id)}-${String(fillId)}`,
    },
  );
}

const nameOf = (id: string): string => id.replace(/[^A-Za-z0-9_-]/g, '-');

/** Empty without liquidations. */
export function liquidationTable({ liquidations }: StrategyReport): string {
  if (liquidations.length === 0) return '';
  return `<h2>Liquidations and auto-deleveraging</h2>${table<LiquidationRow>(liquidations, [
    { title: 'Time', isText: true, cell: ({ timeUs }) => time(timeUs) },
    { title: 'Market', isText: true, cell: ({ symbol }) => symbol ?? 'all cross positions' },
    { title: 'Step', isText: true, cell: ({ step }) => step },
    { title: 'Equity', cell: ({ equity }) => grouped(equity) },
    { title: 'Maintenance', cell: ({ maintenance }) => grouped(maintenance) },
    { title: 'Size', cell: ({ size }) => grouped(size) },
    { title: 'Limit', cell: ({ limitPrice }) => grouped(limitPrice ?? '–') },
    { title: 'Bankruptcy price', cell: ({ bankruptcyPrice }) => grouped(bankruptcyPrice ?? '–') },
    { title: 'Amount', cell: ({ amount }) => signed(amount), tone: ({ amount }) => Number(amount) },
  ])}`;
}

/** Empty without funding payments. */
export function fundingTable({ id, funding }: StrategyReport): string {
  if (funding.length === 0) return '';
  return `<h2>Funding</h2>${table<FundingRow>(
    funding,
    [
      { title: 'Time', isText: true, cell: ({ timeUs }) => time(timeUs) },
      { title: 'Market', isText: true, cell: ({ symbol }) => symbol },
      { title: 'Rate', cell: ({ rate }) => rate },
      { title: 'Position', cell: ({ position }) => grouped(position) },
      {
        title: 'Payment',
        cell: ({ payment }) => signed(payment),
        tone: ({ payment }) => Number(payment),
      },
    ],
    { id: `funding-${nameOf(id)}`, filter: '2024-08', caption: 'funding payments' },
  )}`;
}

/** An average price: one decimal more than seven digits of a price have. */
const average = (value: number): string => grouped(String(Number(value.toPrecision(8))));

/** Significant digits of a size. */
function plain(value: number): string {
  return grouped(String(Number(value.toPrecision(10))));
}
