/**
 * Writes the records of one stream as parts of whole UTC days, one row group at a time; memory is
 * bounded by a row group. A small day shares its part with the next days.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';
import { EVENT_COLUMNS, eventRow, LEVEL_COLUMNS, levelPairs } from '../tape/record-columns.ts';
import type { PartManifest } from '../tape/manifest.ts';
import type { RecordKind, TapeRecord } from '../tape/record.ts';
import { sha256Of } from './part-files.ts';
import { fileError } from '../platform/file-error.ts';
import { makeFolder } from '../platform/make-folder.ts';

const DAY_US = 86_400_000_000;
/**
 * Max records or levels of a row group; both tables start a new one together. A reader holds one
 * row group: a small one fits the CPU cache and leaves little for the garbage collector.
 */
const GROUP_ROWS = 8_192;
const GROUP_LEVELS = 131_072;
/** A part extends into the next day while it has fewer rows and levels than this. */
const SMALL_PART = 500_000;
/** Each column of a row group is one page, which is fastest to read. */
const ONE_PAGE = 2 ** 26;

const WHOLE_BOOK: readonly RecordKind[] = ['snapshot'];
const BOOK: readonly RecordKind[] = ['snapshot', 'depth', 'order'];

export class StreamWriter {
  readonly parts: PartManifest[];
  private readonly folder: string;
  private readonly id: string;
  private part: OpenPart | null = null;

  /** Writes to `<folder>/<id>/`; `parts` are complete parts of an earlier run. */
  constructor(folder: string, id: string, parts: readonly PartManifest[] = []) {
    this.folder = folder;
    this.id = id;
    this.parts = [...parts];
  }

  async write(record: TapeRecord): Promise<void> {
    const day = Math.floor(record.timeUs / DAY_US);
    if (this.part !== null && day > this.part.day && this.part.size >= SMALL_PART) {
      await this.endPart();
    }
    this.part ??= await this.begin(day);
    // A record out of order does not reopen an earlier day.
    this.part.day = Math.max(this.part.day, day);
    this.part.add(record);
    if (this.part.groupIsFull) this.part.flush();
  }

  /** Closes the open part; the next record starts another. */
  async endPart(): Promise<void> {
    if (this.part === null) return;
    const part = await this.part.finish(this.folder);
    this.part = null;
    this.parts.push(part);
  }

  /**
   * Cleans up after a failure: keeps the files of the first `kept` parts, deletes all later ones.
   */
  async abandon(kept: number): Promise<void> {
    const names = this.parts
      .splice(kept)
      .flatMap(({ events, levels }) => [events.name, levels.name]);
    for (const name of [...names, ...(this.part?.files ?? [])]) {
      await rm(join(this.folder, name), { force: true });
    }
    this.part = null;
  }

  private async begin(day: number): Promise<OpenPart> {
    await makeFolder(join(this.folder, this.id));
    const date = new Date((day * DAY_US) / 1000).toISOString().slice(0, 10);
    const number = String(this.parts.length + 1).padStart(5, '0');
    return new OpenPart(this.folder, `${this.id}/${number}-${date}`, day);
  }
}

class OpenPart {
  day: number;
  private readonly name: string;
  private readonly events: Table;
  private readonly levels: Table;
  private rows = 0;
  private levelRows = 0;
  private firstUs = Infinity;
  private lastUs = -Infinity;
  private startsWhole: boolean | null = null;

  constructor(folder: string, name: string, day: number) {
    this.name = name;
    this.day = day;
    const [events, levels] = this.files;
    this.events = new Table(join(folder, events), EVENT_COLUMNS);
    this.levels = new Table(join(folder, levels), LEVEL_COLUMNS);
  }

  /** Paths relative to the dataset's folder. */
  get files(): readonly [events: string, levels: string] {
    return [`${this.name}.events.parquet`, `${this.name}.levels.parquet`];
  }

  get size(): number {
    return this.rows + this.levelRows;
  }

  get groupIsFull(): boolean {
    return this.events.held >= GROUP_ROWS || this.levels.held >= GROUP_LEVELS;
  }

  add(record: TapeRecord): void {
    const pairs = levelPairs(record, (price, size) => {
      this.levels.add(price, size);
    });
    this.events.add(...eventRow(record), pairs);
    this.rows += 1;
    this.levelRows += pairs;
    this.firstUs = Math.min(this.firstUs, record.timeUs);
    this.lastUs = Math.max(this.lastUs, record.timeUs);
    if (BOOK.includes(record.kind)) this.startsWhole ??= WHOLE_BOOK.includes(record.kind);
  }

  flush(): void {
    this.events.flush();
    this.levels.flush();
  }

  async finish(folder: string): Promise<PartManifest> {
    this.flush();
    await this.events.finish();
    await this.levels.finish();
    const [events, levels] = this.files;
    const file = async (name: string): Promise<PartManifest['events']> => ({
      name,
      sha256: await sha256Of(join(folder, name)),
    });
    return {
      events: await file(events),
      levels: await file(levels),
      rows: this.rows,
      levelRows: this.levelRows,
      firstUs: this.firstUs,
      lastUs: this.lastUs,
      startsWhole: this.startsWhole ?? true,
    };
  }
}

interface TableColumn {
  readonly name: string;
  readonly type: 'INT32' | 'INT64';
  readonly encoding: 'PLAIN' | 'DELTA_BINARY_PACKED';
}

/** One Parquet file, written a row group at a time. */
class Table {
  /** Number of buffered rows of the next row group. */
  held = 0;
  private readonly path: string;
  private readonly columns: readonly TableColumn[];
  private readonly writer: ParquetWriter;
  private values: (number | bigint)[][];

  constructor(path: string, columns: readonly TableColumn[]) {
    this.path = path;
    this.columns = columns;
    this.values = columns.map(() => []);
    this.writer = new ParquetWriter({
      writer: fileWriter(path),
      codec: 'GZIP',
      compressors: { GZIP: (input) => gzipSync(input) },
      statistics: false,
      schema: [
        { name: 'root', num_children: columns.length },
        ...columns.map(({ name, type }) => ({ name, type, repetition_type: 'REQUIRED' as const })),
      ],
    });
  }

  add(...row: readonly number[]): void {
    for (let i = 0; i < row.length; i++) {
      const value = row[i] ?? 0;
      this.values[i]?.push(this.columns[i]?.type === 'INT64' ? BigInt(value) : value);
    }
    this.held += 1;
  }

  async finish(): Promise<void> {
    try {
      await this.writer.finish();
    } catch (error) {
      throw fileError(this.path, error);
    }
  }

  flush(): void {
    if (this.held === 0) return;
    try {
      this.writeGroup();
    } catch (error) {
      throw fileError(this.path, error);
    }
    this.values = this.columns.map(() => []);
    this.held = 0;
  }

  private writeGroup(): void {
    // Synchronous: the writer of a local file never awaits.
    void this.writer.write({
      columnData: this.columns.map(({ name, encoding }, i) => ({
        name,
        data: this.values[i] ?? [],
        nullable: false,
        encoding,
        offsetIndex: false,
      })),
      rowGroupSize: this.held,
      pageSize: ONE_PAGE,
    });
  }
}
