/** State of a market: spec, book and prices; arithmetic is in pricing/. */
import { wordOf, type Archive } from '../../base/archive.ts';
import { floorDivInt } from '../../num/arithmetic.ts';
import {
  lots,
  ppb,
  priceTicks,
  quanta,
  seq,
  timeUs,
  type Lots,
  type MarketId,
  type Ppb,
  type PriceTicks,
  type Quanta,
  type Seq,
  type TimeUs,
} from '../../num/units.ts';
import { OrderBook } from '../book/order-book.ts';
import type { OrderTable } from '../book/order-table.ts';
import { codeOf } from '../../base/code-of.ts';
import { archiveSpec } from '../snapshot/config-archive.ts';
import {
  MARKET_STATUSES,
  type MarketSpec,
  type MarketStatus,
  type RetentionConfig,
} from '../config.ts';
import { TriggerIndex } from '../orders/trigger-index.ts';
import { LiquidationIndex } from '../liquidation/liquidation-index.ts';
import { SquareRoot } from '../tape/square-root.ts';
import { TapeBook } from '../tape/tape-book.ts';
import { Candles } from './candles.ts';
import { Holders } from './holders.ts';
import { TradeHistory } from './recent-trades.ts';

/** Marks and EMA steps occur at whole seconds (R-5.3a). */
export const SECOND_US = 1_000_000;

/**
 * Lower bound of the times of the timers of all markets, so that a command before it reads no
 * market. A timer that moves later leaves the bound; the next scan makes it exact again.
 */
export class MarketTimers {
  earliestUs = Infinity;

  note(dueUs: number): void {
    if (dueUs < this.earliestUs) this.earliestUs = dueUs;
  }
}

/** The mark and the lowest maintenance rate at which the units of a market were tested. */
export interface TestedTerms {
  readonly markTicks: PriceTicks | null;
  readonly maintenancePpm: number;
}

export class Market {
  readonly id: MarketId;
  private timers = new MarketTimers();
  /** Terms in force; the operator may change some of them. */
  spec: MarketSpec;
  /** Announced terms and the time they take effect; null and Infinity without any. */
  nextSpec: MarketSpec | null = null;
  private termsDue = Infinity;
  status: MarketStatus = 'open';
  /** No triggers, funding or liquidation, and only fills that reduce both sides (R-5.3b). */
  frozen = false;
  frozenSinceUs: TimeUs = timeUs(0);
  /** Time at which its price source becomes stale; Infinity without one. */
  private freezeDue = Infinity;
  readonly book: OrderBook;
  readonly tape = new TapeBook();
  /** State of the `squareRoot` impact model; null under the others. */
  readonly impact: SquareRoot | null;
  readonly trades: TradeHistory;
  readonly candles: Candles;
  readonly triggers = new TriggerIndex();
  /** Holders of a position, and bounds on the mark within which none is liquidatable; derived. */
  readonly holders = new Holders();
  readonly liquidation = new LiquidationIndex();

  /** The highest and lowest rates of any tier; derived. */
  highestInitialPpm = 0;
  highestMaintenancePpm = 0;
  lowestMaintenancePpm = 0;
  /** As of the beginning of the timer instant, for its settlement of funding. */
  readonly tested: { markTicks: PriceTicks | null; maintenancePpm: number } = {
    markTicks: null,
    maintenancePpm: 0,
  };

  indexTicks: PriceTicks | null = null;
  indexText: string | null = null;
  /** When the index was last set or confirmed (R-5.3 staleness). */
  indexAtUs: TimeUs = timeUs(0);
  markTicks: PriceTicks | null = null;
  /** Whether it was frozen at the last risk check; a thaw makes clearing debts due. Derived. */
  frozenAtCheck = false;
  /** When a recorded mark was last set. */
  markAtUs: TimeUs = timeUs(0);
  lastTicks: PriceTicks | null = null;
  /** Σ of long lots; equals Σ of short lots. */
  openInterestLots: Lots = lots(0);
  /** Limit of open interest; `maxOpenInterestNotional` lowers it at the first price. */
  openInterestCapLots: Lots;
  /** Insurance payments for this market's deficits in the current hour (`insuranceHourUs`). */
  insurancePaid: Quanta = quanta(0n);
  /** The vault's order to close its position; 0 without one. */
  vaultOrder = 0;
  /** Sequence number of the last command that changed the book. */
  bookSeq: Seq = seq(0);

  /** The trigger source at the last check. */
  seenSource: PriceTicks | null = null;

  /** Funding: sum of samples since settlement in 1e-9, and the last rate. */
  premiumSum = 0n;
  premiumCount = 0;
  fundingRatePpb: Ppb = ppb(0);
  /** Next sample and next settlement; Infinity while neither could have an effect. */
  private sampleDue = Infinity;
  private fundingDue = Infinity;

  /**
   * EMA of (impact mid − index) in 1e-6 ticks, its last sample in half ticks, and the
   * newest second included. Only for a `median` mark. Products are exact.
   */
  emaMicroTicks = 0;
  emaSampleHalfTicks = 0;
  emaSecond: number;
  /** Time of the next sample; Infinity while frozen, and while book and index are unchanged. */
  private emaDue = Infinity;
  /** Last price and (derived) `book.changes` after the last command; detect a dirty mark. */
  seenLast: PriceTicks | null = null;
  seenChanges = 0;
  /** Next whole second at which the mark is recomputed; Infinity if nothing changed. */
  private markDue = Infinity;

  constructor(
    id: MarketId,
    spec: MarketSpec,
    table: OrderTable,
    retention: RetentionConfig,
    nowUs: TimeUs,
  ) {
    this.id = id;
    this.spec = spec;
    this.deriveRates();
    this.openInterestCapLots = spec.maxOpenInterestLots;
    this.book = new OrderBook(table);
    this.impact =
      spec.impactModel === 'squareRoot' ? new SquareRoot(spec.impactHalfLifeUs, nowUs) : null;
    this.trades = new TradeHistory(retention.tradesPerMarket);
    this.candles = new Candles(retention.candleMinutesPerMarket);
    this.emaSecond = floorDivInt(nowUs, SECOND_US);
  }

  get termsDueUs(): number {
    return this.termsDue;
  }
  set termsDueUs(dueUs: number) {
    this.termsDue = dueUs;
    this.timers.note(dueUs);
  }
  get freezeDueUs(): number {
    return this.freezeDue;
  }
  set freezeDueUs(dueUs: number) {
    this.freezeDue = dueUs;
    this.timers.note(dueUs);
  }
  get sampleDueUs(): number {
    return this.sampleDue;
  }
  set sampleDueUs(dueUs: number) {
    this.sampleDue = dueUs;
    this.timers.note(dueUs);
  }
  get fundingDueUs(): number {
    return this.fundingDue;
  }
  set fundingDueUs(dueUs: number) {
    this.fundingDue = dueUs;
    this.timers.note(dueUs);
  }
  get emaDueUs(): number {
    return this.emaDue;
  }
  set emaDueUs(dueUs: number) {
    this.emaDue = dueUs;
    this.timers.note(dueUs);
  }
  get markDueUs(): number {
    return this.markDue;
  }
  set markDueUs(dueUs: number) {
    this.markDue = dueUs;
    this.timers.note(dueUs);
  }

  /** Time of its next timer; Infinity without one. */
  get nextTimerUs(): number {
    return Math.min(
      Math.min(this.emaDue, this.markDue, this.sampleDue),
      Math.min(this.fundingDue, this.freezeDue, this.termsDue),
    );
  }

  /** Its timers count in this bound from now on. */
  joinTimers(timers: MarketTimers): void {
    this.timers = timers;
    timers.note(this.nextTimerUs);
  }

  /** Derives rates of all tiers; initial rates include announced terms. */
  deriveRates(): void {
    const tiers = [...this.spec.tiers, ...(this.nextSpec?.tiers ?? [])];
    this.highestInitialPpm = Math.max(...tiers.map((tier) => tier.initialMarginPpm));
    const maintenance = this.spec.tiers.map((tier) => tier.maintenanceMarginPpm);
    this.highestMaintenancePpm = Math.max(...maintenance);
    this.lowestMaintenancePpm = Math.min(...maintenance);
  }

  /** Before the mark and the terms of a timer instant change. All units are tested at its end. */
  beginInstant(): void {
    this.tested.markTicks = this.markTicks;
    this.tested.maintenancePpm = this.lowestMaintenancePpm;
  }

  archive(io: Archive, nowUs: TimeUs): void {
    io.section('market');
    this.indexTicks = optionalTicks(io.optionalInt(this.indexTicks));
    this.indexText = io.optionalText(this.indexText);
    this.indexAtUs = timeUs(io.int(this.indexAtUs));
    this.markTicks = optionalTicks(io.optionalInt(this.markTicks));
    this.markAtUs = timeUs(io.int(this.markAtUs));
    this.status = wordOf(MARKET_STATUSES, io.int(codeOf(MARKET_STATUSES, this.status)));
    this.frozen = io.bool(this.frozen);
    if (io.loading) this.frozenAtCheck = this.frozen;
    this.frozenSinceUs = timeUs(io.int(this.frozenSinceUs));
    this.freezeDueUs = archiveDue(io, this.freezeDueUs);
    this.nextSpec = io.bool(this.nextSpec !== null) ? archiveSpec(io, this.nextSpec) : null;
    this.termsDueUs = archiveDue(io, this.termsDueUs);
    if (io.loading) this.deriveRates();
    this.openInterestCapLots = lots(io.int(this.openInterestCapLots));
    this.insurancePaid = quanta(io.bigint(this.insurancePaid));
    this.vaultOrder = io.int(this.vaultOrder);
    this.lastTicks = optionalTicks(io.optionalInt(this.lastTicks));
    this.openInterestLots = lots(io.int(this.openInterestLots));
    this.emaMicroTicks = Number(io.bigint(BigInt(this.emaMicroTicks)));
    this.emaSampleHalfTicks = io.int(this.emaSampleHalfTicks);
    this.emaSecond = io.int(this.emaSecond);
    this.emaDueUs = archiveDue(io, this.emaDueUs);
    this.seenLast = optionalTicks(io.optionalInt(this.seenLast));
    this.seenSource = optionalTicks(io.optionalInt(this.seenSource));
    this.markDueUs = archiveDue(io, this.markDueUs);
    this.premiumSum = io.bigint(this.premiumSum);
    this.premiumCount = io.int(this.premiumCount);
    this.fundingRatePpb = ppb(io.int(this.fundingRatePpb));
    this.sampleDueUs = archiveDue(io, this.sampleDueUs);
    this.fundingDueUs = archiveDue(io, this.fundingDueUs);
    this.tape.archive(io, nowUs);
    this.impact?.archive(io, nowUs);
  }
}

/** A time, or Infinity. */
function archiveDue(io: Archive, dueUs: number): number {
  return io.optionalInt(dueUs === Infinity ? null : dueUs) ?? Infinity;
}

function optionalTicks(value: number | null): PriceTicks | null {
  return value === null ? null : priceTicks(value);
}
