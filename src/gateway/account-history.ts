/**
 * History of accounts for reads: fills, funding, liquidations and equity. It is a fold of the
 * engine's events beside the engine: no state hash has it, and it never changes an outcome.
 *
 * Equity is not sampled. An account's cash and positions are kept as they were at the end of each
 * minute in which they changed, and each market's last mark of a minute. So the equity at the end
 * of any minute is exact, and an account costs nothing before its first event. Where the history
 * begins later than the exchange, accounts with positions are read at once, since events of a fill
 * come after its changes. The cash of others before their first event follows from that event.
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

/** Lists of an account, each made for its first entry. */
interface Lists {
  fills?: KeptEntries<FillEntry>;
  funding?: KeptEntries<FundingEntry>;
  liquidations?: KeptEntries<LiquidationEntry>;
  states?: KeptEntries<AccountState>;
}

export class AccountLog {
  private readonly lists: Lists = {};
  /** Where the log begins. */
  readonly begun: Moment;
  readonly totals: Totals = { fills: 0, feesQuanta: 0n, fundingQuanta: 0n, realizedQuanta: 0n };
  readonly held = new Map<MarketId, Held>();
  cashQuanta = 0n;
  /** Last change; null before the first. */
  changed: Moment | null = null;

  constructor(begun: Moment) {
    this.begun = begun;
  }

  get fills(): KeptEntries<FillEntry> {
    return (this.lists.fills ??= new KeptEntries(MAX_OF_ACCOUNT));
  }

  get funding(): KeptEntries<FundingEntry> {
    return (this.lists.funding ??= new KeptEntries(MAX_OF_ACCOUNT));
  }

  get liquidations(): KeptEntries<LiquidationEntry> {
    return (this.lists.liquidations ??= new KeptEntries(MAX_OF_ACCOUNT));
  }

  get states(): KeptEntries<AccountState> {
    return (this.lists.states ??= new KeptEntries(MAX_OF_ACCOUNT));
  }

  /** Removes entries of commands after `seq`. */
  cut(total: KeptTotal, seq: number): void {
    const { fills, funding, liquidations, states } = this.lists;
    if (fills !== undefined) total.cut(fills, seq);
    if (funding !== undefined) total.cut(funding, seq);
    if (liquidations !== undefined) total.cut(liquidations, seq);
    if (states !== undefined) total.cut(states, seq);
  }

  /** Takes the present cash and positions. */
  read(view: ExchangeView, id: SubaccountId, changed: Moment): void {
    this.changed = changed;
    this.cashQuanta = view.subaccount(id).balanceQuanta;
    this.held.clear();
    for (const { market, lots, costQuanta, isolatedMarginQuanta } of view.positions(id)) {
      this.held.set(market, { lots, costQuanta, marginQuanta: isolatedMarginQuanta });
    }
  }

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

/** An addition to the sums of an account by a command that may still be lost. */
interface Addition {
  readonly seq: number;
  readonly log: AccountLog;
  /** null: funding. */
  readonly side: FillSide | null;
  readonly fundingQuanta: bigint;
}

/** Additions that are kept before those of durable commands are dropped. */
const ADDITIONS = 1000;

/** State of the exchange with which a history begins. */
interface Start extends Moment {
  /** Accounts that existed: ids below it. */
  readonly accounts: number;
}

export class AccountHistory {
  private view: ExchangeView;
  /** Of accounts with events; null: one of the exchange itself, which has no history. */
  private logs = new Map<SubaccountId, AccountLog | null>();
  private markets = new Map<MarketId, MarkHistory>();
  private total = new KeptTotal(MAX_ENTRIES);
  private unsettled: Unsettled[] = [];
  /**
   * Of the last commands. Entries cannot stand for them: a list may have dropped entries of the
   * commands that are lost.
   */
  private additions: Addition[] = [];
  private dropAt = ADDITIONS;
  private readonly durableSeq: () => number;
  /** null: the history is known from the first command on. */
  private start: Start | null;

  /**
   * Begins with the present state of the exchange.
   *
   * @param durableSeq last command that `reset` cannot lose
   */
  constructor(view: ExchangeView, durableSeq: () => number) {
    this.view = view;
    this.durableSeq = durableSeq;
    this.seedMarks();
    this.start = isNew(view)
      ? null
      : { timeUs: view.nowUs, seq: view.seq, accounts: view.subaccountCount };
    if (this.start === null) return;
    for (const { id: market } of view.markets()) {
      for (const holder of view.holdersOf(market)) {
        if (!this.logs.has(holder)) this.logs.set(holder, this.open(holder, this.start));
      }
    }
  }

  /** Time from which the history is known; null: from the first command on. */
  get sinceUs(): TimeUs | null {
    return this.start === null ? null : timeUs(this.start.timeUs);
  }

  /** Replaces the history by that of a replay of all commands. */
  rebuild(replayAll: (sink: (event: EngineEvent) => void) => void): void {
    this.logs = new Map();
    this.markets = new Map();
    this.total = new KeptTotal(MAX_ENTRIES);
    this.unsettled = [];
    this.additions = [];
    this.start = null;
    replayAll((event) => {
      this.take(event);
    });
  }

  /** The exchange lost its last commands, as after a failure of the disk. */
  reset(view: ExchangeView): void {
    this.view = view;
    this.unsettled = [];
    this.seedMarks();
    const { seq } = view;
    const now: Moment = { timeUs: view.nowUs, seq };
    for (const { log, side, fundingQuanta } of this.additions.filter((one) => one.seq > seq)) {
      log.totals.fundingQuanta -= fundingQuanta;
      if (side !== null) addFill(log, side, -1n);
    }
    this.additions = this.additions.filter((one) => one.seq <= seq);
    for (const [id, log] of this.logs) {
      const isLost = id >= view.subaccountCount || (log !== null && log.begun.seq > seq);
      if (isLost) this.logs.delete(id);
      log?.cut(this.total, isLost ? -1 : seq);
      // Changes of earlier minutes are among the states that are left.
      if (log !== null && !isLost && (log.changed?.seq ?? 0) > seq) log.read(view, id, now);
    }
  }

  /** The account's log; undefined if nothing of it is known. */
  of(id: SubaccountId): AccountLog | undefined {
    const log = this.logs.get(id);
    if (log !== undefined) return log ?? undefined;
    if (this.start === null || id >= this.start.accounts) return undefined;
    return this.open(id, this.start) ?? undefined;
  }

  marksOf(id: MarketId): MarkHistory | undefined {
    return this.markets.get(id);
  }

  private seedMarks(): void {
    const { view } = this;
    for (const { id, markTicks } of view.markets()) {
      if (markTicks !== null) this.marks(id).set(view.nowUs, markTicks);
    }
  }

  /** The log of an account that has had no event since the start. */
  private open(id: SubaccountId, start: Start): AccountLog | null {
    if (this.view.subaccount(id).system) return null;
    const log = new AccountLog(start);
    log.read(this.view, id, start);
    return log;
  }

  private marks(id: MarketId): MarkHistory {
    let marks = this.markets.get(id);
    if (marks === undefined) {
      marks = new MarkHistory();
      this.markets.set(id, marks);
    }
    return marks;
  }

  private log(id: SubaccountId, event: EngineEvent): AccountLog | null {
    let log = this.logs.get(id);
    if (log === undefined) {
      log = this.begin(id, event);
      this.logs.set(id, log);
    }
    return log;
  }

  /** The log of an account whose first event this is, with its state before. */
  private begin(id: SubaccountId, event: EngineEvent): AccountLog | null {
    const { view, start } = this;
    const { system, balanceQuanta } = view.subaccount(id);
    if (system) return null;
    if (start === null || id >= start.accounts) return new AccountLog(momentOf(event));
    // It had no position at the start, and cash has no change without an event.
    const log = new AccountLog(start);
    const isOfCash = event.kind === 'balanceChanged' && event.subaccount === id;
    log.cashQuanta = isOfCash ? event.balanceQuanta - event.deltaQuanta : balanceQuanta;
    log.changed = { timeUs: start.timeUs, seq: start.seq };
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
        if (event.reason === 'funding') this.fund(log, event, false);
        return;
      }
      case 'isolatedMarginChanged': {
        const log = this.change(event.subaccount, event);
        if (log === null) return;
        log.position(event.market).marginQuanta = event.marginQuanta;
        if (event.reason === 'funding') this.fund(log, event, true);
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
        const log = this.log(event.subaccount, event);
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
    const log = this.log(id, event);
    if (log === null) return null;
    const { changed } = log;
    if (changed !== null && minuteOf(changed.timeUs) < minuteOf(event.timeUs)) {
      const { now } = log;
      if (now !== null) this.total.add(log.states, now);
    }
    log.changed = momentOf(event);
    return log;
  }

  private fund(
    log: AccountLog,
    { seq, deltaQuanta: amountQuanta }: { readonly seq: number; readonly deltaQuanta: bigint },
    isolated: boolean,
  ): void {
    log.totals.fundingQuanta += amountQuanta;
    this.note({ seq, log, side: null, fundingQuanta: amountQuanta });
    this.unsettled.push({ log, amountQuanta, isolated });
  }

  private fill(fill: FillEntry['fill']): void {
    for (const side of sidesOf(fill)) {
      const log = this.log(side.subaccount, fill);
      if (log === null) continue;
      addFill(log, side, 1n);
      this.note({ seq: fill.seq, log, side, fundingQuanta: 0n });
      this.total.add(log.fills, { ...momentOf(fill), fill, side });
    }
  }

  private note(addition: Addition): void {
    this.additions.push(addition);
    if (this.additions.length < this.dropAt) return;
    const durable = this.durableSeq();
    this.additions = this.additions.filter(({ seq }) => seq > durable);
    this.dropAt = 2 * this.additions.length + ADDITIONS;
  }

  private transferred(event: PositionTransferred): void {
    for (const side of sidesOf(event)) {
      const log = this.log(side.subaccount, event);
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

/** No account but those of the exchange itself exists. */
function isNew(view: ExchangeView): boolean {
  for (let id = 0; id < view.subaccountCount; id++) {
    if (!view.subaccount(id as SubaccountId).system) return false;
  }
  return true;
}

const minuteOf = (us: number): number => Math.floor(us / MINUTE_US);
const momentOf = ({ timeUs: at, seq }: EngineEvent): Moment => ({ timeUs: timeUs(at), seq });
