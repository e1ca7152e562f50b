/**
 * Reads equity curves and closed trades from CSV files: columns by their common names, or by the
 * given names.
 */
import { readFile } from 'node:fs/promises';
import Papa from 'papaparse';
import type { EquityCurve } from '../metrics/curve.ts';
import type { TradeRow } from '../metrics/closed-trades.ts';
import { FileError, fileError } from '../platform/file-error.ts';

export type TimeUnit = 'auto' | 's' | 'ms' | 'us' | 'ns';

export interface EquityColumns {
  readonly time?: string | undefined;
  readonly equity?: string | undefined;
  readonly timeUnit: TimeUnit;
  /** Interval of rows in a file without a time column, microseconds. */
  readonly spacingUs?: number | undefined;
}

const TIMES = ['time', 'timestamp', 'date', 'datetime', 'timeus', 'timems', 'ts'];
const EQUITIES = ['equity', 'balance', 'value', 'nav', 'portfoliovalue', 'capital', 'close'];
const PNLS = ['pnl', 'netpnl', 'profit', 'netprofit', 'realizedpnl', 'realisedpnl'];
const ENTRIES = ['entry', 'entrytime', 'entryus', 'opentime', 'opened', 'entrytimestamp'];
const EXITS = ['exit', 'exittime', 'exitus', 'closetime', 'closed', 'exittimestamp'];
const NOTIONALS = ['notional', 'turnover', 'volumequote'];

/** ISO 8601 without separators: 20240131. As a number it would be a second of 1970. */
const COMPACT_DAY = /^((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$/;

/**
 * Rows `time, equity`. Times are ISO 8601 (UTC unless they have an offset) or numbers since the
 * Unix epoch. Without a unit, numbers below 1e11 are seconds; larger ones are milliseconds,
 * microseconds or nanoseconds. A column of days such as 20240131 has no numbers.
 *
 * @throws FileError naming the line and the field
 */
export async function readEquityCsv(path: string, columns: EquityColumns): Promise<EquityCurve> {
  const table = await readTable(path);
  const equityAt = table.column(columns.equity, EQUITIES, 'equity');
  if (columns.spacingUs !== undefined) table.mustHaveNoTimes(columns.time);
  const timeAt =
    columns.spacingUs !== undefined
      ? null
      : // The index column of pandas: first and unnamed.
        columns.time === undefined && table.find(TIMES) === undefined && table.isFirstUnnamed
        ? 0
        : table.column(columns.time, TIMES, 'time');
  const timesUs: number[] = [];
  const equity: number[] = [];
  table.rows.forEach((row, i) => {
    timesUs.push(
      timeAt === null ? i * (columns.spacingUs ?? 0) : table.time(row, timeAt, columns.timeUnit),
    );
    equity.push(table.number(row, equityAt));
  });
  return { timesUs, equity };
}

/** Rows with `pnl` and the optional columns `entry`, `exit` (times) and `notional`. */
export async function readTradesCsv(path: string, timeUnit: TimeUnit): Promise<TradeRow[]> {
  const table = await readTable(path);
  const pnlAt = table.column(undefined, PNLS, 'pnl');
  const [entryAt, exitAt, notionalAt] = [ENTRIES, EXITS, NOTIONALS].map((names) =>
    table.find(names),
  );
  const optional = (
    row: Row,
    at: number | undefined,
    read: (at: number) => number,
  ): number | null => (at === undefined || (row.cells[at] ?? '') === '' ? null : read(at));
  return table.rows.map((row) => ({
    pnl: table.number(row, pnlAt),
    entryUs: optional(row, entryAt, (at) => table.time(row, at, timeUnit)),
    exitUs: optional(row, exitAt, (at) => table.time(row, at, timeUnit)),
    notional: optional(row, notionalAt, (at) => table.number(row, at)),
  }));
}

interface Row {
  readonly line: number;
  readonly cells: readonly string[];
}

async function readTable(path: string): Promise<CsvTable> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw fileError(path, error);
  }
  if (text.includes('\0')) {
    throw new FileError(`${path}: is not text; expected CSV with a header line`);
  }
  const { data, errors } = Papa.parse<string[]>(text.replace(/^\uFEFF/, '').trimEnd());
  const broken = errors.find(({ type }) => type === 'Quotes');
  if (broken !== undefined) {
    throw new FileError(`${path}: line ${(broken.row ?? 0) + 1}: ${broken.message}`);
  }
  const rows = data
    .map((cells, i) => ({ line: i + 1, cells: cells.map((cell) => cell.trim()) }))
    .filter(({ cells }) => cells.some((cell) => cell !== ''));
  const [header, ...rest] = rows;
  if (header === undefined) throw new FileError(`${path}: is empty`);
  const columns = header.cells.length;
  // Such as '10,000' without quotes, which would be 10.
  const long = rest.find(({ cells }) => cells.slice(columns).some((cell) => cell !== ''));
  if (long !== undefined) {
    throw new FileError(
      `${path}: line ${String(long.line)}: has ${String(long.cells.length)} fields, but the header ${String(columns)}`,
    );
  }
  return new CsvTable(path, header.cells, rest);
}

class CsvTable {
  private readonly path: string;
  private readonly header: readonly string[];
  readonly rows: readonly Row[];
  /** By column, whether all its times are days without separators. */
  private readonly compactDays = new Map<number, boolean>();

  constructor(path: string, header: readonly string[], rows: readonly Row[]) {
    this.path = path;
    this.header = header;
    this.rows = rows;
  }

  get isFirstUnnamed(): boolean {
    return this.header[0] === '';
  }

  /** Index of the first column with one of these names, ignoring case and separators. */
  find(names: readonly string[]): number | undefined {
    const plain = this.header.map((name) => name.toLowerCase().replace(/[^a-z]/g, ''));
    const at = names.map((name) => plain.indexOf(name)).find((index) => index >= 0);
    return at;
  }

  column(wanted: string | undefined, names: readonly string[], what: string): number {
    const at = wanted === undefined ? this.find(names) : this.header.indexOf(wanted);
    if (at !== undefined && at >= 0) return at;
    throw new FileError(
      `${this.path}: line 1: ${wanted === undefined ? `no column for ${what} (${names.slice(0, 4).join(', ')} …)` : `no column '${wanted}'`}; ` +
        `the columns are ${this.header.map((name) => `'${name}'`).join(', ')}`,
    );
  }

  /** `--spacing` would replace the times of the file. */
  mustHaveNoTimes(wanted: string | undefined): void {
    const at = this.find(TIMES);
    const name = wanted ?? (at === undefined ? undefined : this.header[at]);
    if (name === undefined) return;
    throw new FileError(
      `${this.path}: line 1: the times are in the column '${name}'; --spacing is for a file without times`,
    );
  }

  number(row: Row, at: number): number {
    const text = row.cells[at] ?? '';
    const value = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text) ? Number(text) : NaN;
    if (!Number.isFinite(value)) throw this.bad(row, at, 'is not a number');
    return value;
  }

  /** Microseconds since the Unix epoch. */
  time(row: Row, at: number, unit: TimeUnit): number {
    const cell = row.cells[at] ?? '';
    const text =
      unit === 'auto' && this.hasCompactDays(at) ? cell.replace(COMPACT_DAY, '$1-$2-$3') : cell;
    if (/^\d+(\.\d+)?$/.test(text)) {
      const value = Number(text);
      return Math.round(value * usPerUnit(unit === 'auto' ? unitBySize(value) : unit));
    }
    const match = /^(\d{4}-\d\d-\d\d)(?:[T ](.+?))?\s*(Z|[-+]\d\d:?\d\d)?$/i.exec(text);
    const [, day = '', clock = '00:00:00', zone = 'Z'] = match ?? [];
    const ms = match === null ? NaN : Date.parse(`${day}T${clock}${zone}`);
    // `Date.parse` maps an invalid day to the next month.
    const dayMs = Date.parse(`${day}T00:00:00Z`);
    const isDay = !Number.isNaN(dayMs) && new Date(dayMs).toISOString().startsWith(day);
    if (Number.isNaN(ms) || !isDay)
      throw this.bad(row, at, 'is not a time (ISO 8601 or a number since 1970)');
    return ms * 1000 + Number(/\.\d{3}(\d{1,3})/.exec(clock)?.[1]?.padEnd(3, '0') ?? 0);
  }

  private hasCompactDays(at: number): boolean {
    const known = this.compactDays.get(at);
    if (known !== undefined) return known;
    const isCompact = this.rows.every(({ cells }) => {
      const cell = cells[at] ?? '';
      return cell === '' || COMPACT_DAY.test(cell);
    });
    this.compactDays.set(at, isCompact);
    return isCompact;
  }

  private bad(row: Row, at: number, what: string): FileError {
    const text = row.cells[at] ?? '';
    const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
    return new FileError(
      `${this.path}: line ${String(row.line)}: ${this.header[at] ?? `column ${String(at + 1)}`}: '${shown}' ${what}`,
    );
  }
}

function unitBySize(value: number): Exclude<TimeUnit, 'auto'> {
  if (value < 1e11) return 's';
  if (value < 1e14) return 'ms';
  return value < 1e17 ? 'us' : 'ns';
}

function usPerUnit(unit: Exclude<TimeUnit, 'auto'>): number {
  return { s: 1e6, ms: 1e3, us: 1, ns: 1e-3 }[unit];
}
