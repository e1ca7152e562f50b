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

/** Decimals of the smallest number that is shown. */
const MOST_DECIMALS = 8;

/**
 * Rounded to decimals, but to two digits where that would leave zeros; no exponent, no −0. A number
 * below 0.00000001 is 0.
 */
function rounded(value: number, decimals: number): string {
  const size = Math.abs(value);
  if (!Number.isFinite(value) || size < 0.5 * 10 ** -Math.max(decimals, MOST_DECIMALS)) {
    return (0).toFixed(decimals);
  }
  const isSmall = size < 0.5 * 10 ** -decimals;
  const digits = isSmall ? 1 - Math.floor(Math.log10(size)) : decimals;
  return value.toFixed(Math.min(digits, Math.max(decimals, MOST_DECIMALS)));
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

/** A result in money with two decimals; the exact value where the pointer rests. */
export function exactMoney(text: string): string {
  return `<span title="${escape(signed(text))}">${escape(money(Number(text)))}</span>`;
}

/** As `exactMoney`, of an amount that is not a result: without a plus sign. */
export function exactAmount(text: string): string {
  return `<span title="${escape(grouped(text))}">${escape(amount(Number(text)))}</span>`;
}

/** An amount of money with two decimals. */
export function amount(value: number): string {
  return money(value).replace('+', '');
}

/** CSS class by sign; none for 0 and NaN. */
export function toneOf(value: number | null): string {
  return toneNames(value)
    .map((name) => ` class="${name}"`)
    .join('');
}

function toneNames(value: number | null): readonly string[] {
  if (value === null || Number.isNaN(value) || Math.abs(value) < 1e-12) return [];
  return [value < 0 ? 'loss' : 'gain'];
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

export interface TableOptions {
  readonly id?: string;
  readonly maxRows?: number;
  /** File that has all rows. */
  readonly all?: string;
  /** Placeholder of a filter of the rows. With it the table has a toolbar, and columns sort. */
  readonly filter?: string;
  /** Name for screen readers. */
  readonly caption?: string;
  /** Anchors of rows. */
  readonly rowId?: (row: never) => string;
}

/**
 * A table of escaped cells. With a filter it sorts, is copied and saved as CSV, and shows twelve
 * rows until the reader asks for all. States the number of omitted rows and the file that has all.
 */
export function table<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  options: TableOptions = {},
): string {
  const { id = '', maxRows = 2000, all = 'report.json', filter, caption = '' } = options;
  const rowId = options.rowId as ((row: T) => string) | undefined;
  const head = columns
    .map(({ title, isText }) => {
      const text = filter === undefined ? escape(title) : `<button>${escape(title)}</button>`;
      return `<th scope="col"${isText === true ? ' class="text"' : ''}>${text}</th>`;
    })
    .join('');
  const body = rows.slice(0, maxRows).map((row) => {
    const cells = columns.map(({ cell, tone, isText, isLong }) => {
      const classes = [
        ...(isText === true ? ['text'] : []),
        ...(isLong === true ? ['long'] : []),
        ...(tone === undefined ? [] : toneNames(tone(row))),
      ].join(' ');
      return `<td${classes === '' ? '' : ` class="${classes}"`}>${escape(cell(row))}</td>`;
    });
    const anchor = rowId === undefined ? '' : ` id="${escape(rowId(row))}"`;
    return `<tr${anchor}>${cells.join('')}</tr>`;
  });
  const cut =
    rows.length > maxRows
      ? `<p class="caption">The first ${String(maxRows)} of ${String(rows.length)}; all are in ${escape(all)}.</p>`
      : '';
  const name = id === '' ? '' : ` id="${id}"`;
  const isCut = filter !== undefined && body.length > SHOWN_ROWS;
  const tools =
    filter === undefined ? '' : toolbar({ id, filter, caption, rows: body.length, isCut });
  const label = caption === '' ? '' : ` aria-label="${escape(caption)}"`;
  return `${tools}<div class="table" tabindex="0" role="region"${label}><table${name}${isCut ? ' class="cut"' : ''}><thead><tr>${head}</tr></thead>
<tbody>${body.join('\n')}</tbody></table></div>${cut}`;
}

/** Rows of a table with a toolbar before "Show all". */
const SHOWN_ROWS = 12;

function toolbar(of: {
  readonly id: string;
  readonly filter: string;
  readonly caption: string;
  readonly rows: number;
  readonly isCut: boolean;
}): string {
  const { id, filter, caption, rows, isCut } = of;
  const all = isCut ? `<button data-shows="${id}">Show all ${String(rows)}</button>` : '';
  return `<div class="toolbar"><input type="search" data-filters="${id}" placeholder="${escape(filter)}" aria-label="${escape(`Filter ${caption}`)}" autocomplete="off">
<span class="count" data-counts="${id}" role="status">${String(rows)} of ${String(rows)}</span>${all}<button data-copies="${id}">Copy</button><button data-saves="${id}">CSV</button></div>`;
}
