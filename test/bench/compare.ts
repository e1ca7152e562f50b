/** Rates of a bench as a file, and their change. */
import type { Row } from './measure.ts';

export interface Recorded {
  readonly node: string;
  readonly processor: string;
  /** Whether the process had one core of its own. */
  readonly isPinned: boolean;
  readonly rows: readonly Row[];
}

/** Change that counts beyond the spread of both. */
const MARGIN = 0.03;

/** By processor time. A row that is in one file only has no change. */
export function changesOf(
  before: Recorded,
  after: Recorded,
): { readonly lines: readonly string[]; readonly isSlower: boolean } {
  const lines: string[] = [];
  let isSlower = false;
  if (before.processor !== after.processor || before.node !== after.node) {
    lines.push(`measured elsewhere: ${before.processor}, Node ${before.node}`);
  }
  for (const { name, perCpuSecond, spread } of after.rows) {
    const old = before.rows.find((row) => row.name === name);
    if (old === undefined) continue;
    const change = perCpuSecond / old.perCpuSecond - 1;
    const noise = Math.max(spread, old.spread) / 2;
    const fell = change < -(noise + MARGIN);
    isSlower ||= fell;
    const sign = change < 0 ? '' : '+';
    lines.push(
      `${name}: ${sign}${(change * 100).toFixed(1)} % ± ${(noise * 100).toFixed(1)} %${fell ? ', slower' : ''}`,
    );
  }
  return { lines, isSlower };
}
