/**
 * From ordered records to engine commands, by the venue's rule for a local book: depth is good from the update that
 * spans a snapshot's id, and then as long as each update follows the one before. Until a snapshot, and after a break, the
 * market waits (`tapeGap`).
 *
 * Depth that arrived before its snapshot is kept, since a snapshot is older than the line it stands on.
 */
import type { Command } from '../../engine/commands.ts';
import type { MarketId, TimeUs } from '../../num/units.ts';
import type { DepthRecord, SnapshotRecord, TapeRecord } from './record.ts';

export interface SyncFacts {
  depths: number;
  trades: number;
  snapshots: number;
  touches: number;
  /** Breaks of the chain of updates; the market waits for a snapshot after each. */
  gaps: number;
  /** Depth updates older than the snapshot, or repeated. */
  dropped: number;
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

const MAX_WAITING = 10_000;

export class BookSync {
  readonly facts: SyncFacts = {
    depths: 0,
    trades: 0,
    snapshots: 0,
    touches: 0,
    gaps: 0,
    dropped: 0,
    staleUs: 0,
    firstUs: 0,
    lastUs: 0,
  };
  private readonly market: MarketId;
  private state: 'waiting' | 'spanning' | 'following' = 'waiting';
  private lastId = 0;
  private started = false;
  private staleSinceUs = -1;
  private waiting: DepthRecord[] = [];

  constructor(market: MarketId) {
    this.market = market;
  }

  /** What an ordered record makes the exchange do. */
  next(record: TapeRecord): TapeStep[] {
    const { facts } = this;
    facts.lastUs = record.timeUs;
    const steps: TapeStep[] = [];
    if (!this.started) {
      this.started = true;
      facts.firstUs = record.timeUs;
      steps.push(this.gap(record));
    }
    switch (record.kind) {
      case 'snapshot':
        facts.snapshots += 1;
        this.onSnapshot(record, steps);
        break;
      case 'depth':
        facts.depths += 1;
        this.onDepth(record, steps);
        break;
      case 'trade':
        facts.trades += 1;
        steps.push({
          record,
          inSync: this.state !== 'waiting',
          command: {
            kind: 'tapeTrade',
            timeUs: record.timeUs,
            market: this.market,
            priceTicks: record.priceTicks,
            lots: record.lots,
          },
        });
        break;
      default:
        facts.touches += 1;
        steps.push({ record, command: null, inSync: this.state !== 'waiting' });
    }
    return steps;
  }

  private onSnapshot(record: SnapshotRecord, steps: TapeStep[]): void {
    if (this.state !== 'waiting' && record.lastId < this.lastId) {
      // Older than what we follow: it says nothing new.
      return;
    }
    if (this.staleSinceUs >= 0) this.facts.staleUs += record.timeUs - this.staleSinceUs;
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
