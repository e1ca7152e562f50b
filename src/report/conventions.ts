/** Conventions of the figures of a report as text, from the options used. */
import type { MetricsOptions } from '../metrics/options.ts';
import type { Note } from '../backtest/note.ts';
import { duration, percent } from '../design/number-text.ts';

export function conventions(options: MetricsOptions): Note[] {
  const periods = options.period === 'rows' ? 'each sample' : duration(options.period);
  const perYear =
    options.periodsPerYear === 1
      ? 'ratios and volatility of one such period, not of a year'
      : `${String(options.annualisation)} days a year`;
  const divisor = options.denominator === 'sample' ? 'n − 1' : 'n';
  return [
    {
      title: 'PnL',
      text: 'Change of equity with open positions at mark, less transfers. Trading is realised and unrealised price gains; its parts sum to the total exactly, to 0.000001. In returns, ratios and drawdown, money that transfers bring is no gain, and money that they take is a loss until it returns.',
    },
    {
      title: 'Returns',
      text: `${options.returns === 'simple' ? 'Simple' : 'Logarithmic'} returns of ${periods}, ${perYear}, deviations over ${divisor}. Yearly figures of a short run are extrapolations.`,
    },
    {
      title: 'Ratios',
      text: `Risk-free rate ${percent(options.riskFree)}, target ${percent(options.target)} a year; downside over ${options.downside === 'all' ? 'all periods' : 'periods below the target'}; VaR and CVaR ${options.valueAtRisk} at ${percent(options.level, 0)}; CAGR over ${yearsText(options.years)}.`,
    },
    {
      title: 'Drawdown',
      text: 'Equity below its running high, on every sample; duration until the high is reached again.',
    },
    {
      title: 'Trades',
      text: 'A trade is a position from flat to flat; its PnL is after fees, funding and liquidation. A position open at the end is not a trade.',
    },
    {
      title: 'Attribution',
      text: 'Spread is the mid just before a fill against its price; adverse selection the move of the mid in the 10 s after it; inventory the remaining price gains.',
    },
    {
      title: 'Buy and hold',
      text: 'The full balance in the first market at the first mid, in whole lots, with the fee, marked at mid. It pays no funding, unlike a position.',
    },
  ];
}

function yearsText(years: MetricsOptions['years']): string {
  return years === 'periods'
    ? 'periods ÷ periods a year'
    : `elapsed time in years of ${years === 'elapsed365' ? '365' : '365.25'} days`;
}
