/** Titles and values of the metric that a search maximises. */
import { percent, ratio } from '../design/number-text.ts';
import { RETURN_METRICS, TRADE_METRICS, type MetricRow } from '../metrics/metrics.ts';

const ROWS: readonly MetricRow[] = [...RETURN_METRICS, ...TRADE_METRICS];

function rowOf(objective: string): MetricRow | undefined {
  const id = objective.replace(/^-/, '');
  return ROWS.find((row) => row.id === id);
}

/** As in reports; a minimised metric is named so. */
export function titleOf(objective: string): string {
  const title = (rowOf(objective)?.title ?? objective).replace(', a year', '');
  return objective.startsWith('-') ? `minus ${title.toLowerCase()}` : title;
}

export function isFraction(objective: string): boolean {
  return rowOf(objective)?.unit === 'fraction';
}

export function scoreText(objective: string, score: number | null): string {
  return isFraction(objective) ? percent(score) : ratio(score);
}
