/** The month or the day, UTC, in the names of a format's files. */
import type { Format } from './formats.ts';

export interface Period {
  readonly fromUs: number;
  readonly toUs: number;
  /** As in the name: `2024-01` or `2024-01-31`. */
  readonly text: string;
}

/** Null if the format's names state none. */
export function periodInName({ period }: Pick<Format, 'period'>, name: string): Period | null {
  const [, text] = period?.exec(name) ?? [];
  if (text === undefined) return null;
  const [year = 0, month = 0, day] = text.split('-').map(Number);
  const from = Date.UTC(year, month - 1, day ?? 1);
  const to = day === undefined ? Date.UTC(year, month, 1) : Date.UTC(year, month - 1, day + 1);
  return { fromUs: from * 1000, toUs: to * 1000, text };
}
