/** Figures at the top of a strategy's section, and the table that compares several strategies. */
import { isYearly, type Report, type StrategyReport } from '../report.ts';
import { duration, escape, grouped, percent, ratio, signed, table, toneOf } from '../text.ts';

export function figures({ summary, metrics }: StrategyReport): string {
  const liquidation = Number(summary.pnlLiquidation);
  const rows: readonly (readonly [string, string, number | null])[] = [
    ['PnL', signed(summary.pnl), Number(summary.pnl)],
    ['of it trading', signed(summary.pnlTrading), Number(summary.pnlTrading)],
    ['of it fees', signed(summary.pnlFees), Number(summary.pnlFees)],
    ['of it funding', signed(summary.pnlFunding), Number(summary.pnlFunding)],
    ...(liquidation === 0
      ? []
      : [['of it liquidation', signed(summary.pnlLiquidation), liquidation] as const]),
    ['Return', percent(metrics?.totalReturn ?? null), metrics?.totalReturn ?? null],
    ['Equity at the end', grouped(summary.equityEnd), null],
    [
      'Max drawdown',
      `${grouped(summary.maxDrawdown)} (${percent(metrics?.maxDrawdown ?? null)})`,
      null,
    ],
    ...(sharpeOf(metrics) === null
      ? []
      : [['Sharpe, a year', ratio(sharpeOf(metrics)), null] as const]),
    ['Fills', `${String(summary.fills)} (${String(summary.makerFills)} as maker)`, null],
    ['Orders', ordersText(summary), null],
    ['Turnover', grouped(summary.turnover), null],
  ];
  const cells = rows.map(
    ([name, value, tone]) =>
      `<div><dt>${escape(name)}</dt><dd${toneOf(tone)}>${escape(value)}</dd></div>`,
  );
  return `<dl class="figures">${cells.join('')}</dl>`;
}

/** Null for a run too short for annualised figures. */
function sharpeOf(metrics: StrategyReport['metrics']): number | null {
  if (metrics === null || !isYearly({ timesUs: [metrics.startUs, metrics.endUs] })) return null;
  return metrics.sharpe;
}

function ordersText({
  orders,
  rejectedOrders,
  refusedRequests,
}: StrategyReport['summary']): string {
  const asides = [
    ...(rejectedOrders > 0 ? [`${String(rejectedOrders)} rejected`] : []),
    ...(refusedRequests > 0 ? [`${String(refusedRequests)} refused`] : []),
  ];
  return `${String(orders)}${asides.length === 0 ? '' : ` (${asides.join(', ')})`}`;
}

/** Empty for a single strategy. */
export function comparison({ strategies }: Report): string {
  if (strategies.length < 2) return '';
  return `<h2>Strategies side by side</h2>${table(strategies, [
    { title: 'Strategy', isText: true, cell: ({ id }) => id },
    {
      title: 'PnL',
      cell: ({ summary }) => signed(summary.pnl),
      tone: ({ summary }) => Number(summary.pnl),
    },
    { title: 'Return', cell: ({ metrics }) => percent(metrics?.totalReturn ?? null) },
    { title: 'Sharpe', cell: ({ metrics }) => ratio(sharpeOf(metrics)) },
    { title: 'Drawdown', cell: ({ metrics }) => percent(metrics?.maxDrawdown ?? null) },
    { title: 'longest', cell: ({ metrics }) => duration(metrics?.maxDrawdownUs ?? 0) },
    { title: 'Fills', cell: ({ summary }) => String(summary.fills) },
    { title: 'Turnover', cell: ({ summary }) => grouped(summary.turnover) },
    { title: 'Fees', cell: ({ summary }) => signed(summary.pnlFees) },
  ])}`;
}
