/** Exact decimal text of the engine, instants and sizes as the pages show them. */
import { grouped, signed } from '../design/number-text.ts';

/** Cuts or pads decimals, toward zero; the exact text belongs into a title. */
export function fixed(decimal: string, decimals: number): string {
  const [whole = '0', fraction = ''] = decimal.split('.');
  const cut = fraction.slice(0, decimals).padEnd(decimals, '0');
  const text = decimals === 0 ? whole : `${whole}.${cut}`;
  return /[1-9]/.test(text) ? text : text.replace('-', '');
}

/** Money with two decimals. */
export const money = (decimal: string): string => grouped(fixed(decimal, 2));

/** A result of money with two decimals and its sign. */
export const result = (decimal: string): string => signed(fixed(decimal, 2));

/** Class of a signed result; empty for zero. */
export function toneOf(decimal: string): 'gain' | 'loss' | '' {
  if (!/[1-9]/.test(decimal)) return '';
  return decimal.startsWith('-') ? 'loss' : 'gain';
}

export const count = (value: number): string => grouped(String(value));

const DAY_US = 86_400_000_000;

/** A time of day in UTC with seconds, milliseconds or microseconds. */
export function clock(us: number, digits: 0 | 3 | 6 = 3): string {
  const day = ((us % DAY_US) + DAY_US) % DAY_US;
  const seconds = Math.floor(day / 1e6);
  const two = (value: number): string => String(value).padStart(2, '0');
  const time = `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  if (digits === 0) return time;
  const micros = String(Math.floor(day % 1e6)).padStart(6, '0');
  return `${time}.${micros.slice(0, digits)}`;
}

/** `1.2 MB` after a narrow space. */
export const bytesText = (bytes: number): string =>
  bytes < 1e6
    ? `${grouped((bytes / 1e3).toFixed(0))} kB`
    : `${grouped((bytes / 1e6).toFixed(1))} MB`;

export const shortHash = (hash: string): string => hash.slice(0, 8);

/** Rounded, for axes and curves. */
export const axisText = (value: number, decimals: number): string =>
  grouped(value.toFixed(decimals));

/** A fraction as percent with four decimals after a narrow space. */
export function rateText(fraction: string): string {
  const negative = fraction.startsWith('-');
  const [whole = '0', decimals = ''] = fraction.replace('-', '').split('.');
  const digits = whole + decimals.padEnd(6, '0').slice(0, 6);
  const shifted = `${digits.slice(0, -4)}.${digits.slice(-4)}`.replace(/^0+(?=\d)/, '');
  return `${signed(negative && /[1-9]/.test(shifted) ? `-${shifted}` : shifted)} %`;
}
