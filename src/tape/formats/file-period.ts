/** The month or the day, UTC, in the names of a format's files. */
import type { Format } from './formats.ts';
import { timeOf } from './numbers.ts';

const DAY_US = 86_400_000_000;

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
  const fromUs = timeOf(day === undefined ? `${text}-01` : text, 'date', 'iso');
  if (day !== undefined) return { fromUs, toUs: fromUs + DAY_US, text };
  const [ofYear, next] = month === 12 ? [year + 1, 1] : [year, month + 1];
  const toUs = timeOf(`${String(ofYear)}-${String(next).padStart(2, '0')}-01`, 'date', 'iso');
  return { fromUs, toUs, text };
}
