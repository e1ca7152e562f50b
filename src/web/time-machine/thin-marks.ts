/** Marks of a chart, far enough apart to be read; those that are closer become a count. */
import type { ScanMark } from './account-scan.ts';

export interface ChartMark {
  readonly kind: ScanMark['kind'];
  /** Index of the point of the chart. */
  readonly at: number;
  readonly text: string;
}

/** Least distance of two marks of a kind, px; more after a count, by its digits. */
const roomOf = (count: number): number => (count > 1 ? 16 + 7 * String(count).length : 12);

interface Group {
  readonly kind: ScanMark['kind'];
  readonly at: number;
  count: number;
}

/** `indexOf` is the point at or before a command; points are `step` pixels apart. */
export function thinMarks(
  marks: readonly ScanMark[],
  indexOf: (seq: number) => number,
  step: number,
): ChartMark[] {
  const groups: Group[] = [];
  const newest = new Map<ScanMark['kind'], Group>();
  for (const { kind, seq, count } of marks) {
    const at = indexOf(seq);
    const last = newest.get(kind);
    if (last !== undefined && (at - last.at) * step < roomOf(last.count)) {
      last.count += count;
      continue;
    }
    const group = { kind, at, count };
    newest.set(kind, group);
    groups.push(group);
  }
  return groups
    .map(({ kind, at, count }) => ({ kind, at, text: count === 1 ? '' : `×${String(count)}` }))
    .sort((a, b) => a.at - b.at);
}
