/**
 * All metrics of a run from its equity curve and closed trades. An undefined metric is null, never
 * 0 or infinite. Fractions are not percentages: 0.1 is 10 %.
 */
import { pow } from '../num/special/pow.ts';
import {
  checkCurve,
  cut,
  ratePerPeriod,
  yearsOf,
  type EquityCurve,
  type Periods,
} from './curve.ts';
import { drawdowns, longestUs, ulcerIndex, type Drawdown } from './drawdowns.ts';
import { METRICS_DEFAULTS, type MetricsOptions } from './options.ts';
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
import { deviation, excessKurtosis, extremes, mean, skewness, sum } from './sample.ts';
import {
  checkTrades,
  exposure,
  tradeMetrics,
  type TradeMetrics,
  type TradeRow,
} from './closed-trades.ts';

/** Trials behind a result, for the deflated Sharpe ratio. */
export interface Trials {
  /** Number of trials, including this one. */
  readonly count: number;
  /** Variance of their Sharpe ratios per period (not annualised). */
  readonly sharpeVariance: number;
}

export interface ReturnMetrics {
  readonly startUs: number;
  readonly endUs: number;
  /** Number of periods with a return; `periodsPerYear`: periods in a year. */
  readonly periods: number;
  readonly periodsPerYear: number;
  readonly startEquity: number;
  readonly endEquity: number;
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

/** Throws `MetricsError` on an invalid curve or trade. */
export function metricsOf(
  curve: EquityCurve,
  trades: readonly TradeRow[] | null = null,
  given: Partial<MetricsOptions> = {},
  trials: Trials | null = null,
): Metrics {
  const options = { ...METRICS_DEFAULTS, ...given };
  checkCurve(curve);
  if (trades !== null) checkTrades(trades);
  const periods = cut(curve, options);
  return {
    ...returnMetrics(curve, periods, options, trials),
    ...useMetrics(curve, trades, yearsOf(periods, options.years)),
    trades: trades === null ? null : tradeMetrics(trades, options),
  };
}

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
  const maxDrawdown = Math.max(0, ...falls.map(({ depth }) => depth));
  const cagr =
    endEquity <= 0 ? -1 : pow(endEquity / startEquity, 1 / yearsOf(periods, options.years)) - 1;
  const spread = deviation(returns, options.denominator);
  const ratio = sharpe(returns, riskFree, options.denominator);
  const excess = excessKurtosis(returns, options.moments);
  const [worst, best] = extremes(returns);
  const shape = shapeOf(returns);
  const probability = (benchmark: number): number | null =>
    ratio === null || shape === null ? null : probabilisticSharpe(ratio, benchmark, shape);
  return {
    startUs: curve.timesUs[0] ?? 0,
    endUs,
    periods: returns.length,
    periodsPerYear: perYear,
    startEquity,
    endEquity,
    totalReturn: endEquity / startEquity - 1,
    cagr: cagr !== null && Number.isFinite(cagr) ? cagr : null,
    volatility: yearly(spread),
    sharpe: yearly(ratio),
    probabilisticSharpe: probability(options.benchmarkSharpe / root),
    deflatedSharpe:
      trials === null ? null : probability(expectedBestSharpe(trials.count, trials.sharpeVariance)),
    sortino: yearly(sortino(returns, target, options.downside)),
    calmar: cagr === null || maxDrawdown === 0 ? null : cagr / maxDrawdown,
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
  trades: readonly TradeRow[] | null,
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
