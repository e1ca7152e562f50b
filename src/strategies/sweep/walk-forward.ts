/**
 * Walk-forward: in every window a search picks parameters on the training stretch, and they are judged on the stretch after
 * it, which the search has not seen. What is reported is the chain of those judgements.
 */
import { assignmentOf, type Assignment } from '../../search/space.ts';
import type { Window } from '../../search/windows.ts';
import { metricsOf, type Metrics } from '../../metrics/metrics.ts';
import { sweep, type SweepPlan, type SweepPorts } from './sweep.ts';
import type { TrialLog } from './trial-log.ts';
import type { TrialFigures } from './trial.ts';

export interface WindowResult {
  readonly window: Window;
  readonly trials: number;
  /** null when no trial of the window has a score. */
  readonly parameters: Assignment | null;
  readonly trainScore: number | null;
  readonly testScore: number | null;
  readonly test: TrialFigures | null;
  readonly testReturns: readonly number[];
}

export interface WalkForward {
  readonly windows: readonly WindowResult[];
  /** Of the tests put end to end: their returns compounded, gaps between periods left out. null without returns. */
  readonly outOfSample: Metrics | null;
  /** Mean test score ÷ mean train score: 1 when nothing is lost out of sample. null when either is not above 0. */
  readonly efficiency: number | null;
  readonly cancelled: boolean;
}

export interface WalkForwardPorts extends Omit<SweepPorts, 'log' | 'onTrial'> {
  /** Each window has its own log, so that a stopped walk goes on. */
  readonly logOf: (window: number, search: SweepPlan) => TrialLog;
  readonly onWindow: (done: number) => void;
}

/** `search.plan` and its stretch of data are those of a whole window; each run gets its own. */
export async function walkForward(
  search: SweepPlan,
  windows: readonly Window[],
  perYear: number,
  ports: WalkForwardPorts,
): Promise<WalkForward> {
  const results: WindowResult[] = [];
  for (const [number, window] of windows.entries()) {
    const result = await oneWindow(search, window, number, ports);
    if (result === null) return summary(results, search, perYear, true);
    results.push(result);
    ports.onWindow(results.length);
  }
  return summary(results, search, perYear, false);
}

/** null when it was stopped. */
async function oneWindow(
  search: SweepPlan,
  window: Window,
  number: number,
  ports: WalkForwardPorts,
): Promise<WindowResult | null> {
  const trained: SweepPlan = {
    ...search,
    plan: { ...search.plan, fromUs: window.trainFromUs, toUs: window.trainToUs },
    fromUs: window.trainFromUs,
    toUs: window.trainToUs,
  };
  const log = ports.logOf(number, trained);
  try {
    const { trials, best, cancelled } = await sweep(trained, {
      run: ports.run,
      cancelled: ports.cancelled,
      log,
      onTrial: () => undefined,
    });
    if (cancelled || ports.cancelled()) return null;
    const parameters = best === null ? null : assignmentOf(search.space, best.point);
    const test =
      parameters === null
        ? null
        : await ports.run({
            plan: { ...search.plan, fromUs: window.testFromUs, toUs: window.testToUs },
            parameters,
            objective: search.objective,
            options: search.options,
          });
    return {
      window,
      trials: trials.length,
      parameters,
      trainScore: best?.score ?? null,
      testScore: test?.score ?? null,
      test: test?.figures ?? null,
      testReturns: test?.returns ?? [],
    };
  } finally {
    log.close();
  }
}

function summary(
  windows: readonly WindowResult[],
  { options }: SweepPlan,
  perYear: number,
  cancelled: boolean,
): WalkForward {
  const returns = windows.flatMap(({ testReturns }) => testReturns);
  const equity = [1];
  for (const value of returns) equity.push((equity.at(-1) ?? 0) * (1 + value));
  const periodUs = (options.annualisation * 86_400_000_000) / perYear;
  const outOfSample =
    returns.length === 0
      ? null
      : metricsOf({ timesUs: equity.map((_, i) => i * periodUs), equity }, null, {
          ...options,
          period: 'rows',
          returns: 'simple',
          periodsPerYear: perYear,
        });
  return { windows, outOfSample, efficiency: efficiencyOf(windows), cancelled };
}

function efficiencyOf(windows: readonly WindowResult[]): number | null {
  const total = (figure: (result: WindowResult) => number | null): number =>
    windows.reduce((sum, result) => sum + (figure(result) ?? 0), 0);
  const train = total(({ trainScore }) => trainScore);
  const test = total(({ testScore }) => testScore);
  return train > 0 && test > 0 ? test / train : null;
}
