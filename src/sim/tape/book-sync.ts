/**
 * From ordered records to engine commands, by the venue's rule for a local book: depth is good from the update that
 * spans a snapshot's id, and then as long as each update follows the one before. Until a snapshot, and after a break, the
 * market waits (`tapeGap`).
 *
 * Depth that arrived before its snapshot is kept, since a snapshot is older than the line it stands on.
 */
import type { Command } from '../../engine/commands.ts';
import { inSteps } from '../../gateway/encode.ts';
import type { MarketId, TimeUs } from '../../num/units.ts';
import type { GapManifest } from './manifest.ts';
import {
  TapeError,
  type DepthRecord,
  type RecordKind,
  type SnapshotRecord,
  type TapeRecord,
  type TapeUnits,
} from './record.ts';

export interface SyncFacts {
  depths: number;
  trades: number;
  snapshots: number;
  touches: number;
  /** Breaks of the chain of updates; the market waits for a snapshot after each. */
  gaps: number;
  /** Where they are, at most the first 1,000. */
  readonly gapList: GapManifest[];
  /** Depth updates older than the snapshot, or repeated. */
  dropped: number;
  /** Trades whose id is that of the one before. */
  duplicates: number;
  /** Length of a bar; null without bars. */
  barUs: number | null;
  /** Time without a book, after the first snapshot. */
  staleUs: number;
  firstUs: number;
  lastUs: number;
}

/** A command, and the record it came from; touches have none. */
export interface TapeStep {
  readonly record: TapeRecord;
  readonly command: Command | null;
  /** Whether the rebuilt book is that of the venue after this step. */
  readonly inSync: boolean;
}

/** Before the first of these the market waits for a book. */
const OF_A_BOOK: readonly RecordKind[] = ['depth', 'snapshot', 'trade', 'touch'];
const MAX_WAITING = 10_000;
const MAX_GAPS_LISTED = 1000;

export class BookSync {
  readonly facts: SyncFacts = {
    depths: 0,
    trades: 0,
    snapshots: 0,
    touches: 0,
    gaps: 0,
    gapList: [],
    dropped: 0,
    duplicates: 0,
    barUs: null,
    staleUs: 0,
    firstUs: 0,
    lastUs: 0,
  };
  private readonly market: MarketId;
  private state: 'waiting' | 'spanning' | 'following' = 'waiting';
  private lastId = 0;
  private lastTradeId = -1;
  private started = false;
  private opened = false;
  private staleSinceUs = -1;
  private waiting: DepthRecord[] = [];
  private readonly unitsOf: () => TapeUnits;

  constructor(market: MarketId, unitsOf: () => TapeUnits) {
    this.market = market;
    this.unitsOf = unitsOf;
  }

  /** Adds what an ordered record makes the exchange do to `steps`. */
  next(record: TapeRecord, steps: TapeStep[]): void {
    const { facts, market } = this;
    const { timeUs } = record;
    facts.lastUs = timeUs;
    if (!this.started) {
      this.started = true;
      facts.firstUs = timeUs;
    }
    if (!this.opened && OF_A_BOOK.includes(record.kind)) {
      this.opened = true;
      steps.push(this.gap(record));
    }
    const inSync = this.state !== 'waiting';
    switch (record.kind) {
      case 'snapshot':
        facts.snapshots += 1;
        this.onSnapshot(record, steps);
        break;
      case 'depth':
        facts.depths += 1;
        this.onDepth(record, steps);
        break;
      case 'trade': {
        facts.trades += 1;
        if (record.tradeId === this.lastTradeId) facts.duplicates += 1;
        this.lastTradeId = record.tradeId;
        const { priceTicks, lots } = record;
        steps.push({
          record,
          inSync,
          command: { kind: 'tapeTrade', timeUs, market, priceTicks, lots },
        });
        break;
      }
      case 'touch':
        facts.touches += 1;
        steps.push({ record, command: null, inSync });
        break;
      case 'mark': {
        const { priceTicks } = record;
        steps.push({ record, inSync, command: { kind: 'setMark', timeUs, market, priceTicks } });
        break;
      }
      case 'index': {
        const { priceTicks } = record;
        const text = inSteps(priceTicks, this.unitsOf().tickSize);
        const command = { kind: 'setIndex', timeUs, market, priceTicks, text } as const;
        steps.push({ record, inSync, command });
        break;
      }
      case 'funding': {
        const { ratePpb } = record;
        steps.push({ record, inSync, command: { kind: 'settleFunding', timeUs, market, ratePpb } });
        break;
      }
      default:
        throw new TapeError(`line ${String(record.line)}: the exchange plays no ${record.kind}`);
    }
  }

  private onSnapshot(record: SnapshotRecord, steps: TapeStep[]): void {
    if (this.state !== 'waiting' && record.lastId < this.lastId) {
      // Older than what we follow: it says nothing new.
      return;
    }
    if (this.staleSinceUs >= 0) {
      this.facts.staleUs += record.timeUs - this.staleSinceUs;
      this.noteGap(this.staleSinceUs, record.timeUs, 'the chain of updates breaks');
    }
    this.staleSinceUs = -1;
    this.state = 'spanning';
    this.lastId = record.lastId;
    steps.push({
      record,
      inSync: true,
      command: {
        kind: 'tapeSnapshot',
        timeUs: record.timeUs,
        market: this.market,
        levels: record.levels,
      },
    });
    const kept = this.waiting;
    this.waiting = [];
    for (const depth of kept) this.onDepth({ ...depth, timeUs: record.timeUs }, steps);
  }

  private onDepth(record: DepthRecord, steps: TapeStep[]): void {
    if (this.state === 'waiting') {
      this.waiting.push(record);
      if (this.waiting.length > MAX_WAITING) {
        this.waiting.shift();
        this.facts.dropped += 1;
      }
      return;
    }
    if (this.state === 'spanning') {
      if (record.lastId < this.lastId) {
        this.facts.dropped += 1;
        return;
      }
      if (record.firstId > this.lastId + 1) {
        this.lose(record, steps);
        return;
      }
      this.state = 'following';
    } else {
      if (record.lastId <= this.lastId) {
        this.facts.dropped += 1;
        return;
      }
      if (record.prevId !== this.lastId) {
        this.lose(record, steps);
        return;
      }
    }
    this.lastId = record.lastId;
    steps.push({
      record,
      inSync: true,
      command: {
        kind: 'tapeDepth',
        timeUs: record.timeUs,
        market: this.market,
        levels: record.levels,
      },
    });
  }

  private noteGap(fromUs: number, toUs: number, reason: string): void {
    const { gapList } = this.facts;
    if (gapList.length < MAX_GAPS_LISTED) gapList.push({ fromUs, toUs, reason });
  }

  private lose(record: DepthRecord, steps: TapeStep[]): void {
    this.facts.gaps += 1;
    steps.push(this.gap(record));
    this.staleSinceUs = record.timeUs;
    this.state = 'waiting';
    this.waiting = [record];
  }

  private gap(record: { readonly timeUs: TimeUs } & TapeRecord): TapeStep {
    return {
      record,
      inSync: false,
      command: { kind: 'tapeGap', timeUs: record.timeUs, market: this.market },
    };
  }
}
