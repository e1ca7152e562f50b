/** Numbers, times and durations of pages as text; unknown is –. */
import { dateText } from '../base/date-text.ts';

/** Decimal text with thousands separators and a minus sign (U+2212). */
export function grouped(text: string): string {
  const [whole = '', fraction] = text.split('.');
  const negative = whole.startsWith('-');
  const digits = (negative ? whole.slice(1) : whole).replace(/\B(?=(?:\d{3})+$)/g, ',');
  return `${negative ? '−' : ''}${digits}${fraction === undefined ? '' : `.${fraction}`}`;
}

/**
 * A number of prose that has thousands or a minus sign; dates, hashes and names have neither, nor
 * whole numbers before a colon, such as that of a fill.
 */
const PROSE_NUMBER =
  /(?<![\w.,:#=/+-])-?(?:\d{4,15}(?:\.\d+|(?!:))|(?<=-)\d+(?:\.\d+)?)(?![\w/-]|[.,:]\d)/g;

/** Numbers of a sentence as `grouped`; a year stays as it is. */
export function prose(text: string): string {
  return text.replace(PROSE_NUMBER, (number) =>
    /^(?:19|20)\d\d$/.test(number) ? number : grouped(number),
  );
}

/** As `grouped`, with a plus sign; 0 has no sign. */
export function signed(text: string): string {
  if (/^-?0*\.?0*$/.test(text)) return grouped(text.replace('-', ''));
  return text.startsWith('-') ? grouped(text) : `+${grouped(text)}`;
}

/** Decimals of an amount; less is rounding of sums. */
const MONEY_DECIMALS = 6;

/** A statistic of money: two decimals, or two digits where those would be zeros. */
export function money(value: number): string {
  return signed(rounded(value, 2, MONEY_DECIMALS));
}

/** Whether an amount is shown as 0, so that it has no colour of a sign. */
export function isNoMoney(value: number): boolean {
  return Math.abs(value) < half(MONEY_DECIMALS);
}

/** Of the smallest number that is shown. */
const MOST_DECIMALS = 8;

/**
 * Rounded to decimals, but to two digits where that would leave zeros; no exponent, no −0. A number
 * that `most` decimals show as 0 is 0.
 */
function rounded(value: number, decimals: number, most = MOST_DECIMALS): string {
  if (Number.isNaN(value)) return '–';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '-∞';
  const size = Math.abs(value);
  if (size < half(Math.max(decimals, most))) return (0).toFixed(decimals);
  // The exponent of the decimal text: a logarithm is approximated.
  const exponent = Number(size.toExponential().split('e')[1]);
  const digits = size < half(decimals) ? 1 - exponent : decimals;
  return value.toFixed(Math.min(digits, Math.max(decimals, most)));
}

/** Half a unit of the last decimal. */
const half = (decimals: number): number => Number(`5e-${String(decimals + 1)}`);

/** Percentages beyond it have no use, and widen a table: yearly returns of a few days. */
const MOST_PERCENT = 1_000_000;

/**
 * Two decimals, three below 0.1 %, after a narrow space. Beyond ±1,000,000 % only that it is so.
 */
export function percent(value: number | null, decimals?: number): string {
  if (value === null) return '–';
  const size = Math.abs(value * 100);
  if (size > MOST_PERCENT && Number.isFinite(size)) {
    return `${value > 0 ? '> ' : '< −'}${grouped(String(MOST_PERCENT))}\u202f%`;
  }
  return `${grouped(rounded(value * 100, decimals ?? (size > 0 && size < 0.1 ? 3 : 2)))}\u202f%`;
}

/** A probability: one decimal, and bounds where that would be 0 or 100 %. */
export function probability(value: number | null): string {
  if (value !== null && value > 0 && value < 0.0005) return '< 0.1\u202f%';
  if (value !== null && value < 1 && value > 0.9995) return '> 99.9\u202f%';
  return percent(value, 1);
}

/** Two decimals, none from ±100. */
export function ratio(value: number | null, decimals?: number): string {
  if (value === null) return '–';
  return grouped(rounded(value, decimals ?? (Math.abs(value) >= 100 ? 0 : 2)));
}

/** 2024-08-08 23:54:16.298 */
export function time(us: number): string {
  return dateText(Math.floor(us)).slice(0, 23);
}

const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400_000_000],
  ['h', 3_600_000_000],
  ['min', 60_000_000],
  ['s', 1_000_000],
  ['ms', 1_000],
  ['µs', 1],
];

/** Three digits of the largest unit: 117 d, 5.4 h, 3.67 s, 80 ms. */
export function duration(us: number): string {
  const [name, unit] = UNITS.find(([, size]) => us >= size) ?? ['s', 1_000_000];
  const value = us / unit;
  return `${grouped(String(value >= 100 ? Math.round(value) : Number(value.toPrecision(3))))} ${name}`;
}

/** An amount of money with two decimals. */
export function amount(value: number): string {
  return money(value).replace('+', '');
}
