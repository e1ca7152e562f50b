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
/** Marks with this vertical distance do not meet, a count above them included. */
const HEIGHT_PX = 28;

/** Pixels of the points of a chart. */
interface ChartPlaces {
  /** The point at or before a command. */
  readonly indexOf: (seq: number) => number;
  /** Distance of two points. */
  readonly step: number;
  /** Vertical place of a point. */
  readonly yOf: (at: number) => number;
}

interface Group {
  readonly kind: ScanMark['kind'];
  readonly at: number;
  count: number;
}

/** Marks in the order of their commands. */
export function thinMarks(
  marks: readonly ScanMark[],
  { indexOf, step, yOf }: ChartPlaces,
): ChartMark[] {
  const groups: Group[] = [];
  const near = new Map<ScanMark['kind'], Group[]>();
  for (const { kind, seq, count } of marks) {
    const at = indexOf(seq);
    const left = (near.get(kind) ?? []).filter(
      (group) => (at - group.at) * step < roomOf(group.count),
    );
    near.set(kind, left);
    const y = yOf(at);
    const met = left.findLast((group) => Math.abs(y - yOf(group.at)) < HEIGHT_PX);
    if (met !== undefined) {
      met.count += count;
      continue;
    }
    const group = { kind, at, count };
    left.push(group);
    groups.push(group);
  }
  return groups
    .map(({ kind, at, count }) => ({ kind, at, text: count === 1 ? '' : `×${String(count)}` }))
    .sort((a, b) => a.at - b.at);
}
