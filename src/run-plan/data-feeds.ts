/**
 * Files of the user's data: rows with a column of the time from which each is available. A cell
 * becomes a number, `true` or `false` by its own text, never by other rows, which may be later.
 * Cells of a text column of Parquet and Arrow stay text.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename, extname } from 'node:path';
import type { Note } from '../backtest/note.ts';
import { must } from '../base/assert.ts';
import { formatTime } from '../num/time-text.ts';
import { timeUs } from '../num/units.ts';
import { fileError } from '../platform/file-error.ts';
import { StrategyError } from '../strategy/definition.ts';
import type { Cell, DataUpdate } from '../strategy/strategy.ts';
import { csvRows } from '../tape/formats/csv-rows.ts';
import { timeOfCeil, type TimeUnit } from '../tape/formats/numbers.ts';
import { TapeError } from '../tape/record.ts';
import type { OnColumns } from '../tape-files/table-rows.ts';

export interface PlannedFeed {
  /** Name in `onData`; unique in a plan. */
  readonly name: string;
  readonly file: string;
  /** Column of the time from which a row is available. */
  readonly available: string;
  /** Of times that are numbers; default: by their digits. */
  readonly unit?: TimeUnit;
  /** Of the file when the run was planned. */
  readonly sha256: string;
}

const UNITS: readonly TimeUnit[] = ['auto', 's', 'ms', 'us', 'ns', 'iso'];
const KEYS = ['available', 'name', 'unit'];
const NAME = /^\w[\w.-]{0,39}$/;

export interface FeedRequest {
  readonly file: string;
  readonly available?: string | undefined;
  readonly name?: string | undefined;
  readonly unit?: string | undefined;
}

/** `signals.csv,available=published[,name=news][,unit=ms]`. Throws `StrategyError`. */
export function parseFeed(text: string): FeedRequest {
  const [file = '', ...options] = text.split(',');
  const given: Record<string, string> = {};
  for (const option of options) {
    const [, key = '', value = ''] = /^([^=]*)=(.*)$/.exec(option) ?? [];
    if (!KEYS.includes(key) || value === '' || key in given) {
      throw new StrategyError(
        `feed '${text}': '${option}' is not one of available=<column>, name=<name>, unit=s|ms|us|ns|iso`,
      );
    }
    given[key] = value;
  }
  return { file, ...given };
}

/** Checks the requests and hashes their files. Throws `StrategyError` or `FileError`. */
export async function planFeeds(requests: readonly FeedRequest[]): Promise<PlannedFeed[]> {
  const planned: PlannedFeed[] = [];
  for (const { file, available, unit, name = basename(file, extname(file)) } of requests) {
    const fail = (problem: string): never => {
      throw new StrategyError(`feed '${file}': ${problem}`);
    };
    if (typeof file !== 'string' || file === '') return fail('name a file');
    if (!NAME.test(name)) return fail(`name '${name}' must be letters, digits, '.', '_' and '-'`);
    if (planned.some((other) => other.name === name)) {
      return fail(`another feed is called '${name}'; name=<name> gives it another name`);
    }
    if (unit !== undefined && !UNITS.includes(unit as TimeUnit)) {
      return fail(`unit '${unit}' must be one of ${UNITS.join(', ')}`);
    }
    const sha256 = await hashOf(file);
    if (available === undefined || available === '') {
      const names = await columnsOf(file);
      return fail(
        `add available=<column>: the time from which a row is known, not the time it is about; the columns are ${names.join(', ')}`,
      );
    }
    const kind = unit === undefined ? {} : { unit: unit as TimeUnit };
    planned.push({ name, file, available, ...kind, sha256 });
  }
  return planned;
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(file)) hash.update(chunk as Uint8Array);
  } catch (error) {
    throw fileError(file, error);
  }
  return hash.digest('hex');
}

async function columnsOf(file: string): Promise<string[]> {
  for await (const rows of await rowsOf(file)) {
    const [head] = rows;
    if (head !== undefined) return head;
  }
  return [];
}

/** The decoders of tables are loaded only for a feed that needs them. */
async function rowsOf(file: string, onColumns?: OnColumns): Promise<AsyncGenerator<string[][]>> {
  const ignore = (): void => undefined;
  switch (extname(file).toLowerCase()) {
    case '.parquet':
      return (await tableRows()).parquetRows(file, ignore, onColumns);
    case '.arrow':
    case '.feather':
      return (await tableRows()).arrowRows(file, ignore, onColumns);
    case '.csv':
      return csvRows(createReadStream(file), (bytes) => new TextDecoder().decode(bytes));
    default:
      throw new StrategyError(`feed '${file}': must end in .csv, .parquet, .arrow or .feather`);
  }
}

const tableRows = () => import('../tape-files/table-rows.ts');

/** The feed that was read last, by hash and column: trials of a search read the same one. */
const memory = new Map<string, readonly DataUpdate[]>();
const MAX_REMEMBERED = 8;

/** Rows of all feeds, by the time from which they are available; otherwise in their order. */
export async function readFeeds(feeds: readonly PlannedFeed[]): Promise<readonly DataUpdate[]> {
  const all: (readonly DataUpdate[])[] = [];
  for (const feed of feeds) {
    const key = JSON.stringify(feed);
    let rows = memory.get(key);
    if (rows === undefined) {
      if ((await hashOf(feed.file)) !== feed.sha256) {
        throw new StrategyError(
          `feed '${feed.file}': the file has changed since the run was planned`,
        );
      }
      rows = await readFeed(feed);
      if (memory.size >= MAX_REMEMBERED) memory.clear();
      memory.set(key, rows);
    }
    all.push(rows);
  }
  const [only] = all;
  if (all.length === 1 && only !== undefined) return only;
  return all.flat().sort((a, b) => a.timeUs - b.timeUs);
}

async function readFeed(feed: PlannedFeed): Promise<readonly DataUpdate[]> {
  const { name, file } = feed;
  const updates: DataUpdate[] = [];
  let head: readonly string[] | null = null;
  let at = -1;
  let line = 0;
  let areText: readonly boolean[] = [];
  const onColumns: OnColumns = (columns) => {
    areText = columns;
  };
  // Other files have no lines: their rows are counted from 1.
  const isText = extname(file).toLowerCase() === '.csv';
  try {
    for await (const rows of await rowsOf(file, onColumns)) {
      for (const row of rows) {
        line += 1;
        if (row.length === 0 || (row.length === 1 && row[0] === '')) continue;
        if (head === null) {
          head = row;
          at = columnAt(feed, head);
          continue;
        }
        if (row.length !== head.length) {
          throw new TapeError(
            `line ${String(line)}: ${String(row.length)} cells; the header has ${String(head.length)}`,
          );
        }
        const place = isText ? `line ${String(line)}` : `row ${String(line - 1)}`;
        updates.push({ feed: name, ...rowOf(feed, head, row, { at, areText, place }) });
      }
    }
  } catch (error) {
    if (error instanceof StrategyError) throw error;
    const message = error instanceof Error ? error.message : '';
    throw error instanceof TapeError
      ? new TapeError(`feed '${file}': ${message}`)
      : fileError(file, error);
  }
  if (head === null) throw new TapeError(`feed '${file}': no header; a row of names is needed`);
  if (updates.length === 0) throw new TapeError(`feed '${file}': no rows below the header`);
  return updates.sort((a, b) => a.timeUs - b.timeUs);
}

function columnAt({ file, available }: PlannedFeed, head: readonly string[]): number {
  const repeated = head.find((column, i) => head.indexOf(column) !== i);
  if (repeated !== undefined) {
    throw new StrategyError(`feed '${file}': two columns are called '${repeated}'`);
  }
  const at = head.indexOf(available);
  if (at >= 0) return at;
  const separator = head.length === 1 ? /[;\t|]/.exec(head[0] ?? '')?.[0] : undefined;
  const hint =
    separator === undefined
      ? ''
      : `: cells are separated by commas, and this file has ${separator === '\t' ? 'tabs' : `'${separator}'`}`;
  throw new StrategyError(
    `feed '${file}': no column '${available}'; the columns are ${head.join(', ')}${hint}`,
  );
}

function rowOf(
  { available, unit }: PlannedFeed,
  head: readonly string[],
  row: readonly string[],
  {
    at,
    areText,
    place,
  }: { readonly at: number; readonly areText: readonly boolean[]; readonly place: string },
): Pick<DataUpdate, 'timeUs' | 'row'> {
  let time: number;
  try {
    time = timeOfCeil(must(row[at], 'a row has its columns'), available, unit);
  } catch (error) {
    if (!(error instanceof TapeError)) throw error;
    throw new TapeError(`${place}: ${error.message}`);
  }
  const cells: [string, Cell][] = [];
  head.forEach((column, i) => {
    const text = row[i] ?? '';
    if (i !== at) cells.push([column, areText[i] === true ? text || null : cellOf(text)]);
  });
  return { timeUs: time, row: Object.fromEntries(cells) };
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

function cellOf(text: string): Cell {
  const bare = text.trim();
  if (bare === '' || bare === 'NaN' || bare === 'nan') return null;
  if (bare === 'true' || bare === 'True') return true;
  if (bare === 'false' || bare === 'False') return false;
  if (!NUMBER.test(bare)) return text;
  const value = Number(bare);
  // Ids of more than 53 bits stay text.
  const isExact = !Number.isInteger(value) || Number.isSafeInteger(value);
  return isExact && Number.isFinite(value) ? value : text;
}

/** Rows that a run delivered, for its report. */
export function feedNotes(
  feeds: readonly PlannedFeed[],
  rows: readonly DataUpdate[],
  fromUs: number,
  toUs: number,
): Note[] {
  return feeds.map(({ name, file, available, sha256 }) => {
    const own = rows.filter(({ feed }) => feed === name);
    const before = own.filter((row) => row.timeUs < fromUs).length;
    const after = own.filter((row) => row.timeUs > toUs).length;
    const [first] = own;
    const from = first === undefined ? '' : `, the first at ${formatTime(timeUs(first.timeUs))}`;
    const late = own.length === after ? 'after its end' : 'before its start';
    const isLost = before + after === own.length;
    const where = before > 0 && after > 0 ? 'before its start or after its end' : late;
    const text = isLost
      ? `No row of ${basename(file)} is in the run: all ${String(own.length)} are ${where}, by their time in column ${available}${from}.`
      : `${String(own.length)} rows of ${basename(file)}, each delivered from its time in column ${available}${from}. ${String(before)} of before the run and ${String(after)} of after it are not delivered.`;
    return {
      title: `Feed: ${name}`,
      ...(isLost ? { isWarning: true } : {}),
      text: `${text} SHA-256 ${sha256}.`,
    };
  });
}
