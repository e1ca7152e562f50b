/** The replay of a served exchange, and the options of a run on it. */
import type { FeedSource } from '../contract/feeds.ts';
import type { PromiseTurns } from '../backtest/run-backtest.ts';
import type { BarsEmitted } from '../backtest/strategy-feeds.ts';
import type { RunTerms } from '../run-plan/run-terms.ts';
import type { LiveOptions } from './live-run.ts';

/** Reply of GET /sim/replay. Times are µs. */
export interface ReplayStatus {
  readonly dataset: string;
  readonly firstUs: number;
  readonly lastUs: number;
  readonly sampleUs: number;
  readonly minRecordedUs: number;
  readonly barsEmitted: BarsEmitted;
  readonly terms: RunTerms;
  readonly timeUs: number;
  /** null on a virtual clock. */
  readonly speed: number | null;
}

export interface ReplayRunOptions extends LiveOptions {
  readonly status: ReplayStatus;
  readonly simToken: string;
  /** SHA-256 of the strategy's bundle. */
  readonly bundle: string;
  /** Name of the strategy's random streams: the id of a backtest with equal random numbers. */
  readonly id: string;
  /** Syntax as in `parseLatency`. */
  readonly latency: string;
  readonly promises: PromiseTurns;
  /** Start of trading; default: after the warm-up. */
  readonly tradeFromUs: number | null;
  /** Default: that of the strategy. */
  readonly warmUpUs: number | null;
  readonly sampleUs: number | null;
  /** End of the run before that of the recording. */
  readonly untilUs: number;
  readonly onProgress: (fraction: number) => void;
}

export type Data = Readonly<Record<string, unknown>>;

/** A message of the server that moves a replay. */
export interface Message {
  readonly kind: FeedSource | 'instant' | 'accepted' | 'role' | 'funding' | 'bar';
  readonly data: Data;
}
