/**
 * A run's report as plain data: the content of the page, also for programs. Exact money is decimal
 * text; statistics are numbers. Times are µs since the Unix epoch.
 */
import type {
  BacktestOutput,
  BenchmarkPoint,
  EquityPoint,
  Divergence,
  FillRow,
  FundingRow,
  LiquidationRow,
  StrategyOutput,
  StrategySummary,
} from '../backtest/output.ts';
import type { ParameterValues } from '../strategy/definition.ts';
import type { Note } from '../backtest/note.ts';
import { noBookUs } from '../backtest/no-book.ts';
import { cut, type EquityCurve } from '../metrics/curve.ts';
import { metricsOf, type Metrics, type Trials } from '../metrics/metrics.ts';
import { METRICS_DEFAULTS, type MetricsOptions } from '../metrics/options.ts';
import { furtherMetrics, type FurtherMetrics } from '../metrics/further.ts';
import { relativeMetrics, type RelativeMetrics } from '../metrics/relative.ts';
import { mean } from '../metrics/sample.ts';
import { attribution, type Attribution } from './analysis/attribution.ts';
import {
  calendarRows,
  dailyReturns,
  type CalendarRow,
  type DayReturn,
} from './analysis/calendar.ts';
import { closedTrades, openTrades, type ExcursionTrip } from './analysis/excursions.ts';
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
import { heldTrades } from './analysis/round-trips.ts';
import { sideResults, type SideResult } from './analysis/sides.ts';

/** Facts about a run that its output does not contain. */
export interface ReportAbout {
  readonly title: string;
  readonly assumptions: readonly Note[];
  readonly data: readonly Note[];
  /** Commands that repeat and verify the run. */
  readonly verify: readonly string[];
  /** Hashes by name of the run's inputs: strategy bundle, dataset, configuration. */
  readonly bundle: Readonly<Record<string, string>>;
  readonly options: MetricsOptions;
  /** True if agents make the market: the report includes its stylised facts. */
  readonly isEndogenous?: boolean;
  /** Trials of the search that selected this run. */
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
  /** Number of times without a book, the warm-up included. */
  readonly gaps: number;
  /** Their total. */
  readonly gapUs: number;
  readonly meanSpread: number | null;
  /** null for a run of release 0.2. */
  readonly divergence: Divergence | null;
  /** Stylised facts of an endogenous market. */
  readonly shape: MarketShape | null;
}

export interface StrategyReport {
  readonly id: string;
  readonly name: string;
  readonly parameters: ParameterValues;
  readonly account: string;
  readonly subaccountIndex: number;
  readonly symbols: readonly string[];
  /** Names of the values that the strategy plotted. */
  readonly plots: readonly string[];
  readonly summary: StrategySummary;
  /** Null if equity has fewer than two samples or starts at 0. */
  readonly metrics: Metrics | null;
  /** Metrics of buy and hold over the same time. */
  readonly benchmark: Metrics | null;
  /** Null as `metrics`. */
  readonly further: FurtherMetrics | null;
  readonly benchmarkFurther: FurtherMetrics | null;
  /** Against buy and hold; null unless both can be measured. */
  readonly relative: RelativeMetrics | null;
  readonly days: readonly DayReturn[];
  readonly calendar: readonly CalendarRow[];
  readonly attribution: Attribution;
  readonly fillQuality: readonly FillQuality[];
  readonly months: readonly MonthReturn[];
  /** Months of buy and hold. */
  readonly benchmarkMonths: readonly MonthReturn[];
  readonly histogram: Histogram | null;
  readonly rolling: readonly RollingPoint[];
  readonly trades: readonly ExcursionTrip[];
  /** Positions that are open at the end, valued at the last mark. */
  readonly openTrades: readonly ExcursionTrip[];
  /** Closed trades by market and side. */
  readonly sides: readonly SideResult[];
  readonly fills: readonly FillRow[];
  readonly funding: readonly FundingRow[];
  readonly liquidations: readonly LiquidationRow[];
}

const HISTOGRAM_BINS = 41;
const ROLLING_WINDOW = 30;

/** Returns of a run that has rolling figures: a window of one has no deviation. */
export const LEAST_ROLLING = 10;

/** Periods in the window of a rolling figure: at most a fifth of the run. */
export const rollingWindow = (returns: number): number =>
  Math.min(ROLLING_WINDOW, Math.floor(returns / 5));

/** A finished run without what reports do not read. */
export type RunOutput = Omit<
  BacktestOutput,
  'engine' | 'journal' | 'cancelled' | 'checkpoint' | 'deliveredUs' | 'unanswered'
>;

export function buildReport(output: RunOutput, about: ReportAbout): Report {
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
      gapUs: noBookUs(market),
      divergence: (market as Partial<typeof market>).divergence ?? null,
      meanSpread: mean(market.series.flatMap(({ spread }) => spread ?? [])),
      shape: about.isEndogenous === true ? marketShape(market) : null,
    })),
    strategies: output.strategies.map((strategy) => strategyReport(strategy, output, about)),
  };
}

function strategyReport(
  strategy: StrategyOutput,
  { markets }: RunOutput,
  { options, trials }: ReportAbout,
): StrategyReport {
  const curve = curveOf(strategy.equity);
  const trades = closedTrades(strategy, markets);
  const held = heldTrades(strategy.fills, strategy.liquidations, curve.timesUs.at(-1) ?? 0);
  const isMeasurable = canMeasure(curve);
  const periods = isMeasurable ? cut(curve, options) : null;
  const returns = periods?.returns.length ?? 0;
  const window = rollingWindow(returns);
  const benchmark = curveOf(strategy.benchmark);
  const market = canMeasure(benchmark) ? benchmark : null;
  return {
    id: strategy.id,
    name: strategy.name,
    parameters: strategy.parameters,
    account: strategy.account,
    subaccountIndex: strategy.subaccountIndex,
    symbols: strategy.symbols,
    plots: [...new Set(strategy.plots.map(({ name }) => name))],
    summary: strategy.summary,
    metrics: isMeasurable ? metricsOf(curve, trades, options, trials, held) : null,
    benchmark: market === null ? null : metricsOf(market, null, options),
    further: isMeasurable ? furtherMetrics(curve, options) : null,
    benchmarkFurther: market === null ? null : furtherMetrics(market, options),
    relative: isMeasurable && market !== null ? relativeMetrics(curve, market, options) : null,
    days: dailyReturns(curve),
    calendar: calendarRows(curve),
    attribution: attribution(strategy.summary, strategy.fills),
    fillQuality: fillQuality(strategy.fills),
    months: monthlyReturns(curve),
    benchmarkMonths: monthlyReturns(benchmark),
    histogram: periods === null ? null : histogram(periods.returns, HISTOGRAM_BINS),
    rolling:
      returns < LEAST_ROLLING || !isYearly(curve) ? [] : rolling(curve, market, options, window),
    trades,
    openTrades: openTrades(strategy, markets),
    sides: sideResults(trades),
    fills: strategy.fills,
    funding: strategy.funding,
    liquidations: strategy.liquidations,
  };
}

/**
 * Samples as a curve of results; the last of several at one time. Money that transfers bring is no
 * gain. Money that they take is a loss until it returns, since what becomes of it is not recorded.
 */
export function curveOf(
  points: readonly (BenchmarkPoint & Pick<EquityPoint, 'transfers'>)[],
): EquityCurve {
  const timesUs: number[] = [];
  const equity: number[] = [];
  for (const point of points) {
    if (timesUs.at(-1) === point.timeUs) {
      timesUs.pop();
      equity.pop();
    }
    timesUs.push(point.timeUs);
    equity.push(point.equity - Math.max(0, point.transfers ?? 0));
  }
  return { timesUs, equity };
}

/** Whether annualised figures are shown: runs shorter than a day are too noisy. */
export function isYearly({ timesUs }: Pick<EquityCurve, 'timesUs'>): boolean {
  return (timesUs.at(-1) ?? 0) - (timesUs[0] ?? 0) >= DAY_US;
}

function canMeasure({ equity }: EquityCurve): boolean {
  return equity.length >= 2 && (equity[0] ?? 0) > 0;
}

const MINUTE_US = 60_000_000;
const HOUR_US = 60 * MINUTE_US;
const DAY_US = 24 * HOUR_US;

/** Default conventions, with the longest return period that leaves enough returns. */
export function reportOptions({
  firstUs,
  lastUs,
  sampleUs,
}: Pick<BacktestOutput, 'firstUs' | 'lastUs' | 'sampleUs'>): MetricsOptions {
  return { ...METRICS_DEFAULTS, period: periodFor(lastUs - firstUs, sampleUs) };
}

/**
 * The longest of a day, an hour and a minute with at least sixty returns, each with a sample of its
 * own; else samples.
 */
function periodFor(spanUs: number, sampleUs: number): MetricsOptions['period'] {
  const periods = [DAY_US, HOUR_US, MINUTE_US].filter((period) => period >= sampleUs);
  return periods.find((period) => spanUs >= 60 * period) ?? 'rows';
}
