/**
 * Recordings on disk as streams of records: files of one format, read in order. Bad rows are
 * counted; errors name file and line. Prices and sizes need the market's tick and lot size: given,
 * or found by a first pass over the files.
 */
import { basename, resolve } from 'node:path';
import { BinanceRawDecoder } from '../tape/binance-raw.ts';
import type { ColumnMap } from '../tape/formats/column-map.ts';
import { Checksums, type ChecksumFacts } from '../tape/formats/book-checksum.ts';
import { arrayRows } from '../tape/formats/array-rows.ts';
import { csvRows, rowByRow, withinHeader } from '../tape/formats/csv-rows.ts';
import {
  symbolOfFile,
  type Format,
  type MessageDecoder,
  type RowDecoderFactory,
} from '../tape/formats/formats.ts';
import {
  mustBeNoOption,
  recordedKind,
  sameKind,
  type RecordedKind,
} from '../tape/formats/market-kind.ts';
import { countsContractsAt, isInverseAt } from '../tape/formats/venue-contracts.ts';
import { isSameMarket, MarketNames } from '../tape/formats/market-names.ts';
import { LobsterDecoder } from '../tape/formats/lobster.ts';
import {
  ContractNumbers,
  FIRST_AUTO_US,
  MarketNumbers,
  NumberScan,
  timeOf,
  type NumberReader,
} from '../tape/formats/numbers.ts';
import type { DecoderContext } from '../tape/formats/row-decoder.ts';
import { lines } from '../tape/lines.ts';
import { TapeError, type TapeRecord, type TapeUnits } from '../tape/record.ts';
import { openBytes } from './byte-source.ts';
import { companionFiles, filesToRead } from './companion-files.ts';
import { FileClaims } from './file-claims.ts';
import { journalRecords } from './journal-records.ts';
import { ResponseLines } from './response-lines.ts';
import { arrowRows, parquetRows } from './table-rows.ts';
import { isEmptyLines, mustBeText } from './text-check.ts';

export interface RecordingOptions {
  readonly format: Format;
  readonly files: readonly string[];
  /** Symbol and units if known before the files are read. */
  readonly symbol: string | null;
  readonly units: TapeUnits | null;
  /** Whether the contract is coin-margined; null for what its name states. */
  readonly inverse: boolean | null;
  readonly map: ColumnMap | null;
  /** Base currency in one contract, where sizes are numbers of contracts; else absent. */
  readonly contractSize?: string | undefined;
  /** Max number of bad rows; the next one ends the import. */
  readonly skipBad: number;
  /** Rounds sizes finer than a lot; without it they are bad rows. */
  readonly round?: boolean;
  /** `Recording.state` of an earlier pass, to resume it; else null. */
  readonly state: unknown;
}

interface ReadState {
  readonly line: number;
  readonly decoder: unknown;
  readonly checksums: ChecksumFacts;
  readonly barUs: number | null;
  readonly kind: RecordedKind | null;
  readonly isInverse: boolean;
  readonly countsContracts: boolean;
}

const LINES_PER_BATCH = 2000;
/** Bytes of empty lines, of which a compressed file of some kilobytes may have millions. */
const MAX_EMPTY = 1_000_000;

/** One pass over the files of a recording. */
export class Recording {
  skipped = 0;
  /** Progress in the current file, 0…1. */
  fraction = 0;
  private readonly options: RecordingOptions;
  private readonly numbers: NumberReader | null;
  private known: TapeUnits | null;
  private readonly names: MarketNames;
  /** Market in the names of the files, where the records name none. */
  private pathSymbol: string | null = null;
  private line: number;
  private decoderState: unknown;
  private records: TapeRecord[] = [];
  /** Name of the file in the zip archive that is read. */
  private member: string | null = null;
  readonly checksums: Checksums;
  readonly claims: FileClaims;
  /** As the files state it, where the format records both. */
  private statedKind: RecordedKind | null;
  /** Whether the records are of a coin-margined contract. */
  private statesInverse: boolean;
  /** Whether sizes count linear contracts, by the venue. */
  private statesCounts: boolean;
  /** Length of the bars of the file that is read, given or by its name. */
  private barUs: number | null = null;

  constructor(options: RecordingOptions, numbers: NumberReader | null = null) {
    this.options = options;
    this.known = options.units;
    this.names = new MarketNames(options.symbol ?? options.units?.symbol ?? null);
    this.numbers =
      numbers ?? (options.units === null ? null : new MarketNumbers(options.units, options.round));
    const state = options.state as Partial<ReadState> | null;
    this.line = state?.line ?? 0;
    this.decoderState = state?.decoder ?? null;
    this.checksums = new Checksums(state?.checksums);
    this.statedKind = state?.kind ?? null;
    this.statesInverse = state?.isInverse === true;
    this.statesCounts = state?.countsContracts === true;
    const { format, map } = options;
    this.claims = new FileClaims(format, map?.intervalUs ?? null, state?.barUs ?? null);
  }

  /** Null until a message names the symbol (raw lines). */
  get units(): TapeUnits | null {
    return this.known;
  }

  get symbol(): string | null {
    const { symbol } = this.options;
    return symbol ?? this.known?.symbol ?? this.names.selected ?? this.pathSymbol;
  }

  /** Null if neither the format nor the records state it. */
  get kind(): RecordedKind | null {
    const isSpot = this.raw?.isSpot ?? null;
    if (isSpot !== null) return isSpot ? 'spot' : 'contract';
    if (this.statedKind !== null) return this.statedKind;
    return recordedKind(this.options.format, this.names.selected ?? this.symbol ?? '');
  }

  /** Whether the market is a coin-margined contract: given, or by the venue's name of it. */
  get isInverse(): boolean {
    return this.isInverseAs(this.pathSymbol);
  }

  private isInverseAs(inPath: string | null): boolean {
    const { inverse, format } = this.options;
    if (inverse !== null) return inverse;
    if (this.statesInverse || this.known?.inverse === true) return true;
    const names = [this.names.selected, inPath, this.symbol];
    return names.some((name) => name !== null && format.inverse?.test(name) === true);
  }

  /** Whether sizes are numbers of contracts, by the venue's name of the market. */
  get countsContracts(): boolean {
    const { counted } = this.options.format;
    return this.statesCounts || counted?.test(this.names.selected ?? this.symbol ?? '') === true;
  }

  /** Markets in the records that are not read. */
  get otherMarkets(): readonly string[] {
    return this.names.others;
  }

  /** State from which a later pass over more files resumes. */
  state(): ReadState {
    const { line, decoderState: decoder, statedKind: kind, isInverse, countsContracts } = this;
    const { facts: checksums } = this.checksums;
    const { barUs } = this.claims;
    return { line, decoder, checksums, barUs, kind, isInverse, countsContracts };
  }

  /** The unit of times is given by the user, so that any time is meant. */
  private get hasTimeUnit(): boolean {
    return (this.options.map?.timeUnit ?? 'auto') !== 'auto';
  }

  /** Records of one file. Throws `TapeError` with file and line, or `FileError` if unreadable. */
  async *read(path: string): AsyncGenerator<TapeRecord[]> {
    this.fraction = 0;
    try {
      this.barUs = this.claims.begin(path);
      this.names.beginFile();
      const { format } = this.options;
      switch (format.container) {
        case 'binance-raw':
          yield* this.rawLines(path);
          break;
        case 'messages':
          yield* this.messages(path, format.messages(this.context(), this.decoderState));
          break;
        case 'lobster':
          yield* this.lobster(path);
          break;
        case 'journal':
          yield* journalRecords(path, this.known?.symbol ?? '');
          break;
        case 'parquet':
          yield* this.rows(path, format.rows, parquetRows(path, this.onFraction));
          break;
        case 'arrays':
          yield* this.rows(path, format.rows, arrayRows(this.bytes(path), utf8()));
          break;
        case 'arrow':
          yield* this.rows(path, format.rows, arrowRows(path, this.onFraction));
          break;
        case 'csv':
          yield* this.rows(path, format.rows, this.csv(path));
      }
      if (format.symbolIn === 'path') {
        this.notePath(path);
        if (this.member !== null) this.notePath(this.member, `the name of its file ${this.member}`);
      }
      this.claims.end(this.member, this.numbers instanceof NumberScan);
    } catch (error) {
      if (!(error instanceof TapeError) || error.message.startsWith(path)) throw error;
      throw new TapeError(`${path}: ${error.message}`);
    }
    this.fraction = 1;
  }

  /** Throws `TapeError` if the files are of another market, or of several without `--symbol`. */
  mustBeOneMarket(): void {
    this.names.mustHold(this.options.symbol);
    mustBeNoOption(this.names.selected ?? '');
  }

  private readonly onFraction = (fraction: number): void => {
    this.fraction = fraction;
  };

  private async *bytes(path: string): AsyncGenerator<Uint8Array> {
    const source = await openBytes(path);
    let isFirst = true;
    let empty = 0;
    for await (const chunk of source.bytes) {
      if (isFirst) mustBeText(chunk);
      isFirst = false;
      empty = isEmptyLines(chunk) ? empty + chunk.length : 0;
      if (empty > MAX_EMPTY) {
        throw new TapeError('more than 1 MB of empty lines in succession; remove them');
      }
      this.fraction = source.read() / Math.max(1, source.size);
      yield chunk;
    }
    this.member = source.member;
  }

  private csv(path: string): AsyncGenerator<string[][]> {
    return withinHeader(csvRows(this.bytes(path), utf8(), this.options.map?.delimiter));
  }

  private takeRecords(): TapeRecord[] {
    const taken = this.records;
    this.records = [];
    return taken;
  }

  private readonly emit = (record: TapeRecord): void => {
    if (record.timeUs < FIRST_AUTO_US && !this.hasTimeUnit) {
      throw new TapeError('its time is before 1980: in another unit than that of the format?');
    }
    this.claims.take(record);
    this.records.push(record);
  };

  private context(): DecoderContext {
    if (this.numbers === null) throw new TapeError('the tick and lot size are not known');
    const { names, emit } = this;
    const { contractSize } = this.options;
    const numbers =
      contractSize === undefined ? this.numbers : new ContractNumbers(this.numbers, contractSize);
    const selects = (symbol: string): boolean => names.selects(symbol);
    const onKind = (kind: RecordedKind): void => {
      this.statedKind = sameKind(this.statedKind, kind);
    };
    const onInverse = (): void => {
      this.statesInverse = true;
    };
    const onVenue = (venue: string, symbol: string): void => {
      this.statesInverse ||= isInverseAt(venue, symbol);
      this.statesCounts ||= countsContractsAt(venue, symbol);
    };
    const [onChecksum, { takeBar: onBar, note: onNote, times }] = [
      this.checksums.note,
      this.claims,
    ];
    const kinds = { onKind, onInverse, onVenue };
    return { numbers, times, selects, emit, onBar, ...kinds, onNote, onChecksum };
  }

  /** Decodes a row. A bad row is counted; beyond `skipBad` it throws. */
  private tolerate(lineInFile: number, decode: () => void): void {
    try {
      decode();
    } catch (error) {
      if (!(error instanceof TapeError)) throw error;
      if (this.skipped < this.options.skipBad) {
        this.skipped += 1;
        return;
      }
      const located = error.message.startsWith('line ')
        ? error.message
        : `line ${String(lineInFile)}: ${error.message}`;
      throw new TapeError(
        this.options.skipBad === 0
          ? located
          : `${located} (bad row ${String(this.skipped + 1)}; --skip-bad ${String(this.options.skipBad)} allows no more)`,
      );
    }
  }

  private async *rows(
    path: string,
    createDecoder: RowDecoderFactory,
    batches: AsyncIterable<string[][]>,
  ): AsyncGenerator<TapeRecord[]> {
    this.member = null;
    const decoder = createDecoder({
      path: resolve(path),
      context: this.context(),
      map: this.options.map,
      state: this.decoderState,
      barUs: this.barUs,
      isInverse: this.isInverseAs(symbolOfFile(basename(path))),
    });
    let lineInFile = 0;
    for await (const batch of batches) {
      for (const fields of batch) {
        lineInFile += 1;
        this.line += 1;
        if (fields.length === 0 || (fields.length === 1 && fields[0] === '')) continue;
        // An error in the header row makes every row of the file bad.
        if (lineInFile === 1) atLine(1, () => decoder.row({ fields, line: this.line, lineInFile }));
        else {
          this.tolerate(lineInFile, () => {
            decoder.row({ fields, line: this.line, lineInFile });
          });
        }
      }
      yield this.takeRecords();
    }
    atLine(lineInFile, () => {
      decoder.endFile();
    });
    this.decoderState = decoder.state();
    yield this.takeRecords();
  }

  /** Checks the market of a file whose records name none: its name is that of the market. */
  private notePath(path: string, name = 'its name'): void {
    const symbol = symbolOfFile(basename(path));
    if (symbol === null || this.names.selected !== null) return;
    const before = this.symbol;
    this.pathSymbol ??= symbol;
    if (before === null || isSameMarket(symbol, before)) return;
    throw new TapeError(
      `by ${name} it is of ${symbol}, not of ${before}; import one market at a time`,
    );
  }

  private async *eachLine(
    path: string,
    decode: (text: string, lineInFile: number) => void,
  ): AsyncGenerator<TapeRecord[]> {
    let lineInFile = 0;
    for await (const text of lines(this.bytes(path), utf8())) {
      lineInFile += 1;
      this.line += 1;
      if (text !== '' && text !== '\r') {
        const number = lineInFile;
        this.tolerate(number, () => {
          decode(text, number);
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
    const { names } = this;
    const decoder = (this.raw ??= new BinanceRawDecoder(units, this.line, symbol, scan, names));
    const decode = (text: string, lineInFile: number): void => {
      for (const record of decoder.decode(text, lineInFile)) this.emit(record);
      this.known = decoder.units;
    };
    const companions = companionFiles(this.options);
    if (companions.length === 0) yield* this.eachLine(path, decode);
    else yield* this.capture(path, companions, decode);
    // Earlier files may hold only lines about the recorder itself.
    if (decoder.units === null && path === filesToRead(this.options).at(-1)) {
      this.mustBeOneMarket();
      throw new TapeError(
        symbol === null ? 'no message names a symbol' : `no message of ${symbol}`,
      );
    }
  }

  private responses: ResponseLines | null = null;

  /** Messages of a feed, merged with the HTTP responses in the companion files. */
  private async *capture(
    path: string,
    companions: readonly string[],
    decode: (text: string, lineInFile: number) => void,
  ): AsyncGenerator<TapeRecord[]> {
    const taken = typeof this.decoderState === 'number' ? this.decoderState : 0;
    const responses = (this.responses ??= new ResponseLines(this.allLines(companions), taken));
    let lineInFile = 0;
    for await (const text of lines(this.bytes(path), utf8())) {
      lineInFile += 1;
      for (;;) {
        const response = await responses.before(text);
        if (response === null) break;
        this.line += 1;
        this.tolerate(responses.taken, () => {
          decode(response, responses.taken);
        });
      }
      this.line += 1;
      const number = lineInFile;
      this.tolerate(number, () => {
        decode(text, number);
      });
      if (lineInFile % LINES_PER_BATCH === 0) yield this.takeRecords();
    }
    this.decoderState = responses.taken;
    yield this.takeRecords();
  }

  private async *allLines(paths: readonly string[]): AsyncGenerator<string> {
    for (const path of paths) {
      const { bytes } = await openBytes(path);
      yield* lines(bytes, utf8());
    }
  }

  private async *messages(path: string, decoder: MessageDecoder): AsyncGenerator<TapeRecord[]> {
    yield* this.eachLine(path, (text) => {
      decoder.line(text, this.line);
    });
    this.decoderState = decoder.state();
  }

  private async *lobster(path: string): AsyncGenerator<TapeRecord[]> {
    const name = basename(path);
    const date = /[0-9]{4}-[0-9]{2}-[0-9]{2}/.exec(name)?.[0];
    if (date === undefined) throw new TapeError('the name of a LOBSTER file must contain its date');
    const decoder = new LobsterDecoder(this.context(), timeOf(date, 'date', 'iso'));
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

function atLine(lineInFile: number, decode: () => void): void {
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
