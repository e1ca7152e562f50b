/**
 * The plan of a clearing as a pure function: lots closed per party, charges, and the
 * payments of owner, insurance and shortfall. Everything is computed before any state changes.
 *
 * The sums balance by construction. With D the deficit and R the relief of counterparties: D = Σ
 * charges + deficit left to the shortfall; R = the owner's part + insurance + relief left to the
 * shortfall.
 */
import { maxBig, minBig } from '../../num/arithmetic.ts';

/** The risk unit of a party. The parties of one unit in several markets share one object. */
export interface PlanUnit {
  /** Its equity at marks, without gains of frozen positions. */
  readonly equity: bigint;
  /** The house is charged up to its gain of this step, whatever its equity, and needs no relief. */
  readonly isHouse: boolean;
}

/** A holder of the opposite side. */
export interface PlanParty {
  readonly unit: PlanUnit;
  readonly lots: number;
}

/** A fresh position of the unit being cleared. */
export interface PlanPosition {
  readonly side: 1 | -1;
  readonly lots: number;
  /** Quanta of one lot over one tick. */
  readonly tickLot: bigint;
  readonly markTicks: number;
  readonly settleTicks: number;
  /** From the previous mark to the settlement price; 0 if this step did not recompute the mark. */
  readonly settleMove: number;
  /** Requirement and notional at the mark: weights of a deficit beyond this step's losses. */
  readonly maintenance: bigint;
  readonly value: bigint;
  /** Liquidation fee when the equity at the settlement price is above zero. */
  readonly fee: bigint;
  /** Remaining insurance allowance of this market. */
  readonly allowance: bigint;
  /** In rank order; their lots cover the position. */
  readonly parties: readonly PlanParty[];
}

/** Lots that one party closes, and the money that moves with them. */
export interface Closing {
  /** Indices into the positions and their parties. */
  readonly position: number;
  readonly party: number;
  readonly lots: number;
  /** Paid by the party. */
  readonly charge: bigint;
  /** Paid to the party, so that the settlement price does not take it below zero. */
  readonly relief: bigint;
}

export interface ClearingPlan {
  /** By position, in rank order. */
  readonly closings: readonly Closing[];
  /** By position. */
  readonly fees: readonly bigint[];
  readonly insurance: readonly bigint[];
  readonly shortfall: bigint;
}

/** Loss of the unit on the position in this step, up to the settlement price. */
export function lossOf({ side, lots, tickLot, settleMove }: PlanPosition): bigint {
  return money(lots, tickLot, Math.max(0, -side * settleMove));
}

/** Allocates a deficit to positions: by this step's losses, then by maintenance. */
export function layDeficit(deficit: bigint, positions: readonly PlanPosition[]): bigint[] {
  const losses = positions.map(lossOf);
  const lost = sum(losses);
  if (deficit > lost) {
    const beyond = deficit - lost;
    const requirements = positions.map(({ maintenance }) => maintenance);
    const weights =
      sum(requirements) > 0n ? requirements : positions.map(({ value }) => maxBig(1n, value));
    const total = sum(weights);
    const parts = weights.map((weight) => (beyond * weight) / total);
    const rest = beyond - sum(parts);
    return losses.map((loss, i) => loss + (parts[i] ?? 0n) + (i === 0 ? rest : 0n));
  }
  const laid = losses.map((loss) => (lost === 0n ? 0n : (deficit * loss) / lost));
  let rest = deficit - sum(laid);
  return laid.map((part, i) => {
    const more = minBig(rest, (losses[i] ?? 0n) - part);
    rest -= more;
    return part + more;
  });
}

/** Insurance for each part of a deficit: within the market's allowance and, in sum, `total`. */
export function planInsurance(
  laid: readonly bigint[],
  positions: readonly PlanPosition[],
  total: bigint,
): bigint[] {
  let left = total;
  return laid.map((part, i) => {
    const pays = minBig(left, minBig(part, positions[i]?.allowance ?? 0n));
    left -= pays;
    return pays;
  });
}

/** The parties that close, in rank order until the position is covered. */
interface Share {
  readonly position: number;
  readonly party: number;
  readonly unit: PlanUnit;
  readonly lots: number;
  /** The most that may be charged here, apart from the equity of the unit. */
  readonly bound: bigint;
  /** Value at the settlement price less value at the mark. */
  readonly gain: bigint;
  charge: bigint;
  relief: bigint;
}

/**
 * Closes all positions against their parties. `equity`: at settlement prices, after insurance.
 * `payable`: what the owner can pay of it without gains in frozen markets.
 */
export function planClearing(
  equity: bigint,
  positions: readonly PlanPosition[],
  insurance: bigint,
  payable: bigint = equity,
): ClearingPlan {
  const shares = positions.map(sharesOf);
  const all = shares.flat();
  const left = equitiesAfter(all);
  let shortfall = 0n;
  if (equity < 0n) shortfall += charge(-equity, positions, shares, left);

  // The owner pays the relief first, then insurance.
  const relief = shares.map((of) => sum(of.map((share) => share.relief)));
  let own = maxBig(0n, equity);
  const unpaid = relief.map((part) => {
    const pays = minBig(own, part);
    own -= pays;
    return part - pays;
  });
  const insured = planInsurance(unpaid, positions, insurance);
  shortfall += sum(unpaid) - sum(insured);
  let money = maxBig(0n, minBig(own, payable - (maxBig(0n, equity) - own)));
  const fees = positions.map(({ fee }) => {
    const pays = minBig(money, fee);
    money -= pays;
    return pays;
  });
  return {
    closings: all.map(({ position, party, lots, charge: paid, relief: spared }) => ({
      position,
      party,
      lots,
      charge: paid,
      relief: spared,
    })),
    fees,
    insurance: insured,
    shortfall,
  };
}

function sharesOf(position: PlanPosition, index: number): Share[] {
  const { side, tickLot, markTicks, settleTicks, settleMove } = position;
  const move = Math.max(0, -side * settleMove);
  const shares: Share[] = [];
  let open = position.lots;
  for (let party = 0; open > 0; party++) {
    const counterparty = position.parties[party];
    if (counterparty === undefined) throw new RangeError('the parties cover the position');
    const lots = Math.min(open, counterparty.lots);
    open -= lots;
    shares.push({
      position: index,
      party,
      unit: counterparty.unit,
      lots,
      bound: money(lots, tickLot, move),
      gain: money(lots, tickLot, side * (markTicks - settleTicks)),
      charge: 0n,
      relief: 0n,
    });
  }
  return shares;
}

/**
 * Equity of each unit after closing all its lots at settlement prices. Units that would end below
 * zero get relief: up to 0, or up to their previous equity. The relief is allocated to lots that
 * close at a loss against the mark.
 */
function equitiesAfter(shares: readonly Share[]): Map<PlanUnit, bigint> {
  const left = new Map<PlanUnit, bigint>();
  for (const { unit, gain } of shares) left.set(unit, (left.get(unit) ?? unit.equity) + gain);
  for (const share of shares) {
    if (share.unit.isHouse || share.gain >= 0n) continue;
    const after = left.get(share.unit) ?? 0n;
    const lacks = minBig(0n, share.unit.equity) - after;
    share.relief = maxBig(0n, minBig(lacks, -share.gain));
    left.set(share.unit, after + share.relief);
  }
  return left;
}

/** Charges a deficit to the parties within their capacity; returns the rest, for the shortfall. */
function charge(
  deficit: bigint,
  positions: readonly PlanPosition[],
  shares: readonly (readonly Share[])[],
  left: Map<PlanUnit, bigint>,
): bigint {
  const laid = layDeficit(deficit, positions);
  let rest = 0n;
  shares.forEach((of, i) => {
    const part = laid[i] ?? 0n;
    rest += part - bear(part, of, left);
  });
  // The uncovered deficit of a market goes to the other markets, up to the unit's own loss there.
  shares.forEach((of, i) => {
    const position = positions[i];
    if (position === undefined) return;
    const borne = sum(of.map((share) => share.charge));
    const more = minBig(rest, maxBig(0n, lossOf(position) - borne));
    rest -= bear(more, of, left);
  });
  return rest;
}

/**
 * Allocates an amount to the parties of one market in rounds by lots, clipped to each capacity;
 * rounding remainders go by rank. Every round but the last allocates something, so the loop ends.
 */
function bear(amount: bigint, shares: readonly Share[], left: Map<PlanUnit, bigint>): bigint {
  const capacity = ({ unit, bound, charge: charged }: Share): bigint => {
    const chargeable = bound - charged;
    return maxBig(0n, unit.isHouse ? chargeable : minBig(chargeable, left.get(unit) ?? 0n));
  };
  const pay = (share: Share, part: bigint): void => {
    share.charge += part;
    left.set(share.unit, (left.get(share.unit) ?? 0n) - part);
  };
  let rest = amount;
  while (rest > 0n) {
    const able = shares.filter((share) => capacity(share) > 0n);
    if (able.length === 0) break;
    const lots = able.reduce((total, share) => total + BigInt(share.lots), 0n);
    let allocated = 0n;
    for (const share of able) {
      const part = minBig(capacity(share), (rest * BigInt(share.lots)) / lots);
      pay(share, part);
      allocated += part;
    }
    rest -= allocated;
    if (allocated > 0n) continue;
    for (const share of able) {
      const part = minBig(capacity(share), rest);
      pay(share, part);
      rest -= part;
    }
  }
  return amount - rest;
}

function money(lots: number, tickLot: bigint, ticks: number): bigint {
  return BigInt(lots) * BigInt(ticks) * tickLot;
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}
