/**
 * Writes a dataset (sim/tape/dataset) into a folder: both tables row group by row group, so memory stays bounded, then
 * the manifest. Everything goes into a temporary folder that is renamed when it is whole.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { fileWriter, ParquetWriter, type BasicType } from 'hyparquet-writer';
import {
  DATASET_VERSION,
  EVENT_COLUMNS,
  LEVEL_COLUMNS,
  RECORD_KINDS,
  type DatasetManifest,
} from '../sim/tape/dataset.ts';
import type { TapeRecord } from '../sim/tape/record.ts';
import type { TapeLevel } from '../engine/commands.ts';

const ROWS_PER_GROUP = 65_536;

/** Facts that the writer counts itself are left out. */
export type ManifestFacts = Omit<
  DatasetManifest,
  'orrery' | 'version' | 'files' | 'counts' | 'levels'
>;

export class DatasetWriter {
  private readonly folder: string;
  private readonly temporary: string;
  private readonly events: Table;
  private readonly levels: Table;
  private readonly counts = { depth: 0, snapshot: 0, trade: 0, touch: 0 };

  private constructor(folder: string, temporary: string) {
    this.folder = folder;
    this.temporary = temporary;
    this.events = new Table(join(temporary, 'events.parquet'), EVENT_COLUMNS);
    this.levels = new Table(join(temporary, 'levels.parquet'), LEVEL_COLUMNS);
  }

  static async create(folder: string): Promise<DatasetWriter> {
    const temporary = `${folder}.partial-${String(process.pid)}`;
    await mkdir(temporary, { recursive: true });
    return new DatasetWriter(folder, temporary);
  }

  async write(record: TapeRecord): Promise<void> {
    this.counts[record.kind] += 1;
    const levels = levelsOf(record);
    for (const level of levels) {
      const price = level.side === 'bid' ? level.priceTicks : -level.priceTicks;
      await this.levels.row([price, level.lots]);
    }
    await this.events.row([
      RECORD_KINDS.indexOf(record.kind),
      record.timeUs,
      record.localUs,
      record.line,
      idOf(record),
      record.kind === 'depth' ? record.firstId : 0,
      record.kind === 'depth' ? record.prevId : 0,
      levels.length,
    ]);
  }

  /** Closes the tables, writes the manifest, and puts the dataset in its place. */
  async finish(facts: ManifestFacts): Promise<DatasetManifest> {
    await this.events.finish();
    await this.levels.finish();
    const files = [];
    for (const name of ['events.parquet', 'levels.parquet']) {
      const bytes = await readFile(join(this.temporary, name));
      files.push({ name, sha256: createHash('sha256').update(bytes).digest('hex') });
    }
    const manifest: DatasetManifest = {
      orrery: 'dataset',
      version: DATASET_VERSION,
      ...facts,
      files,
      counts: this.counts,
      levels: this.levels.total,
    };
    await writeFile(
      join(this.temporary, 'manifest.json'),
      `${JSON.stringify(manifest, null, 2)}\n`,
    );
    await rm(this.folder, { recursive: true, force: true });
    await rename(this.temporary, this.folder);
    return manifest;
  }

  /** Leaves nothing behind. */
  async abandon(): Promise<void> {
    await rm(this.temporary, { recursive: true, force: true });
  }
}

function levelsOf(record: TapeRecord): readonly TapeLevel[] {
  switch (record.kind) {
    case 'trade': {
      const side = record.lots > 0 ? 'bid' : 'ask';
      const size = Math.abs(record.lots) as TapeLevel['lots'];
      return [{ side, priceTicks: record.priceTicks, lots: size }];
    }
    case 'touch':
      return [
        { side: 'bid', priceTicks: record.bidTicks, lots: record.bidLots },
        { side: 'ask', priceTicks: record.askTicks, lots: record.askLots },
      ];
    default:
      return record.levels;
  }
}

function idOf(record: TapeRecord): number {
  switch (record.kind) {
    case 'trade':
      return record.tradeId;
    case 'touch':
      return record.updateId;
    default:
      return record.lastId;
  }
}

interface TableColumn {
  readonly name: string;
  readonly type: 'INT32' | 'INT64';
}

/** One Parquet file, written a row group at a time. */
class Table {
  total = 0;
  private readonly columns: readonly TableColumn[];
  private readonly writer: ParquetWriter;
  private values: (number | bigint)[][];

  constructor(path: string, columns: readonly TableColumn[]) {
    this.columns = columns;
    this.values = columns.map(() => []);
    this.writer = new ParquetWriter({
      writer: fileWriter(path),
      codec: 'GZIP',
      compressors: { GZIP: (input) => gzipSync(input, { level: 9 }) },
      statistics: false,
      schema: [
        { name: 'root', num_children: columns.length },
        ...columns.map(({ name, type }) => ({ name, type, repetition_type: 'REQUIRED' as const })),
      ],
    });
  }

  async row(values: readonly number[]): Promise<void> {
    values.forEach((value, i) => {
      this.values[i]?.push(this.columns[i]?.type === 'INT64' ? BigInt(value) : value);
    });
    this.total += 1;
    if (this.total % ROWS_PER_GROUP === 0) await this.flush();
  }

  async finish(): Promise<void> {
    await this.flush();
    await this.writer.finish();
  }

  private async flush(): Promise<void> {
    const rows = this.values[0]?.length ?? 0;
    if (rows === 0) return;
    await this.writer.write({
      columnData: this.columns.map(({ name, type }, i) => ({
        name,
        type: type satisfies BasicType,
        data: this.values[i] ?? [],
        nullable: false,
        encoding: 'DELTA_BINARY_PACKED' as const,
      })),
      rowGroupSize: rows,
    });
    this.values = this.columns.map(() => []);
  }
}
