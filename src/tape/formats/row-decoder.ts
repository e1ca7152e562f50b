/** Formats whose files are rows of text fields: CSV, and Parquet and Arrow tables read as such. */
import type { TapeRecord } from '../record.ts';
import type { NumberReader } from './numbers.ts';

/** What a decoder writes to and reads its numbers with. */
export interface DecoderContext {
  /** The market asked for: rows that name another are passed over; null takes the first that is named. */
  readonly symbol: string | null;
  readonly numbers: NumberReader;
  readonly emit: (record: TapeRecord) => void;
}

export interface Row {
  readonly fields: readonly string[];
  /** Of the whole recording: a record's place in it. */
  readonly line: number;
  /** Of the file, from 1. */
  readonly lineInFile: number;
}

/** Throws `TapeError` without file and line, which its caller adds; a row that throws has changed nothing. */
export interface RowDecoder {
  /** What the rows say of themselves; null when they do not. */
  readonly symbol: string | null;
  row(row: Row): void;
  /** A file ends: what was held back comes out, and the next file may bring its header again. */
  endFile(): void;
  /** What the next file goes on with, for JSON; given back to the format when an import is resumed. */
  state(): unknown;
}

/** Reads fields by the names of their columns. */
export class Header {
  private readonly places = new Map<string, number>();

  constructor(names: readonly string[]) {
    names.forEach((name, i) => this.places.set(name.trim(), i));
  }

  has(...names: readonly string[]): boolean {
    return names.every((name) => this.places.has(name));
  }

  get names(): readonly string[] {
    return [...this.places.keys()];
  }

  /** Place of the first of these columns that is there; −1 for none. */
  place(...names: readonly string[]): number {
    for (const name of names) {
      const place = this.places.get(name);
      if (place !== undefined) return place;
    }
    return -1;
  }
}

/** Whether a row names columns rather than holding values: its first field is no number and no date. */
export function isHeader(fields: readonly string[]): boolean {
  return !/^[-+]?[0-9]/.test(fields[0] ?? '');
}
