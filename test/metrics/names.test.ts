/** Each statistic that other tools print has a row in docs/METRICS.md, or a reason why not. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** QuantStats 0.0.77, `reports.full` with a benchmark. */
const QUANTSTATS = `Start Period, End Period, Risk-Free Rate, Time in Market, Cumulative Return,
Total Return, CAGR, Sharpe, Prob. Sharpe Ratio, Smart Sharpe, Sortino, Smart Sortino, Sortino/√2,
Smart Sortino/√2, Omega, Max Drawdown, Max DD Date, Max DD Period Start, Max DD Period End,
Longest DD Days, Volatility (ann.), R^2, Information Ratio, Calmar, Skew, Kurtosis, Expected Daily,
Expected Monthly, Expected Yearly, Kelly Criterion, Risk of Ruin, Daily Value-at-Risk,
Expected Shortfall (cVaR), Max Consecutive Wins, Max Consecutive Losses, Gain/Pain Ratio,
Gain/Pain (1M), Payoff Ratio, Profit Factor, Common Sense Ratio, CPC Index, Tail Ratio,
Outlier Win Ratio, Outlier Loss Ratio, MTD, 3M, 6M, YTD, 1Y, 3Y (ann.), 5Y (ann.), 10Y (ann.),
All-time (ann.), Best Day, Worst Day, Best Month, Worst Month, Best Year, Worst Year, Avg. Drawdown,
Avg. Drawdown Days, Recovery Factor, Ulcer Index, Ulcer Performance Index, Serenity Index,
Avg. Up Month, Avg. Down Month, Win Days, Win Month, Win Quarter, Win Year, Beta, Alpha, Correlation,
Treynor Ratio, Avg. Return, Avg. Win, Avg. Loss, Win/Loss Ratio, Profit Ratio, Risk-Adjusted Return,
Risk-Return Ratio, GPR (3M), GPR (6M), GPR (1Y)`;

const EMPYRICAL = `cum_returns_final, annual_return, annual_volatility, sharpe_ratio, calmar_ratio,
max_drawdown, omega_ratio, sortino_ratio, downside_risk, tail_ratio, stability_of_timeseries,
value_at_risk, conditional_value_at_risk, alpha, beta, excess_sharpe, capture, up_capture,
down_capture, up_down_capture, up_alpha_beta, down_alpha_beta, beta_fragility_heuristic,
gpd_risk_estimates, roll_max_drawdown, roll_cagr, roll_sharpe_ratio, roll_annual_volatility,
roll_alpha_beta, roll_up_capture`;

/** backtesting.py 0.6. */
const BACKTESTING = `Start, End, Duration, Exposure Time, Equity Final, Equity Peak, Commissions, Return,
Buy & Hold Return, Return (Ann.), Volatility (Ann.), CAGR, Sharpe Ratio, Sortino Ratio, Calmar Ratio,
Alpha, Beta, Max. Drawdown, Avg. Drawdown, Max. Drawdown Duration, Avg. Drawdown Duration, # Trades,
Win Rate, Best Trade, Worst Trade, Avg. Trade, Max. Trade Duration, Avg. Trade Duration,
Profit Factor, Expectancy, SQN, Kelly Criterion`;

const text = readFileSync('docs/METRICS.md', 'utf8').replace(/\s+/g, ' ');
const section = text.slice(
  text.indexOf('## Names in other tools'),
  text.indexOf('Quantiles interp'),
);
const names = section
  .split(/\| |, | and |- |; |: |(?<!Avg|Max|Prob)\. (?=[A-Z])/)
  .map((name) => name.trim());

test.each([
  ['QuantStats', QUANTSTATS],
  ['empyrical', EMPYRICAL],
  ['backtesting.py', BACKTESTING],
])('each statistic of %s has a row or a reason', (_, list) => {
  const missing = list
    .split(/,\s+/)
    .filter((name) => !names.some((one) => one === name || one.startsWith(`${name}, which`)));
  expect(missing).toEqual([]);
});
