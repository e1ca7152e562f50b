/** Drawdowns: falls of equity below its running high, on every row of the curve. */
import { mustBeCurve, mustBeList, type EquityCurve } from './curve.ts';
import { maxOf, sum } from './sample.ts';

export interface Drawdown {
  /** 1 − trough ÷ peak: 0.25 is a loss of a quarter. */
  readonly depth: number;
  readonly peakUs: number;
  readonly troughUs: number;
  /** Time at which the peak was reached again; null if it was not. */
  readonly recoveredUs: number | null;
}

/** 1 − equity ÷ running high, row by row. */
export function underwater(equity: readonly number[]): number[] {
  mustBeList('equity', equity);
  let high = 0;
  return equity.map((value) => {
    high = Math.max(high, value);
    return high > 0 ? 1 - value / high : 0;
  });
}

/** Every drawdown, in time order. */
export function drawdowns(curve: EquityCurve): Drawdown[] {
  mustBeCurve(curve);
  const { timesUs, equity } = curve;
  const falls: Drawdown[] = [];
  const depths = underwater(equity);
  let peak = 0;
  let deepest = -1;
  const end = (recoveredUs: number | null): void => {
    if (deepest < 0) return;
    falls.push({
      depth: depths[deepest] ?? 0,
      peakUs: timesUs[peak] ?? 0,
      troughUs: timesUs[deepest] ?? 0,
      recoveredUs,
    });
    deepest = -1;
  };
  depths.forEach((depth, row) => {
    if (depth <= 0) {
      end(timesUs[row] ?? 0);
      peak = row;
    } else if (deepest < 0 || depth > (depths[deepest] ?? 0)) {
      deepest = row;
    }
  });
  end(null);
  return falls;
}

/** Longest time from a peak to its recovery, or to the end of the curve. */
export function longestUs(falls: readonly Drawdown[], endUs: number): number {
  return maxOf(falls.map(({ peakUs, recoveredUs }) => (recoveredUs ?? endUs) - peakUs));
}

/** Martin's Ulcer index: √(mean of squared drawdowns), as a fraction. */
export function ulcerIndex(equity: readonly number[]): number {
  const depths = underwater(equity);
  return Math.sqrt(sum(depths.map((depth) => depth * depth)) / depths.length);
}
