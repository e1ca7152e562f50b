/** Returns of whole days, months and years in UTC, and what they have in common. */
import type { EquityCurve } from '../../metrics/curve.ts';
import { extremes, mean } from '../../metrics/sample.ts';

export interface DayReturn {
  /** `2024-08-08` */
  readonly day: string;
  /** Equity at the end of the day ÷ at its start − 1. */
  readonly value: number;
}

export interface CalendarRow {
  readonly period: 'day' | 'month' | 'year';
  readonly count: number;
  readonly best: number;
  readonly worst: number;
  readonly mean: number;
  readonly meanGain: number | null;
  readonly meanLoss: number | null;
  /** Fraction with a gain. */
  readonly gaining: number;
}

const LENGTH = { day: 10, month: 7, year: 4 } as const;

export function dailyReturns(curve: EquityCurve): DayReturn[] {
  return returnsBy(curve, LENGTH.day).map(([day, value]) => ({ day, value }));
}

/** Rows of periods of which the curve has two or more. */
export function calendarRows(curve: EquityCurve): CalendarRow[] {
  return (['day', 'month', 'year'] as const).flatMap((period) => {
    const values = returnsBy(curve, LENGTH[period]).map(([, value]) => value);
    if (values.length < 2) return [];
    const [worst = 0, best = 0] = extremes(values);
    const gains = values.filter((value) => value > 0);
    return [
      {
        period,
        count: values.length,
        best,
        worst,
        mean: mean(values) ?? 0,
        meanGain: mean(gains),
        meanLoss: mean(values.filter((value) => value < 0)),
        gaining: gains.length / values.length,
      },
    ];
  });
}

/**
 * Start of the day of a sample. One at midnight shows the equity at the end of a day, as the
 * periods of `cut` do; the first of a curve begins its day.
 */
export function dayStartUs(timeUs: number, index: number): number {
  return Math.floor((index === 0 ? timeUs : timeUs - 1) / DAY_US) * DAY_US;
}

/** Returns by the first characters of the date. */
function returnsBy({ timesUs, equity }: EquityCurve, length: number): [string, number][] {
  const rows: [string, number][] = [];
  let before = equity[0] ?? 0;
  let dayUs = NaN;
  let key = '';
  timesUs.forEach((timeUs, i) => {
    const startUs = dayStartUs(timeUs, i);
    if (startUs !== dayUs) {
      dayUs = startUs;
      key = new Date(startUs / 1000).toISOString().slice(0, length);
    }
    const isNew = rows.at(-1)?.[0] !== key;
    if (isNew && i > 0) before = equity[i - 1] ?? 0;
    if (!isNew) rows.pop();
    rows.push([key, before > 0 ? (equity[i] ?? 0) / before - 1 : 0]);
  });
  return rows;
}

const DAY_US = 86_400_000_000;
