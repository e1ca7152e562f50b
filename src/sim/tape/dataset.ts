/**
 * A dataset: a recording of one market as two Parquet tables and a manifest. `events` has a row a record, in recorded
 * order; `levels` the levels of those records, one after the other (price positive for a bid, negative for an ask).
 * Integers only. Reading is streaming: one row group of events in memory, and the levels that belong to it.
 */
import { parquetMetadataAsync, parquetRead, type AsyncBuffer } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import type { TapeLevel } from '../../engine/commands.ts';
import { lots, priceTicks, timeUs } from '../../num/units.ts';
import { must } from '../../base/assert.ts';
import { TapeError, type TapeRecord, type TapeUnits } from './record.ts';

export const DATASET_VERSION = 1;
/** Places in this list are the `kind` column; append-only. */
export const RECORD_KINDS = ['depth', 'snapshot', 'trade', 'touch'] as const;
export const EVENT_COLUMNS = [
  { name: 'kind', type: 'INT32' },
  { name: 'timeUs', type: 'INT64' },
  { name: 'localUs', type: 'INT64' },
  { name: 'line', type: 'INT32' },
  { name: 'lastId', type: 'INT64' },
  { name: 'firstId', type: 'INT64' },
  { name: 'prevId', type: 'INT64' },
  { name: 'levelCount', type: 'INT32' },
] as const;
export const LEVEL_COLUMNS = [
  { name: 'price', type: 'INT32' },
  { name: 'lots', type: 'INT64' },
] as const;

/** What a dataset says of itself. */
export interface DatasetManifest extends TapeUnits {
  readonly orrery: 'dataset';
  readonly version: typeof DATASET_VERSION;
  /** Where the recording comes from, and under which terms. */
  readonly source: string;
  readonly licence: string;
  readonly files: readonly { readonly name: string; readonly sha256: string }[];
  readonly importedFrom: readonly { readonly name: string; readonly sha256: string }[];
  readonly counts: Readonly<Record<(typeof RECORD_KINDS)[number], number>>;
  readonly levels: number;
  /** Venue time of the first and the last record, µs. */
  readonly firstUs: number;
  readonly lastUs: number;
  readonly outOfOrder: number;
  readonly gaps: number;
  readonly droppedUpdates: number;
  readonly minFeedLatencyUs: number;
  readonly maxFeedLatencyUs: number;
}

/** The manifest of this text, or a `TapeError` that names the fault. */
export function parseManifest(text: string): DatasetManifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new TapeError('manifest.json: not JSON');
  }
  const manifest = value as Partial<DatasetManifest> | null;
  if (typeof manifest !== 'object' || manifest?.orrery !== 'dataset') {
    throw new TapeError('manifest.json: not the manifest of a dataset');
  }
  if (manifest.version !== DATASET_VERSION) {
    throw new TapeError(
      `manifest.json: version ${String(manifest.version)}, this program reads ${String(DATASET_VERSION)}`,
    );
  }
  for (const field of ['symbol', 'tickSize', 'lotSize', 'source', 'licence'] as const) {
    if (typeof manifest[field] !== 'string') {
      throw new TapeError(`manifest.json: '${field}' is missing`);
    }
  }
  return manifest as DatasetManifest;
}

type Column = ArrayLike<number | bigint>;

/** The records of a dataset in recorded order, a row group at a time. Throws `TapeError` on damage. */
export async function* readDataset(
  events: AsyncBuffer,
  levels: AsyncBuffer,
): AsyncGenerator<TapeRecord[]> {
  const eventMeta = await metadata(events, 'events.parquet');
  const levelMeta = await metadata(levels, 'levels.parquet');
  let rowStart = 0;
  let levelStart = 0;
  for (const group of eventMeta.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    const columns = await readColumns(events, eventMeta, EVENT_COLUMNS, rowStart, rowEnd);
    const counts = must(columns.get('levelCount'), 'columns are read by name');
    let levelEnd = levelStart;
    for (let i = 0; i < rowEnd - rowStart; i++) levelEnd += Number(counts[i]);
    if (levelEnd > Number(levelMeta.num_rows)) {
      throw new TapeError('levels.parquet: fewer levels than events.parquet speaks of');
    }
    const rows = await readColumns(levels, levelMeta, LEVEL_COLUMNS, levelStart, levelEnd);
    yield records(columns, rows, rowEnd - rowStart);
    rowStart = rowEnd;
    levelStart = levelEnd;
  }
  if (levelStart !== Number(levelMeta.num_rows)) {
    throw new TapeError('levels.parquet: more levels than events.parquet speaks of');
  }
}

type Metadata = Awaited<ReturnType<typeof parquetMetadataAsync>>;

async function metadata(file: AsyncBuffer, name: string): Promise<Metadata> {
  try {
    return await parquetMetadataAsync(file);
  } catch (error) {
    throw new TapeError(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function readColumns(
  file: AsyncBuffer,
  meta: Metadata,
  columns: readonly { readonly name: string }[],
  rowStart: number,
  rowEnd: number,
): Promise<Map<string, Column>> {
  const found = new Map<string, (number | bigint)[]>();
  for (const { name } of columns) found.set(name, []);
  if (rowEnd > rowStart) {
    try {
      await parquetRead({
        file,
        metadata: meta,
        compressors,
        rowStart,
        rowEnd,
        columns: columns.map(({ name }) => name),
        onChunk: (chunk) => {
          const target = must(found.get(chunk.columnName), 'only asked columns are read');
          const from = Math.max(rowStart, chunk.rowStart);
          const to = Math.min(rowEnd, chunk.rowEnd);
          const source = chunk.columnData as Column;
          for (let row = from; row < to; row++) {
            target[row - rowStart] = source[row - chunk.rowStart] ?? 0;
          }
        },
      });
    } catch (error) {
      throw new TapeError(`dataset: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  for (const [name, values] of found) {
    if (values.length !== rowEnd - rowStart)
      throw new TapeError(`dataset: column ${name} is short`);
  }
  return found;
}

function records(
  events: Map<string, Column>,
  rows: Map<string, Column>,
  count: number,
): TapeRecord[] {
  const column = (from: Map<string, Column>, name: string): Column =>
    must(from.get(name), 'columns are read by name');
  const kinds = column(events, 'kind');
  const times = column(events, 'timeUs');
  const locals = column(events, 'localUs');
  const lineNumbers = column(events, 'line');
  const lastIds = column(events, 'lastId');
  const firstIds = column(events, 'firstId');
  const prevIds = column(events, 'prevId');
  const counts = column(events, 'levelCount');
  const prices = column(rows, 'price');
  const sizes = column(rows, 'lots');
  const result: TapeRecord[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    const base = {
      timeUs: timeUs(Number(times[i])),
      localUs: timeUs(Number(locals[i])),
      line: Number(lineNumbers[i]),
    };
    const lastId = Number(lastIds[i]);
    const levels: TapeLevel[] = [];
    for (const end = at + Number(counts[i]); at < end; at++) {
      const price = Number(prices[at]);
      levels.push({
        side: price > 0 ? 'bid' : 'ask',
        priceTicks: priceTicks(Math.abs(price)),
        lots: lots(Number(sizes[at])),
      });
    }
    const [first, second] = levels;
    switch (RECORD_KINDS[Number(kinds[i])]) {
      case 'depth':
        result.push({
          kind: 'depth',
          ...base,
          firstId: Number(firstIds[i]),
          lastId,
          prevId: Number(prevIds[i]),
          levels,
        });
        break;
      case 'snapshot':
        result.push({ kind: 'snapshot', ...base, lastId, levels });
        break;
      case 'trade':
        if (first === undefined) throw new TapeError('events.parquet: a trade without a price');
        result.push({
          kind: 'trade',
          ...base,
          tradeId: lastId,
          priceTicks: first.priceTicks,
          lots: lots(first.side === 'bid' ? first.lots : -first.lots),
        });
        break;
      case 'touch':
        if (first === undefined || second === undefined) {
          throw new TapeError('events.parquet: a touch without two prices');
        }
        result.push({
          kind: 'touch',
          ...base,
          updateId: lastId,
          bidTicks: first.priceTicks,
          bidLots: first.lots,
          askTicks: second.priceTicks,
          askLots: second.lots,
        });
        break;
      default:
        throw new TapeError(`events.parquet: record kind ${String(kinds[i])} is not known`);
    }
  }
  return result;
}
