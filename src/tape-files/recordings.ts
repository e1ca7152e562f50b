/**
 * Recordings on disk as streams of records: files of one format, one after the other, with their bad rows counted and their errors
 * naming file and line. Prices and sizes need the market's tick and lot size: given, or found by reading the files once before.
 */
import { basename, resolve } from 'node:path';
import { BinanceRawDecoder } from '../tape/binance-raw.ts';
import type { ColumnMap } from '../tape/formats/column-map.ts';
import { csvRows } from '../tape/formats/csv-rows.ts';
import {
  FORMATS,
  messageDecoder,
  rowDecoder,
  symbolOfFile,
  type FormatInfo,
} from '../tape/formats/formats.ts';
import { LOBSTER_TICK, LobsterDecoder } from '../tape/formats/lobster.ts';
import {
  MarketNumbers,
  NumberScan,
  timeOf,
  type NumberReader,
} from '../tape/formats/numbers.ts';
import type { DecoderContext } from '../tape/formats/row-decoder.ts';
import { lines } from '../tape/lines.ts';
import { TapeError, type TapeRecord, type TapeUnits } from '../tape/record.ts';
import { AnsweredLines } from './answered-lines.ts';
import { openBytes } from './byte-source.ts';
import { arrowRows, parquetRows } from './table-rows.ts';

export interface RecordingOptions {
  readonly format: FormatInfo;
  readonly files: readonly string[];
  /** What is known of the market before its files are read. */
  readonly symbol: string | null;
  readonly units: TapeUnits | null;
  readonly inverse: boolean;
  readonly map: ColumnMap | null;
  /** Rows that may be bad; the next one ends the reading. */
  readonly skipBad: number;
  /** Sizes finer than a lot are rounded to it; else they are bad. */
  readonly round?: boolean;
  /** What an earlier reading left behind, `Recording.state`. */
  readonly state: unknown;
}

interface ReadState {
  readonly line: number;
  readonly decoder: unknown;
}

const LINES_PER_BATCH = 2000;

export function formatNamed(name: string): FormatInfo {
  const found = FORMATS.find((format) => format.name === name);
  if (found !== undefined) return found;
  const known = FORMATS.map((format) => format.name).join(', ');
  throw new TapeError(`format '${name}' is not known; known are ${known}`);
}

/** One pass over the files of a recording. */
export class Recording {
  skipped = 0;
  /** 0…1 of the file being read. */
  fraction = 0;
  private readonly options: RecordingOptions;
  private readonly numbers: NumberReader | null;
  private known: TapeUnits | null;
  private symbolRead: string | null = null;
  private line: number;
  private decoderState: unknown;
  private records: TapeRecord[] = [];

  constructor(options: RecordingOptions, numbers: NumberReader | null = null) {
    this.options = options;
    this.known = options.units;
    this.numbers =
      numbers ?? (options.units === null ? null : new MarketNumbers(options.units, options.round));
    const state = options.state as Partial<ReadState> | null;
    this.line = state?.line ?? 0;
    this.decoderState = state?.decoder ?? null;
  }

  /** Null until a message named the symbol, of raw lines. */
  get units(): TapeUnits | null {
    return this.known;
  }

  get symbol(): string | null {
    return this.options.symbol ?? this.known?.symbol ?? this.symbolRead;
  }

  /** What a later reading of more files goes on with. */
  state(): ReadState {
    return { line: this.line, decoder: this.decoderState };
  }

  /** The records of one file. Throws `TapeError` with file and line, `FileError` when it cannot be read. */
  async *read(path: string): AsyncGenerator<TapeRecord[]> {
    this.fraction = 0;
    try {
      switch (this.options.format.shape) {
        case 'binance-raw':
          yield* this.rawLines(path);
          break;
        case 'messages':
          yield* this.messages(path);
          break;
        case 'lobster':
          yield* this.lobster(path);
          break;
        case 'parquet':
          yield* this.rows(path, parquetRows(path, this.onFraction));
          break;
        case 'arrow':
          yield* this.rows(path, arrowRows(path, this.onFraction));
          break;
        case 'csv':
          yield* this.rows(path, this.csv(path));
      }
    } catch (error) {
      if (!(error instanceof TapeError) || error.message.startsWith(path)) throw error;
      throw new TapeError(`${path}: ${error.message}`);
    }
    this.fraction = 1;
  }

  private readonly onFraction = (fraction: number): void => {
    this.fraction = fraction;
  };

  private async *bytes(path: string): AsyncGenerator<Uint8Array> {
    const source = await openBytes(path);
    for await (const chunk of source.bytes) {
      this.fraction = source.read() / Math.max(1, source.size);
      yield chunk;
    }
  }

  private csv(path: string): AsyncGenerator<string[][]> {
    return csvRows(this.bytes(path), utf8(), this.options.map?.delimiter);
  }

  private takeRecords(): TapeRecord[] {
    const taken = this.records;
    this.records = [];
    return taken;
  }

  private readonly emit = (record: TapeRecord): void => {
    this.records.push(record);
  };

  private context(): DecoderContext {
    if (this.numbers === null) throw new TapeError('the tick and lot size are not known');
    return { numbers: this.numbers, symbol: this.symbol, emit: this.emit };
  }

  /** Runs what decodes a row; one that is bad counts, or ends the reading. */
  private tolerate(lineInFile: number, decode: () => void): void {
    try {
      decode();
    } catch (error) {
      if (!(error instanceof TapeError)) throw error;
      if (this.skipped < this.options.skipBad) {
        this.skipped += 1;
        return;
      }
      const emitted = error.message.startsWith('line ')
        ? error.message
        : `line ${String(lineInFile)}: ${error.message}`;
      throw new TapeError(
        this.options.skipBad === 0
          ? emitted
          : `${emitted} (bad row ${String(this.skipped + 1)}; --skip-bad ${String(this.options.skipBad)} allows no more)`,
      );
    }
  }

  private async *rows(
    path: string,
    batches: AsyncIterable<string[][]>,
  ): AsyncGenerator<TapeRecord[]> {
    const { format, map } = this.options;
    const decoder = rowDecoder(format, resolve(path), this.context(), map, this.decoderState);
    let lineInFile = 0;
    for await (const batch of batches) {
      for (const fields of batch) {
        lineInFile += 1;
        this.line += 1;
        if (fields.length === 0 || (fields.length === 1 && fields[0] === '')) continue;
        // A file whose columns are not understood has no good row.
        if (lineInFile === 1) named(1, () => decoder.row({ fields, line: this.line, lineInFile }));
        else {
          this.tolerate(lineInFile, () => {
            decoder.row({ fields, line: this.line, lineInFile });
          });
        }
      }
      yield this.takeRecords();
    }
    named(lineInFile, () => {
      decoder.endFile();
    });
    this.decoderState = decoder.state();
    this.noteSymbol(decoder.symbol ?? symbolOfFile(basename(path)));
    yield this.takeRecords();
  }

  /** What a file is of. Of files of several markets none would be the one that is meant. */
  private noteSymbol(symbol: string | null): void {
    const before = this.symbolRead;
    this.symbolRead ??= symbol;
    if (before === null || symbol === null || symbol === before || this.options.symbol !== null)
      return;
    throw new TapeError(
      `is of ${symbol}, the files before of ${before}: import one market at a time, or name it with --symbol`,
    );
  }

  private async *eachLine(
    path: string,
    take: (text: string, lineInFile: number) => void,
  ): AsyncGenerator<TapeRecord[]> {
    let lineInFile = 0;
    for await (const text of lines(this.bytes(path), utf8())) {
      lineInFile += 1;
      this.line += 1;
      if (text !== '' && text !== '\r') {
        const number = lineInFile;
        this.tolerate(number, () => {
          take(text, number);
        });
      }
      if (lineInFile % LINES_PER_BATCH === 0) yield this.takeRecords();
    }
    yield this.takeRecords();
  }

  private raw: BinanceRawDecoder | null = null;

  private async *rawLines(path: string): AsyncGenerator<TapeRecord[]> {
    const { units, symbol } = this.options;
    const scan = this.numbers instanceof NumberScan ? this.numbers : null;
    const decoder = (this.raw ??= new BinanceRawDecoder(units, this.line, symbol, scan));
    const take = (text: string, lineInFile: number): void => {
      for (const record of decoder.decode(text, lineInFile)) this.emit(record);
      this.known = decoder.units;
    };
    const beside = filesBeside(this.options);
    if (beside.length === 0) yield* this.eachLine(path, take);
    else yield* this.capture(path, beside, take);
    // Files before may hold what the recorder says of itself alone.
    if (decoder.units === null && path === filesToRead(this.options).at(-1)) {
      throw new TapeError(
        symbol === null ? 'no message names a symbol' : `no message of ${symbol}`,
      );
    }
  }

  private answers: AnsweredLines | null = null;

  /** Messages of a feed, with what other files say was answered between them. */
  private async *capture(
    path: string,
    beside: readonly string[],
    take: (text: string, lineInFile: number) => void,
  ): AsyncGenerator<TapeRecord[]> {
    const told = typeof this.decoderState === 'number' ? this.decoderState : 0;
    const answers = (this.answers ??= new AnsweredLines(this.allLines(beside), told));
    let lineInFile = 0;
    for await (const text of lines(this.bytes(path), utf8())) {
      lineInFile += 1;
      for (;;) {
        const answer = await answers.before(text);
        if (answer === null) break;
        this.line += 1;
        this.tolerate(answers.taken, () => {
          take(answer, answers.taken);
        });
      }
      this.line += 1;
      const number = lineInFile;
      this.tolerate(number, () => {
        take(text, number);
      });
      if (lineInFile % LINES_PER_BATCH === 0) yield this.takeRecords();
    }
    this.decoderState = answers.taken;
    yield this.takeRecords();
  }

  private async *allLines(paths: readonly string[]): AsyncGenerator<string> {
    for (const path of paths) {
      const { bytes } = await openBytes(path);
      yield* lines(bytes, utf8());
    }
  }

  private async *messages(path: string): AsyncGenerator<TapeRecord[]> {
    const { format } = this.options;
    const decoder = messageDecoder(format, this.context(), this.decoderState);
    yield* this.eachLine(path, (text) => {
      decoder.line(text, this.line);
    });
    this.symbolRead = decoder.symbol;
    this.decoderState = decoder.state();
  }

  private async *lobster(path: string): AsyncGenerator<TapeRecord[]> {
    const name = basename(path);
    const date = /[0-9]{4}-[0-9]{2}-[0-9]{2}/.exec(name)?.[0];
    if (date === undefined) throw new TapeError('the name of a LOBSTER file holds its date');
    const decoder = new LobsterDecoder(this.context(), timeOf(date, 'date', 'iso'));
    this.symbolRead ??= symbolOfFile(name);
    const bookPath = this.options.files.find(
      (other) => other !== path && basename(other) === name.replace('message', 'orderbook'),
    );
    const books = bookPath === undefined ? null : rowByRow(csvRows(this.bytes(bookPath), utf8()));
    let lineInFile = 0;
    for await (const batch of this.csv(path)) {
      for (const fields of batch) {
        lineInFile += 1;
        this.line += 1;
        if (fields.length === 1 && fields[0] === '') continue;
        const book = books === null ? null : await books.next();
        if (book?.done === true) {
          throw new TapeError(`line ${String(lineInFile)}: ${String(bookPath)} has no such line`);
        }
        this.tolerate(lineInFile, () => {
          decoder.row({ fields, line: this.line, lineInFile }, book?.value ?? null);
        });
      }
      yield this.takeRecords();
    }
  }
}

/** Files that are read by themselves, in order. */
export function filesToRead(options: RecordingOptions): readonly string[] {
  const beside = filesBeside(options);
  return options.files.filter((path) => !beside.includes(path));
}

/** Files that are read beside others: a LOBSTER order book beside its messages, snapshots over HTTP beside a feed that cryptofeed captured. */
export function filesBeside({ format, files }: RecordingOptions): readonly string[] {
  const isBeside = BESIDE[format.shape];
  const beside = files.filter((path) => isBeside?.test(basename(path)) === true);
  return beside.length < files.length ? beside : [];
}

const BESIDE: Partial<Record<FormatInfo['shape'], RegExp>> = {
  lobster: /orderbook/,
  'binance-raw': /\.http\.[0-9]/,
};

/** Tick and lot size of the market: those given, or the finest that its prices and sizes have. */
export async function findUnits(
  options: RecordingOptions,
  onProgress: (fraction: number) => void = () => undefined,
): Promise<TapeUnits | null> {
  const { format, units, inverse } = options;
  if (units !== null) return units;
  const scan = new NumberScan();
  // Bad rows are told when records are read; messages may be nothing but bad ones, and then have no market.
  const isMessages = format.shape === 'binance-raw' || format.shape === 'messages';
  const skipBad = isMessages ? options.skipBad : Infinity;
  const recording = new Recording({ ...options, skipBad, state: null }, scan);
  const files = filesToRead(options);
  for (const [i, path] of files.entries()) {
    for await (const batch of recording.read(path)) {
      // Raw lines of a market whose sizes are known.
      if (recording.units !== null && recording.units.tickSize !== '') return recording.units;
      if (batch.length > 0) onProgress((i + recording.fraction) / files.length);
    }
    if (format.shape === 'lobster') break;
  }
  const { symbol } = recording;
  if (symbol === null)
    throw new TapeError('neither the files nor their names say which market it is; give --symbol');
  if (format.shape === 'lobster') return { symbol, tickSize: LOBSTER_TICK, lotSize: '1', inverse };
  const steps = scan.found() ?? { tickSize: '0.000001', lotSize: '1' };
  return { symbol, ...steps, inverse: inverse || recording.units?.inverse === true };
}

/** One recording of raw lines for those who read no more than its records; `units` null for those of the data. */
export async function openRaw(
  paths: readonly string[],
  units: TapeUnits | null,
  symbol: string | null = units?.symbol ?? null,
) {
  const found: RecordingOptions = {
    format: formatNamed('binance-raw'),
    files: paths,
    symbol,
    units,
    inverse: false,
    map: null,
    skipBad: 0,
    state: null,
  };
  const options = { ...found, units: await findUnits(found) };
  const recording = new Recording(options);
  let done = 0;
  async function* records(): AsyncGenerator<TapeRecord[]> {
    for (const path of paths) {
      yield* recording.read(path);
      done += 1;
    }
  }
  return {
    records: records(),
    units: () => recording.units,
    progress: () => (done + recording.fraction) / paths.length,
  };
}

async function* rowByRow(batches: AsyncIterable<string[][]>): AsyncGenerator<string[]> {
  for await (const batch of batches) {
    for (const row of batch) if (row.length > 1 || row[0] !== '') yield row;
  }
}

function named(lineInFile: number, decode: () => void): void {
  try {
    decode();
  } catch (error) {
    if (!(error instanceof TapeError)) throw error;
    throw new TapeError(`line ${String(lineInFile)}: ${error.message}`);
  }
}

function utf8(): (bytes: Uint8Array) => string {
  const decoder = new TextDecoder();
  return (bytes) => decoder.decode(bytes);
}
