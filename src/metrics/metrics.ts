/**
 * All metrics of a run from its equity curve and closed trades. An undefined metric is null, never
 * 0 or infinite. Fractions are not percentages: 0.1 is 10 %.
 */
import { pow } from '../num/special/pow.ts';
import {
  checkCurve,
  cut,
  MetricsError,
  ratePerPeriod,
  yearsOf,
  type EquityCurve,
  type Periods,
} from './curve.ts';
import { drawdowns, longestUs, ulcerIndex, type Drawdown } from './drawdowns.ts';
import { checkedOptions } from './checked-options.ts';
import type { MetricsOptions } from './options.ts';
import {
  conditionalValueAtRisk,
  expectedBestSharpe,
  kellyContinuous,
  omega,
  probabilisticSharpe,
  shapeOf,
  sharpe,
  sortino,
  tailRatio,
  valueAtRisk,
} from './ratios.ts';
import { deviation, excessKurtosis, extremes, maxOf, mean, skewness, sum } from './sample.ts';
import {
  checkTrades,
  exposure,
  tradeMetrics,
  type HeldTrade,
  type TradeMetrics,
  type TradeRow,
} from './closed-trades.ts';

/** Trials behind a result, for the deflated Sharpe ratio. */
export interface Trials {
  /** Number of trials, including this one and failed ones. */
  readonly count: number;
  /**
   * Variance of their Sharpe ratios per period (not annualised). Null if fewer than two have one:
   * the deflated ratio of several trials is then null, too.
   */
  readonly sharpeVariance: number | null;
}

export interface ReturnMetrics {
  readonly startUs: number;
  readonly endUs: number;
  /** Number of periods with a return; `periodsPerYear`: periods in a year. */
  readonly periods: number;
  readonly periodsPerYear: number;
  readonly startEquity: number;
  readonly endEquity: number;
  /** Highest equity of the curve. */
  readonly peakEquity: number;
  /** endEquity ÷ startEquity − 1. */
  readonly totalReturn: number;
  /** Compound annual return; −1 if equity ends at or below 0, null if not finite. */
  readonly cagr: number | null;
  /** Deviation of returns × √(periods per year). */
  readonly volatility: number | null;
  /** Annualised: mean excess return ÷ deviation × √(periods per year). */
  readonly sharpe: number | null;
  readonly probabilisticSharpe: number | null;
  /**
   * Relative to the expected best Sharpe ratio of equally many trials without skill; null without
   * trials.
   */
  readonly deflatedSharpe: number | null;
  /** Annualised. */
  readonly sortino: number | null;
  /** CAGR ÷ largest drawdown. */
  readonly calmar: number | null;
  readonly omega: number | null;
  /** A positive fraction of the peak. */
  readonly maxDrawdown: number;
  readonly maxDrawdownUs: number;
  readonly drawdowns: readonly Drawdown[];
  readonly ulcerIndex: number;
  /** Losses as positive fractions. */
  readonly valueAtRisk: number | null;
  readonly conditionalValueAtRisk: number | null;
  readonly skewness: number | null;
  readonly kurtosis: number | null;
  readonly tailRatio: number | null;
  readonly bestPeriod: number | null;
  readonly worstPeriod: number | null;
  /** Fraction of periods with a gain. */
  readonly positivePeriods: number | null;
  /** Mean excess return ÷ variance. */
  readonly kellyContinuous: number | null;
}

export interface UseMetrics {
  /** Fraction of the time with an open trade. */
  readonly exposure: number | null;
  /** Traded notional ÷ mean equity. */
  readonly turnover: number | null;
  /** Turnover ÷ years. */
  readonly turnoverPerYear: number | null;
}

export interface Metrics extends ReturnMetrics, UseMetrics {
  /** Null without a list of trades. */
  readonly trades: TradeMetrics | null;
}

type NumberOf<Of> = {
  [Field in keyof Of]: Of[Field] extends number | null ? Field : never;
}[keyof Of];

/** A metric in tables, reports and searches. */
export interface MetricRow {
  /** Its field in the JSON of a run. */
  readonly id: NumberOf<ReturnMetrics> | NumberOf<UseMetrics> | NumberOf<TradeMetrics>;
  /** In the table of `orrery metrics` and in docs/METRICS.md; null: not in that table. */
  readonly name: string | null;
  /** In reports. */
  readonly title: string;
  readonly unit: 'fraction' | 'number' | 'time';
  /** Decimals in reports; default 2. */
  readonly decimals?: number;
  /** Annualised: omitted for a run shorter than a day. */
  readonly yearly?: true;
  /** Searches may maximise it. */
  readonly objective?: true;
}

/** Metrics that a search may maximise: rows with `objective`. */
export type Objective =
  | 'totalReturn'
  | 'cagr'
  | 'sharpe'
  | 'probabilisticSharpe'
  | 'sortino'
  | 'calmar'
  | 'omega'
  | 'maxDrawdown'
  | 'volatility'
  | 'ulcerIndex'
  | 'profitFactor'
  | 'expectancy'
  | 'sqn';

/** Metrics of a curve's returns, in the order in which tables show them. */
export const RETURN_METRICS = [
  { id: 'totalReturn', name: 'return', title: 'Return', unit: 'fraction', objective: true },
  { id: 'cagr', name: 'CAGR', title: 'CAGR', unit: 'fraction', yearly: true, objective: true },
  {
    id: 'volatility',
    name: 'volatility',
    title: 'Volatility, a year',
    unit: 'fraction',
    yearly: true,
    objective: true,
  },
  {
    id: 'sharpe',
    name: 'Sharpe',
    title: 'Sharpe, a year',
    unit: 'number',
    yearly: true,
    objective: true,
  },
  {
    id: 'probabilisticSharpe',
    name: '  probabilistic',
    title: 'Probabilistic Sharpe',
    unit: 'fraction',
    objective: true,
  },
  { id: 'deflatedSharpe', name: '  deflated', title: 'Deflated Sharpe', unit: 'fraction' },
  {
    id: 'sortino',
    name: 'Sortino',
    title: 'Sortino, a year',
    unit: 'number',
    yearly: true,
    objective: true,
  },
  { id: 'calmar', name: 'Calmar', title: 'Calmar', unit: 'number', yearly: true, objective: true },
  { id: 'omega', name: 'Omega', title: 'Omega', unit: 'number', objective: true },
  {
    id: 'maxDrawdown',
    name: 'max drawdown',
    title: 'Max drawdown',
    unit: 'fraction',
    objective: true,
  },
  { id: 'maxDrawdownUs', name: '  duration', title: 'Longest drawdown', unit: 'time' },
  {
    id: 'ulcerIndex',
    name: 'Ulcer index',
    title: 'Ulcer index',
    unit: 'fraction',
    objective: true,
  },
  { id: 'valueAtRisk', name: 'VaR', title: 'VaR', unit: 'fraction', decimals: 3 },
  { id: 'conditionalValueAtRisk', name: 'CVaR', title: 'CVaR', unit: 'fraction', decimals: 3 },
  { id: 'skewness', name: 'skewness', title: 'Skewness', unit: 'number' },
  { id: 'kurtosis', name: 'kurtosis', title: 'Kurtosis', unit: 'number' },
  { id: 'tailRatio', name: 'tail ratio', title: 'Tail ratio', unit: 'number' },
  { id: 'bestPeriod', name: null, title: 'Best period', unit: 'fraction', decimals: 3 },
  { id: 'worstPeriod', name: null, title: 'Worst period', unit: 'fraction', decimals: 3 },
  {
    id: 'positivePeriods',
    name: 'periods with a gain',
    title: 'Periods that gain',
    unit: 'fraction',
  },
] as const satisfies readonly MetricRow[];

/** Metrics of closed trades, likewise. */
export const TRADE_METRICS = [
  { id: 'winRate', name: 'win rate', title: 'Win rate', unit: 'fraction' },
  {
    id: 'profitFactor',
    name: 'profit factor',
    title: 'Profit factor',
    unit: 'number',
    objective: true,
  },
  { id: 'payoff', name: 'payoff', title: 'Payoff', unit: 'number' },
  {
    id: 'expectancy',
    name: 'expectancy',
    title: 'Expectancy',
    unit: 'number',
    decimals: 4,
    objective: true,
  },
  { id: 'sqn', name: 'SQN', title: 'SQN', unit: 'number', objective: true },
  { id: 'kelly', name: 'Kelly', title: 'Kelly', unit: 'fraction' },
  { id: 'bestTrade', name: null, title: 'Best trade', unit: 'number' },
  { id: 'worstTrade', name: null, title: 'Worst trade', unit: 'number' },
] as const satisfies readonly MetricRow[];

/** The value of a row: of the metrics, or of their trades. */
export function valueOf(metrics: Metrics, { id }: Pick<MetricRow, 'id'>): number | null {
  const { trades, ...own } = metrics;
  const values: Partial<Record<MetricRow['id'], number | null>> = { ...trades, ...own };
  return values[id] ?? null;
}

/**
 * Throws `MetricsError` on an invalid curve or trade.
 *
 * @param held trades of exposure and turnover, with positions that are open at the end
 */
export function metricsOf(
  curve: EquityCurve,
  trades: readonly TradeRow[] | null = null,
  given: Partial<MetricsOptions> = {},
  trials: Trials | null = null,
  held: readonly HeldTrade[] | null = trades,
): Metrics {
  const options = checkedOptions(given);
  checkCurve(curve);
  if (trades !== null) checkTrades(trades);
  if (trials !== null) checkTrials(trials);
  const periods = cut(curve, options);
  return {
    ...returnMetrics(curve, periods, options, trials),
    ...useMetrics(curve, held, yearsOf(periods, options.years)),
    trades: trades === null ? null : tradeMetrics(trades, options),
  };
}

function checkTrials(trials: Trials): void {
  const { count, sharpeVariance } = Object(trials) as Trials;
  if (!Number.isSafeInteger(count) || count < 0) {
    throw new MetricsError('trials.count: must be a whole number from 0');
  }
  if (sharpeVariance === null || (Number.isFinite(sharpeVariance) && sharpeVariance >= 0)) return;
  throw new MetricsError('trials.sharpeVariance: must be null or a finite number from 0');
}

/** Sharpe ratio a period that the best of the trials without skill reaches; null if unknown. */
function benchmarkOf({ count, sharpeVariance }: Trials): number | null {
  if (count < 2) return 0;
  return sharpeVariance === null ? null : expectedBestSharpe(count, sharpeVariance);
}

/** Null beyond the largest number, as a year's growth of a few seconds is. */
const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);

function returnMetrics(
  curve: EquityCurve,
  periods: Periods,
  options: MetricsOptions,
  trials: Trials | null,
): ReturnMetrics {
  const { returns, perYear } = periods;
  const root = Math.sqrt(perYear);
  const rate = (yearly: number): number => ratePerPeriod(yearly, perYear, options.ratePerPeriod);
  const riskFree = rate(options.riskFree);
  const target = rate(options.target);
  const yearly = (ratio: number | null): number | null => (ratio === null ? null : ratio * root);

  const startEquity = curve.equity[0] ?? 0;
  const endEquity = curve.equity.at(-1) ?? 0;
  const endUs = curve.timesUs.at(-1) ?? 0;
  const falls = drawdowns(curve);
  const maxDrawdown = maxOf(falls.map(({ depth }) => depth));
  const cagr = finite(
    endEquity <= 0 ? -1 : pow(endEquity / startEquity, 1 / yearsOf(periods, options.years)) - 1,
  );
  const spread = deviation(returns, options.denominator);
  const ratio = sharpe(returns, riskFree, options.denominator);
  const excess = excessKurtosis(returns, options.moments);
  const [worst, best] = extremes(returns);
  const shape = shapeOf(returns);
  const deflated = trials === null ? null : benchmarkOf(trials);
  const probability = (benchmark: number): number | null =>
    ratio === null || shape === null ? null : probabilisticSharpe(ratio, benchmark, shape);
  return {
    startUs: curve.timesUs[0] ?? 0,
    endUs,
    periods: returns.length,
    periodsPerYear: perYear,
    startEquity,
    endEquity,
    peakEquity: curve.equity.reduce((peak, value) => Math.max(peak, value), startEquity),
    totalReturn: endEquity / startEquity - 1,
    cagr,
    volatility: yearly(spread),
    sharpe: yearly(ratio),
    probabilisticSharpe: probability(options.benchmarkSharpe / root),
    deflatedSharpe: deflated === null ? null : probability(deflated),
    sortino: yearly(sortino(returns, target, options.downside)),
    calmar: cagr === null || maxDrawdown === 0 ? null : finite(cagr / maxDrawdown),
    omega: omega(returns, target),
    maxDrawdown,
    maxDrawdownUs: longestUs(falls, endUs),
    drawdowns: falls,
    ulcerIndex: ulcerIndex(curve.equity),
    valueAtRisk: valueAtRisk(returns, options.level, options),
    conditionalValueAtRisk: conditionalValueAtRisk(returns, options.level, options),
    skewness: skewness(returns, options.moments),
    kurtosis: excess === null || options.kurtosis === 'excess' ? excess : excess + 3,
    tailRatio: tailRatio(returns, options.level),
    bestPeriod: best ?? null,
    worstPeriod: worst ?? null,
    positivePeriods:
      returns.length === 0 ? null : returns.filter((value) => value > 0).length / returns.length,
    kellyContinuous: kellyContinuous(returns, riskFree, options.denominator),
  };
}

function useMetrics(
  { timesUs, equity }: EquityCurve,
  trades: readonly HeldTrade[] | null,
  years: number,
): UseMetrics {
  if (trades === null) return { exposure: null, turnover: null, turnoverPerYear: null };
  const notionals = trades.map(({ notional }) => notional);
  const average = mean(equity);
  const turnover =
    average === null || average <= 0 || notionals.includes(null)
      ? null
      : sum(notionals.map((notional) => notional ?? 0)) / average;
  return {
    exposure: exposure(trades, timesUs[0] ?? 0, timesUs.at(-1) ?? 0),
    turnover,
    turnoverPerYear: turnover === null ? null : turnover / years,
  };
}
