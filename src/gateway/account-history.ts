/**
 * History of accounts for reads: fills, funding, liquidations and equity. It is a fold of the
 * engine's events beside the engine: no state hash has it, and it never changes an outcome.
 *
 * Equity is not sampled. An account's cash and positions are kept as they were at the end of each
 * minute in which they changed, and each market's last mark of a minute. So the equity at the end
 * of any minute is exact, and an idle account costs nothing.
 */
import type { EngineEvent, LiquidationStep, PositionTransferred } from '../engine/events.ts';
import type { ExchangeView, Moment } from '../engine/read/views.ts';
import { timeUs, type MarketId, type SubaccountId, type TimeUs } from '../num/units.ts';
import { sidesOf, type FillSide } from './feeds/feed-records.ts';
import { KeptEntries, KeptTotal } from './kept-entries.ts';
import { MarkHistory } from './mark-history.ts';

export const MINUTE_US = 60_000_000;
const MAX_OF_ACCOUNT = 2000;
const MAX_ENTRIES = 100_000;

export interface FillEntry extends Moment {
  readonly fill: Extract<EngineEvent, { kind: 'orderFilled' | 'positionTransferred' }>;
  readonly side: FillSide;
}
export interface FundingEntry extends Moment {
  readonly market: MarketId;
  /** Received; negative: paid. */
  readonly amountQuanta: bigint;
  readonly ratePpb: number;
  readonly lots: number;
  readonly isolated: boolean;
}
export interface LiquidationEntry extends Moment {
  readonly event: LiquidationStep | PositionTransferred;
  /** Signed size that left or entered the account; 0 for a step. */
  readonly lots: number;
}
/** Cash and positions after the last change of a minute. */
export interface AccountState extends Moment {
  /** Equity if every mark were 0: cash and isolated margin less the cost of positions. */
  readonly baseQuanta: bigint;
  readonly held: readonly (readonly [market: MarketId, lots: number])[];
}

interface Held {
  lots: number;
  costQuanta: bigint;
  /** Isolated margin. */
  marginQuanta: bigint;
}

/** Sums since the history begins. */
export interface Totals {
  fills: number;
  feesQuanta: bigint;
  fundingQuanta: bigint;
  /** By fills, before fees and funding. */
  realizedQuanta: bigint;
}

export class AccountLog {
  readonly fills = new KeptEntries<FillEntry>(MAX_OF_ACCOUNT);
  readonly funding = new KeptEntries<FundingEntry>(MAX_OF_ACCOUNT);
  readonly liquidations = new KeptEntries<LiquidationEntry>(MAX_OF_ACCOUNT);
  readonly states = new KeptEntries<AccountState>(MAX_OF_ACCOUNT);
  readonly totals: Totals = { fills: 0, feesQuanta: 0n, fundingQuanta: 0n, realizedQuanta: 0n };
  readonly held = new Map<MarketId, Held>();
  cashQuanta = 0n;
  /** Last change; null before the first. */
  changed: Moment | null = null;

  position(market: MarketId): Held {
    let held = this.held.get(market);
    if (held === undefined) {
      held = { lots: 0, costQuanta: 0n, marginQuanta: 0n };
      this.held.set(market, held);
    }
    return held;
  }

  /** The state now; null before the first change. */
  get now(): AccountState | null {
    if (this.changed === null) return null;
    let baseQuanta = this.cashQuanta;
    const held: (readonly [MarketId, number])[] = [];
    for (const [market, { lots, costQuanta, marginQuanta }] of this.held) {
      baseQuanta += marginQuanta - costQuanta;
      if (lots !== 0) held.push([market, lots]);
    }
    return { timeUs: this.changed.timeUs, seq: this.changed.seq, baseQuanta, held };
  }
}

/** Funding of one position, whose market and rate its settlement names. */
interface Unsettled {
  readonly log: AccountLog;
  readonly amountQuanta: bigint;
  readonly isolated: boolean;
}

export class AccountHistory {
  private view: ExchangeView;
  /** null: an account of the exchange itself, which has no history. */
  private logs = new Map<SubaccountId, AccountLog | null>();
  private markets = new Map<MarketId, MarkHistory>();
  private total = new KeptTotal(MAX_ENTRIES);
  private unsettled: Unsettled[] = [];
  /** Time from which the history is known; null: from the first command on. */
  sinceUs: TimeUs | null = null;

  /** Begins with the present state of the exchange. */
  constructor(view: ExchangeView) {
    this.view = view;
    this.seed();
    const isNew = [...this.logs.values()].every((log) => log === null);
    this.sinceUs = isNew ? null : view.nowUs;
  }

  /** Replaces the history by that of a replay of all commands. */
  rebuild(replayAll: (sink: (event: EngineEvent) => void) => void): void {
    this.logs = new Map();
    this.markets = new Map();
    this.total = new KeptTotal(MAX_ENTRIES);
    this.unsettled = [];
    this.sinceUs = null;
    replayAll((event) => {
      this.take(event);
    });
  }

  /** The exchange lost its last commands, as after a failure of the disk. */
  reset(view: ExchangeView): void {
    this.view = view;
    this.unsettled = [];
    for (const [id, log] of this.logs) {
      if (id >= view.subaccountCount) this.logs.delete(id);
      if (log === null) continue;
      for (const { side } of log.fills.cut(view.seq)) addFill(log, side, -1n);
      for (const one of log.funding.cut(view.seq)) log.totals.fundingQuanta -= one.amountQuanta;
      log.liquidations.cut(view.seq);
      log.states.cut(view.seq);
    }
    this.seed();
  }

  /** The account's log; undefined if nothing of it is known. */
  of(id: SubaccountId): AccountLog | undefined {
    return this.logs.get(id) ?? undefined;
  }

  marksOf(id: MarketId): MarkHistory | undefined {
    return this.markets.get(id);
  }

  private seed(): void {
    const { view } = this;
    for (const { id, markTicks } of view.markets()) {
      if (markTicks !== null) this.marks(id).set(view.nowUs, markTicks);
    }
    for (let id = 0; id < view.subaccountCount; id++) {
      const log = this.log(id as SubaccountId);
      if (log === null) continue;
      log.cashQuanta = view.subaccount(id as SubaccountId).balanceQuanta;
      log.held.clear();
      log.changed = { timeUs: view.nowUs, seq: view.seq };
    }
    for (const { id: market } of view.markets()) {
      for (const holder of view.holdersOf(market)) {
        const log = this.log(holder);
        if (log === null || log.held.size > 0) continue;
        for (const one of view.positions(holder)) {
          log.held.set(one.market, {
            lots: one.lots,
            costQuanta: one.costQuanta,
            marginQuanta: one.isolatedMarginQuanta,
          });
        }
      }
    }
  }

  private marks(id: MarketId): MarkHistory {
    let marks = this.markets.get(id);
    if (marks === undefined) {
      marks = new MarkHistory();
      this.markets.set(id, marks);
    }
    return marks;
  }

  private log(id: SubaccountId): AccountLog | null {
    let log = this.logs.get(id);
    if (log === undefined) {
      log = this.view.subaccount(id).system ? null : new AccountLog();
      this.logs.set(id, log);
    }
    return log;
  }

  take(event: EngineEvent): void {
    switch (event.kind) {
      case 'markChanged':
        this.marks(event.market).set(event.timeUs, event.markTicks);
        return;
      case 'balanceChanged': {
        const log = this.change(event.subaccount, event);
        if (log === null) return;
        log.cashQuanta = event.balanceQuanta;
        if (event.reason === 'funding') this.fund(log, event.deltaQuanta, false);
        return;
      }
      case 'isolatedMarginChanged': {
        const log = this.change(event.subaccount, event);
        if (log === null) return;
        log.position(event.market).marginQuanta = event.marginQuanta;
        if (event.reason === 'funding') this.fund(log, event.deltaQuanta, true);
        return;
      }
      case 'positionChanged': {
        const log = this.change(event.subaccount, event);
        if (log === null) return;
        const held = log.position(event.market);
        held.lots = event.lots;
        held.costQuanta = event.costQuanta;
        return;
      }
      case 'orderFilled':
        this.fill(event);
        return;
      case 'positionTransferred':
        this.fill(event);
        this.transferred(event);
        return;
      case 'liquidationStep': {
        if (event.step === 'safe') return;
        const log = this.log(event.subaccount);
        if (log !== null) this.total.add(log.liquidations, { ...momentOf(event), event, lots: 0 });
        return;
      }
      case 'fundingSettled':
        for (const { log, amountQuanta, isolated } of this.unsettled) {
          const { market, ratePpb } = event;
          const lots = log.held.get(market)?.lots ?? 0;
          const entry = { ...momentOf(event), market, amountQuanta, ratePpb, lots, isolated };
          this.total.add(log.funding, entry);
        }
        this.unsettled = [];
        return;
      default:
    }
  }

  /** The log of an account that changes; keeps its state of an earlier minute. */
  private change(id: SubaccountId, event: EngineEvent): AccountLog | null {
    const log = this.log(id);
    if (log === null) return null;
    const { changed } = log;
    if (changed !== null && minuteOf(changed.timeUs) < minuteOf(event.timeUs)) {
      const { now } = log;
      if (now !== null) this.total.add(log.states, now);
    }
    log.changed = momentOf(event);
    return log;
  }

  private fund(log: AccountLog, amountQuanta: bigint, isolated: boolean): void {
    log.totals.fundingQuanta += amountQuanta;
    this.unsettled.push({ log, amountQuanta, isolated });
  }

  private fill(fill: FillEntry['fill']): void {
    for (const side of sidesOf(fill)) {
      const log = this.log(side.subaccount);
      if (log === null) continue;
      addFill(log, side, 1n);
      this.total.add(log.fills, { ...momentOf(fill), fill, side });
    }
  }

  private transferred(event: PositionTransferred): void {
    for (const side of sidesOf(event)) {
      const log = this.log(side.subaccount);
      if (log === null) continue;
      this.total.add(log.liquidations, { ...momentOf(event), event, lots: side.lots });
    }
  }
}

function addFill({ totals }: AccountLog, side: FillSide, sign: 1n | -1n): void {
  totals.fills += Number(sign);
  totals.feesQuanta += sign * side.fee;
  totals.realizedQuanta += sign * side.exposure;
}

const minuteOf = (us: number): number => Math.floor(us / MINUTE_US);
const momentOf = ({ timeUs: at, seq }: EngineEvent): Moment => ({ timeUs: timeUs(at), seq });
