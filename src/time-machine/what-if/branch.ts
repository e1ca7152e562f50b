/**
 * A what-if: the journal with edits, executed beside the journal as it was, command by command.
 * Both begin from the same state just before the first edit, unless a parameter of the exchange
 * changes: then both begin at the first command.
 *
 * A command keeps its time, or gets the time of the branch if that is later. A command that names
 * what the branch lacks (a cancel of an order that was dropped) is left out and counted.
 */
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig } from '../../engine/config.ts';
import type { EngineEvent } from '../../engine/events.ts';
import { Exchange } from '../../engine/exchange.ts';
import { outcomeCode } from '../../engine/refusals.ts';
import { timeUs, type SubaccountId } from '../../num/units.ts';
import { TimelineError, type Timeline } from '../timeline.ts';
import type { RunCursor } from '../run-cursor.ts';
import { money } from '../../gateway/encode.ts';
import { subaccountName } from '../views/account-names.ts';
import { OrderOrigins, translate } from './branch-ids.ts';
import {
  BranchRecord,
  type AccountOutcome,
  type CurvePoint,
  type FillRow,
  type LiquidationRow,
} from './branch-record.ts';
import { firstEdited, plannedAt, type Edit } from './edit.ts';

export interface BranchOptions {
  /** Last command of the journal to execute; its end by default. */
  readonly untilSeq?: number;
  /** Most points of a curve. */
  readonly points?: number;
}

export interface OutcomeDifference {
  readonly seq: number;
  readonly base: string;
  readonly branch: string;
}

/** Differences of two runs by meaning, as plain data. */
export interface BranchComparison {
  readonly fromSeq: number;
  readonly toSeq: number;
  /** First command whose outcome or events differ; null if no effect differs. */
  readonly firstDivergence: OutcomeDifference | null;
  /** Commands of both runs with another outcome; at most 200. */
  readonly outcomes: readonly OutcomeDifference[];
  /** Commands of the journal that the branch left out since they name what it lacks. */
  readonly skipped: readonly number[];
  readonly fills: {
    readonly base: number;
    readonly branch: number;
    /** At most 200 each. */
    readonly onlyBase: readonly FillRow[];
    readonly onlyBranch: readonly FillRow[];
  };
  readonly liquidations: {
    readonly base: readonly LiquidationRow[];
    readonly branch: readonly LiquidationRow[];
  };
  /** Accounts of users whose result differs, by size of the difference. */
  readonly accounts: readonly AccountOutcome[];
  /** Equity of the accounts that differ most, at most 4, in both runs. */
  readonly curves: readonly { readonly account: string; readonly points: readonly CurvePoint[] }[];
  readonly baseHash: string;
  readonly branchHash: string;
}

const LIMIT = 200;

export class Branch {
  private readonly edits: readonly Edit[];
  private readonly timeline: Timeline;
  private readonly base: RunCursor;
  private readonly branch: Exchange;
  private readonly baseOrders: OrderOrigins;
  private readonly branchOrders: OrderOrigins;
  private readonly baseRecord = new BranchRecord();
  private readonly branchRecord = new BranchRecord();
  private readonly fromSeq: number;
  private readonly untilSeq: number;
  private readonly every: number;
  private readonly points: number;
  private readonly outcomes: OutcomeDifference[] = [];
  private readonly skipped: number[] = [];
  private firstDivergence: OutcomeDifference | null = null;
  private done = false;

  /** Throws `TimelineError` if an edit names a command or parameter that cannot change. */
  constructor(timeline: Timeline, edits: readonly Edit[], options: BranchOptions = {}) {
    if (edits.length === 0) throw new TimelineError('a what-if needs an edit', { field: 'edits' });
    this.timeline = timeline;
    this.edits = edits;
    const config = edits.filter((edit) => edit.kind === 'config');
    if (config.length > 0 && timeline.baseSeq > 0) {
      throw new TimelineError('parameters can change only in a journal with its first command');
    }
    this.fromSeq = firstEdited(edits, timeline.baseSeq);
    this.untilSeq = options.untilSeq ?? timeline.progress.seq;
    this.base = timeline.cursorAt(this.fromSeq - 1);
    this.branch =
      config.length > 0
        ? new Exchange(
            config.reduce<ExchangeConfig>(
              (merged, { changes }) => ({ ...merged, ...changes }),
              this.base.engine.config,
            ),
          )
        : this.base.engine.fork();
    this.baseOrders = new OrderOrigins(this.base.engine.lastOrderId);
    this.branchOrders = new OrderOrigins(this.base.engine.lastOrderId);
    this.points = options.points ?? 200;
    this.every = Math.max(1, Math.floor((this.untilSeq - this.fromSeq + 1) / this.points));
  }

  /** Executes up to `commands` more of the journal; true at the end. */
  run(commands: number): boolean {
    for (let i = 0; i < commands && !this.done; i++) this.step();
    return this.done;
  }

  /** The branch after the last command that was executed. */
  get engine(): Exchange {
    return this.branch;
  }

  private step(): void {
    const { base, branch } = this;
    const command = base.seq < this.untilSeq ? base.peek() : null;
    const seq = base.seq + 1;
    const planned = plannedAt(this.edits, seq, command, (of) => this.commandAt(of));
    // Ids are those of the journal before the command.
    const translated = planned.map(({ origin, command: of, without }) => ({
      origin,
      without,
      command: translate(of, base.engine, branch, this.baseOrders, this.branchOrders),
    }));
    const baseEvents: EngineEvent[] = [];
    let baseOutcome = 'none';
    if (command !== null) {
      baseOutcome = outcomeCode(base.step((event) => baseEvents.push(event)) ?? 'ok');
      this.baseOrders.note(String(seq), baseEvents);
      this.baseRecord.add(base.engine, seq, baseEvents, this.baseOrders);
    }
    const branchEvents: EngineEvent[] = [];
    const branchOutcomes: string[] = [];
    let ownOutcome: string | null = null;
    for (const [i, { origin, command: of, without }] of translated.entries()) {
      if (of === null) {
        this.skipped.push(origin ?? seq);
        continue;
      }
      const events: EngineEvent[] = [];
      const at = timeUs(Math.max(branch.nowUs, Math.min(of.timeUs, command?.timeUs ?? Infinity)));
      const outcome = branch.apply({ ...of, timeUs: at }, (event) => events.push(event));
      branchOutcomes.push(outcomeCode(outcome));
      if (origin === seq) ownOutcome = outcomeCode(outcome);
      this.branchOrders.note(
        origin === null ? `new ${String(seq)}.${String(i)}` : String(origin),
        events,
        without,
      );
      this.branchRecord.add(branch, seq, events, this.branchOrders);
      branchEvents.push(...events);
    }
    if (ownOutcome !== null && ownOutcome !== baseOutcome && this.outcomes.length < LIMIT) {
      this.outcomes.push({ seq, base: baseOutcome, branch: ownOutcome });
    }
    this.compare(seq, baseOutcome, branchOutcomes.join(', ') || 'none', baseEvents, branchEvents);
    if ((seq - this.fromSeq) % this.every === 0 || command === null) this.sample(seq);
    this.done = command === null;
  }

  private commandAt(seq: number): Command | null {
    return this.timeline.commandAt(seq);
  }

  private compare(
    seq: number,
    base: string,
    branch: string,
    baseEvents: readonly EngineEvent[],
    branchEvents: readonly EngineEvent[],
  ): void {
    const isOther = base !== branch;
    if (this.firstDivergence !== null) return;
    const before = baseEvents.map((event) => effectText(event, this.baseOrders));
    const after = branchEvents.map((event) => effectText(event, this.branchOrders));
    const at = before.findIndex((text, i) => text !== after[i]);
    if (!isOther && at < 0 && before.length === after.length) return;
    const place = at < 0 ? before.length : at;
    this.firstDivergence = {
      seq,
      base: isOther ? base : (before[place] ?? 'nothing'),
      branch: isOther ? branch : (after[place] ?? 'nothing'),
    };
  }

  private sample(seq: number): void {
    this.baseRecord.sample(this.base.engine, seq);
    this.branchRecord.sample(this.branch, seq);
  }

  /** The differences up to here. */
  comparison(): BranchComparison {
    const base = this.base.engine;
    const accounts = this.accountOutcomes();
    const { baseRecord, branchRecord } = this;
    return {
      fromSeq: this.fromSeq,
      toSeq: base.seq,
      firstDivergence: this.firstDivergence,
      outcomes: this.outcomes,
      skipped: this.skipped,
      fills: {
        base: baseRecord.fillCount,
        branch: branchRecord.fillCount,
        onlyBase: baseRecord.fillsBeyond(branchRecord).slice(0, LIMIT),
        onlyBranch: branchRecord.fillsBeyond(baseRecord).slice(0, LIMIT),
      },
      liquidations: { base: baseRecord.liquidations, branch: branchRecord.liquidations },
      accounts,
      curves: accounts.slice(0, 4).map(({ account, address, index }) => ({
        account,
        points: baseRecord.curve(branchRecord, address, index),
      })),
      baseHash: base.chainHash(),
      branchHash: this.branch.chainHash(),
    };
  }

  private accountOutcomes(): AccountOutcome[] {
    const base = this.base.engine;
    const { branch } = this;
    const rows: (AccountOutcome & { readonly by: bigint })[] = [];
    const seen = new Set<string>();
    for (const view of [base, branch]) {
      for (let id = 0; id < view.subaccountCount; id++) {
        const { account, index, system } = view.subaccount(id as SubaccountId);
        const address = view.addressOf(account);
        const key = `${address}/${String(index)}`;
        if (system || seen.has(key)) continue;
        seen.add(key);
        const before = resultOf(base, address, index);
        const after = resultOf(branch, address, index);
        const baseLiquidated = this.baseRecord.liquidated.has(key);
        const branchLiquidated = this.branchRecord.liquidated.has(key);
        if (before === after && baseLiquidated === branchLiquidated) continue;
        const by = (after ?? 0n) - (before ?? 0n);
        rows.push({
          account: subaccountName(view, id as SubaccountId),
          address,
          index,
          basePnl: before === null ? null : money(before),
          branchPnl: after === null ? null : money(after),
          difference: money(by),
          baseLiquidated,
          branchLiquidated,
          by: by < 0n ? -by : by,
        });
      }
    }
    rows.sort((a, b) => (a.by === b.by ? 0 : a.by > b.by ? -1 : 1));
    return rows.map(({ by: _, ...row }) => row);
  }
}

/** Equity less net deposits; null if the account does not exist. */
function resultOf(
  view: Exchange,
  address: ReturnType<Exchange['addressOf']>,
  index: number,
): bigint | null {
  const id = view.subaccountIdOf(address, index);
  if (id === undefined) return null;
  const { accountValueQuanta, netDepositsQuanta } = view.margin(id);
  return accountValueQuanta - netDepositsQuanta;
}

/** An event without numbers that only count: its position, ids of trades, and dense order ids. */
function effectText(event: EngineEvent, orders: OrderOrigins): string {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(event) as [string, unknown][]) {
    if (name === 'seq' || name === 'index' || name === 'tradeId') continue;
    if (name === 'orderId') fields[name] = orders.originOf(value as number);
    else fields[name] = value;
  }
  return JSON.stringify(fields, (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}
