/**
 * Converts ordered records to engine commands by the venue's rule for a local book. Depth is valid
 * from the update that spans a snapshot's id, as long as each update follows the previous one.
 * Before a snapshot and after a break the market waits (`tapeGap`).
 *
 * Depth received before its snapshot is buffered, because a snapshot is older than its line in the
 * recording.
 */
import type { Command } from '../engine/commands.ts';
import { inSteps } from '../gateway/encode.ts';
import { lots, type MarketId, type TimeUs } from '../num/units.ts';
import type { GapManifest } from './manifest.ts';
import type {
  BarRecord,
  DepthRecord,
  OrderRecord,
  RecordKind,
  SnapshotRecord,
  TapeRecord,
  TapeUnits,
  TradeRecord,
} from './record.ts';
import { PriceJumps, type PriceJump, type PriceRange } from './price-jumps.ts';
import { barCommand, TradeQuotes } from './synthetic-tape.ts';
import { DEFAULT_TAPE_MODEL, type Fidelity, type TapeModel } from './tape-model.ts';

export interface SyncFacts {
  depths: number;
  trades: number;
  snapshots: number;
  touches: number;
  bars: number;
  orders: number;
  /** Breaks of the update chain, after which the market waits for a snapshot, and missing bars. */
  gaps: number;
  /** Location of the gaps, at most the first 1,000. */
  readonly gapList: GapManifest[];
  /** Depth updates that are older than the snapshot or repeated. */
  dropped: number;
  /** Depth updates whose ids are at or before those of the current book. */
  repeatedUpdates: number;
  /** Trades, bars and funding rates that repeat the previous one; they are skipped. */
  duplicates: number;
  /** Bars that start before the previous one ends. */
  overlaps: number;
  /** Changes of the price by more than 10 % from one record to the next. */
  jumps: number;
  readonly jumpList: readonly PriceJump[];
  /** Largest change of the price from one record to the next, as a ratio from 1. */
  largestJump: number;
  /** Prices of trades, bars, marks and best prices; null without any. */
  prices: PriceRange | null;
  /** Bars without volume, where bars are played: by default nothing fills in them. */
  emptyBars: number;
  /** Length of a bar; null without bars. */
  barUs: number | null;
  /** Time without a book: before the first snapshot, and from a gap to the next one or the end. */
  staleUs: number;
  firstUs: number;
  lastUs: number;
}

/** A command and its source record; touches have no command. */
export interface TapeStep {
  readonly record: TapeRecord;
  readonly command: Command | null;
  /** Whether the rebuilt book equals the venue's after this step. */
  readonly inSync: boolean;
}

/** Kinds of record of which the first opens the book. */
const OF_A_BOOK: readonly RecordKind[] = ['depth', 'snapshot', 'trade', 'touch', 'order'];
const MAX_WAITING = 10_000;
const MAX_GAPS_LISTED = 1000;

export class BookSync {
  private readonly jumps = new PriceJumps();
  readonly facts: SyncFacts = {
    depths: 0,
    trades: 0,
    snapshots: 0,
    touches: 0,
    bars: 0,
    orders: 0,
    gaps: 0,
    gapList: [],
    dropped: 0,
    repeatedUpdates: 0,
    duplicates: 0,
    overlaps: 0,
    emptyBars: 0,
    jumps: 0,
    jumpList: this.jumps.list,
    largestJump: 1,
    prices: null,
    barUs: null,
    staleUs: 0,
    firstUs: 0,
    lastUs: 0,
  };
  private readonly market: MarketId;
  private state: 'waiting' | 'spanning' | 'following' = 'waiting';
  private lastId = 0;
  private lastTrade: TradeRecord | null = null;
  private lastFundingUs = -1;
  /** Time of the first record while the book waits for its first snapshot; −1 otherwise. */
  private unopenedSinceUs = -1;
  private started = false;
  private opened = false;
  private staleSinceUs = -1;
  private pending: DepthRecord[] = [];
  private lastBarUs = -1;
  private readonly unitsOf: () => TapeUnits;
  private readonly fidelity: Fidelity;
  private readonly model: TapeModel;
  private readonly quotes: TradeQuotes;

  /** Records below `fidelity` do not change the book, such as bars if a book is recorded. */
  constructor(
    market: MarketId,
    unitsOf: () => TapeUnits,
    fidelity: Fidelity = 'l2',
    model: TapeModel = DEFAULT_TAPE_MODEL,
  ) {
    this.market = market;
    this.unitsOf = unitsOf;
    this.fidelity = fidelity;
    this.model = model;
    this.quotes = new TradeQuotes(market, model);
  }

  /** Appends the steps of an ordered record to `steps`. */
  next(record: TapeRecord, steps: TapeStep[]): void {
    const { facts, market } = this;
    const { timeUs } = record;
    facts.lastUs = timeUs;
    if (!this.started) {
      this.started = true;
      facts.firstUs = timeUs;
    }
    this.jumps.take(record);
    if (!this.opened && OF_A_BOOK.includes(record.kind)) this.open(record, steps);
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
        const isRepeated = isSameTrade(record, this.lastTrade);
        this.lastTrade = record;
        if (isRepeated) {
          facts.duplicates += 1;
          break;
        }
        for (const command of this.tradeCommands(record)) steps.push({ record, inSync, command });
        break;
      }
      case 'bar':
        this.onBar(record, steps);
        break;
      case 'order': {
        facts.orders += 1;
        const { action, ref, side, priceTicks, lots } = record;
        if (this.fidelity === 'trades' && action === 'execute') {
          for (const command of this.tradeCommands(executionOf(record)))
            steps.push({ record, inSync, command });
        }
        if (this.fidelity !== 'l3') break;
        steps.push({
          record,
          inSync,
          command: { kind: 'tapeL3', timeUs, market, action, ref, side, priceTicks, lots },
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
        // The same file twice must not pay twice.
        if (timeUs === this.lastFundingUs) {
          facts.duplicates += 1;
          break;
        }
        this.lastFundingUs = timeUs;
        steps.push({ record, inSync, command: { kind: 'settleFunding', timeUs, market, ratePpb } });
        break;
      }
    }
  }

  /** Ends the facts: a book that no snapshot has restored is stale until the last record. */
  finish(): void {
    const { facts, jumps } = this;
    facts.jumps = jumps.count;
    facts.largestJump = jumps.largest;
    facts.prices = jumps.range;
    const isUnopened = facts.depths > 0 && facts.snapshots === 0;
    const fromUs = isUnopened ? this.unopenedSinceUs : this.staleSinceUs;
    if (!this.hasBook || this.state !== 'waiting' || fromUs < 0) return;
    facts.staleUs += facts.lastUs - fromUs;
    if (isUnopened) facts.gaps += 1;
    this.noteGap(fromUs, facts.lastUs, isUnopened ? 'no snapshot' : 'the chain of updates breaks');
    this.staleSinceUs = -1;
    this.unopenedSinceUs = -1;
  }

  /** Whether depth and snapshots change the book. */
  private get hasBook(): boolean {
    return this.fidelity === 'l2' || this.fidelity === 'l3';
  }

  /**
   * A book waits for its snapshot; a book of single orders starts empty unless its first record is
   * a snapshot.
   */
  private open(record: TapeRecord, steps: TapeStep[]): void {
    this.opened = true;
    const { market } = this;
    if (this.fidelity === 'l2') {
      this.unopenedSinceUs = record.timeUs;
      steps.push(this.gap(record));
    }
    if (this.fidelity !== 'l3') return;
    this.state = 'spanning';
    const { timeUs } = record;
    const command = { kind: 'tapeSnapshot', timeUs, market, levels: [] } as const;
    steps.push({ record, inSync: true, command });
  }

  private tradeCommands(record: TradeRecord): readonly Command[] {
    const { fidelity, market } = this;
    if (fidelity === 'bars') return [];
    if (fidelity === 'trades') return this.quotes.commands(record);
    const { timeUs, priceTicks, lots } = record;
    return [{ kind: 'tapeTrade', timeUs, market, priceTicks, lots }];
  }

  private onBar(bar: BarRecord, steps: TapeStep[]): void {
    const { facts } = this;
    facts.bars += 1;
    if (bar.timeUs === this.lastBarUs) {
      facts.duplicates += 1;
      return;
    }
    facts.barUs ??= bar.timeUs - bar.startUs + 1;
    if (bar.startUs <= this.lastBarUs) facts.overlaps += 1;
    if (this.lastBarUs >= 0 && bar.startUs > this.lastBarUs + 1) {
      facts.gaps += 1;
      this.noteGap(this.lastBarUs + 1, bar.startUs, 'bars are missing');
    }
    this.lastBarUs = bar.timeUs;
    if (this.fidelity !== 'bars') return;
    if (bar.volume === 0) facts.emptyBars += 1;
    steps.push({
      record: bar,
      inSync: true,
      command: barCommand(bar, this.market, this.model),
    });
  }

  private onSnapshot(record: SnapshotRecord, steps: TapeStep[]): void {
    if (!this.hasBook) return;
    if (this.state !== 'waiting' && record.lastId < this.lastId) {
      // Older than the current book: no new information.
      return;
    }
    if (this.unopenedSinceUs >= 0) this.facts.staleUs += record.timeUs - this.unopenedSinceUs;
    this.unopenedSinceUs = -1;
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
    const kept = this.pending;
    this.pending = [];
    for (const depth of kept) this.onDepth({ ...depth, timeUs: record.timeUs }, steps);
  }

  private onDepth(record: DepthRecord, steps: TapeStep[]): void {
    if (!this.hasBook) return;
    if (this.state === 'waiting') {
      this.pending.push(record);
      if (this.pending.length > MAX_WAITING) {
        this.pending.shift();
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
        this.facts.repeatedUpdates += 1;
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
    this.pending = [record];
  }

  private gap(record: { readonly timeUs: TimeUs } & TapeRecord): TapeStep {
    return {
      record,
      inSync: false,
      command: { kind: 'tapeGap', timeUs: record.timeUs, market: this.market },
    };
  }
}

/** The trade of an executed order. */
function executionOf({
  side,
  lots: size,
  timeUs,
  localUs,
  line,
  priceTicks,
}: OrderRecord): TradeRecord {
  const signed = lots(side === 'bid' ? -size : size);
  return { kind: 'trade', timeUs, localUs, line, tradeId: line, priceTicks, lots: signed };
}

function isSameTrade(a: TradeRecord, b: TradeRecord | null): boolean {
  return (
    a.tradeId === b?.tradeId &&
    a.timeUs === b.timeUs &&
    a.priceTicks === b.priceTicks &&
    a.lots === b.lots
  );
}
