/**
 * Checks of recorded records that need no book: missing trades, repeated records, silences; and a
 * list of what the recording cannot show. Used by `data import` and `data verify`, not by a
 * backtest.
 */
import { Cadence, type Silence } from './cadence.ts';
import type { GapManifest, StreamManifest } from './manifest.ts';
import type { RecordKind, TapeRecord } from './record.ts';
import { Repeats } from './repeats.ts';
import { TradeIds, type MissingTrades } from './trade-ids.ts';

/** Guarantees of the formats of a market's streams. */
export interface RecordOrigin {
  /** Ids of updates are the venue's, so that a missing one breaks their chain. */
  readonly hasVenueIds: boolean;
  /** Records cannot be missing, as in the journal of an exchange. */
  readonly isComplete: boolean;
}

export interface RecordFacts {
  /** Repeated records without ids of the venue. */
  repeated: number;
  missingTrades: number;
  /** Places of missing trades. */
  missingTradesList: readonly MissingTrades[];
  /** Suspected gaps: times without a record that are unusual for the feed. */
  silences: readonly (Silence & { readonly feed: string })[];
  silenceCount: number;
  /** Silences and missing trades, the first 1,000 of each feed. */
  suspected: readonly GapManifest[];
  /** Of marks and indices, without suspected gaps. */
  readonly intervals: NonNullable<StreamManifest['intervals']>;
  /** Suspected gaps of the book, µs. */
  silentBookUs: number;
  /** Kinds of damage that these records cannot show. */
  unchecked: readonly string[];
}

type Feed = 'book' | 'trades' | 'best prices' | 'marks' | 'indices' | 'funding rates';

const FEEDS: Readonly<Partial<Record<RecordKind, Feed>>> = {
  depth: 'book',
  snapshot: 'book',
  order: 'book',
  trade: 'trades',
  touch: 'best prices',
  mark: 'marks',
  index: 'indices',
  funding: 'funding rates',
};
const FIXED: readonly Feed[] = ['marks', 'indices', 'funding rates'];

export class RecordChecks {
  private readonly origin: RecordOrigin;
  private readonly cadences = new Map<Feed, Cadence>();
  private readonly ids = new TradeIds();
  private readonly repeats = new Repeats();
  private readonly kinds = new Set<RecordKind>();

  constructor(origin: RecordOrigin) {
    this.origin = origin;
  }

  /** Next record in order of time. */
  take(record: TapeRecord): void {
    const { kind } = record;
    this.kinds.add(kind);
    this.repeats.take(record);
    if (kind === 'trade') this.ids.take(record);
    const feed = FEEDS[kind];
    if (feed === undefined) return;
    let cadence = this.cadences.get(feed);
    if (cadence === undefined) {
      cadence = new Cadence(FIXED.includes(feed));
      this.cadences.set(feed, cadence);
    }
    cadence.take(record.timeUs);
  }

  /** Call once, after the last record. */
  finish(): RecordFacts {
    const watched = [...this.cadences].filter(([feed]) => this.isWatched(feed));
    for (const cadence of this.cadences.values()) cadence.finish();
    const mark = this.cadences.get('marks')?.usual ?? null;
    const index = this.cadences.get('indices')?.usual ?? null;
    const { missing } = this.ids;
    const silences = watched.flatMap(([feed, { list }]) => list.map((one) => ({ ...one, feed })));
    return {
      repeated: this.repeats.count,
      missingTrades: missing.reduce((sum, { fromId, toId }) => sum + toId - fromId + 1, 0),
      missingTradesList: missing,
      silences,
      suspected: [
        ...silences.map(({ feed, fromUs, toUs }) => ({
          fromUs,
          toUs,
          reason: `no ${feed}, unusual for the feed`,
        })),
        ...missing.map(({ timeUs, fromId, toId }) => ({
          fromUs: timeUs,
          toUs: timeUs,
          reason: `trades ${String(fromId)} to ${String(toId)} are missing`,
        })),
      ],
      silenceCount: watched.reduce((sum, [, { count }]) => sum + count, 0),
      intervals: { ...(mark && { mark }), ...(index && { index }) },
      silentBookUs: watched.find(([feed]) => feed === 'book')?.[1].totalUs ?? 0,
      unchecked: this.unchecked(watched),
    };
  }

  /** Whether a missing record of the feed would show in its silence only. */
  private isWatched(feed: Feed): boolean {
    if (this.origin.isComplete) return false;
    switch (feed) {
      case 'book':
        return !this.isChained;
      case 'trades':
        return !this.hasBook && !this.ids.areConsecutive;
      case 'best prices':
        return !this.hasBook;
      default:
        return true;
    }
  }

  private get hasBook(): boolean {
    return this.cadences.has('book');
  }

  /** Whether a missing update breaks the chain of the venue's ids. */
  private get isChained(): boolean {
    return this.origin.hasVenueIds && this.kinds.has('depth');
  }

  private unchecked(watched: readonly (readonly [Feed, Cadence])[]): string[] {
    if (this.origin.isComplete) return [];
    const { kinds, ids } = this;
    const has = (kind: RecordKind): boolean => kinds.has(kind);
    const few = watched.filter(([, { isEnough }]) => !isEnough).map(([feed]) => feed);
    const claims: readonly (readonly [boolean, string])[] = [
      [
        this.hasBook && !this.isChained,
        'missing updates of the book: no chain of the venue’s ids; a long silence shows',
      ],
      [
        has('trade') && !ids.areConsecutive,
        `missing trades: their ids are not consecutive${this.hasBook ? '' : '; a long silence shows'}`,
      ],
      [
        has('trade') && !ids.areConsecutive,
        'some trades repeated: equal trades of one time may be different ones',
      ],
      [
        has('touch') && !this.hasBook,
        'missing best prices: no ids of the venue; a long silence shows',
      ],
      [few.length > 0, `silences of ${few.join(', ')}: too few records`],
    ];
    return claims.flatMap(([holds, text]) => (holds ? [text] : []));
  }
}
