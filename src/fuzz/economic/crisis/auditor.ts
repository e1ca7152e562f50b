/**
 * Measures the coalition's gain and the losses of others from exchange events. It uses none of the
 * exchange's own figures: positions are valued at the index, which the coalition cannot move.
 *
 * Free money is the smaller of two amounts:
 * - the gain: claims and withdrawals of the coalition, less deposits, price luck and insurance
 *   payments. Price luck is the result of its net position from index moves and from fills away
 *   from the index. It cancels if the coalition holds both sides. A unit below 0 counts as 0,
 *   because its owner abandons it.
 * - the unfair losses of other parties: charges to parties without a gain in this step; losses of
 *   solvent accounts beyond liquidation costs; losses of the vault by take-overs at prices worse
 *   than the index; unbacked debts and shortfall at the end; funding from quotes that an
 *   arbitrageur could not reach; deficits of accounts that withdrew while their market was frozen.
 *
 * Neither luck alone nor harm without profit counts.
 */
import type { EngineEvent, PositionTransferred } from '../../../engine/events.ts';
import type { SubaccountId } from '../../../num/units.ts';
import { AccountBooks, UNIT } from './account-books.ts';
import type { CrisisWorld, Opened } from './crisis-world.ts';

const VIRTUAL = 1_000_000;
/** Differences below a cent per event are rounding. */
const TOLERANCE = 10_000;
const LIQUIDATION_FEE_PPM = 5000;
const PPM = 1_000_000;

export const UNFAIR = [
  'chargedWithoutGain',
  'solventOwner',
  'vaultTakeover',
  'vaultShares',
  'unbacked',
  'funding',
  'frozenWithdrawal',
  'insuranceLimit',
] as const;
export type Unfair = (typeof UNFAIR)[number];

export interface Finding {
  /** Free money in Quanta; above 0 is a defect of the exchange. */
  readonly free: number;
  /** Gain without price luck, before insurance is deducted. */
  readonly gain: number;
  /** Paid by insurance. */
  readonly insurance: number;
  readonly unfair: Readonly<Record<Unfair, number>>;
  /** Objective of the hill climb. */
  readonly score: number;
}

/** An honest position that was liquidated in this command. */
interface Liquidated {
  loss: number;
  allowed: number;
  equity: number;
}

export class Auditor {
  readonly books: AccountBooks;
  /** Index of each market; the last one during an outage. */
  readonly prices: number[];
  /** Markets with a fill of the maker's orders. */
  readonly makerFilled = new Set<number>();
  private readonly world: CrisisWorld;
  private readonly coalition: ReadonlySet<SubaccountId>;
  private readonly pricesBefore: number[];
  /** Mark of each market. */
  readonly marks: number[];
  private readonly marksBefore: number[];
  private readonly startWorth: number;
  private luck = 0;
  private deposited = 0;
  private withdrawn = 0;
  private insurancePaid = 0;
  private honestFunding = 0;
  private vaultLoss = 0;
  /** Money moved at prices away from the index: not a finding, but a gradient for the climb. */
  private near = 0;
  private readonly liquidated = new Map<SubaccountId, Liquidated>();
  private readonly equityAtStep = new Map<SubaccountId, number>();
  private readonly movedOut = new Map<SubaccountId, number>();
  private readonly deficits = new Map<SubaccountId, number>();
  private readonly unfair: Record<Unfair, number> = {
    chargedWithoutGain: 0,
    solventOwner: 0,
    vaultTakeover: 0,
    vaultShares: 0,
    unbacked: 0,
    funding: 0,
    frozenWithdrawal: 0,
    insuranceLimit: 0,
  };

  constructor(world: CrisisWorld, opened: Opened) {
    this.world = world;
    this.books = opened.books.copy();
    this.coalition = new Set(world.coalition.map(({ id }) => id));
    this.prices = world.markets.map(({ path }) => path[0] ?? 0);
    this.pricesBefore = [...this.prices];
    this.marks = [...this.prices];
    this.marksBefore = [...this.prices];
    this.startWorth = this.worth();
  }

  /** Called before a command. */
  begin(): void {
    for (let m = 0; m < this.prices.length; m++) this.pricesBefore[m] = this.prices[m] ?? 0;
  }

  /** A member withdrew money that its frozen position may need at the thaw. */
  noteMovedOut(id: SubaccountId, amount: number): void {
    this.movedOut.set(id, (this.movedOut.get(id) ?? 0) + amount);
  }

  readonly take = (event: EngineEvent): void => {
    switch (event.kind) {
      case 'oracleSet':
        this.moveIndex(event.market, event.indexTicks);
        break;
      case 'markChanged':
        this.marksBefore[event.market] = this.marks[event.market] ?? event.markTicks;
        this.marks[event.market] = event.markTicks;
        break;
      case 'orderFilled': {
        const index = this.prices[event.market] ?? 0;
        if (this.coalition.has(event.subaccount)) {
          this.luck += event.lots * (index - event.priceTicks) * UNIT;
        } else if (event.subaccount === this.world.maker) this.makerFilled.add(event.market);
        break;
      }
      case 'balanceChanged':
        this.noteMoney(event.subaccount, event.reason, Number(event.deltaQuanta));
        break;
      case 'isolatedMarginChanged':
        this.noteMoney(event.subaccount, event.reason, Number(event.deltaQuanta));
        break;
      case 'fundingSettled':
        if (this.world.markets[event.market]?.hasArbitrageur === true) {
          this.unfair.funding += Math.max(0, -this.honestFunding);
        }
        this.honestFunding = 0;
        break;
      case 'liquidationStep':
        if (this.isOutsider(event.subaccount)) {
          const { subaccount, market } = event;
          const equity =
            event.isolated && market !== null
              ? this.books.isolatedValue(subaccount, market, this.prices)
              : this.books.crossValue(subaccount, this.prices);
          this.equityAtStep.set(subaccount, equity);
        }
        break;
      case 'positionTransferred':
        this.noteTransfer(event);
        break;
      default:
    }
    this.books.take(event);
  };

  /** Called after a command; `thawed`: the market whose index resumed. */
  end(thawed: boolean): void {
    this.unfair.vaultTakeover += excess(this.vaultLoss);
    this.vaultLoss = 0;
    for (const { loss, allowed, equity } of this.liquidated.values()) {
      this.unfair.solventOwner += excess(Math.min(loss, Math.max(0, equity)) - allowed);
    }
    this.liquidated.clear();
    this.equityAtStep.clear();
    if (thawed) {
      for (const [id, deficit] of this.deficits) {
        this.unfair.frozenWithdrawal += excess(Math.min(deficit, this.movedOut.get(id) ?? 0));
      }
      this.movedOut.clear();
    }
    this.deficits.clear();
  }

  /** Value at the index of vault shares outside the coalition. */
  outsidersInVault(): number {
    const vault = this.books.crossValue(this.world.vault, this.prices);
    return Math.max(0, vault) - this.sharesWorth();
  }

  /** Loss of other holders from shares minted or burned for a member. */
  noteShareLoss(loss: number): void {
    this.unfair.vaultShares += excess(loss);
  }

  find(insuranceAllowed: number): Finding {
    this.unfair.unbacked = 0;
    for (let id = 0; id < this.books.accounts.length; id++) {
      this.unfair.unbacked += this.books.debts(id as SubaccountId, this.prices);
    }
    this.unfair.insuranceLimit = Math.max(0, this.insurancePaid - insuranceAllowed);
    const gained = this.worth() + this.withdrawn - this.deposited - this.startWorth;
    const gain = gained - Math.max(0, this.luck);
    const beyond = gain - this.insurancePaid + this.unfair.insuranceLimit;
    const losses = UNFAIR.reduce((sum, kind) => sum + this.unfair[kind], 0);
    const free = Math.min(beyond, losses);
    const isFree = free >= MIN_FINDING;
    const score =
      losses + this.near + (beyond < 0 ? beyond : Math.min(beyond, 1000 * VIRTUAL) / 10);
    return {
      free: isFree ? free : Math.min(free, 0),
      gain,
      insurance: this.insurancePaid,
      unfair: { ...this.unfair },
      score: isFree ? 1e15 + free : score,
    };
  }

  private isOutsider(id: SubaccountId): boolean {
    return this.world.honest.has(id) || id === this.world.vault;
  }

  private moveIndex(market: number, price: number): void {
    const move = (price - (this.prices[market] ?? price)) * UNIT;
    this.prices[market] = price;
    if (move === 0) return;
    let size = this.sharePart() * this.books.holding(this.world.vault, market).lots;
    for (const id of this.coalition) size += this.books.holding(id, market).lots;
    this.luck += size * move;
  }

  private noteMoney(id: SubaccountId, reason: string, delta: number): void {
    if (id === this.world.insurance && delta < 0) this.insurancePaid -= delta;
    if (reason === 'funding' && this.isOutsider(id)) this.honestFunding += delta;
    if (reason === 'insurance' && delta < 0 && this.isOutsider(id)) {
      this.unfair.chargedWithoutGain += excess(-delta);
    }
    if (!this.coalition.has(id)) return;
    if (reason === 'deposit') this.deposited += delta;
    if (reason === 'withdrawal') this.withdrawn -= delta;
  }

  /** The positions of both parties are already updated. */
  private noteTransfer(event: PositionTransferred): void {
    const { from, to, market, lots, priceTicks, reason } = event;
    const money = Number(event.moneyQuanta);
    const index = this.prices[market] ?? 0;
    const size = Math.abs(lots);
    const received = lots * (index - priceTicks) * UNIT + money;
    if (this.isOutsider(from)) {
      const tier = this.world.markets[market]?.spec.tiers[0];
      const maintenancePpm = tier?.maintenanceMarginPpm ?? 0;
      const initialPpm = tier?.initialMarginPpm ?? 0;
      const deviationPpm = Math.min(maintenancePpm / 2, initialPpm - maintenancePpm, 10_000);
      const costPpm =
        reason === 'takeover' ? maintenancePpm / 2 + deviationPpm : LIQUIDATION_FEE_PPM;
      const sum = this.liquidated.get(from) ?? { loss: 0, allowed: 0, equity: 0 };
      sum.loss += received;
      sum.allowed += (size * index * UNIT * costPpm) / PPM;
      sum.equity = this.equityAtStep.get(from) ?? 0;
      this.liquidated.set(from, sum);
    }
    if (reason === 'takeover') {
      this.vaultLoss -= received;
      this.near += Math.max(0, lots * (priceTicks - index) * UNIT);
      return;
    }
    if (!this.isOutsider(to)) return;
    const side = lots > 0 ? -1 : 1;
    const indexBefore = this.pricesBefore[market] ?? index;
    const markBefore = this.marksBefore[market] ?? index;
    const reference =
      side > 0 ? Math.min(indexBefore, markBefore) : Math.max(indexBefore, markBefore);
    const gainOfStep = Math.max(0, side * (index - reference)) * size * UNIT;
    this.unfair.chargedWithoutGain += excess(-received - gainOfStep);
    if (money < 0 && this.coalition.has(from)) {
      this.deficits.set(from, (this.deficits.get(from) ?? 0) - money);
    }
  }

  private sharePart(): number {
    let held = 0;
    for (const id of this.coalition) held += this.books.account(id).shares;
    return held === 0 ? 0 : held / (this.books.totalShares + VIRTUAL);
  }

  private sharesWorth(): number {
    const vault = this.books.crossValue(this.world.vault, this.prices);
    return vault <= 0 ? 0 : Math.floor(this.sharePart() * (vault + VIRTUAL));
  }

  private worth(): number {
    let worth = this.sharesWorth();
    for (const id of this.coalition) worth += this.books.claims(id, this.prices);
    return worth;
  }
}

/** Findings below one dollar are ignored. */
const MIN_FINDING = 1_000_000;

const excess = (loss: number): number => (loss > TOLERANCE ? loss : 0);
