/**
 * Data of the page's curves: a bounded number of points per curve that keeps the extremes of
 * equity.
 */
import type { EquityPoint, FillRow, PlotOutput, StrategyOutput } from '../backtest/output.ts';
import { underwater } from '../metrics/drawdowns.ts';
import { priceCandles } from './analysis/price-candles.ts';
import { reasonsOf } from './reason-text.ts';
import type { Report, RunOutput } from './report.ts';

/** Max points, above the pixels of a wide screen. */
const MAX_POINTS = 4000;

/** Input of the page's script; see page-script.ts. */
export function pageData(runs: readonly ReportedRun[]): unknown {
  return {
    markets: runs.flatMap(({ report }) => report.markets.map(({ shape }) => shape)),
    strategies: runs.flatMap(strategiesOf),
  };
}

/** A run of a page. */
export interface ReportedRun {
  /** Distinguishes the runs of a page; empty if there is one. */
  readonly name: string;
  readonly report: Report;
  readonly output: RunOutput;
  /** Hash of the recorded data, or the agents that made them; null if the run does not say. */
  readonly recording: string | null;
  /** Page with the explanations of its orders, relative to this one; null without one. */
  readonly explanations: string | null;
  /** Page that steps through the run, likewise. */
  readonly timeMachine: string | null;
  /** File that has all rows, for tables that show some of them. */
  readonly allRows: string;
}

/** Pages beside that of a run. */
export type RunLinks = Pick<ReportedRun, 'explanations' | 'timeMachine'>;

/** Address of the instant of a fill; null without a page that shows it. */
export function instantLink(
  { timeMachine }: RunLinks,
  { seq }: Pick<FillRow, 'seq'>,
): string | null {
  return timeMachine === null ? null : `${timeMachine}#seq=${String(seq)}`;
}

/** Name of a strategy on a page of one run or several. */
export function labelOf({ name }: Pick<ReportedRun, 'name'>, id: string): string {
  return name === '' ? id : name === id ? name : `${name} ${id}`;
}

function strategiesOf(run: ReportedRun): unknown[] {
  const { report, output } = run;
  return output.strategies.map((strategy, i) => ({
    id: labelOf(run, strategy.id),
    ...strategyCurves(strategy, output),
    histogram: report.strategies[i]?.histogram ?? null,
    rolling: (report.strategies[i]?.rolling ?? []).map((point) => [
      point.timeUs / 1e6,
      point.sharpe,
      point.volatility,
      point.sortino,
      point.beta,
    ]),
    trades: (report.strategies[i]?.trades ?? []).map(({ mae, mfe, pnlShare, side }) => [
      mae * 100,
      mfe * 100,
      pnlShare * 100,
      side === 'long' ? 1 : -1,
    ]),
  }));
}

function strategyCurves(
  strategy: StrategyOutput,
  output: ReportedRun['output'],
): Record<string, unknown> {
  const { equity } = strategy;
  const kept = keptRows(equity);
  const depths = underwater(equity.map((point) => point.equity));
  const pick = (figure: (point: EquityPoint, row: number) => number): number[] =>
    kept.map((row) => {
      const point = equity[row];
      return point === undefined ? 0 : figure(point, row);
    });
  const times = kept.map((row) => equity[row]?.timeUs ?? 0);
  const reasons = reasonsOf(strategy.orders);
  const held = new Map(strategy.benchmark.map((point) => [point.timeUs, point.equity]));
  return {
    time: pick(({ timeUs }) => timeUs / 1e6),
    equity: pick((point) => point.equity),
    hold: kept.map((row) => held.get(equity[row]?.timeUs ?? -1) ?? null),
    underwater: pick((_, row) => -(depths[row] ?? 0) * 100),
    leverage: pick(({ leverage }) => leverage),
    margin: pick(({ marginUsage }) => marginUsage * 100),
    markets: output.markets.flatMap((market, index) => {
      if (!strategy.symbols.includes(market.symbol)) return [];
      const mids = new Map(market.series.map(({ timeUs, mid, mark }) => [timeUs, mid ?? mark]));
      return [
        {
          symbol: market.symbol,
          decimals: decimalsOf(market.tickSize),
          lotDecimals: decimalsOf(market.lotSize),
          mid: kept.map((row) => mids.get(equity[row]?.timeUs ?? -1) ?? null),
          position: pick(({ positions }) => positions[index] ?? 0),
          candles: priceCandles(market.series, output.sampleUs),
          plots: strategy.plots
            .filter(({ symbol }) => symbol === market.symbol)
            .map((plot) => ({ name: plot.name, pane: plot.pane, values: plotted(plot, times) })),
          fills: strategy.fills
            .filter(({ symbol }) => symbol === market.symbol)
            .map(({ timeUs, side, price, size, role, fillId, tag, orderNumber }) => [
              timeUs / 1e6,
              side === 'buy' ? 1 : -1,
              price,
              size,
              role,
              fillId,
              reasons.get(orderNumber) ?? tag,
              orderNumber,
            ]),
        },
      ];
    }),
  };
}

/** The last value at or before each time; null before the first and in a gap. */
function plotted({ timesUs, values }: PlotOutput, times: readonly number[]): (number | null)[] {
  let next = 0;
  return times.map((time) => {
    while ((timesUs[next] ?? Infinity) <= time) next += 1;
    return values[next - 1] ?? null;
  });
}

/** Representative rows: the lowest and the highest equity of each bucket, in time order. */
function keptRows(points: readonly EquityPoint[]): number[] {
  if (points.length <= MAX_POINTS) return points.map((_, row) => row);
  const size = points.length / (MAX_POINTS / 2);
  const rows = new Set([0, points.length - 1]);
  for (let from = 0; from < points.length; from += size) {
    const [start, end] = [Math.floor(from), Math.min(points.length, Math.floor(from + size))];
    let low = start;
    let high = start;
    for (let row = start; row < end; row++) {
      const value = points[row]?.equity ?? 0;
      if (value < (points[low]?.equity ?? 0)) low = row;
      if (value > (points[high]?.equity ?? 0)) high = row;
    }
    rows.add(low).add(high);
  }
  return [...rows].sort((a, b) => a - b);
}

function decimalsOf(tick: string): number {
  return tick.split('.')[1]?.length ?? 0;
}
