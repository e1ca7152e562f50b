/**
 * Walk-forward analysis: in each window a search selects parameters on the training interval, and
 * they are tested on the next interval, which the search has not seen. The result is the chain of
 * the tests.
 */
import { must } from '../base/assert.ts';
import { assignmentOf, type Assignment } from './samplers/space.ts';
import type { Window } from './samplers/windows.ts';
import { compounded } from '../metrics/curve.ts';
import { metricsOf, type Metrics } from '../metrics/metrics.ts';
import { sum } from '../metrics/sample.ts';
import { sweep, type SweepPlan, type SweepPorts } from './sweep.ts';
import type { Trial, TrialLog } from './trial-log.ts';
import type { TrialFigures } from './trial.ts';

export interface WindowResult {
  readonly window: Window;
  readonly trials: number;
  /** Null if no trial of the window has a score. */
  readonly parameters: Assignment | null;
  readonly trainScore: number | null;
  readonly testScore: number | null;
  readonly test: TrialFigures | null;
  readonly testReturns: readonly number[];
  /**
   * Why the window is in no figure out of sample: message of the test if it failed, or of the first
   * failed trial if none has a score. Null if it has a test.
   */
  readonly error: string | null;
}

export interface WalkForward {
  readonly windows: readonly WindowResult[];
  /** Metrics of the concatenated tests: returns compounded, gaps omitted. Null without returns. */
  readonly outOfSample: Metrics | null;
  /**
   * Mean test score ÷ mean train score, total returns by time; 1 if nothing is lost out of sample.
   * A failed test scores 0; one whose score is unknown is left out. Null unless both are positive.
   */
  readonly efficiency: number | null;
  readonly cancelled: boolean;
}

/** Log of a window's training trials in the folder of the analysis; windows count from 0. */
export const windowLogName = (window: number): string =>
  `window-${String(window + 1)}.trials.jsonl`;

export interface WalkForwardPorts extends Omit<SweepPorts, 'log' | 'onTrial'> {
  /** Each window has its own log, so that a stopped analysis can resume. */
  readonly logOf: (window: number, search: SweepPlan) => Pick<TrialLog, 'get' | 'add' | 'close'>;
  readonly onWindow: (done: number) => void;
  /**
   * Max number of windows searched in parallel. Windows are independent, so results do not depend
   * on it.
   */
  readonly maxParallel: number;
}

/** `search.plan` and its range of data are those of a full window; each run gets its own. */
export async function walkForward(
  search: SweepPlan,
  windows: readonly Window[],
  perYear: number,
  ports: WalkForwardPorts,
): Promise<WalkForward> {
  const results = windows.map((): WindowResult | null => null);
  let begun = 0;
  let done = 0;
  const goOn = async (): Promise<void> => {
    for (let number = begun++; number < windows.length; number = begun++) {
      const window = must(windows[number], 'windows are taken by their numbers');
      const result = await oneWindow(search, window, number, ports);
      if (result === null) return;
      results[number] = result;
      done += 1;
      ports.onWindow(done);
    }
  };
  await Promise.all(Array.from({ length: ports.maxParallel }, goOn));
  const ended = results.filter((result) => result !== null);
  return summary(ended, search, perYear, ended.length < windows.length);
}

/** Null if stopped. */
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
    if (cancelled) return null;
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
    if (parameters !== null && test === null) return null;
    return {
      window,
      trials: trials.length,
      parameters,
      trainScore: best?.score ?? null,
      testScore: test?.score ?? null,
      test: test?.figures ?? null,
      testReturns: test?.returns ?? [],
      error: parameters === null ? noScoreText(trials, search.objective) : (test?.error ?? null),
    };
  } finally {
    log.close();
  }
}

function noScoreText(trials: readonly Trial[], objective: string): string {
  return trials.find(({ error }) => error !== null)?.error ?? `${objective} unknown`;
}

function summary(
  windows: readonly WindowResult[],
  { options, objective }: SweepPlan,
  perYear: number,
  cancelled: boolean,
): WalkForward {
  const returns = windows.flatMap(({ testReturns }) => testReturns);
  const equity = compounded(returns);
  const periodUs = options.period === 'rows' ? 1 : options.period;
  const outOfSample =
    returns.length === 0
      ? null
      : metricsOf({ timesUs: equity.map((_, i) => i * periodUs), equity }, null, {
          ...options,
          period: 'rows',
          returns: 'simple',
          periodsPerYear: perYear,
        });
  return { windows, outOfSample, efficiency: efficiencyOf(windows, objective), cancelled };
}

function efficiencyOf(windows: readonly WindowResult[], objective: string): number | null {
  // A total return grows with the length of its window, the SQN with the root of it.
  const rate = (score: number | null, lengthUs: number): number =>
    (score ?? 0) /
    (objective === 'totalReturn' ? lengthUs : objective === 'sqn' ? Math.sqrt(lengthUs) : 1);
  const known = windows.filter(({ testScore, error }) => testScore !== null || error !== null);
  const train = sum(
    known.map(({ trainScore, window }) => rate(trainScore, window.trainToUs - window.trainFromUs)),
  );
  const test = sum(
    known.map(({ testScore, window }) => rate(testScore, window.testToUs - window.testFromUs)),
  );
  return train > 0 && test > 0 ? test / train : null;
}
