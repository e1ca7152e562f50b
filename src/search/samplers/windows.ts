/**
 * Windows of a walk-forward analysis: each is fitted on a training interval and tested on the next.
 */
import { lengthText } from '../../run-plan/warm-up.ts';
import { SearchError } from './space.ts';

export interface Window {
  readonly trainFromUs: number;
  readonly trainToUs: number;
  readonly testFromUs: number;
  readonly testToUs: number;
}

export interface WindowPlan {
  readonly fromUs: number;
  readonly toUs: number;
  readonly trainUs: number;
  readonly testUs: number;
  /**
   * Time omitted between train and test, so that open positions and slow features do not leak
   * information.
   */
  readonly purgeUs: number;
  /** 'rolling' moves the start of training; 'anchored' keeps it. */
  readonly mode: 'rolling' | 'anchored';
}

const MAX_WINDOWS = 100_000;

/** Tests are adjacent; the last may be shorter, at least half of the test length. */
export function windowsOf(plan: WindowPlan): Window[] {
  const { fromUs, toUs, trainUs, testUs, purgeUs, mode } = plan;
  if (!(trainUs > 0 && testUs > 0 && purgeUs >= 0)) {
    throw new SearchError('train and test are lengths above 0, purge is at least 0');
  }
  const count = Math.floor((toUs - fromUs - trainUs - purgeUs) / testUs);
  if (count > MAX_WINDOWS) {
    throw new SearchError(
      `test: ${count} windows; at most ${MAX_WINDOWS} are searched: take longer tests, or fewer data`,
    );
  }
  const windows: Window[] = [];
  for (let testFromUs = fromUs + trainUs + purgeUs; ; testFromUs += testUs) {
    const testToUs = Math.min(toUs, testFromUs + testUs);
    if (testToUs - testFromUs < testUs / 2) break;
    const trainToUs = testFromUs - purgeUs;
    windows.push({
      trainFromUs: mode === 'anchored' ? fromUs : trainToUs - trainUs,
      trainToUs,
      testFromUs,
      testToUs,
    });
  }
  if (windows.length === 0) {
    throw new SearchError(
      `the data span ${lengthText(Math.max(0, toUs - fromUs))} after the warm-up; training, purge and half a test need ` +
        lengthText(trainUs + purgeUs + testUs / 2),
    );
  }
  return windows;
}
