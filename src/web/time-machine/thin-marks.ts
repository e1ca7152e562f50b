/** Marks of a chart, at most one for each side and stretch of the axis; more become a count. */
import type { PriceMark } from './price-chart.tsx';

/** Stretches of equal numbers of commands. */
export function thinMarks(
  marks: readonly PriceMark[],
  [from, to]: readonly [number, number],
  stretches: number,
): PriceMark[] {
  const width = Math.max(1, (to - from) / stretches);
  const groups = new Map<string, { mark: PriceMark; count: number }>();
  for (const mark of marks) {
    const key = `${mark.kind} ${String(Math.floor((mark.seq - from) / width))}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { mark, count: 1 });
    else group.count += 1;
  }
  return [...groups.values()]
    .map(({ mark, count }) => ({ ...mark, text: count === 1 ? '' : `×${String(count)}` }))
    .sort((a, b) => a.seq - b.seq);
}
