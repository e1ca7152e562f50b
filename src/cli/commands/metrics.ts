import type { CommandModule } from 'yargs';
import Table from 'cli-table3';
import { MetricsError } from '../../metrics/curve.ts';
import {
  metricsOf,
  RETURN_METRICS,
  TRADE_METRICS,
  valueOf,
  type MetricRow,
  type Metrics,
} from '../../metrics/metrics.ts';
import { METRICS_DEFAULTS, type MetricsOptions } from '../../metrics/options.ts';
import { parseDuration } from '../../num/time-text.ts';
import { readEquityCsv, readTradesCsv, type TimeUnit } from '../metrics-csv.ts';
import { InputError, mustBeWhole, print, printJson } from '../cli-support.ts';

interface MetricsArguments {
  readonly equity: string;
  readonly trades: string | undefined;
  readonly json: boolean;
  readonly returns: MetricsOptions['returns'];
  readonly period: string;
  readonly annualisation: number;
  readonly 'periods-per-year': number | undefined;
  readonly denominator: MetricsOptions['denominator'];
  readonly moments: MetricsOptions['moments'];
  readonly kurtosis: MetricsOptions['kurtosis'];
  readonly 'risk-free': number;
  readonly 'rate-per-period': MetricsOptions['ratePerPeriod'];
  readonly target: number;
  readonly downside: MetricsOptions['downside'];
  readonly years: MetricsOptions['years'];
  readonly 'value-at-risk': MetricsOptions['valueAtRisk'];
  readonly level: number;
  readonly 'benchmark-sharpe': number;
  readonly 'break-even': MetricsOptions['breakEven'];
  readonly sqn: MetricsOptions['sqn'];
  readonly trials: number | undefined;
  readonly 'trials-variance': number | undefined;
  readonly 'time-column': string | undefined;
  readonly 'equity-column': string | undefined;
  readonly 'time-unit': TimeUnit;
  readonly spacing: string | undefined;
}

const D = METRICS_DEFAULTS;

export const command: CommandModule<object, MetricsArguments> = {
  command: 'metrics <equity>',
  builder: (yargs) =>
    yargs
      .positional('equity', {
        type: 'string',
        demandOption: true,
        describe: 'CSV file with a time and an equity column',
      })
      .option('trades', {
        type: 'string',
        describe: 'CSV file of closed trades: pnl; optional entry, exit, notional',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .options(CONVENTIONS)
      .options(COLUMNS)
      .example('$0 metrics equity.csv', 'metrics of an equity curve')
      .example('$0 metrics equity.csv --annualisation 252 --denominator population', '')
      .example(
        '$0 metrics curve.csv --period 1d --trades trades.csv --json',
        'daily returns, output as JSON',
      ),
  handler: async (args) => {
    const options = optionsOf(args);
    const curve = await readEquityCsv(args.equity, {
      time: args['time-column'],
      equity: args['equity-column'],
      timeUnit: args['time-unit'],
      spacingUs: args.spacing === undefined ? undefined : lengthOf('spacing', args.spacing),
    });
    const trades =
      args.trades === undefined ? null : await readTradesCsv(args.trades, args['time-unit']);
    const metrics = explained(args, () => metricsOf(curve, trades, options, trialsOf(args)));
    if (args.json) printJson({ options, metrics });
    else print(tableOf(metrics));
  },
};

const CONVENTIONS = {
  returns: { choices: ['simple', 'log'], default: D.returns, describe: 'return of a period' },
  period: { type: 'string', default: 'rows', describe: "'rows' or a duration such as 1h or 1d" },
  annualisation: {
    type: 'number',
    default: D.annualisation,
    describe: 'days per year, such as 365 or 252',
  },
  'periods-per-year': {
    type: 'number',
    describe: 'periods per year; default: from the spacing of rows',
  },
  denominator: {
    choices: ['sample', 'population'],
    default: D.denominator,
    describe: 'divisor of deviations: n − 1 or n',
  },
  moments: {
    choices: ['sample', 'population'],
    default: D.moments,
    describe: 'bias correction of skewness and kurtosis',
  },
  kurtosis: { choices: ['excess', 'raw'], default: D.kurtosis },
  'risk-free': {
    type: 'number',
    default: D.riskFree,
    describe: 'annual risk-free rate, 0.04 for 4 %',
  },
  'rate-per-period': {
    choices: ['geometric', 'linear'],
    default: D.ratePerPeriod,
    describe: 'conversion of annual rates to a period',
  },
  target: {
    type: 'number',
    default: D.target,
    describe: 'annual target return of Sortino and Omega',
  },
  downside: {
    choices: ['all', 'below'],
    default: D.downside,
    describe: 'divisor of the downside deviation',
  },
  years: {
    choices: ['elapsed365', 'elapsed365.25', 'periods'],
    default: D.years,
    describe: 'definition of years for CAGR',
  },
  'value-at-risk': { choices: ['historical', 'normal'], default: D.valueAtRisk },
  level: { type: 'number', default: D.level, describe: 'confidence of VaR, CVaR and tail ratio' },
  'benchmark-sharpe': {
    type: 'number',
    default: D.benchmarkSharpe,
    describe: 'annual benchmark of the probabilistic Sharpe ratio',
  },
  'break-even': {
    choices: ['count', 'exclude'],
    default: D.breakEven,
    describe: 'trades with PnL 0 in the win rate',
  },
  sqn: { choices: ['all', 'cap100'], default: D.sqn, describe: 'SQN factor: √n or √min(n, 100)' },
  trials: { type: 'number', describe: 'number of strategies tried, for the deflated Sharpe ratio' },
  'trials-variance': {
    type: 'number',
    describe: 'variance of their Sharpe ratios per period',
  },
} as const;

const COLUMNS = {
  'time-column': { type: 'string', describe: 'name of the time column' },
  'equity-column': { type: 'string', describe: 'name of the equity column' },
  'time-unit': {
    choices: ['auto', 's', 'ms', 'us', 'ns'],
    default: 'auto',
    describe: 'unit of numeric times',
  },
  spacing: { type: 'string', describe: 'interval of rows in a file without times, such as 1d' },
} as const;

function optionsOf(args: MetricsArguments): MetricsOptions {
  inRange('annualisation', args.annualisation, 1, 366);
  if (args['periods-per-year'] !== undefined) {
    inRange('periods-per-year', args['periods-per-year'], 1e-3, 1e9);
  }
  inRange('risk-free', args['risk-free'], -0.99, 10);
  inRange('target', args.target, -0.99, 10);
  inRange('level', args.level, 0.5, 0.9999);
  inRange('benchmark-sharpe', args['benchmark-sharpe'], -100, 100);
  return {
    returns: args.returns,
    period: args.period === 'rows' ? 'rows' : lengthOf('period', args.period),
    annualisation: args.annualisation,
    periodsPerYear: args['periods-per-year'] ?? null,
    denominator: args.denominator,
    moments: args.moments,
    kurtosis: args.kurtosis,
    riskFree: args['risk-free'],
    ratePerPeriod: args['rate-per-period'],
    target: args.target,
    downside: args.downside,
    years: args.years,
    valueAtRisk: args['value-at-risk'],
    level: args.level,
    benchmarkSharpe: args['benchmark-sharpe'],
    breakEven: args['break-even'],
    sqn: args.sqn,
  };
}

function inRange(name: string, value: number, low: number, high: number): void {
  if (value >= low && value <= high) return;
  throw new InputError(
    `--${name} is ${String(value)}; it must be from ${String(low)} to ${String(high)}`,
  );
}

function lengthOf(name: string, text: string): number {
  const length = parseDuration(text);
  if (length !== null && length > 0) return length;
  throw new InputError(`--${name} is '${text}'; it must be a duration such as 1m, 1h or 1d`);
}

function trialsOf(args: MetricsArguments): { count: number; sharpeVariance: number } | null {
  const { trials, 'trials-variance': trialsVariance } = args;
  if (trials === undefined && trialsVariance === undefined) return null;
  if (trials === undefined || trialsVariance === undefined) {
    throw new InputError('--trials and --trials-variance go together');
  }
  mustBeWhole('trials', trials, 1, 1e9);
  inRange('trials-variance', trialsVariance, 0, 1e6);
  return { count: trials, sharpeVariance: trialsVariance };
}

/** Adds the file name to errors in the data. */
function explained<T>(args: MetricsArguments, compute: () => T): T {
  try {
    return compute();
  } catch (error) {
    if (!(error instanceof MetricsError)) throw error;
    const file = error.message.startsWith('trade') ? args.trades : args.equity;
    throw new InputError(`${file ?? ''}: ${error.message}`);
  }
}

function tableOf(metrics: Metrics): string {
  const table = new Table({
    colAligns: ['left', 'right'],
    style: { head: [], border: [], compact: true },
  });
  const percent = (value: number | null): string =>
    value === null || !Number.isFinite(value) ? '–' : `${(value * 100).toFixed(2)} %`;
  const plain = (value: number | null): string =>
    value === null || !Number.isFinite(value) ? '–' : value.toFixed(4);
  const time = (us: number): string => new Date(us / 1000).toISOString().slice(0, 19);
  const days = (us: number | null): string =>
    us === null ? '–' : `${(us / 86_400e6).toFixed(2)} d`;
  const formats = { fraction: percent, number: plain, time: days };
  const rowOf = (row: MetricRow): [string, string][] =>
    row.name === null ? [] : [[row.name, formats[row.unit](valueOf(metrics, row))]];
  const { trades } = metrics;
  table.push(
    ['from', time(metrics.startUs)],
    ['to', time(metrics.endUs)],
    ['periods (a year)', `${String(metrics.periods)} (${metrics.periodsPerYear.toFixed(1)})`],
    ...RETURN_METRICS.flatMap(rowOf),
  );
  if (trades !== null) {
    table.push(
      ['trades', String(trades.trades)],
      ...TRADE_METRICS.flatMap(rowOf),
      ['exposure', percent(metrics.exposure)],
      ['turnover (a year)', `${plain(metrics.turnover)} (${plain(metrics.turnoverPerYear)})`],
    );
  }
  return table.toString();
}
