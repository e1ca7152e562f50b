/** A table of records with a filter, sorting by headers, and a CSV file. */
import { signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { csvOf } from './csv.ts';
import { download } from './page-parts.ts';
import { nextSorting, sortedRows, Table, type Column, type Sorting } from './table.tsx';

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
/** So many records are filtered and sorted again at most once in this time. */
const MANY = 1000;
const PAUSE_MS = 500;
const filters = signal<Readonly<Record<string, string>>>({});

/** Text of records, which are never changed. */
const texts = new WeakMap<object, string>();

function textOf(row: object): string {
  let text = texts.get(row);
  if (text === undefined) {
    text = JSON.stringify(row).toLowerCase();
    texts.set(row, text);
  }
  return text;
}

interface Chosen<T> {
  readonly rows: readonly T[];
  readonly filter: string;
  readonly sorting: Sorting | null;
  readonly atMs: number;
  readonly result: readonly T[];
}

/** Rows that match, in the chosen order. */
function useChosen<T extends object>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  filter: string,
  sorting: Sorting | null,
): readonly T[] {
  const held = useRef<Chosen<T> | null>(null);
  const again = useSignal(0);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
    },
    [],
  );
  const { current: last } = held;
  if (filter === '' && sorting === null) return rows;
  if (last !== null && last.filter === filter && last.sorting === sorting && again.value >= 0) {
    if (last.rows === rows) return last.result;
    const restMs = last.atMs + PAUSE_MS - performance.now();
    if (rows.length > MANY && restMs > 0) {
      timer.current ??= setTimeout(() => {
        timer.current = undefined;
        again.value += 1;
      }, restMs);
      return last.result;
    }
  }
  const matching = filter === '' ? rows : rows.filter((row) => textOf(row).includes(filter));
  const result = sortedRows(matching, columns, sorting);
  held.current = { rows, filter, sorting, atMs: performance.now(), result };
  return result;
}

export function DataTable<T extends object>(props: DataTableProps<T>) {
  const { caption, rows, columns, keyOf, empty, file, children } = props;
  const sorting = useSignal<Sorting | null>(null);
  const isWhole = useSignal(false);
  const filter = (filters.value[file] ?? '').toLowerCase();
  const matching = useChosen(rows, columns, filter, sorting.value);
  const shown = isWhole.value ? matching : matching.slice(0, FIRST);
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
          <Table<T>
            caption={caption}
            hideCaption
            columns={columns}
            rows={shown}
            keyOf={keyOf}
            byShare
            sorting={sorting.value}
            onSort={(name) => {
              sorting.value = nextSorting(sorting.value, name);
            }}
          />
        </div>
      )}
      {matching.length > FIRST ? (
        <button
          type="button"
          class="link more"
          aria-expanded={isWhole.value}
          onClick={() => {
            isWhole.value = !isWhole.value;
          }}
        >
          {isWhole.value
            ? `Show the first ${String(FIRST)}`
            : `Show all ${String(matching.length)}`}
        </button>
      ) : null}
    </>
  );
}
