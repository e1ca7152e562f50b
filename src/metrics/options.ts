/**
 * Conventions of the metrics, each a named option. Most differences between tools in a Sharpe ratio
 * come from one of these.
 */
import type { Denominator } from './sample.ts';

export interface MetricsOptions {
  /** Return of a period: equity ratio − 1, or its natural logarithm. */
  readonly returns: 'simple' | 'log';
  /**
   * All rows, or the last row of each period of this many microseconds, aligned to the Unix epoch,
   * UTC.
   */
  readonly period: 'rows' | number;
  /** Days in a year: 365 for markets that never close, 252 for exchange days. */
  readonly annualisation: number;
  /**
   * Periods in a year; null derives it as `annualisation` days ÷ the median spacing of the periods.
   */
  readonly periodsPerYear: number | null;
  /** Divisor of volatility, and of the deviations in Sharpe and SQN. */
  readonly denominator: Denominator;
  /**
   * Divisor of skewness and kurtosis. The probabilistic Sharpe ratio always uses the population's.
   */
  readonly moments: Denominator;
  readonly kurtosis: 'excess' | 'raw';
  /** Annual risk-free rate, as a fraction. */
  readonly riskFree: number;
  /** Conversion of annual rates (risk-free, target) to a period: (1 + r)^(1/n) − 1, or r ÷ n. */
  readonly ratePerPeriod: 'geometric' | 'linear';
  /** Annual minimum acceptable return of Sortino and Omega, as a fraction. */
  readonly target: number;
  /** Divisor of the downside deviation: all periods, or those below the target. */
  readonly downside: 'all' | 'below';
  /** Years of CAGR: elapsed time over 365 or 365.25 days, or periods ÷ periods per year. */
  readonly years: 'elapsed365' | 'elapsed365.25' | 'periods';
  /** From the empirical distribution, or a normal one with its mean and deviation. */
  readonly valueAtRisk: 'historical' | 'normal';
  /** Confidence of VaR, CVaR and the tail ratio. */
  readonly level: number;
  /** Annualised benchmark of the probabilistic Sharpe ratio. */
  readonly benchmarkSharpe: number;
  /** Whether trades with PnL 0 count in the win rate and in Kelly. */
  readonly breakEven: 'count' | 'exclude';
  /** SQN's √n, or √min(n, 100). */
  readonly sqn: 'all' | 'cap100';
}

export const METRICS_DEFAULTS: MetricsOptions = {
  returns: 'simple',
  period: 'rows',
  annualisation: 365,
  periodsPerYear: null,
  denominator: 'sample',
  moments: 'population',
  kurtosis: 'excess',
  riskFree: 0,
  ratePerPeriod: 'geometric',
  target: 0,
  downside: 'all',
  years: 'elapsed365',
  valueAtRisk: 'historical',
  level: 0.95,
  benchmarkSharpe: 0,
  breakEven: 'count',
  sqn: 'all',
};
