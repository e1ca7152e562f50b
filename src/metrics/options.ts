/**
 * The conventions behind every figure, each a named option. Two tools that disagree on a Sharpe ratio mostly disagree on
 * one of these.
 */
import type { Denominator } from './sample.ts';

export interface MetricsOptions {
  /** Return of a period: equity ratio − 1, or its natural logarithm. */
  readonly returns: 'simple' | 'log';
  /** Rows as they are, or the last row of each period of so many microseconds, aligned to the Unix epoch, UTC. */
  readonly period: 'rows' | number;
  /** Days in a year: 365 where markets never close, 252 for exchange days. */
  readonly annualisation: number;
  /** Periods in a year; null derives it: `annualisation` days over the median spacing of the periods. */
  readonly periodsPerYear: number | null;
  /** Divisor of volatility, and of the deviations in Sharpe and SQN. */
  readonly denominator: Denominator;
  /** Of skewness and kurtosis. The probabilistic Sharpe ratio always takes the population's. */
  readonly moments: Denominator;
  readonly kurtosis: 'excess' | 'raw';
  /** Risk-free rate a year, as a fraction. */
  readonly riskFree: number;
  /** A yearly rate to a period's: (1 + r)^(1/n) − 1, or r ÷ n. Of the risk-free rate and of the target. */
  readonly ratePerPeriod: 'geometric' | 'linear';
  /** Least acceptable return a year of Sortino and Omega, as a fraction. */
  readonly target: number;
  /** Divisor of the downside deviation: all periods, or only those below the target. */
  readonly downside: 'all' | 'below';
  /** Years behind CAGR: elapsed time over 365 or 365.25 days, or periods ÷ periods a year. */
  readonly years: 'elapsed365' | 'elapsed365.25' | 'periods';
  /** From the rows' own distribution, or from a normal one with their mean and deviation. */
  readonly valueAtRisk: 'historical' | 'normal';
  /** Confidence of VaR, CVaR and the tail ratio. */
  readonly level: number;
  /** Yearly Sharpe ratio that the probabilistic one is measured against. */
  readonly benchmarkSharpe: number;
  /** Whether a trade of exactly 0 counts among the trades of the win rate and of Kelly. */
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
