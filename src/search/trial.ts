/**
 * One trial of a search: a run of the plan with a point's parameters. Input and output are plain
 * data for workers.
 */
import { UserError } from '../base/user-error.ts';
import { isFileFault } from '../platform/file-error.ts';
import { StrategyError } from '../strategy/definition.ts';
import type { StrategyOutput } from '../backtest/output.ts';
import { cut, type EquityCurve } from '../metrics/curve.ts';
import { metricsOf, type Metrics } from '../metrics/metrics.ts';
import type { MetricsOptions } from '../metrics/options.ts';
import { curveOf } from '../report/report.ts';
import { roundTrips } from '../report/analysis/round-trips.ts';
import type { Assignment } from './samplers/space.ts';
import { executePlan, type PlanPorts } from '../run-plan/plan.ts';
import type { RunPlan } from '../run-plan/run-plan.ts';

export interface TrialTask {
  readonly plan: RunPlan;
  readonly parameters: Assignment;
  readonly objective: string;
  readonly options: MetricsOptions;
}

export interface TrialResult {
  /** Higher is better; null if the metric is undefined for this run. */
  readonly score: number | null;
  /** Error message; null if the run succeeded. */
  readonly error: string | null;
  readonly figures: TrialFigures | null;
  /** Period returns, for the probability of overfitting; 0 after a total loss. */
  readonly returns: readonly number[];
}

export interface TrialFigures {
  readonly pnl: string;
  readonly totalReturn: number;
  /** Annualised. */
  readonly sharpe: number | null;
  readonly maxDrawdown: number;
  readonly trades: number;
  readonly fills: number;
  readonly turnover: string;
  readonly chainHash: string;
  readonly stateHash: string;
}

export type TrialPorts = Pick<PlanPorts, 'definitions' | 'tapes'>;

/**
 * Runs a trial; an error of the run becomes a failed trial. Null if stopped. An error of this
 * machine's data is no result, and is thrown: a log would keep it after the file is repaired.
 *
 * @param stopped polled during the run
 * @param ports strategies that are objects, and recordings that earlier trials read
 */
export async function runTrial(
  { plan, parameters, objective, options }: TrialTask,
  stopped: () => boolean = () => false,
  ports: TrialPorts = {},
): Promise<TrialResult | null> {
  const [first, ...others] = plan.strategies;
  if (first === undefined) throw new StrategyError('a search needs a strategy');
  const varied = { ...first, parameters: { ...first.parameters, ...parameters } };
  try {
    const run = { ...plan, strategies: [varied, ...others] };
    const { output } = await executePlan(run, {
      ...ports,
      cancelled: stopped,
    });
    if (output.cancelled) return null;
    const [strategy] = output.strategies;
    if (strategy === undefined) throw new StrategyError('the strategy does not report');
    const curve = curveOf(strategy.equity);
    const metrics = metricsOf(curve, roundTrips(strategy.fills, strategy.liquidations), options);
    return {
      score: scoreOf(metrics, objective),
      error: null,
      figures: figuresOf(strategy, metrics, output),
      returns: allReturns(curve, options),
    };
  } catch (error) {
    if (isFileFault(error) || (error instanceof UserError && error.code === 'tape')) throw error;
    const message = error instanceof Error ? error.message : String(error);
    return { score: null, error: storable(message), figures: null, returns: [] };
  }
}

/** Without what PostgreSQL does not take, so that files are the same with and without it. */
function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd').replace(/\p{Cs}/gu, '\ufffd');
}

/** One return per period of the run, so that the rows of all trials are equally long. */
function allReturns(curve: EquityCurve, options: MetricsOptions): number[] {
  const { timesUs, returns } = cut(curve, options);
  return timesUs.slice(1).map((_, i) => returns[i] ?? 0);
}

export function scoreOf(metrics: Metrics, objective: string): number | null {
  const name = objective.replace(/^-/, '');
  const figures: Readonly<Record<string, unknown>> = { ...metrics, ...metrics.trades };
  const value = figures[name];
  if (typeof value !== 'number') return null;
  return objective.startsWith('-') ? -value : value;
}

function figuresOf(
  { summary }: StrategyOutput,
  metrics: Metrics,
  { chainHash, stateHash }: Pick<TrialFigures, 'chainHash' | 'stateHash'>,
): TrialFigures {
  return {
    pnl: summary.pnl,
    totalReturn: metrics.totalReturn,
    sharpe: metrics.sharpe,
    maxDrawdown: metrics.maxDrawdown,
    trades: metrics.trades?.trades ?? 0,
    fills: summary.fills,
    turnover: summary.turnover,
    chainHash,
    stateHash,
  };
}
