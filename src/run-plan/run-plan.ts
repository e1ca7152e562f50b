/**
 * A run as plain data: its data, its strategies with parameters, its assumptions. Equal plans give
 * equal runs on every machine and worker: the plan contains each strategy's bundle, and all random
 * numbers come from its seed.
 */
import type { ParameterValue } from '../strategy/definition.ts';
import type { StrategyBundle } from '../strategy-loader/bundle.ts';
import type { Fidelity } from '../tape/tape-model.ts';
import type { Population } from './agent-runs.ts';
import type { PlannedFeed } from './data-feeds.ts';

export interface PlannedStrategy {
  /** Unique in the plan; also the name of the account. */
  readonly id: string;
  /** null for a strategy that is an object of this process (`PlanPorts.definitions`). */
  readonly bundle: StrategyBundle | null;
  readonly parameters: Readonly<Record<string, ParameterValue>>;
  /** Markets that it subscribes to; default: all of the run. */
  readonly symbols?: readonly string[];
}

export interface RunPlan {
  /** Folder of a dataset; omitted if there is a population. */
  readonly data?: string;
  /** Markets of the dataset to read; default: all. */
  readonly markets?: readonly string[];
  /** Agents that form an endogenous market. */
  readonly population?: Population;
  readonly strategies: readonly PlannedStrategy[];
  /** Files of the user's data for `onData`. */
  readonly feeds?: readonly PlannedFeed[];
  /** Start of trading, after a warm-up on earlier data; µs. */
  readonly fromUs?: number;
  readonly toUs?: number;
  /** Start balance of each strategy's account, decimal text. */
  readonly balance: string;
  readonly seed: string;
  /** Syntax as in `parseLatency`. */
  readonly latency?: string;
  /** Factor on every latency and the compute time. */
  readonly latencyTimes?: number;
  readonly queue?: string;
  readonly impact?: string;
  /** Plays markets at a lower fidelity than possible. */
  readonly fidelity?: Fidelity;
  /** Model of bars and trades, syntax as in `parseTapeModel`. */
  readonly bars?: string;
  /** `maker,taker` */
  readonly fees?: string;
  /** Factor on both fees, a whole number; a rebate stays. */
  readonly feesTimes?: number;
  /** `initial,maintenance` margin as ratios. */
  readonly margin?: string;
  readonly faults?: string;
  /** Time before trading starts, µs; default: the max of what the strategies request. */
  readonly warmUpUs?: number;
  readonly sampleUs?: number;
  /** False: no journal is kept. */
  readonly journal?: boolean;
}
