/** Figures at the top of a strategy's section, and the table that compares several strategies. */
import { labelOf, type ReportedRun } from '../page-data.ts';
import { isYearly, type StrategyReport } from '../report.ts';
import { amount, duration, grouped, money, percent, ratio } from '../../design/number-text.ts';
import { escape, exactAmount, exactMoney, table, toneOf } from '../text.ts';

export function figures({ summary, metrics }: StrategyReport): string {
  const sharpe = sharpeOf(metrics);
  const fills = grouped(String(summary.fills));
  const maker = summary.fills === 0 ? null : summary.makerFills / summary.fills;
  const rows: readonly Figure[] = [
    {
      name: 'PnL',
      value: exactMoney(summary.pnl),
      tone: Number(summary.pnl),
      note: `equity ${exactAmount(summary.equityEnd)}`,
    },
    {
      name: 'Return',
      value: percent(metrics?.totalReturn ?? null),
      tone: metrics?.totalReturn ?? null,
      note: `on ${exactAmount(summary.equityStart)}`,
    },
    {
      name: 'Max drawdown',
      value: percent(metrics?.maxDrawdown ?? null),
      note: `${exactAmount(summary.maxDrawdown)}, longest ${duration(metrics?.maxDrawdownUs ?? 0)}`,
    },
    sharpe === null
      ? { name: 'Sharpe', value: '–', note: noSharpe(metrics) }
      : {
          name: 'Sharpe, a year',
          value: ratio(sharpe),
          note: `${grouped(String(metrics?.periods ?? 0))} returns`,
        },
    { name: 'Fills', value: fills, note: `${percent(maker, 0)} as maker, ${ordersText(summary)}` },
    {
      name: 'Turnover',
      value: exactAmount(summary.turnover),
      note: `fees ${exactMoney(summary.pnlFees)}`,
    },
  ];
  return figureRow(rows);
}

/** A figure: its value and note are HTML. */
export interface Figure {
  readonly name: string;
  readonly value: string;
  readonly tone?: number | null;
  readonly note?: string;
}

export function figureRow(rows: readonly Figure[]): string {
  const cells = rows.map(
    ({ name, value, tone = null, note = '' }) =>
      `<div><dt>${escape(name)}</dt><dd${toneOf(tone)}>${value}${note === '' ? '' : `<small>${note}</small>`}</dd></div>`,
  );
  return `<dl class="figures">${cells.join('')}</dl>`;
}

/** Steps that close a position of the account itself. */
const CLOSING_STEPS = ['order', 'insurance', 'takeover', 'adl'];

/** The result of a run in a sentence. */
export function verdict({
  summary,
  metrics,
  benchmark,
  liquidations,
}: Pick<StrategyReport, 'summary' | 'metrics' | 'benchmark' | 'liquidations'>): string {
  if (summary.fills === 0) return 'No order was filled.';
  const total = metrics?.totalReturn ?? null;
  if (metrics === null || total === null) return 'Equity has fewer than two samples.';
  const held = benchmark?.totalReturn ?? null;
  const beside =
    held === null
      ? ''
      : `; buy and hold ${held < 0 ? 'lost' : 'gained'} ${percent(Math.abs(held))}`;
  // The amount of a liquidation is positive if others pay a deficit.
  const isLiquidated = liquidations.some(({ step }) => CLOSING_STEPS.includes(step));
  const liquidated = isLiquidated ? ' It was liquidated.' : '';
  const few =
    metrics.periods < 30 ? ` Ratios of ${returnsText(metrics.periods)} are not significant.` : '';
  return `${total < 0 ? 'Lost' : 'Gained'} ${percent(Math.abs(total))} with a drawdown of ${percent(metrics.maxDrawdown)}${beside}.${liquidated}${few}`;
}

/** `1 return`, `5 returns` */
export function returnsText(count: number): string {
  return `${grouped(String(count))} ${count === 1 ? 'return' : 'returns'}`;
}

/** Why there is no Sharpe ratio a year. */
function noSharpe(metrics: StrategyReport['metrics']): string {
  if (metrics === null) return 'equity has fewer than two samples';
  const { startUs, endUs, periods } = metrics;
  if (!isYearly({ timesUs: [startUs, endUs] })) return 'the run is shorter than a day';
  return periods < 2 ? 'fewer than two returns' : 'the returns do not vary';
}

/** Null for a run of less than a day. */
export function sharpeOf(metrics: StrategyReport['metrics']): number | null {
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
  return `${grouped(String(orders))} orders${asides.length === 0 ? '' : ` (${asides.join(', ')})`}`;
}

/** Curves of all strategies with their figures; empty for a single one. */
export function comparison(runs: readonly ReportedRun[]): string {
  const rows = runs.flatMap((run) =>
    run.report.strategies.map((strategy) => ({ ...strategy, label: labelOf(run, strategy.id) })),
  );
  if (rows.length < 2) return '';
  return `<h2 id="strategies">Strategies</h2>
<div class="small overlay" data-draws="overlay" role="img" aria-label="${escape(`Growth of ${rows.map(({ label }) => label).join(', ')} over time; the table below has the results`)}"></div>
${table(
  rows,
  [
    { title: 'Strategy', isText: true, cell: ({ label }) => label },
    {
      title: 'PnL',
      cell: ({ summary }) => money(Number(summary.pnl)),
      exact: ({ summary }) => summary.pnl,
      tone: ({ summary }) => Number(summary.pnl),
    },
    { title: 'Return', cell: ({ metrics }) => percent(metrics?.totalReturn ?? null) },
    { title: 'Sharpe, a year', cell: ({ metrics }) => ratio(sharpeOf(metrics)) },
    {
      title: 'Sortino, a year',
      cell: ({ metrics }) => ratio(sharpeOf(metrics) === null ? null : (metrics?.sortino ?? null)),
    },
    { title: 'Max drawdown', cell: ({ metrics }) => percent(metrics?.maxDrawdown ?? null) },
    { title: 'Longest', cell: ({ metrics }) => duration(metrics?.maxDrawdownUs ?? 0) },
    { title: 'Beta', cell: ({ relative }) => ratio(relative?.beta ?? null) },
    { title: 'Trades', cell: ({ trades }) => grouped(String(trades.length)) },
    { title: 'Win rate', cell: ({ metrics }) => percent(metrics?.trades?.winRate ?? null) },
    { title: 'Fills', cell: ({ summary }) => grouped(String(summary.fills)) },
    {
      title: 'Turnover',
      cell: ({ summary }) => amount(Number(summary.turnover)),
      exact: ({ summary }) => summary.turnover,
    },
    {
      title: 'Fees',
      cell: ({ summary }) => money(Number(summary.pnlFees)),
      exact: ({ summary }) => summary.pnlFees,
    },
  ],
  { id: 'comparison', filter: 'part of a name', caption: 'strategies' },
)}`;
}
