/** Metrics with the benchmark's, PnL attribution, and fill quality. */
import {
  RETURN_METRICS,
  TRADE_METRICS,
  valueOf,
  type MetricRow,
  type Metrics,
} from '../../metrics/metrics.ts';
import type { FurtherMetrics } from '../../metrics/further.ts';
import type { RelativeMetrics } from '../../metrics/relative.ts';
import { MARKOUT_HORIZONS_US } from '../../backtest/output.ts';
import { isYearly, type Report, type StrategyReport } from '../report.ts';
import {
  amount,
  duration,
  grouped,
  isNoMoney,
  money,
  percent,
  probability,
  ratio,
} from '../../design/number-text.ts';
import { escape, table, toneOf } from '../text.ts';
import { returnsText } from './figures.ts';

type Row = readonly [name: string, figure: (metrics: Metrics) => string];

/** Metrics that are amounts of money. */
const MONEY: readonly string[] = ['expectancy', 'bestTrade', 'worstTrade'];

/** A metric with the format of its unit. */
function rowOf(metric: MetricRow): Row {
  const text = { fraction: percent, number: ratio, time: null }[metric.unit];
  const figure = (metrics: Metrics): string => {
    const value = valueOf(metrics, metric);
    if (MONEY.includes(metric.id)) return value === null ? '–' : money(value);
    return text === null
      ? duration(value ?? 0)
      : text(value, metric.unit === 'fraction' ? undefined : metric.decimals);
  };
  return [metric.title, figure];
}

/** Metrics of a curve's returns, without annualised ones if it is shorter than a day. */
export const returnRows = (isShort: boolean): readonly Row[] =>
  isShort ? LASTING_ROWS : RETURN_ROWS;

const RETURN_ROWS = RETURN_METRICS.map(rowOf);
const LASTING_ROWS = RETURN_METRICS.filter((metric) => !('yearly' in metric)).map(rowOf);

const TRADE_ROWS: readonly Row[] = [
  ['Closed trades', ({ trades }) => String(trades?.trades ?? 0)],
  ...TRADE_METRICS.map(rowOf),
  ['Best, worst trade of notional', ({ trades }) => shares(trades)],
  ['Mean trade of notional', ({ trades }) => percent(trades?.meanTradeShare ?? null)],
  ['Mean time held', ({ trades }) => time(trades?.meanTradeUs)],
  ['Longest time held', ({ trades }) => time(trades?.maxTradeUs)],
  ['Wins, losses in a row', ({ trades }) => runs(trades)],
  ['Exposure', ({ exposure }) => percent(exposure)],
  ['Turnover ÷ equity', ({ turnover }) => ratio(turnover)],
];

function shares(trades: Metrics['trades']): string {
  if (trades?.bestTradeShare == null) return '–';
  return `${percent(trades.bestTradeShare)}, ${percent(trades.worstTradeShare)}`;
}

const time = (us: number | null | undefined): string => (us == null ? '–' : duration(us));

function runs(trades: Metrics['trades']): string {
  return trades === null
    ? '–'
    : `${String(trades.maxConsecutiveWins)}, ${String(trades.maxConsecutiveLosses)}`;
}

export function metricsTables(
  { metrics, benchmark }: StrategyReport,
  { options, sampleUs }: Pick<Report, 'options' | 'sampleUs'>,
): string {
  if (metrics === null) return '<p>Equity has fewer than two samples, so no return.</p>';
  const isShort = !isYearly({ timesUs: [metrics.startUs, metrics.endUs] });
  const rows = returnRows(isShort);
  const period = duration(options.period === 'rows' ? sampleUs : options.period);
  const few = [
    ...(metrics.periods < 30
      ? [`Only ${returnsText(metrics.periods)}: ratios of so few are not significant.`]
      : []),
    // A return from equity at or below 0 is not defined.
    ...((metrics.worstPeriod ?? 0) <= -1 ? ['Equity fell to 0, where the returns end.'] : []),
    ...(isShort
      ? [
          'The run is shorter than a day: annualised figures would be extrapolations and are omitted.',
        ]
      : []),
  ].map((text) => `<p class="warning">${text}</p>`);
  const returns = table(
    rows,
    [
      { title: `Returns of ${period}`, isText: true, cell: ([name]) => name },
      { title: 'Strategy', cell: ([, figure]) => figure(metrics) },
      {
        title: 'Buy and hold',
        cell: ([, figure]) => (benchmark === null ? '–' : figure(benchmark)),
      },
    ],
    { caption: 'metrics of the returns' },
  );
  const trades = table(
    TRADE_ROWS,
    [
      { title: 'Trades', isText: true, cell: ([name]) => name },
      { title: 'Strategy', cell: ([, figure]) => figure(metrics) },
    ],
    { caption: 'metrics of the trades' },
  );
  const reason = emptySharpe(metrics);
  const note = reason === null ? '' : `<p class="caption">${reason}</p>`;
  return `${few.join('')}<div class="columns tall">${returns}${trades}</div>${note}`;
}

/** Why a Sharpe ratio of a table has no value; null if all have one. */
function emptySharpe({ probabilisticSharpe, deflatedSharpe }: Metrics): string | null {
  if (probabilisticSharpe === null) {
    return 'The probabilistic and the deflated Sharpe ratio need at least two returns that differ.';
  }
  return deflatedSharpe === null
    ? 'The deflated Sharpe ratio is that of the best trial of a search (orrery sweep): it needs the number of trials and the Sharpe ratios of at least two of them, which this run does not have.'
    : null;
}

const FURTHER_ROWS: readonly (readonly [string, (figures: FurtherMetrics) => string, 'yearly'?])[] =
  [
    ['Downside risk, a year', ({ downsideRisk }) => percent(downsideRisk), 'yearly'],
    ['Smart Sharpe, a year', ({ smartSharpe }) => ratio(smartSharpe), 'yearly'],
    ['Smart Sortino, a year', ({ smartSortino }) => ratio(smartSortino), 'yearly'],
    ['Mean return, geometric', ({ meanReturn }) => percent(meanReturn)],
    ['Stability (R² of growth)', ({ stability }) => ratio(stability)],
    ['Autocorrelation', ({ autocorrelation }) => ratio(autocorrelation)],
    ['Gain to pain', ({ gainToPain }) => ratio(gainToPain)],
    ['Payoff of periods', ({ payoffOfPeriods }) => ratio(payoffOfPeriods)],
    ['Common sense ratio', ({ commonSense }) => ratio(commonSense)],
    ['CPC index', ({ cpcIndex }) => ratio(cpcIndex)],
    ['Recovery factor', ({ recoveryFactor }) => ratio(recoveryFactor)],
    ['Return ÷ Ulcer index', ({ ulcerPerformance }) => ratio(ulcerPerformance)],
    ['Mean drawdown', ({ meanDrawdown }) => percent(meanDrawdown)],
    [
      'Mean length of a drawdown',
      ({ meanDrawdownUs }) => (meanDrawdownUs === null ? '–' : duration(meanDrawdownUs)),
    ],
    ['Risk of ruin', ({ riskOfRuin }) => probability(riskOfRuin)],
    ['Outlier gain', ({ outlierGain }) => ratio(outlierGain)],
    ['Outlier loss', ({ outlierLoss }) => ratio(outlierLoss)],
    [
      'Periods that gain, lose in a row',
      ({ gainsInARow, lossesInARow }) => `${String(gainsInARow)}, ${String(lossesInARow)}`,
    ],
  ];

const RELATIVE_ROWS: readonly (readonly [string, (of: RelativeMetrics) => string, 'yearly'?])[] = [
  ['Alpha, a year', ({ alpha }) => percent(alpha), 'yearly'],
  ['Beta', ({ beta }) => ratio(beta)],
  ['Correlation', ({ correlation }) => ratio(correlation)],
  ['R²', ({ rSquared }) => ratio(rSquared)],
  ['Information ratio, a year', ({ informationRatio }) => ratio(informationRatio), 'yearly'],
  ['Tracking error, a year', ({ trackingError }) => percent(trackingError), 'yearly'],
  ['Treynor, a year', ({ treynor }) => ratio(treynor), 'yearly'],
  ['Up capture', ({ upCapture }) => ratio(upCapture)],
  ['Down capture', ({ downCapture }) => ratio(downCapture)],
  ['Periods above the market', ({ battingAverage }) => percent(battingAverage)],
];

/** Shape of the returns, and the strategy against buy and hold; empty without metrics. */
export function furtherTables({
  metrics,
  further,
  benchmarkFurther,
  relative,
}: Pick<StrategyReport, 'metrics' | 'further' | 'benchmarkFurther' | 'relative'>): string {
  if (metrics === null || further === null) return '';
  const isShort = !isYearly({ timesUs: [metrics.startUs, metrics.endUs] });
  const shown = <R extends readonly [string, unknown, 'yearly'?]>(rows: readonly R[]): R[] =>
    rows.filter((row) => !(isShort && row[2] === 'yearly'));
  const shape = table(
    shown(FURTHER_ROWS),
    [
      { title: 'Shape of the returns', isText: true, cell: ([name]) => name },
      { title: 'Strategy', cell: ([, figure]) => figure(further) },
      {
        title: 'Buy and hold',
        cell: ([, figure]) => (benchmarkFurther === null ? '–' : figure(benchmarkFurther)),
      },
    ],
    { caption: 'shape of the returns' },
  );
  const against =
    relative === null
      ? '<p>Buy and hold has fewer than two samples.</p>'
      : table(
          shown(RELATIVE_ROWS),
          [
            {
              title: `Against buy and hold, ${grouped(String(relative.periods))} periods`,
              isText: true,
              cell: ([name]) => name,
            },
            { title: 'Strategy', cell: ([, figure]) => figure(relative) },
          ],
          { caption: 'against buy and hold' },
        );
  return `<div class="columns tall">${shape}${against}</div>`;
}

/** Bars from the centre: gains to the right, losses to the left. */
export function attributionBars({ attribution: parts }: StrategyReport): string {
  const rows: readonly (readonly [string, string, number])[] = [
    ['Spread', 'mid just before the fill against its price', parts.spread],
    ['Adverse selection', 'move of the mid in the 10 s after the fill', parts.adverseSelection],
    ['Inventory', 'the rest of the price gains', parts.inventory],
    ['Maker fees', '', parts.feesMaker],
    ['Taker fees', '', parts.feesTaker],
    ['Originator fees', '', parts.feesOriginator],
    ['Funding', '', parts.funding],
    ['Liquidation', '', parts.liquidation],
  ];
  const largest = Math.max(1e-9, ...rows.map(([, , value]) => Math.abs(value)));
  const bars = rows.map(([name, note, value]) => {
    const width = ((Math.abs(value) / largest) * 50).toFixed(2);
    const tone = toneOf(isNoMoney(value) ? 0 : value);
    const side = value < 0 ? 'right:50%' : 'left:50%';
    const aside = note === '' ? '' : ` <small>${escape(note)}</small>`;
    return (
      `<tr><td class="text">${escape(name)}${aside}</td><td${tone}>${escape(money(value))}</td>` +
      `<td class="bar"><i style="${side};width:${width}%"${tone}></i></td></tr>`
    );
  });
  const without =
    parts.fillsWithoutMid > 0
      ? `<p>Fills without a mid before or 10 s after them, counted as inventory: ${String(parts.fillsWithoutMid)}.</p>`
      : '';
  return `<div class="table"><table class="bars"><caption class="unseen">Parts of the PnL</caption><thead class="unseen"><tr><th scope="col">Part</th><th scope="col">Amount</th><th scope="col">Bar</th></tr></thead><tbody>${bars.join('')}<tr class="total"><td class="text">PnL</td><td${toneOf(parts.total)}>${escape(money(parts.total))}</td><td></td></tr></tbody></table></div>${without}`;
}

export function fillQualityTable({ fillQuality }: StrategyReport): string {
  if (fillQuality.length === 0) return '<p>No order was filled.</p>';
  const bps = (value: number | null): string => ratio(value);
  const wait = (value: number | null): string => (value === null ? '–' : duration(value));
  return table(
    fillQuality,
    [
      { title: 'Role', isText: true, cell: ({ role }) => role },
      { title: 'Fills', cell: ({ fills }) => String(fills) },
      { title: 'Notional', cell: ({ notional }) => amount(notional) },
      { title: 'Queue wait, median', cell: ({ queueWaitUs }) => wait(queueWaitUs.median) },
      { title: '90\u202f%', cell: ({ queueWaitUs }) => wait(queueWaitUs.p90) },
      { title: 'Slippage to arrival, bp', cell: ({ slippageBps }) => bps(slippageBps) },
      { title: 'Edge to mid, bp', cell: ({ edgeBps }) => bps(edgeBps) },
      ...MARKOUT_HORIZONS_US.map((horizon, i) => ({
        title: `Markout ${duration(horizon)}, bp`,
        cell: ({ markoutBps }: (typeof fillQuality)[number]) => bps(markoutBps[i] ?? null),
      })),
    ],
    { caption: 'how orders were filled' },
  );
}
