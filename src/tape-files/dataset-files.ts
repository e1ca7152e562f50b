/**
 * Datasets on disk: `openDataset(path)` returns the content of the folder; `read` plays it as
 * commands of the exchange or record by record. Each file's SHA-256 is verified before its first
 * use.
 */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from '../engine/commands.ts';
import { marketId, type MarketId } from '../num/units.ts';
import type { SyncFacts, TapeStep } from '../tape/book-sync.ts';
import {
  parseManifest,
  type DatasetManifest,
  type PartManifest,
  type StreamManifest,
} from '../tape/manifest.ts';
import { omitsEmptyBars } from '../tape/formats/formats.ts';
import { mergeStreams } from '../tape/merge.ts';
import type { OrderingFacts } from '../tape/reading-order.ts';
import { RECORD_KINDS, recordsOf as recordsOfColumns } from '../tape/record-columns.ts';
import { TapeError, type RecordKind, type TapeRecord, type TapeUnits } from '../tape/record.ts';
import {
  DEFAULT_TAPE_MODEL,
  fidelitiesOf,
  fidelityOf,
  type Fidelity,
  type RecordCounts,
  type TapeModel,
} from '../tape/tape-model.ts';
import { inRange, stepUs, type TapeRange } from '../tape/tape-range.ts';
import { TapeSteps } from '../tape/tape-steps.ts';
import { FileError, fileError } from '../platform/file-error.ts';
import { columnsInThread, startColumnThread } from './column-worker-client.ts';
import { columnsOfParts } from './part-files.ts';

/** A market of a dataset. */
export interface DatasetMarket extends TapeUnits {
  readonly streams: readonly StreamManifest[];
  readonly firstUs: number;
  readonly lastUs: number;
  /** Record counts of all streams. */
  readonly counts: RecordCounts;
  /**
   * Highest fidelity at which the market can be played; null if its streams have no trading data.
   */
  readonly fidelity: Fidelity | null;
}

export interface ReadOptions extends TapeRange {
  /** Assumptions where no book is recorded (tape/tape-model). */
  readonly model?: TapeModel;
  /** Plays markets at a lower fidelity than possible, such as bars although a book is recorded. */
  readonly fidelity?: Fidelity;
  /** Symbols in the order of their market ids in commands; default: all of the dataset. */
  readonly markets?: readonly string[];
}

/** One pass over a dataset. */
export interface TapeReading {
  /** The index of a market is its id in commands. */
  readonly markets: readonly DatasetMarket[];
  /** Batches in time order; at equal times the lower market id comes first. Usable once. */
  commands(): AsyncGenerator<Command[]>;
  /**
   * As `commands`, with the source record of each command. Touches have no command. Usable once.
   */
  steps(): AsyncGenerator<readonly TapeStep[]>;
  /** 0…1 of the rows read so far; of a range, of its time. */
  progress(): number;
  /** Counters of the pass so far, by market. */
  facts(): readonly { readonly sync: SyncFacts; readonly ordering: OrderingFacts }[];
}

export interface Dataset {
  readonly path: string;
  readonly manifest: DatasetManifest;
  readonly markets: readonly DatasetMarket[];
  /** Throws `TapeError` if a market is not in the dataset. */
  read(options?: ReadOptions): TapeReading;
  /** Records of one stream as recorded. */
  records(stream: StreamManifest): AsyncGenerator<TapeRecord[]>;
}

/** Throws `FileError` or `TapeError` if the folder is not a dataset. */
export async function openDataset(path: string): Promise<Dataset> {
  if (typeof path !== 'string') throw new FileError('path: must be that of a folder');
  const found = await stat(path).catch((error: unknown) => {
    throw fileError(path, error, 'orrery data import, or orrery data sample, writes a dataset');
  });
  if (!found.isDirectory()) {
    throw new FileError(`${path}: is a file; a dataset is a folder that orrery data import writes`);
  }
  const name = join(path, 'manifest.json');
  const text = await readFile(name, 'utf8').catch((error: unknown) => {
    throw fileError(name, error, 'the folder is not a dataset; orrery data import writes one');
  });
  const manifest = manifestIn(path, text);
  const markets = manifest.markets.map((units) => marketOf(manifest, units));
  const checked = new Set<string>();
  const recordsOf = (stream: StreamManifest, onRows?: (rows: number) => void) =>
    readStream(path, stream.parts, checked, onRows);
  return {
    path,
    manifest,
    markets,
    records: (stream) => recordsOf(stream),
    read: (options = {}) => read(path, markets, recordsOf, options),
  };
}

/** Parses the manifest of a folder. Throws `TapeError` with its path. */
export function manifestIn(folder: string, text: string): DatasetManifest {
  try {
    return parseManifest(text);
  } catch (error) {
    throw error instanceof TapeError ? new TapeError(join(folder, error.message)) : error;
  }
}

function marketOf(manifest: DatasetManifest, units: TapeUnits): DatasetMarket {
  const streams = manifest.streams.filter(({ symbol }) => symbol === units.symbol);
  const counts: Partial<Record<RecordKind, number>> = {};
  for (const stream of streams) {
    for (const kind of RECORD_KINDS) {
      const count = stream.counts[kind] ?? 0;
      if (count > 0) counts[kind] = (counts[kind] ?? 0) + count;
    }
  }
  return {
    ...units,
    streams,
    firstUs: Math.min(...streams.map(({ firstUs }) => firstUs)),
    lastUs: Math.max(...streams.map(({ lastUs }) => lastUs)),
    counts,
    fidelity: fidelityOf(counts),
  };
}

/** Whether the synthetic book of bars is closed where bars of the market are missing. */
export function closesHoles(
  { streams }: Pick<DatasetMarket, 'streams'>,
  { holes }: TapeModel,
): boolean {
  if (holes !== null) return holes === 'close';
  return !streams.some(({ barUs, format }) => barUs !== null && omitsEmptyBars(format));
}

/** Throws `TapeError` if the market's records do not allow the requested fidelity. */
export function playedAs(
  path: string,
  { symbol, counts, fidelity }: DatasetMarket,
  asked: Fidelity | undefined,
): Fidelity | null {
  if (asked === undefined) return fidelity;
  const possible = fidelitiesOf(counts);
  if (possible.includes(asked)) return asked;
  throw new TapeError(
    `${path}: ${symbol} cannot be played as ${asked}: it has ${Object.keys(counts).join(', ')}, which allows ${possible.join(', ') || 'no fidelity'}`,
  );
}

type StreamReader = (
  stream: StreamManifest,
  onRows: (rows: number) => void,
) => AsyncGenerator<TapeRecord[]>;

function read(
  path: string,
  all: readonly DatasetMarket[],
  recordsOf: StreamReader,
  options: ReadOptions,
): TapeReading {
  const given: unknown = options.markets;
  if (given !== undefined && (!Array.isArray(given) || given.length === 0)) {
    throw new TapeError(`${path}: markets must be a list of symbols, not empty`);
  }
  const symbols = options.markets ?? all.map(({ symbol }) => symbol);
  const markets = symbols.map((symbol, i) => {
    if (symbols.indexOf(symbol) < i) throw new TapeError(`${path}: market ${symbol}: given twice`);
    const found = all.find((market) => market.symbol === symbol);
    if (found !== undefined) return found;
    const known = all.map((market) => market.symbol).join(', ');
    throw new TapeError(`${path}: no market ${symbol}; markets are ${known}`);
  });
  const played = markets.map((market) => playedAs(path, market, options.fidelity));
  const total = markets.flatMap(({ streams }) => streams).reduce((sum, s) => sum + rowsOf(s), 0);
  let done = 0;
  const onRows = (rows: number): void => {
    done += rows;
  };
  const { model = DEFAULT_TAPE_MODEL } = options;
  const untilUs = Math.max(...markets.map(({ lastUs }) => lastUs));
  const tapes = markets.map(
    (market, i) =>
      new TapeSteps(
        market.streams.map((stream) => recordsOf(stream, onRows)),
        marketId(i),
        () => market,
        {
          fidelity: played[i] ?? 'l2',
          model,
          ...(closesHoles(market, model) ? { closesUntilUs: untilUs } : {}),
        },
      ),
  );
  // Of a part of the data, rows do not say how much is left.
  const span =
    options.fromUs === undefined && options.toUs === undefined ? null : spanOf(markets, options);
  let atUs = span?.fromUs ?? 0;
  const steps = async function* (): AsyncGenerator<readonly TapeStep[]> {
    const merged = mergeStreams(
      tapes.map((tape, i) => ranged(tape, marketId(i), options)),
      (a, b) => stepUs(a) < stepUs(b),
    );
    for await (const batch of merged) {
      const last = batch.at(-1);
      if (last !== undefined) atUs = stepUs(last);
      yield batch;
    }
    atUs = Infinity;
  };
  return {
    markets,
    steps,
    commands: async function* () {
      for await (const batch of steps()) {
        const commands: Command[] = [];
        for (const { command } of batch) if (command !== null) commands.push(command);
        yield commands;
      }
    },
    progress: () => (span === null ? fraction(done, total) : fraction(atUs - span.fromUs, span.us)),
    facts: () => tapes.map((tape) => ({ sync: tape.syncFacts, ordering: tape.orderingFacts })),
  };
}

function fraction(done: number, total: number): number {
  return total <= 0 ? 1 : Math.min(1, Math.max(0, done / total));
}

/** The part of a range that the markets have data of. */
function spanOf(
  markets: readonly DatasetMarket[],
  { fromUs = -Infinity, toUs = Infinity }: TapeRange,
): { readonly fromUs: number; readonly us: number } {
  const first = Math.max(fromUs, Math.min(...markets.map(({ firstUs }) => firstUs)));
  const last = Math.min(toUs, Math.max(...markets.map(({ lastUs }) => lastUs)));
  return { fromUs: first, us: last - first };
}

function ranged(
  tape: TapeSteps,
  market: MarketId,
  range: TapeRange,
): AsyncGenerator<readonly TapeStep[]> {
  const whole = range.fromUs === undefined && range.toUs === undefined;
  return whole ? tape.batches() : inRange(tape.batches(), market, range);
}

function rowsOf({ parts }: StreamManifest): number {
  return parts.reduce((sum, part) => sum + part.rows, 0);
}

/** Shorter streams are decoded before a thread could have started. */
const LONG_STREAM = 200_000;

/**
 * Starts the thread that decodes long streams, if the dataset has any, while the caller prepares to
 * open it. A folder that is no dataset is refused when it is opened.
 */
export async function startDecoding(path: string): Promise<void> {
  try {
    const { manifest } = await openDataset(path);
    if (manifest.streams.some((stream) => rowsOf(stream) >= LONG_STREAM)) startColumnThread();
  } catch {
    // The run refuses it, with its reason.
  }
}

/**
 * Records of parts in order. `checked` collects the files whose hash was verified. The files of
 * long streams are decoded in a thread, ahead of the reader.
 */
export async function* readStream(
  folder: string,
  parts: readonly PartManifest[],
  checked: Set<string>,
  onRows?: (rows: number) => void,
): AsyncGenerator<TapeRecord[]> {
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  const columns = rows < LONG_STREAM ? columnsOfParts : columnsInThread;
  for await (const group of columns(folder, parts, checked)) {
    for (const batch of recordsOfColumns(group)) {
      yield batch;
      onRows?.(batch.length);
    }
  }
}
