/**
 * Time without a book: from the first record to the first snapshot, and from a gap of the recording
 * to the next snapshot, or to the end. Every place that shows it takes it from here.
 */
import type { MarketOutput } from './output.ts';

/** µs, warm-up included. */
export function noBookUs({ gaps }: Pick<MarketOutput, 'gaps'>): number {
  return gaps.reduce((sum, { fromUs, toUs }) => sum + toUs - fromUs, 0);
}

export function noBookText(us: number): string {
  return `no book for ${String(us / 1e6)} s`;
}
