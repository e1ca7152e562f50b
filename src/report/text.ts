/** Formatting of text and numbers for pages. */
import type { Divergence } from '../backtest/output.ts';

export function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${String(character.charCodeAt(0))};`);
}

/** JSON for a script element: `<` is escaped, so it cannot end the element. */
export function json(value: unknown): string {
  return JSON.stringify(value).replace(/</g, '\\u003c');
}

/** Decimal text with thousands separators and a minus sign (U+2212). */
export function grouped(text: string): string {
  const [whole = '', fraction] = text.split('.');
  const negative = whole.startsWith('-');
  const digits = (negative ? whole.slice(1) : whole).replace(/\B(?=(?:\d{3})+$)/g, ',');
  return `${negative ? '−' : ''}${digits}${fraction === undefined ? '' : `.${fraction}`}`;
}

/** As `grouped`, with a plus sign. */
export function signed(text: string): string {
  return /^-?0*\.?0*$/.test(text) || text.startsWith('-') ? grouped(text) : `+${grouped(text)}`;
}

/** A statistic of money: two decimals. */
export function money(value: number): string {
  return signed(Math.abs(value) < 0.005 ? '0.00' : value.toFixed(2));
}

/** How far history contradicts the strategies' own impact. */
export function divergenceText({ size, levels }: Divergence, symbol: string): string {
  if (levels === 0) return `${symbol}: history contradicts no fill`;
  return `${symbol}: history states again ${grouped(size)} of what the strategies took, at ${grouped(String(levels))} levels`;
}

/** Rounded to decimals, but to two digits where that would leave zeros; no exponent, no −0. */
function rounded(value: number, decimals: number): string {
  const size = Math.abs(value);
  if (!Number.isFinite(value) || size < 1e-12) return (0).toFixed(decimals);
  const isSmall = size < 0.5 * 10 ** -decimals;
  return value.toFixed(isSmall ? Math.min(20, 1 - Math.floor(Math.log10(size))) : decimals);
}

export function percent(value: number | null, decimals = 2): string {
  return value === null ? '–' : `${grouped(rounded(value * 100, decimals))} %`;
}

export function ratio(value: number | null, decimals = 2): string {
  return value === null ? '–' : grouped(rounded(value, decimals));
}

/** 2024-08-08 23:54:16.298 */
export function time(us: number): string {
  return new Date(us / 1000).toISOString().replace('T', ' ').slice(0, 23);
}

/** The two largest units: 3 d 4 h, 12 min 5 s, 80 ms. */
export function duration(us: number): string {
  const units: readonly (readonly [string, number])[] = [
    ['d', 86_400_000_000],
    ['h', 3_600_000_000],
    ['min', 60_000_000],
    ['s', 1_000_000],
    ['ms', 1_000],
    ['µs', 1],
  ];
  const first = units.findIndex(([, unit]) => us >= unit);
  if (first < 0) return '0 s';
  let rest = Math.round(us);
  const parts: string[] = [];
  for (const [name, unit] of units.slice(first, first + 2)) {
    const count = Math.floor(rest / unit);
    rest -= count * unit;
    if (count > 0) parts.push(`${String(count)} ${name}`);
  }
  return parts.join(' ');
}

/** CSS class by sign; none for 0 and NaN. */
export function toneOf(value: number | null): string {
  if (value === null || Math.abs(value) < 1e-12) return '';
  return value < 0 ? ' class="loss"' : ' class="gain"';
}

export interface Column<T> {
  readonly title: string;
  /** Left-aligned text; numbers are right-aligned. */
  readonly isText?: boolean;
  /** Text that may wrap on narrow screens. */
  readonly isLong?: boolean;
  readonly cell: (row: T) => string;
  /** Value whose sign sets the cell's class. */
  readonly tone?: (row: T) => number | null;
}

/**
 * A scrollable table of escaped cells; states the number of omitted rows and the file that has all.
 */
export function table<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  {
    id = '',
    maxRows = 2000,
    all = 'report.json',
  }: { readonly id?: string; readonly maxRows?: number; readonly all?: string } = {},
): string {
  const head = columns
    .map(
      ({ title, isText }) => `<th${isText === true ? ' class="text"' : ''}>${escape(title)}</th>`,
    )
    .join('');
  const body = rows.slice(0, maxRows).map((row) => {
    const cells = columns.map(({ cell, tone, isText, isLong }) => {
      const colour = tone === undefined ? '' : toneOf(tone(row));
      const text = isText !== true ? '' : ` class="text${isLong === true ? ' long' : ''}"`;
      const kind = colour === '' ? text : colour;
      return `<td${kind}>${escape(cell(row))}</td>`;
    });
    return `<tr>${cells.join('')}</tr>`;
  });
  const cut =
    rows.length > maxRows
      ? `<p>The first ${String(maxRows)} of ${String(rows.length)}; all are in ${escape(all)}.</p>`
      : '';
  const name = id === '' ? '' : ` id="${id}"`;
  return `<div class="table" tabindex="0"><table${name}><thead><tr>${head}</tr></thead>
<tbody>${body.join('\n')}</tbody></table></div>${cut}`;
}
