/** Decoders of files with rows of text fields: CSV, and Parquet and Arrow tables as text. */
import { TapeError, type TapeRecord } from '../record.ts';
import type { NumberReader } from './numbers.ts';
import type { RowTimes } from './row-times.ts';

/** Output and number reader of a decoder. */
export interface DecoderContext {
  /** Whether a record that names this market is read; records of others are skipped. */
  readonly selects: (symbol: string) => boolean;
  readonly numbers: NumberReader;
  /** Times of the file's rows. */
  readonly times: RowTimes;
  readonly emit: (record: TapeRecord) => void;
  /** First and last microsecond of a bar of which only a price is emitted; before `emit`. */
  readonly onBar: (startUs: number, lastUs: number) => void;
  /** Reports the kind of market, in a format that records both. Throws `TapeError` at a change. */
  readonly onKind: (kind: 'spot' | 'contract') => void;
  /** A remark about the file, for the user. */
  readonly onNote: (text: string) => void;
  /** Reports that the market is a coin-margined contract. */
  readonly onInverse: () => void;
  /** Reports the venue and its name of the market, which state the kind of contract. */
  readonly onVenue: (venue: string, symbol: string) => void;
  /** Reports whether the venue's checksum of its book equals the recorded levels. */
  readonly onChecksum: (line: number, isEqual: boolean) => void;
}

export interface Row {
  readonly fields: readonly string[];
  /** Line in the recording, unique across its files. */
  readonly line: number;
  /** Line in the file, from 1. */
  readonly lineInFile: number;
}

/**
 * Throws `TapeError` without file and line, which the caller adds; a row that throws changes no
 * state.
 */
export interface RowDecoder {
  row(row: Row): void;
  /** End of a file: emits buffered records; the next file may start with a header. */
  endFile(): void;
  /** State for the next file, as JSON; passed to the format when an import resumes. */
  state(): unknown;
}

/** Reads fields by the names of their columns. */
export class Header {
  private readonly places = new Map<string, number>();
  private readonly repeated = new Set<string>();

  constructor(names: readonly string[]) {
    names.forEach((name, i) => {
      if (this.places.has(name.trim())) this.repeated.add(name.trim());
      this.places.set(name.trim(), i);
    });
  }

  has(...names: readonly string[]): boolean {
    return names.every((name) => this.places.has(name));
  }

  get names(): readonly string[] {
    return [...this.places.keys()];
  }

  /** As `place`, and with any case where none of the names is written as given. */
  usualPlace(...names: readonly string[]): number {
    const exact = this.place(...names);
    if (exact >= 0) return exact;
    const lowered = new Set(names.map((name) => name.toLowerCase()));
    return this.place(...this.names.filter((name) => lowered.has(name.toLowerCase())));
  }

  /** Index of the first of these columns that exists; −1 for none. Throws if it is there twice. */
  place(...names: readonly string[]): number {
    for (const name of names) {
      const place = this.places.get(name);
      if (place === undefined) continue;
      if (this.repeated.has(name)) throw new TapeError(`the column \`${name}\` is there twice`);
      return place;
    }
    return -1;
  }
}

/** Whether a row is a header: its first field is neither a number nor a date. */
export function isHeader(fields: readonly string[]): boolean {
  return !/^[-+]?[0-9]/.test(fields[0] ?? '');
}
