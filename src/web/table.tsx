/**
 * The table of both screens. Numbers are right and text is left; the first column names its row.
 * A record that is unchanged is not rendered again. Of a long table, only the parts near the
 * visible ones are in the page; an observer reports them, so no layout is read.
 */
import { Component, createRef, type ComponentChildren, type VNode } from 'preact';

export interface Column<T> {
  readonly name: string;
  /** Text; without it, numbers. */
  readonly left?: boolean;
  readonly of: (row: T) => ComponentChildren;
  /** Class of a cell, such as a tone. */
  readonly tone?: (row: T) => string;
  /** Exact value as the title of a cell. */
  readonly title?: (row: T) => string | undefined;
  /** Value to sort by; without it the column has no order. */
  readonly by?: (row: T) => number | string;
  /** Share of the width of a table with `byShare`; default 1. */
  readonly width?: number;
}

export interface Sorting {
  readonly name: string;
  readonly down: boolean;
}

/** A header sorts up first, then down. */
export const nextSorting = (now: Sorting | null, name: string): Sorting => ({
  name,
  down: now?.name === name && !now.down,
});

/** Rows in the order of a column; as they are without one. */
export function sortedRows<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  sorting: Sorting | null,
): readonly T[] {
  const by = columns.find(({ name }) => name === sorting?.name)?.by;
  if (by === undefined || sorting === null) return rows;
  const keyed = rows.map((row) => ({ row, key: by(row) }));
  keyed.sort((a, b) => (sorting.down ? compare(b.key, a.key) : compare(a.key, b.key)));
  return keyed.map(({ row }) => row);
}

function compare(a: number | string, b: number | string): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
}

interface RowLook {
  readonly class?: string;
  /** The row of the present. */
  readonly current?: boolean;
  readonly selected?: boolean;
}

interface TableProps<T> {
  readonly caption: string;
  readonly hideCaption?: boolean;
  readonly id?: string;
  /** A constant: rows of other columns are rendered again. */
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T, i: number) => string | number;
  /** Look of a row that depends on more than its record, such as a selection. */
  readonly look?: (row: T) => RowLook;
  readonly onRow?: (row: T) => void;
  /** Widths by the shares of columns. Only a number that needs more moves other columns. */
  readonly byShare?: boolean;
  readonly sorting?: Sorting | null;
  readonly onSort?: (name: string) => void;
  readonly hideHead?: boolean;
  /** Rows below, such as a sum. */
  readonly children?: ComponentChildren;
}

/** Rows of a part that comes and goes as a whole. */
const PART = 40;
/** Tables up to this length are in the page as a whole. */
const WHOLE = 3 * PART;
const ROW_PX = 25;
const NEAR_PX = 600;
const PLAIN: RowLook = {};

export function Table<T extends object>(props: TableProps<T>) {
  const { caption, hideCaption, id, columns, rows, keyOf, byShare, hideHead, children } = props;
  const isLong = rows.length > WHOLE;
  const row = (one: T, i: number, index?: number): VNode => (
    <Row
      key={keyOf(one, i)}
      row={one}
      columns={columns as readonly Column<object>[]}
      look={props.look?.(one) ?? PLAIN}
      index={index}
      onRow={props.onRow as ((row: object) => void) | undefined}
    />
  );
  return (
    <table
      id={id}
      class={byShare === true ? 'by-share' : ''}
      style={byShare === true ? { minWidth: `${String(widthOf(columns) * CELL_CH)}ch` } : {}}
      aria-rowcount={isLong ? rows.length + 1 : undefined}
    >
      <caption class={hideCaption === true ? 'hidden' : ''}>{caption}</caption>
      {byShare === true ? <Widths columns={columns as readonly Column<object>[]} /> : null}
      {hideHead === true ? null : <Head {...props} />}
      {isLong ? (
        partsOf(rows).map((some, i) => (
          <Part
            key={i}
            rows={some}
            columns={columns}
            look={props.look}
            begins={i < 2}
            make={(one, at) => row(one as T, at, i * PART + at + 2)}
          />
        ))
      ) : (
        <tbody>
          {rows.map((one, i) => row(one, i))}
          {children}
        </tbody>
      )}
      {isLong && children !== undefined ? <tbody>{children}</tbody> : null}
    </table>
  );
}

function Head<T>({ columns, sorting, onSort }: TableProps<T>) {
  return (
    <thead>
      <tr>
        {columns.map(({ name, left, by }) => {
          const order =
            sorting?.name === name ? (sorting.down ? 'descending' : 'ascending') : undefined;
          return (
            <th key={name} scope="col" class={left === true ? 'left' : ''} aria-sort={order}>
              {by === undefined || onSort === undefined ? (
                name
              ) : (
                <button
                  type="button"
                  class="sort"
                  onClick={() => {
                    onSort(name);
                  }}
                >
                  {name}
                  {order === undefined ? '' : order === 'descending' ? ' ↓' : ' ↑'}
                </button>
              )}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

/** Characters of a column of width 1. */
const CELL_CH = 9;

const widthOf = (columns: readonly { readonly width?: number }[]): number =>
  columns.reduce((sum, { width = 1 }) => sum + width, 0);

function Widths({ columns }: { readonly columns: readonly Column<object>[] }) {
  const all = widthOf(columns);
  return (
    <colgroup>
      {columns.map(({ name, width = 1 }) => (
        <col key={name} style={{ width: `${((width / all) * 100).toFixed(2)}%` }} />
      ))}
    </colgroup>
  );
}

interface RowProps {
  readonly row: object;
  readonly columns: readonly Column<object>[];
  readonly look: RowLook;
  /** Place in a table of which only parts are in the page. */
  readonly index: number | undefined;
  readonly onRow: ((row: object) => void) | undefined;
}

class Row extends Component<RowProps> {
  /** A signal that a cell has read sets another state. */
  override shouldComponentUpdate(next: RowProps, state: object): boolean {
    const { row, columns, look, index } = this.props;
    return (
      state !== this.state ||
      next.row !== row ||
      next.columns !== columns ||
      next.index !== index ||
      next.look.class !== look.class ||
      next.look.current !== look.current ||
      next.look.selected !== look.selected
    );
  }

  override render(): VNode {
    const { row, columns, look, index, onRow } = this.props;
    return (
      <tr
        class={look.class}
        aria-current={look.current === true ? 'true' : undefined}
        aria-selected={look.selected}
        aria-rowindex={index}
        onClick={
          onRow === undefined
            ? undefined
            : () => {
                onRow(row);
              }
        }
      >
        {columns.map((column, i) => cellOf(column, row, i === 0))}
      </tr>
    );
  }
}

function cellOf({ name, left, of, tone, title }: Column<object>, row: object, isFirst: boolean) {
  const look = `${left === true ? 'left' : ''} ${tone?.(row) ?? ''}`.trim();
  const content = of(row);
  const more = {
    class: look === '' ? undefined : look,
    // Text that its column may cut.
    title: title?.(row) ?? (left === true && typeof content === 'string' ? content : undefined),
    'data-label': name,
  };
  return isFirst ? (
    <th key={name} scope="row" {...more}>
      {content}
    </th>
  ) : (
    <td key={name} {...more}>
      {content}
    </td>
  );
}

function partsOf<T>(rows: readonly T[]): (readonly T[])[] {
  const parts: (readonly T[])[] = [];
  for (let at = 0; at < rows.length; at += PART) parts.push(rows.slice(at, at + PART));
  return parts;
}

interface PartProps {
  readonly rows: readonly object[];
  readonly columns: unknown;
  readonly look: unknown;
  /** Whether it is shown before the observer has reported it. */
  readonly begins: boolean;
  readonly make: (row: object, i: number) => VNode;
}

interface PartState {
  readonly shown: boolean;
  /** Height when it was shown last. */
  readonly px: number | null;
}

/** A part of a long table: its rows while it is near the visible part, else a gap of its height. */
class Part extends Component<PartProps, PartState> {
  private readonly box = createRef<HTMLTableSectionElement>();

  constructor(props: PartProps) {
    super(props);
    this.state = { shown: props.begins, px: null };
  }

  override componentDidMount(): void {
    if (this.box.current !== null) follow(this.box.current, this);
  }

  override componentWillUnmount(): void {
    if (this.box.current !== null) leave(this.box.current);
  }

  report(isNear: boolean, px: number): void {
    if (isNear === this.state.shown) return;
    this.setState({ shown: isNear, px: isNear ? this.state.px : px });
  }

  override shouldComponentUpdate(next: PartProps, state: PartState): boolean {
    const { rows, columns, look } = this.props;
    if (state !== this.state || rows.length !== next.rows.length) return true;
    if (!state.shown) return false;
    return (
      columns !== next.columns || look !== next.look || rows.some((row, i) => row !== next.rows[i])
    );
  }

  override render(): VNode {
    const { rows, make } = this.props;
    const { shown, px } = this.state;
    return (
      <tbody ref={this.box}>
        {shown ? (
          rows.map(make)
        ) : (
          <tr aria-hidden="true">
            <td colSpan={99} style={{ height: `${String(px ?? rows.length * ROW_PX)}px` }} />
          </tr>
        )}
      </tbody>
    );
  }
}

const parts = new WeakMap<Element, Part>();
let observer: IntersectionObserver | null = null;

function follow(box: Element, part: Part): void {
  parts.set(box, part);
  const margin = `${String(NEAR_PX)}px 0px`;
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting, boundingClientRect } of entries) {
        parts.get(target)?.report(isIntersecting, boundingClientRect.height);
      }
    },
    // `scrollMargin` is that of panes that scroll; browsers without it show a part a little later.
    { rootMargin: margin, scrollMargin: margin },
  );
  observer.observe(box);
}

function leave(box: Element): void {
  observer?.unobserve(box);
}
