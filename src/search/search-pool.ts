/** Workers of a search, on this machine or elsewhere. */
import type { BestReport, BestTask } from './best-report.ts';
import type { TrialResult, TrialTask } from './trial.ts';

export interface SearchPool {
  /** Null if stopped. */
  readonly run: (task: TrialTask) => Promise<TrialResult | null>;
  /** Null if stopped. */
  report(task: BestTask): Promise<BestReport | null>;
  /** Number of idle workers. */
  readonly idle: number;
  readonly workers: number;
}
