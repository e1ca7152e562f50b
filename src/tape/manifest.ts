/**
 * Content of a dataset: `manifest.json`. A dataset is a folder of streams. A stream is what one
 * source recorded of one market, in recorded order, in parts of whole UTC days (record-columns). A
 * market may have several streams: a book, its trades, funding rates.
 */
import { parseDecimal } from '../num/decimal.ts';
import type { UsualIntervals } from './cadence.ts';
import type { ChecksumFacts } from './formats/book-checksum.ts';
import type { RecordedKind } from './formats/market-kind.ts';
import type { PriceJump, PriceRange } from './price-jumps.ts';
import { RECORD_KINDS } from './record-columns.ts';
import { TapeError, type RecordKind, type TapeUnits } from './record.ts';

export const DATASET_VERSION = 2;

/** A file of the dataset, its path relative to the folder. */
export interface DatasetFile {
  readonly name: string;
  readonly sha256: string;
}

/** Records of whole days, and their levels. */
export interface PartManifest {
  readonly events: DatasetFile;
  readonly levels: DatasetFile;
  readonly rows: number;
  readonly levelRows: number;
  readonly firstUs: number;
  readonly lastUs: number;
  /** Whether the first book record of the part is a snapshot, so that reading may start here. */
  readonly startsWhole: boolean;
}

/** An interval without data from the source, in venue time. */
export interface GapManifest {
  readonly fromUs: number;
  readonly toUs: number;
  readonly reason: string;
}

export interface StreamManifest {
  /** Unique in the dataset; the folder of its parts. */
  readonly id: string;
  readonly symbol: string;
  readonly format: string;
  /** Source of the recording, and its licence. */
  readonly source: string;
  readonly licence: string;
  readonly importedFrom: readonly (DatasetFile & { readonly bytes: number })[];
  readonly counts: Readonly<Partial<Record<RecordKind, number>>>;
  readonly levels: number;
  /** Venue time of the first and the last record, µs. */
  readonly firstUs: number;
  readonly lastUs: number;
  /** Length of a bar; null without bars. */
  readonly barUs: number | null;
  /** Records with a venue time before that of an earlier record; they are applied in venue time. */
  readonly outOfOrder: number;
  /** Records further out of order than the window, which are applied at the time reached. */
  readonly late?: number;
  /** The first price jumps between records, and the range; older manifests lack both. */
  readonly jumps?: readonly PriceJump[];
  readonly prices?: PriceRange | null;
  /** Spot, or a contract with a margin; absent if the recording does not state it. */
  readonly kind?: RecordedKind;
  /** Base currency in a contract, if the files have numbers of contracts; sizes are in base. */
  readonly contractSize?: string;
  /** Checksums of the venue's book, compared when the files were read; absent without any. */
  readonly checksums?: ChecksumFacts;
  /** Breaks of the update chain, and missing bars; the first 1,000 are listed. */
  readonly gaps: number;
  readonly gapList: readonly GapManifest[];
  /** Unusual silences of a feed, and missing trades by their ids; absent without any. */
  readonly suspectedGaps?: readonly GapManifest[];
  /** Intervals of marks and of indices, without suspected gaps; older manifests lack them. */
  readonly intervals?: { readonly mark?: UsualIntervals; readonly index?: UsualIntervals };
  /** Depth updates older than their snapshot, or repeated. */
  readonly droppedUpdates: number;
  readonly duplicates: number;
  /** Bad rows skipped by `--skip-bad`. */
  readonly skippedRows: number;
  /** Receiver's clock minus venue time; negative if the recorder's clock was behind. */
  readonly minFeedLatencyUs: number;
  readonly maxFeedLatencyUs: number;
  readonly parts: readonly PartManifest[];
}

export interface DatasetManifest {
  readonly orrery: 'dataset';
  readonly version: typeof DATASET_VERSION;
  /** The index of a market is its id in commands. */
  readonly markets: readonly TapeUnits[];
  readonly streams: readonly StreamManifest[];
}

/** Units of a market of which only funding rates are known: they have neither price nor size. */
export const UNKNOWN_UNITS = { tickSize: '0.000001', lotSize: '1' } as const;

/** Whether the units of a market are still unknown, so that the next stream states them. */
export function hasUnknownUnits(
  { symbol, tickSize, lotSize }: TapeUnits,
  streams: readonly Pick<StreamManifest, 'symbol' | 'counts'>[],
): boolean {
  if (tickSize !== UNKNOWN_UNITS.tickSize || lotSize !== UNKNOWN_UNITS.lotSize) return false;
  const own = streams.filter((stream) => stream.symbol === symbol);
  return own.every(({ counts }) => Object.keys(counts).every((kind) => kind === 'funding'));
}

/** Whether a file named `manifest.json` is of a dataset, of any version. */
export function isManifest(text: string): boolean {
  try {
    return (JSON.parse(text) as Partial<DatasetManifest> | null)?.orrery === 'dataset';
  } catch {
    return false;
  }
}

/** Paths of the dataset's files in a manifest of any version, relative to the folder. */
export function filesNamedIn(text: string): string[] {
  const names: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { name, sha256 } = value as Partial<DatasetFile>;
    if (typeof name === 'string' && typeof sha256 === 'string') names.push(name);
    // Input files are elsewhere.
    for (const [field, part] of Object.entries(value)) if (field !== 'importedFrom') visit(part);
  };
  visit(parseJson(text));
  return names;
}

/** Parses a manifest. Throws `TapeError` that names the fault. */
export function parseManifest(text: string): DatasetManifest {
  const value = parseJson(text);
  const manifest = value as Partial<DatasetManifest> | null;
  if (typeof manifest !== 'object' || manifest?.orrery !== 'dataset') {
    throw new TapeError('manifest.json: not the manifest of a dataset');
  }
  if (manifest.version !== DATASET_VERSION) {
    throw new TapeError(
      `manifest.json: version ${String(manifest.version)}, this program reads ${String(DATASET_VERSION)}; import the recording again, with --replace`,
    );
  }
  const { markets, streams } = manifest;
  if (!Array.isArray(markets) || !Array.isArray(streams)) {
    throw new TapeError('manifest.json: `markets` and `streams` are lists');
  }
  const symbols = new Set<string>();
  for (const [i, market] of markets.entries()) {
    for (const field of ['symbol', 'tickSize', 'lotSize'] as const) {
      mustText(market, field, `markets[${String(i)}]`);
    }
    const { symbol, tickSize, lotSize } = market as TapeUnits;
    for (const [field, step] of Object.entries({ tickSize, lotSize })) {
      if ((parseDecimal(step)?.digits ?? 0n) > 0n) continue;
      throw new TapeError(
        `manifest.json: markets[${String(i)}].${field} is '${step}', not a positive decimal`,
      );
    }
    if (symbols.has(symbol)) {
      throw new TapeError(`manifest.json: markets[${String(i)}].symbol ${symbol} is there twice`);
    }
    symbols.add(symbol);
  }
  for (const [i, stream] of streams.entries())
    checkStream(stream, `streams[${String(i)}]`, symbols);
  return manifest as DatasetManifest;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TapeError('manifest.json: not JSON');
  }
}

function checkStream(value: unknown, path: string, symbols: ReadonlySet<string>): void {
  for (const field of ['id', 'symbol', 'format', 'source', 'licence'] as const) {
    mustText(value, field, path);
  }
  const stream = value as Partial<StreamManifest>;
  if (!symbols.has(stream.symbol ?? '')) {
    throw new TapeError(`manifest.json: ${path}.symbol is not among the markets`);
  }
  for (const field of ['firstUs', 'lastUs', 'outOfOrder', 'gaps'] as const) {
    if (!Number.isSafeInteger(stream[field])) {
      throw new TapeError(`manifest.json: ${path}.${field} is not a whole number`);
    }
  }
  const counts: unknown = stream.counts;
  if (typeof counts !== 'object' || counts === null) {
    throw new TapeError(`manifest.json: ${path}.counts is not a map`);
  }
  for (const field of ['importedFrom', 'gapList'] as const) {
    if (Array.isArray(stream[field])) continue;
    throw new TapeError(`manifest.json: ${path}.${field} is not a list`);
  }
  for (const kind of Object.keys(counts)) {
    if (!RECORD_KINDS.some((known) => known === kind)) {
      throw new TapeError(`manifest.json: ${path}.counts has the unknown record kind '${kind}'`);
    }
  }
  const parts: readonly unknown[] | null = Array.isArray(stream.parts) ? stream.parts : null;
  if (parts === null) throw new TapeError(`manifest.json: ${path}.parts is not a list`);
  for (const [i, part] of parts.entries()) {
    const { events, levels } = (part ?? {}) as Partial<PartManifest>;
    for (const file of [events, levels]) {
      mustText(file, 'name', `${path}.parts[${String(i)}]`);
      mustText(file, 'sha256', `${path}.parts[${String(i)}]`);
      if (/(^|\/)\.\.(\/|$)|^\//.test(file?.name ?? '')) {
        throw new TapeError(`manifest.json: ${path}.parts[${String(i)}] leaves the folder`);
      }
    }
  }
}

function mustText(value: unknown, field: string, path: string): void {
  const found = (value as Record<string, unknown> | null | undefined)?.[field];
  if (typeof found !== 'string') throw new TapeError(`manifest.json: ${path}.${field} is missing`);
}
