/** HTML of text, amounts and tables. */
import type { Divergence } from '../backtest/output.ts';
import { amount, grouped, money, signed } from '../design/number-text.ts';

export function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${String(character.charCodeAt(0))};`);
}

/** JSON for a script element: `<` is escaped, so it cannot end the element. */
export function json(value: unknown): string {
  return JSON.stringify(value).replace(/</g, '\\u003c');
}

/** How far history contradicts the strategies' own impact. */
export function divergenceText({ size, levels }: Divergence, symbol: string): string {
  if (levels === 0) return `${symbol}: the recording contradicts no fill`;
  return `${symbol}: later records still show ${grouped(size)} of the volume that the strategies took, at ${grouped(String(levels))} levels`;
}

/** A result in money with two decimals; the exact value where the pointer rests. */
export function exactMoney(text: string): string {
  return `<span title="${escape(signed(text))}">${escape(money(Number(text)))}</span>`;
}

/** As `exactMoney`, of an amount that is not a result: without a plus sign. */
export function exactAmount(text: string): string {
  return `<span title="${escape(grouped(text))}">${escape(amount(Number(text)))}</span>`;
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

/** The title of a column; a date in it stays on one line. */
const heading = (title: string): string =>
  escape(title).replace(/\d{4}-\d\d-\d\d/g, '<span class="whole">$&</span>');

export interface Column<T> {
  readonly title: string;
  /** Left-aligned text; numbers are right-aligned. */
  readonly isText?: boolean;
  /** Text that may wrap on narrow screens. */
  readonly isLong?: boolean;
  /** Text that ends in dots where it has no room; `exact` shows all of it. */
  readonly isClipped?: boolean;
  readonly cell: (row: T) => string;
  /** Exact value: shown where the pointer rests, and saved in CSV. */
  readonly exact?: (row: T) => string;
  /** Address that the cell links to. */
  readonly link?: (row: T) => string | null;
  /** Value whose sign sets the cell's class. */
  readonly tone?: (row: T) => number | null;
}

/** Rows that a table shows, unless it states another number. */
export const MOST_ROWS = 2000;

/** The records of a run, beside its page. */
export const REPORT_FILE = 'report.json';

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
  const { id = '', maxRows = MOST_ROWS, all = REPORT_FILE, filter, caption = '' } = options;
  const rowId = options.rowId as ((row: T) => string) | undefined;
  const head = columns
    .map(({ title, isText }) => {
      const name = heading(title);
      const text = filter === undefined ? name : `<button>${name}</button>`;
      return `<th scope="col"${isText === true ? ' class="text"' : ''}>${text}</th>`;
    })
    .join('');
  const body = rows.slice(0, maxRows).map((row) => {
    const cells = columns.map(({ cell, exact, link, tone, isText, isLong, isClipped }) => {
      const classes = [
        ...(isText === true ? ['text'] : []),
        ...(isLong === true ? ['long'] : []),
        ...(isClipped === true ? ['clipped'] : []),
        ...(tone === undefined ? [] : toneNames(tone(row))),
      ].join(' ');
      const value = exact === undefined ? '' : escape(exact(row));
      const whole = exact === undefined ? '' : ` title="${value}" data-exact="${value}"`;
      const target = link?.(row) ?? null;
      const text = escape(cell(row));
      const content = target === null ? text : `<a href="${escape(target)}">${text}</a>`;
      return `<td${classes === '' ? '' : ` class="${classes}"`}${whole}>${content}</td>`;
    });
    const anchor = rowId === undefined ? '' : ` id="${escape(rowId(row))}"`;
    return `<tr${anchor}>${cells.join('')}</tr>`;
  });
  const cut =
    rows.length > maxRows
      ? `<p class="caption">The first ${grouped(String(maxRows))} of ${grouped(String(rows.length))}; all are in ${escape(all)}.</p>`
      : '';
  const name = id === '' ? '' : ` id="${id}"`;
  const isCut = filter !== undefined && body.length > SHOWN_ROWS;
  const kinds = [...(isCut ? ['cut'] : []), ...(columns.length > MANY_COLUMNS ? ['tight'] : [])];
  const tools =
    filter === undefined ? '' : toolbar({ id, filter, caption, rows: body.length, isCut });
  const label = caption === '' ? '' : ` aria-label="${escape(caption)}"`;
  return `${tools}<div class="table" tabindex="0" role="region"${label}><table${name}${kinds.length === 0 ? '' : ` class="${kinds.join(' ')}"`}>${caption === '' ? '' : `<caption class="unseen">${escape(caption)}</caption>`}<thead><tr>${head}</tr></thead>
<tbody>${body.join('\n')}</tbody></table></div>${cut}`;
}

/** A table of more columns has less space between them. */
const MANY_COLUMNS = 9;

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

/** Names that a title lists. */
const MOST_NAMES = 4;

/** Names of markets or strategies; of many the first ones, and the number of others. */
export function listed(names: readonly string[]): string {
  if (names.length <= MOST_NAMES) return names.join(', ');
  const shown = names.slice(0, MOST_NAMES - 1).join(', ');
  return `${shown} and ${String(names.length - MOST_NAMES + 1)} others`;
}
