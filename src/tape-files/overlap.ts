/**
 * Streams and files of one market and kind that overlap in time: playing both would count records
 * twice. They are refused; an explicit option merges streams and keeps each record once.
 */
import { dateText } from '../base/date-text.ts';
import type { StreamManifest } from '../tape/manifest.ts';
import { intervalText } from '../tape/formats/bar-interval.ts';
import { mergeStreams } from '../tape/merge.ts';
import { inTapeOrder } from '../tape/reading-order.ts';
import { TapeError, type RecordKind, type TapeRecord } from '../tape/record.ts';

/** Lines of one venue are out of order by less than this. */
const WINDOW_US = 2_000_000;
/** Kinds with at most one record at a time: an equal time is an overlap. */
const ONE_AT_A_TIME: readonly RecordKind[] = ['bar', 'funding'];

export interface Span {
  readonly firstUs: number;
  readonly lastUs: number;
}

/** Times of the records of each kind. */
export type Spans = Partial<Record<RecordKind, { firstUs: number; lastUs: number }>>;

export function extend(spans: Spans, { kind, timeUs }: TapeRecord): void {
  const span = (spans[kind] ??= { firstUs: timeUs, lastUs: timeUs });
  if (timeUs < span.firstUs) span.firstUs = timeUs;
  if (timeUs > span.lastUs) span.lastUs = timeUs;
}

/** Spans of all files. Throws `TapeError` if a file overlaps those before it. */
export function afterFile(before: Spans, file: Spans, name: string): Spans {
  const all: Spans = { ...before };
  for (const [key, span] of Object.entries(file)) {
    const kind = key as RecordKind;
    const earlier = before[kind];
    if (earlier !== undefined && overlaps(kind, earlier, span)) {
      throw new TapeError(
        `${name}: its records of kind ${kind}, ${spanText(span)}, overlap those of an earlier file, ${spanText(earlier)}; name files in order of time, or import it with --add --merge`,
      );
    }
    if (earlier !== undefined && span.lastUs < earlier.firstUs) {
      throw new TapeError(
        `${name}: its records of kind ${kind}, ${spanText(span)}, are before those of an earlier file, ${spanText(earlier)}; name files in order of time`,
      );
    }
    all[kind] = joined(earlier, span);
  }
  return all;
}

interface KindOrder {
  readonly firstUs: number;
  newestUs: number;
  lastUs: number;
  records: number;
  /** Records before the one that precedes them. */
  descents: number;
}

/**
 * The order of time of one file's records. Lines of a recording may be late, but bars that are out
 * of order come from a file that is not sorted, and a kind of which most records are before their
 * predecessor is newest first: played so, they would all be at the time reached. Two bars of one
 * time that differ contradict each other: often the first was exported before it was complete.
 */
export class FileOrder {
  private readonly kinds = new Map<RecordKind, KindOrder>();
  private lastBar: TapeRecord | null = null;

  /**
   * `name`: of the file, if it has one. Throws `TapeError` for a bar that is out of order, or that
   * differs from another one of its time.
   */
  take(record: TapeRecord, name: string | null = null): void {
    const { kind, timeUs, line } = record;
    if (kind === 'bar') {
      this.mustAgree(record, name);
      this.lastBar = record;
    }
    const of = this.kinds.get(kind);
    if (of === undefined) {
      const begun = { firstUs: timeUs, newestUs: timeUs, lastUs: timeUs, records: 1, descents: 0 };
      this.kinds.set(kind, begun);
      return;
    }
    of.records += 1;
    if (timeUs < of.lastUs) of.descents += 1;
    of.lastUs = timeUs;
    if (kind === 'bar' && timeUs < of.newestUs - WINDOW_US) {
      throw new TapeError(
        `${name === null ? '' : `${name}: `}line ${String(line)}: the bar of ${dateText(timeUs)} follows that of ${dateText(of.newestUs)}; sort the rows by time, oldest first`,
      );
    }
    if (timeUs > of.newestUs) of.newestUs = timeUs;
  }

  private mustAgree(bar: TapeRecord, name: string | null): void {
    const { lastBar } = this;
    if (lastBar?.timeUs !== bar.timeUs || contentOf(lastBar) === contentOf(bar)) return;
    throw new TapeError(
      `${name === null ? '' : `${name}: `}line ${String(bar.line)}: the bar of ${dateText(bar.timeUs)} differs from that of line ${String(lastBar.line)}, which has the same time; keep one of them`,
    );
  }

  /** Throws `TapeError` for a file that is newest first. */
  end(name: string): void {
    for (const [kind, { firstUs, lastUs, records, descents }] of this.kinds) {
      if (lastUs >= firstUs - WINDOW_US || 2 * descents <= records - 1) continue;
      throw new TapeError(
        `${name}: ${String(descents)} of ${String(records)} records of kind ${kind} are before their predecessor; sort the file by time, oldest first`,
      );
    }
  }
}

/** Streams of the same market that hold records of the same kind at the same time. */
export function overlapping(
  streams: readonly StreamManifest[],
  added: Pick<StreamManifest, 'symbol' | 'counts' | 'firstUs' | 'lastUs' | 'importedFrom'>,
): StreamManifest[] {
  const hashes = new Set(added.importedFrom.map(({ sha256 }) => sha256));
  return streams.filter((stream) => {
    if (stream.symbol !== added.symbol) return false;
    const shared = kindsOf(stream).filter((kind) => (added.counts[kind] ?? 0) > 0);
    const isSameFile = stream.importedFrom.some(({ sha256 }) => hashes.has(sha256));
    return shared.some((kind) => isSameFile || overlaps(kind, stream, added));
  });
}

/** Months have no fixed length. */
const MONTH_US = 28 * 86_400_000_000;

/** Bars of one market are equally long. Throws `TapeError`. */
export function mustHaveSameBars(
  streams: readonly Pick<StreamManifest, 'id' | 'barUs'>[],
  { barUs }: Pick<StreamManifest, 'barUs'>,
): void {
  if (barUs === null) return;
  for (const { id, barUs: other } of streams) {
    if (other === null || other === barUs || Math.min(other, barUs) >= MONTH_US) continue;
    throw new TapeError(
      `its bars last ${intervalText(barUs)}, and those of the stream ${id} ${intervalText(other)}; import them into another dataset`,
    );
  }
}

export function mustBeMergeable(
  streams: readonly StreamManifest[],
  added: Pick<StreamManifest, 'format' | 'counts' | 'barUs' | 'firstUs' | 'lastUs'>,
  merge: boolean,
  assignsIds: boolean,
): void {
  for (const stream of streams) {
    const kinds = kindsOf(stream).filter((kind) => (added.counts[kind] ?? 0) > 0);
    const what = `${kinds.join(' and ')} records, ${spanText(added)}, overlap those of the stream ${stream.id}, ${spanText(stream)}`;
    if (!merge) throw new TapeError(`${what}; --merge keeps each record once`);
    if (stream.format !== added.format || stream.barUs !== added.barUs) {
      throw new TapeError(`${what}; --merge needs the same format and length of bars`);
    }
    const fixed: readonly RecordKind[] = ['bar', 'funding', 'mark', 'index'];
    if (kinds.includes('order') || (assignsIds && !kinds.every((kind) => fixed.includes(kind)))) {
      throw new TapeError(`${what}; --merge needs the venue's ids, which ${stream.format} has not`);
    }
  }
}

/**
 * The added records that no present stream has, in recorded order. Memory is bounded by the records
 * of a few seconds. Throws `TapeError` where the two disagree.
 */
export async function* withoutRepeats(
  added: AsyncIterable<readonly TapeRecord[]>,
  present: readonly AsyncIterable<readonly TapeRecord[]>[],
): AsyncGenerator<TapeRecord[]> {
  const source = mergeStreams(present, inTapeOrder)[Symbol.asyncIterator]();
  const known = new Map<string, TapeRecord>();
  let readUs = -Infinity;
  let newestUs = -Infinity;
  for await (const batch of added) {
    const kept: TapeRecord[] = [];
    for (const record of batch) {
      newestUs = Math.max(newestUs, record.timeUs);
      while (readUs <= newestUs + 2 * WINDOW_US) {
        const next = await source.next();
        if (next.done === true) readUs = Infinity;
        else
          for (const old of next.value) {
            known.set(keyOf(old), old);
            readUs = Math.max(readUs, old.timeUs);
          }
        forget(known, newestUs - 2 * WINDOW_US);
      }
      const old = known.get(keyOf(record));
      if (old === undefined) kept.push(record);
      else if (contentOf(old) !== contentOf(record)) {
        throw new TapeError(
          `the ${record.kind} at ${dateText(record.timeUs)} differs from that in the dataset: ${contentOf(record)}, not ${contentOf(old)}`,
        );
      }
    }
    yield kept;
  }
  await source.return(undefined);
}

function forget(known: Map<string, TapeRecord>, beforeUs: number): void {
  for (const [key, { timeUs }] of known) {
    if (timeUs >= beforeUs) return;
    known.delete(key);
  }
}

/** Equal for the same event of the venue, in every recording of it. */
function keyOf(record: TapeRecord): string {
  const { kind, timeUs } = record;
  switch (kind) {
    case 'depth':
      return `${kind} ${String(record.firstId)} ${String(record.lastId)}`;
    case 'snapshot':
      return `${kind} ${String(record.lastId)}`;
    case 'trade':
      return `${kind} ${String(timeUs)} ${String(record.tradeId)}`;
    case 'touch':
      return `${kind} ${String(timeUs)} ${String(record.updateId)}`;
    case 'order':
      return `${kind} ${String(timeUs)} ${String(record.ref)} ${record.action}`;
    default:
      return `${kind} ${String(timeUs)}`;
  }
}

/** Content of an event, equal in every recording of it. */
function contentOf(record: TapeRecord): string {
  // Snapshots of one update may have different depths.
  if (record.kind === 'snapshot') return '';
  const ofOneRecording = ['timeUs', 'localUs', 'line', 'kind'];
  return JSON.stringify(record, (key, value: unknown) =>
    ofOneRecording.includes(key) ? undefined : value,
  );
}

function kindsOf({ counts }: Pick<StreamManifest, 'counts'>): RecordKind[] {
  return (Object.keys(counts) as RecordKind[]).filter((kind) => (counts[kind] ?? 0) > 0);
}

function overlaps(kind: RecordKind, a: Span, b: Span): boolean {
  const shared = Math.min(a.lastUs, b.lastUs) - Math.max(a.firstUs, b.firstUs);
  return ONE_AT_A_TIME.includes(kind) ? shared >= 0 : shared > WINDOW_US || isWithin(a, b);
}

/** Whether one of two spans, each longer than an instant, has the other inside it. */
function isWithin(a: Span, b: Span): boolean {
  const holds = (outer: Span, inner: Span): boolean =>
    outer.firstUs <= inner.firstUs && outer.lastUs >= inner.lastUs && inner.lastUs > inner.firstUs;
  return holds(a, b) || holds(b, a);
}

function joined(a: Span | undefined, b: Span): Required<Spans>[RecordKind] {
  if (a === undefined) return { ...b };
  return { firstUs: Math.min(a.firstUs, b.firstUs), lastUs: Math.max(a.lastUs, b.lastUs) };
}

function spanText({ firstUs, lastUs }: Span): string {
  return `${dateText(firstUs)} to ${dateText(lastUs)}`;
}
