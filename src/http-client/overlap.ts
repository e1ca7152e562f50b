/**
 * Updates of a resumed feed that catch-up has read and the connection sends too. Orders name their
 * sequence number. Trades and fills have none, so their records are compared, series by series.
 */
import type { FeedSource } from '../contract/feeds.ts';
import { seriesOf, sequenceOf } from './repair.ts';
import { compared, isSame, type Compared, type Data } from './same-record.ts';

/** Live updates without those that catch-up has already delivered. */
export function withoutOverlap(
  source: FeedSource,
  read: readonly Data[],
  live: readonly Data[],
): readonly Data[] {
  if (source === 'trade' || source === 'fill') return withoutRead(read, live);
  if (source !== 'order') return live;
  const newest = new Map(read.map((order) => [order['orderId'], sequenceOf(order)]));
  return live.filter((order) => sequenceOf(order) > (newest.get(order['orderId']) ?? -1));
}

/** Without the longest beginning of each series that is the end of the records read. */
function withoutRead(read: readonly Data[], live: readonly Data[]): readonly Data[] {
  const left = new Map<string, number>();
  for (const series of new Set(live.map(seriesOf))) {
    const ofSeries = (records: readonly Data[]): Compared[] =>
      records.filter((one) => seriesOf(one) === series).map(compared);
    const known = ofSeries(read);
    const next = ofSeries(live);
    let overlap = Math.min(known.length, next.length);
    while (!known.slice(known.length - overlap).every((one, i) => isSame(one, next[i]))) {
      overlap -= 1;
    }
    left.set(series, overlap);
  }
  return live.filter((one) => {
    const series = seriesOf(one);
    const overlap = left.get(series) ?? 0;
    left.set(series, overlap - 1);
    return overlap <= 0;
  });
}

/**
 * The same for updates that arrive after catch-up, from a replica that is behind what was read: its
 * next records are those read from some place on, until one is not.
 */
export class LateOverlap {
  private readonly newest: ReadonlyMap<unknown, number>;
  /** Records read of each series, and the places from which its next record may come. */
  private readonly read = new Map<string, { readonly records: Compared[]; places: number[] }>();

  constructor(source: FeedSource, read: readonly Data[]) {
    const isOrder = source === 'order';
    this.newest = new Map(
      isOrder ? read.map((order) => [order['orderId'], sequenceOf(order)]) : [],
    );
    if (source !== 'trade' && source !== 'fill') return;
    for (const record of read) {
      const series = seriesOf(record);
      const known = this.read.get(series) ?? { records: [], places: [] };
      known.places.push(known.records.push(compared(record)) - 1);
      this.read.set(series, known);
    }
  }

  wasRead(data: Data): boolean {
    const sequence = this.newest.get(data['orderId']);
    if (sequence !== undefined) return sequenceOf(data) <= sequence;
    if (this.read.size === 0) return false;
    const series = seriesOf(data);
    const known = this.read.get(series);
    if (known === undefined) return false;
    const next = compared(data);
    known.places = known.places.flatMap((at) => (isSame(next, known.records[at]) ? [at + 1] : []));
    if (known.places.length > 0) return true;
    this.read.delete(series);
    return false;
  }
}
