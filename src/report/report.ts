/**
 * A run's report as plain data: everything that the page shows and that programs read, made of what the backtest recorded.
 * Money is decimal text where it is exact, and a number where it is a statistic. Times are µs since the Unix epoch.
 */
import type {
  BacktestOutput,
  BenchmarkPoint,
  FillRow,
  FundingRow,
  LiquidationRow,
  StrategyOutput,
  StrategySummary,
} from '../backtest/output.ts';
import type { ParameterValues } from '../strategy/definition.ts';
import type { Note } from '../backtest/note.ts';
import { cut, type EquityCurve } from '../metrics/curve.ts';
import { metricsOf, type Metrics, type Trials } from '../metrics/metrics.ts';
import { METRICS_DEFAULTS, type MetricsOptions } from '../metrics/options.ts';
import { mean } from '../metrics/sample.ts';
import { attribution, type Attribution } from './analysis/attribution.ts';
import {
  histogram,
  monthlyReturns,
  rolling,
  type Histogram,
  type MonthReturn,
  type RollingPoint,
} from './analysis/distributions.ts';
import { fillQuality, type FillQuality } from './analysis/fill-quality.ts';
import { marketShape, type MarketShape } from './analysis/market-shape.ts';
import { roundTrips, type RoundTrip } from './analysis/round-trips.ts';

/** What only the maker of a run knows about it. */
export interface ReportAbout {
  readonly title: string;
  readonly assumptions: readonly Note[];
  readonly data: readonly Note[];
  /** Commands that repeat and verify the run. */
  readonly verify: readonly string[];
  /** Name → hash of everything that the run is made of: strategy bundle, dataset, configuration. */
  readonly bundle: Readonly<Record<string, string>>;
  readonly options: MetricsOptions;
  /** Agents make the market: its stylised facts are part of the report. */
  readonly isEndogenous?: boolean;
  /** Trials of the search that this run was picked from. */
  readonly trials: Trials | null;
}

export interface Report extends ReportAbout {
  readonly orrery: 'report';
  readonly version: 2;
  readonly firstUs: number;
  readonly lastUs: number;
  readonly sampleUs: number;
  readonly seed: string;
  readonly commands: number;
  readonly chainHash: string;
  readonly stateHash: string;
  readonly markets: readonly MarketReport[];
  readonly strategies: readonly StrategyReport[];
}

export interface MarketReport {
  readonly symbol: string;
  readonly tickSize: string;
  readonly lotSize: string;
  readonly trades: number;
  readonly volume: string;
  readonly gaps: number;
  /** Time without a book. */
  readonly gapUs: number;
  readonly meanSpread: number | null;
  /** Of a market that agents make. */
  readonly shape: MarketShape | null;
}

export interface StrategyReport {
  readonly id: string;
  readonly name: string;
  readonly parameters: ParameterValues;
  readonly account: string;
  readonly subaccountIndex: number;
  readonly symbols: readonly string[];
  readonly summary: StrategySummary;
  /** null when equity has fewer than two samples or starts at 0. */
  readonly metrics: Metrics | null;
  /** Of buy and hold over the same time. */
  readonly benchmark: Metrics | null;
  readonly attribution: Attribution;
  readonly fillQuality: readonly FillQuality[];
  readonly months: readonly MonthReturn[];
  readonly histogram: Histogram | null;
  readonly rolling: readonly RollingPoint[];
  readonly trades: readonly RoundTrip[];
  readonly fills: readonly FillRow[];
  readonly funding: readonly FundingRow[];
  readonly liquidations: readonly LiquidationRow[];
}

const HISTOGRAM_BINS = 41;
/** Periods behind each point of a rolling figure, at most a fifth of the run. */
const ROLLING_WINDOW = 30;

export function buildReport(output: BacktestOutput, about: ReportAbout): Report {
  return {
    orrery: 'report',
    version: 2,
    ...about,
    firstUs: output.firstUs,
    lastUs: output.lastUs,
    sampleUs: output.sampleUs,
    seed: output.seed,
    commands: output.commands,
    chainHash: output.chainHash,
    stateHash: output.stateHash,
    markets: output.markets.map((market) => ({
      symbol: market.symbol,
      tickSize: market.tickSize,
      lotSize: market.lotSize,
      trades: market.trades,
      volume: market.volume,
      gaps: market.gaps.length,
      gapUs: market.gaps.reduce((sum, { fromUs, toUs }) => sum + toUs - fromUs, 0),
      meanSpread: mean(market.series.flatMap(({ spread }) => spread ?? [])),
      shape: about.isEndogenous === true ? marketShape(market) : null,
    })),
    strategies: output.strategies.map((strategy) => strategyReport(strategy, about)),
  };
}

function strategyReport(
  strategy: StrategyOutput,
  { options, trials }: ReportAbout,
): StrategyReport {
  const curve = curveOf(strategy.equity);
  const trades = roundTrips(strategy.fills);
  const isMeasurable = canMeasure(curve);
  const periods = isMeasurable ? cut(curve, options) : null;
  const window = Math.min(ROLLING_WINDOW, Math.floor((periods?.returns.length ?? 0) / 5));
  const benchmark = curveOf(strategy.benchmark);
  return {
    id: strategy.id,
    name: strategy.name,
    parameters: strategy.parameters,
    account: strategy.account,
    subaccountIndex: strategy.subaccountIndex,
    symbols: strategy.symbols,
    summary: strategy.summary,
    metrics: isMeasurable ? metricsOf(curve, trades, options, trials) : null,
    benchmark: canMeasure(benchmark) ? metricsOf(benchmark, null, options) : null,
    attribution: attribution(strategy.summary, strategy.fills),
    fillQuality: fillQuality(strategy.fills),
    months: monthlyReturns(curve),
    histogram: periods === null ? null : histogram(periods.returns, HISTOGRAM_BINS),
    rolling: window < 2 || !isYearly(curve) ? [] : rolling(curve, options, window),
    trades,
    fills: strategy.fills,
    funding: strategy.funding,
    liquidations: strategy.liquidations,
  };
}

/** Samples as a curve; of several at one instant the last. */
export function curveOf(points: readonly BenchmarkPoint[]): EquityCurve {
  const timesUs: number[] = [];
  const equity: number[] = [];
  for (const point of points) {
    if (timesUs.at(-1) === point.timeUs) {
      timesUs.pop();
      equity.pop();
    }
    timesUs.push(point.timeUs);
    equity.push(point.equity);
  }
  return { timesUs, equity };
}

/** A yearly figure of a run shorter than a day is noise times a large number. */
export function isYearly({ timesUs }: Pick<EquityCurve, 'timesUs'>): boolean {
  return (timesUs.at(-1) ?? 0) - (timesUs[0] ?? 0) >= DAY_US;
}

function canMeasure({ equity }: EquityCurve): boolean {
  return equity.length >= 2 && (equity[0] ?? 0) > 0;
}

const MINUTE_US = 60_000_000;
const HOUR_US = 60 * MINUTE_US;
const DAY_US = 24 * HOUR_US;

/** The usual conventions, and returns of a period that leaves the run enough of them. */
export function reportOptions({ firstUs, lastUs }: BacktestOutput): MetricsOptions {
  return { ...METRICS_DEFAULTS, period: periodFor(lastUs - firstUs) };
}

/** The longest of a day, an hour and a minute that leaves at least sixty returns; samples of shorter runs. */
function periodFor(spanUs: number): MetricsOptions['period'] {
  return [DAY_US, HOUR_US, MINUTE_US].find((period) => spanUs >= 60 * period) ?? 'rows';
}
