/** A table of records with a filter, sorting by headers, and a CSV file. */
import { signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { download } from '../page-parts.ts';
import { csvOf } from './text.ts';

export interface Column<T> {
  readonly name: string;
  readonly left?: boolean;
  readonly of: (row: T) => ComponentChildren;
  /** Value to sort by; without it the column has no order. */
  readonly by?: (row: T) => number | string;
}

interface DataTableProps<T> {
  readonly caption: string;
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string;
  readonly empty: string;
  /** Name of the CSV file. */
  readonly file: string;
  readonly children?: ComponentChildren;
}

const FIRST = 12;
const MORE = 200;
const filters = signal<Readonly<Record<string, string>>>({});

export function DataTable<T extends object>(props: DataTableProps<T>) {
  const { caption, rows, columns, keyOf, empty, file, children } = props;
  const sorted = useSignal<{ readonly name: string; readonly down: boolean } | null>(null);
  const limit = useSignal(FIRST);
  const filter = (filters.value[file] ?? '').toLowerCase();
  const matching =
    filter === '' ? rows : rows.filter((row) => JSON.stringify(row).toLowerCase().includes(filter));
  const by = columns.find(({ name }) => name === sorted.value?.name)?.by;
  const ordered = by === undefined ? matching : [...matching].sort((a, b) => compare(by(a), by(b)));
  if (by !== undefined && sorted.value?.down === true) (ordered as T[]).reverse();
  const shown = ordered.slice(0, limit.value);
  const exportAll = (): void => {
    const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    download(new Blob([csvOf(names, rows)], { type: 'text/csv' }), `${file}.csv`);
  };
  return (
    <>
      <div class="tools">
        <input
          type="search"
          placeholder="Filter"
          aria-label={`Filter ${caption}`}
          value={filters.value[file] ?? ''}
          onInput={({ currentTarget }) => {
            filters.value = { ...filters.value, [file]: currentTarget.value };
          }}
        />
        <span class="quiet small">
          {matching.length} of {rows.length}
        </span>
        <span class="space" />
        {children}
        <button type="button" class="button" disabled={rows.length === 0} onClick={exportAll}>
          CSV
        </button>
      </div>
      {rows.length === 0 ? (
        <p class="empty">{empty}</p>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
          <table aria-rowcount={matching.length + 1}>
            <caption class="hidden">{caption}</caption>
            <thead>
              <tr>
                {columns.map(({ name, left, by: order }) => (
                  <th
                    key={name}
                    scope="col"
                    class={left === true ? 'left' : ''}
                    aria-sort={
                      sorted.value?.name === name
                        ? sorted.value.down
                          ? 'descending'
                          : 'ascending'
                        : undefined
                    }
                  >
                    {order === undefined ? (
                      name
                    ) : (
                      <button
                        type="button"
                        class="sort"
                        onClick={() => {
                          const down = sorted.value?.name === name && !sorted.value.down;
                          sorted.value = { name, down };
                        }}
                      >
                        {name}
                        {sorted.value?.name === name ? (sorted.value.down ? ' ↓' : ' ↑') : ''}
                      </button>
                    )}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {shown.map((row) => (
                <tr key={keyOf(row)}>
                  {columns.map(({ name, left, of }) => (
                    <td key={name} class={left === true ? 'left' : ''} data-label={name}>
                      {of(row)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {matching.length > limit.value ? (
        <button
          type="button"
          class="link more"
          onClick={() => {
            limit.value += MORE;
          }}
        >
          Show {Math.min(MORE, matching.length - limit.value)} more
        </button>
      ) : null}
    </>
  );
}

function compare(a: number | string, b: number | string): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a).localeCompare(String(b));
}
