/**
 * Times as text, in whole microseconds: `2024-01-01T00:00:00Z` (at most six decimals, UTC only) and
 * durations such as `250ms`, `5s` or `1h30m`. Proleptic Gregorian calendar.
 */
import { durationUs, timeUs, type DurationUs, type TimeUs } from './units.ts';

export const TIME_PATTERN = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?Z$/;
export const DURATION_PATTERN =
  /^(?=\d)(?:(\d{1,5})d)?(?:(\d{1,6})h)?(?:(\d{1,7})m)?(?:(\d{1,9})s)?(?:(\d{1,9})ms)?(?:(\d{1,9})us)?$/;

const SECOND_US = 1_000_000;
const MINUTE_US = 60 * SECOND_US;
const HOUR_US = 60 * MINUTE_US;
const DAY_US = 24 * HOUR_US;

/** Microseconds since the Unix epoch; null if the text is not a time from 1970 to 2199. */
export function parseTime(text: string): TimeUs | null {
  const match = TIME_PATTERN.exec(text);
  if (match === null) return null;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as SixNumbers;
  if (year < 1970 || year > 2199 || month < 1 || month > 12) return null;
  if (day < 1 || day > daysInMonth(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  const fraction = Number((match[7] ?? '').padEnd(6, '0'));
  const dayTime = hour * HOUR_US + minute * MINUTE_US + second * SECOND_US + fraction;
  return timeUs(daysSinceEpoch(year, month, day) * DAY_US + dayTime);
}

/** As `parseTime`; a date alone is its start. */
export function parseTimeOrDay(text: string): TimeUs | null {
  return parseTime(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
}

/** Such as `2024-01-01T00:00:00.000001Z`, without a zero fraction; `parseTime` inverts it. */
export function formatTime(atUs: TimeUs): string {
  let [year, month, days] = [1970, 1, Math.floor(atUs / DAY_US)];
  for (; days >= (isLeap(year) ? 366 : 365); year += 1) days -= isLeap(year) ? 366 : 365;
  for (; days >= daysInMonth(year, month); month += 1) days -= daysInMonth(year, month);
  const inDay = atUs % DAY_US;
  const part = (length: number, of: number): string =>
    String(Math.floor((inDay / length) % of)).padStart(2, '0');
  const fraction = inDay % SECOND_US;
  const decimals = fraction === 0 ? '' : `.${String(fraction).padStart(6, '0')}`;
  const date = [String(year), String(month).padStart(2, '0'), String(days + 1).padStart(2, '0')];
  return `${date.join('-')}T${part(HOUR_US, 24)}:${part(MINUTE_US, 60)}:${part(SECOND_US, 60)}${decimals}Z`;
}

/** The pattern has exactly these six groups before the fraction. */
type SixNumbers = [number, number, number, number, number, number];

/** null if the text is not a duration, or exceeds a hundred years. */
export function parseDuration(text: string): DurationUs | null {
  const match = DURATION_PATTERN.exec(text);
  if (match === null) return null;
  const units = [DAY_US, HOUR_US, MINUTE_US, SECOND_US, 1_000, 1];
  const total = units.reduce((sum, unit, i) => sum + unit * Number(match[i + 1] ?? 0), 0);
  return total <= 36_525 * DAY_US ? durationUs(total) : null;
}

/** Such as `1h30m` or `0s`; `parseDuration` inverts it. */
export function formatDuration(length: DurationUs): string {
  const units: readonly [string, number][] = [
    ['d', DAY_US],
    ['h', HOUR_US],
    ['m', MINUTE_US],
    ['s', SECOND_US],
    ['ms', 1_000],
    ['us', 1],
  ];
  let rest: number = length;
  let text = '';
  for (const [name, unit] of units) {
    const count = Math.floor(rest / unit);
    rest -= count * unit;
    if (count > 0) text += `${String(count)}${name}`;
  }
  return text === '' ? '0s' : text;
}

const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function daysSinceEpoch(year: number, month: number, day: number): number {
  let days = day - 1;
  for (let y = 1970; y < year; y += 1) days += isLeap(y) ? 366 : 365;
  for (let m = 1; m < month; m += 1) days += daysInMonth(year, m);
  return days;
}
