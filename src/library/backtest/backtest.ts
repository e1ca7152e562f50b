/** `backtest`: strategies on recorded data or among agents, in one call. */
import type { BacktestOutput, StrategyOutput } from '../../backtest/output.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import type { RoundTrip } from '../../report/analysis/round-trips.ts';
import { listed } from '../../report/text.ts';
import {
  buildReport,
  reportOptions,
  type Report,
  type StrategyReport,
} from '../../report/report.ts';
import { bundleHashes } from '../../run-plan/bundle-hashes.ts';
import { executePlan, type PlanResult } from '../../run-plan/plan.ts';
import type { RunPlan } from '../../run-plan/run-plan.ts';
import { StrategyError, type ParameterSpecs } from '../../strategy/definition.ts';
import { checkOptions } from './option-kinds.ts';
import {
  checkNames,
  checkOther,
  namingOptions,
  planOptions,
  withData,
  type BacktestStrategy,
  type RunOptions,
} from './options.ts';

export interface BacktestOptions<P extends ParameterSpecs = ParameterSpecs>
  extends RunOptions, BacktestStrategy<P> {
  /** Further strategies in the same exchange, each with an account of its own. */
  readonly others?: readonly BacktestStrategy[];
  /**
   * `true` keeps the journal in `result.journal`; a function receives it piece by piece.
   * No journal unless given.
   */
  readonly journal?: boolean | ((bytes: Uint8Array) => void);
  /** Receives the fraction of the data that was read, 0 to 1. */
  readonly onProgress?: (fraction: number) => void;
}

/** Everything that was recorded of one strategy, and its figures. */
export interface StrategyResult extends StrategyOutput {
  /** null with fewer than two samples of equity, or without equity at the start. */
  readonly metrics: Metrics | null;
  /** The same figures of buy and hold. */
  readonly benchmarkMetrics: Metrics | null;
  /** Closed trades, entry to exit. */
  readonly trades: readonly RoundTrip[];
  /** Positions that are open at the end, valued at the last mark. */
  readonly openTrades: readonly RoundTrip[];
}

/**
 * A finished run. Exact figures are decimal text, samples are numbers, times are microseconds
 * since 1970.
 */
export interface BacktestResult extends Omit<
  BacktestOutput,
  'strategies' | 'cancelled' | 'checkpoint' | 'deliveredUs' | 'unanswered'
> {
  /** The strategy of the call first, then `others`. */
  readonly strategies: readonly [StrategyResult, ...StrategyResult[]];
  /** The same as plain JSON data, as `writeReport` writes it. */
  readonly report: Report;
}

/**
 * Runs a strategy on a dataset through the real exchange and returns what happened.
 *
 * The same options give the same hashes on every machine. Local-time methods of `Date` follow the
 * time zone of the process: set `TZ=UTC` where a strategy uses them. A strategy file runs in a
 * realm of its own; an object of `defineStrategy` runs in the caller's.
 *
 * @throws StrategyError naming the option or parameter and its limit
 * @throws StrategyFault with what a strategy threw, its handler and the virtual time
 * @throws TapeError or FileError when the data cannot be read
 */
export async function backtest<const P extends ParameterSpecs>(
  options: BacktestOptions<P>,
): Promise<BacktestResult> {
  checkNames(options, { others: 'objects', journal: 'flagOrFunction', onProgress: 'function' });
  const { others = [], signal, onProgress, journal = false } = options;
  others.forEach((other, i) => {
    checkOther(other, `others[${String(i)}]`);
  });
  signal?.throwIfAborted();
  // The types of a definition's parameters matter to its author alone.
  const first = options as unknown as BacktestStrategy;
  const stopped = (): boolean => signal?.aborted ?? false;
  return withData<RunOptions, BacktestResult>(options, async (given) => {
    const { plan, definitions } = await planOptions(given, [first, ...others]);
    const result = await namingOptions(() =>
      executePlan(plan, {
        definitions,
        journal: journal === true ? 'memory' : journal === false ? 'none' : journal,
        cancelled: stopped,
        hurried: stopped,
        ...(onProgress === undefined ? {} : { onProgress }),
      }),
    );
    if (result.output.cancelled) signal?.throwIfAborted();
    onProgress?.(1);
    return resultOf(result, plan);
  });
}

function resultOf({ output, assumptions, data }: PlanResult, plan: RunPlan): BacktestResult {
  const { firstUs, lastUs, sampleUs, seed, markets, commands } = output;
  const { chainHash, stateHash, journal, engine, strategies } = output;
  const report = buildReport(output, {
    title: titleOf(output),
    isEndogenous: plan.population !== undefined,
    assumptions,
    data,
    verify: [],
    bundle: bundleHashes(plan.strategies),
    options: reportOptions(output),
    trials: null,
  });
  const results = strategies.map((strategy, i): StrategyResult => {
    const shown: Partial<StrategyReport> = report.strategies[i] ?? {};
    const { metrics = null, benchmark = null, trades = [], openTrades = [] } = shown;
    return { ...strategy, metrics, benchmarkMetrics: benchmark, trades, openTrades };
  });
  // A run has the strategy of its call.
  return {
    ...{ firstUs, lastUs, sampleUs, seed, markets, commands, chainHash, stateHash },
    ...{ journal, engine, report },
    strategies: results as [StrategyResult, ...StrategyResult[]],
  };
}

function titleOf({ strategies, markets }: BacktestOutput): string {
  const symbols = listed(markets.map(({ symbol }) => symbol));
  return `${listed(strategies.map(({ name }) => name))} on ${symbols}`;
}

/**
 * Writes a run's page (`index.html`), `report.json` and Arrow files into a folder, which is made.
 *
 * @returns path of the page
 * @throws FileError when the folder cannot be written
 */
export async function writeReport(result: BacktestResult, folder: string): Promise<string> {
  const { report } = Object(result) as Partial<BacktestResult>;
  if (report === undefined) throw new StrategyError('result: must be that of backtest');
  checkOptions({ folder }, { folder: 'text' });
  const write = await import('../../report/write.ts');
  const output = { ...result, cancelled: false, checkpoint: null };
  return (await write.writeReport(output, report, folder)).page;
}
