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

/** A command and its time, where an axis has a label. */
export interface AxisPlace {
  readonly seq: number;
  readonly timeUs: number;
}

/** `11-30 14:05` in UTC. */
function dayAndTime(us: number): string {
  return new Date(us / 1000).toISOString().slice(5, 16).replace('T', ' ');
}

/**
 * Text of the labels of a time axis: the shortest form in which the given places differ. Shows
 * `#seq` if less than half of them do, since commands may share their times.
 */
export function axisFormat(places: readonly AxisPlace[]): (place: AxisPlace) => string {
  const times = places.map(({ timeUs }) => timeUs);
  const forms = [
    ...(Math.max(...times) - Math.min(...times) < DAY_US ? [] : [dayAndTime]),
    ...([0, 3, 6] as const).map((digits) => (us: number) => clock(us, digits)),
  ];
  let [best, most] = [dayAndTime, 0];
  for (const form of forms) {
    const distinct = new Set(times.map(form)).size;
    if (distinct > most) [best, most] = [form, distinct];
  }
  if (2 * most < places.length) return ({ seq }) => `#${count(seq)}`;
  return ({ timeUs }) => best(timeUs);
}

/** Places of an axis whose labels decide on its format: as many as it has labels, about. */
const DECIDING = 6;

/** Some of the places of an axis, evenly spread. */
export function evenPlaces<T extends AxisPlace>(places: readonly T[]): T[] {
  return Array.from({ length: DECIDING }, (_, i) =>
    places.at(Math.round((i / (DECIDING - 1)) * (places.length - 1))),
  ).flatMap((place) => place ?? []);
}

/** Labels of an axis in a format; empty where a label would repeat the one before. */
export function axisLabels(
  places: readonly AxisPlace[],
  format: (place: AxisPlace) => string = axisFormat(places),
): string[] {
  const texts = places.map(format);
  return texts.map((text, i) => (text === texts[i - 1] ? '' : text));
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

/** Decimals that distinguish the ticks of an axis, which are a step apart. */
export function stepDecimals(step: number): number {
  let decimals = 0;
  // A step is a power of ten times 1, 2, 2.5 or 5.
  while (decimals < 8 && Number(step.toFixed(decimals)) !== Number(step.toPrecision(6))) {
    decimals += 1;
  }
  return decimals;
}

/** A fraction as percent with four decimals after a narrow space. */
export function rateText(fraction: string): string {
  const negative = fraction.startsWith('-');
  const [whole = '0', decimals = ''] = fraction.replace('-', '').split('.');
  const digits = whole + decimals.padEnd(6, '0').slice(0, 6);
  const shifted = `${digits.slice(0, -4)}.${digits.slice(-4)}`.replace(/^0+(?=\d)/, '');
  return `${signed(negative && /[1-9]/.test(shifted) ? `-${shifted}` : shifted)} %`;
}

const LARGE = [
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'K'],
] as const;

/** Three digits and K, M or B. */
export function largeText(value: number): string {
  if (!Number.isFinite(value)) return '–';
  // Rounded first: 999,999 is 1.00 M.
  const rounded = Number(value.toPrecision(3));
  const [unit, name] = LARGE.find(([size]) => Math.abs(rounded) >= size) ?? [1, ''];
  const scaled = rounded / unit;
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.max(1, Math.abs(scaled)))));
  return `${grouped(scaled.toFixed(digits))}${name === '' ? '' : `\u202f${name}`}`;
}
