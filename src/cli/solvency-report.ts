/**
 * Cost of a run's liquidations by payer, from its events, and the final solvency, from the
 * exchange. Amounts are decimal text, so the report is identical on a terminal and in JSON.
 *
 * Payments by insurance, counterparties and the shortfall for one unit are attributed to the market
 * of its positions closed at that time; to `several` if there were several, and to `none` for debt
 * without a position.
 */
import type { EngineEvent, LiquidationStep, PositionTransferred } from '../engine/events.ts';
import type { ExchangeView, MarketView } from '../engine/read/views.ts';
import { money, sizeText } from '../gateway/encode.ts';
import { notional } from '../num/notional.ts';
import {
  lots,
  quanta,
  type Address,
  type MarketId,
  type Quanta,
  type SubaccountId,
} from '../num/units.ts';

const PAYERS = ['book', 'takeover', 'insurance', 'adl', 'shortfall', 'fee'] as const;
/**
 * Steps of the ladder that close or pay, and the liquidation fee, which insurance receives.
 */
export type Payer = (typeof PAYERS)[number];

interface PayerRow {
  /** Symbol, `several` or `none`. */
  readonly market: string;
  readonly step: Payer;
  /** Cross units and isolated positions that reached this step. */
  readonly units: number;
  /** Size transferred; null if the step only pays, or for several markets. */
  readonly quantity: string | null;
  readonly notional: string;
  /**
   * Amount paid to the vault, by insurance, by counterparties or by the shortfall, or as a fee;
   * fills on the book have no extra cost.
   */
  readonly amount: string;
}

export interface SolvencyReport {
  readonly shortfall: {
    /** Losses that no other party could pay. */
    readonly begun: string;
    readonly paidByWithdrawals: string;
    readonly paidByInsurance: string;
    readonly repaid: string;
    /** Remaining shortfall, at most 0. */
    readonly left: string;
  };
  readonly insurance: {
    readonly deposits: string;
    /** Fees, rounding of funding, and repaid debts. */
    readonly income: string;
    readonly paid: string;
    readonly left: string;
  };
  readonly vault: {
    /** Paid in for shares minus paid out. */
    readonly deposits: string;
    readonly cash: string;
    /** By symbol. */
    readonly positions: Readonly<Record<string, string>>;
    /** Net asset value for payouts. */
    readonly value: string;
  };
  readonly depositsLessWithdrawals: string;
  /** Σ cash and margins − Σ cost − (deposits − withdrawals). */
  readonly conservationDifference: string;
  /** Σ equity at marks − (deposits − withdrawals) (R-1.6a). */
  readonly equityDifference: string;
  /** Number of commands after which all invariants were checked, and whether they held. */
  readonly checkedCommands: number;
  readonly invariantsHeld: boolean;
  readonly payers: readonly PayerRow[];
}

/** Input of the report; part of a scenario's result. */
interface SolvencyInput {
  readonly exchange: ExchangeView;
  readonly happened: readonly EngineEvent[];
  readonly commands: number;
  readonly invariantsHeld: boolean;
}

/** Null if there was no liquidation. */
export function solvencyReport(input: SolvencyInput): SolvencyReport | null {
  const { exchange, happened, commands, invariantsHeld } = input;
  if (!happened.some(({ kind }) => kind === 'liquidationStep')) return null;
  const { config } = exchange;
  const insurance = systemId(exchange, config.insuranceAccount);
  const shortfall = systemId(exchange, config.shortfallAccount);
  const vault = systemId(exchange, config.clsAccount);
  const flows = new Flows(happened, insurance, shortfall);
  const funds = exchange.funds();
  const supply = flows.supply;
  const held = totals(exchange);
  return {
    shortfall: {
      begun: money(flows.shortfallBegun),
      paidByWithdrawals: money(flows.withdrawalsToShortfall),
      paidByInsurance: money(flows.insuranceToShortfall),
      repaid: money(flows.repaidToShortfall),
      left: money(funds.shortfallQuanta),
    },
    insurance: {
      deposits: money(flows.insuranceDeposits),
      income: money(flows.insuranceIncome),
      paid: money(flows.insurancePaid),
      left: money(funds.insuranceQuanta),
    },
    vault: {
      deposits: money(flows.vaultDeposits),
      cash: money(vault === undefined ? quanta(0n) : exchange.subaccount(vault).balanceQuanta),
      positions: vault === undefined ? {} : positionsOf(exchange, vault),
      value: money(funds.vaultValueQuanta),
    },
    depositsLessWithdrawals: money(supply),
    conservationDifference: money(quanta(held.atCost - supply)),
    equityDifference: money(quanta(held.atMark - supply)),
    checkedCommands: commands,
    invariantsHeld,
    payers: new PayerTable(exchange, insurance).rows(happened),
  };
}

const systemId = (exchange: ExchangeView, account: Address): SubaccountId | undefined =>
  exchange.subaccountIdOf(account, 0);

function positionsOf(exchange: ExchangeView, id: SubaccountId): Record<string, string> {
  return Object.fromEntries(
    exchange.positions(id).map(({ market, lots: held }) => {
      const view = exchange.market(market);
      return [view.spec.symbol, sizeText(view, held)];
    }),
  );
}

/** Sums over all subaccounts, system accounts included. */
function totals(exchange: ExchangeView): { readonly atCost: bigint; readonly atMark: bigint } {
  let atCost = 0n;
  let atMark = 0n;
  for (let id = 0; id < exchange.subaccountCount; id += 1) {
    // Ids are dense from 0.
    const subaccount = id as SubaccountId;
    let cash: bigint = exchange.subaccount(subaccount).balanceQuanta;
    let gains = 0n;
    let cost = 0n;
    for (const position of exchange.positions(subaccount)) {
      cash += position.isolatedMarginQuanta;
      cost += position.costQuanta;
      gains += position.upnlQuanta;
    }
    atCost += cash - cost;
    atMark += cash + gains;
  }
  return { atCost, atMark };
}

/** Money of insurance and the shortfall, summed over ledger entries. */
class Flows {
  supply = quanta(0n);
  shortfallBegun = quanta(0n);
  withdrawalsToShortfall = quanta(0n);
  insuranceToShortfall = quanta(0n);
  repaidToShortfall = quanta(0n);
  insuranceDeposits = quanta(0n);
  insuranceIncome = quanta(0n);
  insurancePaid = quanta(0n);
  vaultDeposits = quanta(0n);

  constructor(
    happened: readonly EngineEvent[],
    insurance: SubaccountId | undefined,
    shortfall: SubaccountId | undefined,
  ) {
    for (const event of happened) {
      if (event.kind === 'vaultSharesChanged') {
        this.vaultDeposits = sum(this.vaultDeposits, event.amountQuanta);
      }
      if (event.kind !== 'balanceChanged') continue;
      const { subaccount, reason, deltaQuanta: delta } = event;
      if (reason === 'deposit' || reason === 'withdrawal') this.supply = sum(this.supply, delta);
      if (subaccount === insurance) this.ofInsurance(reason, delta);
      else if (subaccount === shortfall) this.ofShortfall(reason, delta);
      else if (reason === 'shortfall' && delta < 0n) {
        this.withdrawalsToShortfall = less(this.withdrawalsToShortfall, delta);
      }
    }
  }

  private ofInsurance(reason: string, delta: Quanta): void {
    if (reason === 'deposit' || reason === 'transferIn') {
      this.insuranceDeposits = sum(this.insuranceDeposits, delta);
    } else if (delta >= 0n) {
      this.insuranceIncome = sum(this.insuranceIncome, delta);
    } else {
      this.insurancePaid = less(this.insurancePaid, delta);
      if (reason === 'shortfall')
        this.insuranceToShortfall = less(this.insuranceToShortfall, delta);
    }
  }

  private ofShortfall(reason: string, delta: Quanta): void {
    if (delta < 0n) this.shortfallBegun = less(this.shortfallBegun, delta);
    else if (reason === 'insuranceRepaid') {
      this.repaidToShortfall = sum(this.repaidToShortfall, delta);
    }
  }
}

const sum = (a: Quanta, b: bigint): Quanta => quanta(a + b);
const less = (a: Quanta, b: bigint): Quanta => quanta(a - b);

interface Row {
  readonly market: MarketView | null;
  readonly label: string;
  readonly step: Payer;
  readonly units: Set<string>;
  lots: number;
  notional: bigint;
  amount: bigint;
}

/** Payments for one unit until the next unit is processed. */
interface Turn {
  readonly seq: number;
  readonly subaccount: SubaccountId;
  readonly unit: string;
  /** Market of the isolated position, or of the liquidation order. */
  market: MarketId | null;
  step: LiquidationStep['step'];
  readonly markets: Set<MarketId>;
  readonly paid: Map<Payer, bigint>;
}

/** Collects the rows in one pass over the events. */
class PayerTable {
  private readonly exchange: ExchangeView;
  private readonly insurance: SubaccountId | undefined;
  private readonly table = new Map<string, Row>();
  private turn: Turn | null = null;

  constructor(exchange: ExchangeView, insurance: SubaccountId | undefined) {
    this.exchange = exchange;
    this.insurance = insurance;
  }

  rows(happened: readonly EngineEvent[]): PayerRow[] {
    for (const event of happened) {
      if (this.turn !== null && event.seq !== this.turn.seq) this.endTurn();
      switch (event.kind) {
        case 'liquidationStep':
          this.onStep(event);
          break;
        case 'orderFilled':
          if (this.turn?.step === 'order' && event.role === 'taker') {
            if (event.subaccount !== this.turn.subaccount) break;
            this.moved('book', event.market, event.lots, event.priceTicks, this.turn.unit);
          }
          break;
        case 'positionTransferred':
          if (event.reason !== 'delisting') this.onTransfer(event);
          break;
        case 'balanceChanged':
          if (event.subaccount !== this.insurance || event.reason !== 'liquidationFee') break;
          this.pays('fee', event.deltaQuanta);
          break;
        default:
      }
    }
    this.endTurn();
    return this.ordered();
  }

  private onStep(event: LiquidationStep): void {
    const unit = `${String(event.subaccount)}/${event.isolated ? String(event.market) : ''}`;
    // Fees of a liquidation order belong to its market, so each order is a turn of its own.
    if (this.turn?.unit !== unit || event.step === 'order') this.endTurn();
    this.turn ??= {
      seq: event.seq,
      subaccount: event.subaccount,
      unit,
      market: event.market,
      step: event.step,
      markets: new Set(),
      paid: new Map(),
    };
    if (event.step !== 'order' && this.turn.step === 'order') this.endOrder(event);
    this.turn.step = event.step;
    if (event.step === 'insurance') this.pays('insurance', event.amountQuanta);
    if (event.step === 'shortfall') this.pays('shortfall', event.amountQuanta);
  }

  /** The unit moves down the ladder: later steps are not about the order's market. */
  private endOrder(event: LiquidationStep): void {
    const { turn } = this;
    if (turn === null) return;
    this.endTurn();
    const { step } = event;
    const market = event.isolated ? event.market : null;
    this.turn = { ...turn, market, step, markets: new Set(), paid: new Map() };
  }

  private onTransfer(event: PositionTransferred): void {
    const { market, from, reason, lots: held, priceTicks, moneyQuanta } = event;
    const { turn } = this;
    const isTurns = turn !== null && turn.subaccount === from;
    const step = reason === 'takeover' ? 'takeover' : 'adl';
    const unit = isTurns ? turn.unit : String(from);
    const row = this.moved(step, market, held, priceTicks, unit);
    if (isTurns) turn.markets.add(market);
    // The vault is paid for a take-over; a counterparty pays a charge, or is spared a loss.
    if (step === 'takeover') row.amount += moneyQuanta;
    else if (moneyQuanta < 0n) row.amount -= moneyQuanta;
  }

  private moved(
    step: Payer,
    market: MarketId,
    size: number,
    priceTicks: PositionTransferred['priceTicks'],
    unit: string,
  ): Row {
    const view = this.exchange.market(market);
    const row = this.row(step, view, view.spec.symbol);
    const held = Math.abs(size);
    row.units.add(unit);
    row.lots += held;
    row.notional += notional(lots(held), priceTicks, view.spec.quantaPerTickLot);
    return row;
  }

  private pays(payer: Payer, amount: bigint): void {
    const { turn } = this;
    if (turn === null) this.row(payer, null, 'none').amount += amount;
    else turn.paid.set(payer, (turn.paid.get(payer) ?? 0n) + amount);
  }

  /** Attributes the payments for the unit to the market of its positions. */
  private endTurn(): void {
    const { turn } = this;
    this.turn = null;
    if (turn === null) return;
    const [first, second] = turn.markets;
    const only = turn.market ?? (second === undefined ? first : undefined);
    const market = only === undefined ? null : this.exchange.market(only);
    const label = market?.spec.symbol ?? (second === undefined ? 'none' : 'several');
    for (const [payer, amount] of turn.paid) {
      const row = this.row(payer, market, label);
      row.units.add(turn.unit);
      row.amount += amount;
    }
  }

  private row(step: Payer, market: MarketView | null, label: string): Row {
    const key = `${label}/${step}`;
    let row = this.table.get(key);
    if (row === undefined) {
      row = { market, label, step, units: new Set(), lots: 0, notional: 0n, amount: 0n };
      this.table.set(key, row);
    }
    return row;
  }

  /** By market in listing order, then by step; `several` and `none` last. */
  private ordered(): PayerRow[] {
    const place = ({ market, step }: Row): number =>
      (market?.id ?? this.exchange.markets().length) * PAYERS.length + PAYERS.indexOf(step);
    return [...this.table.values()]
      .sort((a, b) => place(a) - place(b) || (a.label < b.label ? 1 : -1))
      .map(({ market, label, step, units, lots: held, notional: value, amount }) => ({
        market: label,
        step,
        units: units.size,
        quantity: market === null || held === 0 ? null : sizeText(market, lots(held)),
        notional: money(quanta(value)),
        amount: money(quanta(amount)),
      }));
  }
}
