/** Auto-deleveraging: closes positions against ranked holders at the settlement price. */
import { gainOf, layDeficit, lossOf, spread } from './deficits.ts';
import { bookUnit, emitStep } from './ladder-steps.ts';
import { payByMarket } from './lift.ts';
import { admissionEquity, atMark, atSettlement } from './margin.ts';
import { abs, max, min, ofPpm, roundedUp, sign, sum } from './numbers.ts';
import { rankedHolders, type Ranks } from './ranks.ts';
import { freshMarketsOf, partyEquityOf, unitOf, type Unit } from './risk-units.ts';
import { bookShortfall } from './shortfall.ts';
import { transferPosition } from './transfers-of-positions.ts';
import { book, INSURANCE, positionOf, subOf, type Market, type Sub, type World } from './world.ts';

/** A holder that is closed. */
export interface Party {
  readonly sub: Sub;
  readonly market: Market;
  readonly lots: bigint;
  /** Its charge for a deficit, and the relief that keeps it from falling below zero. */
  charge: bigint;
  relief: bigint;
}

/** Counterparties of one of the positions, in order. */
interface Closing {
  readonly market: Market;
  readonly parties: readonly Party[];
}

/** `behind`: equity at settlement prices, after insurance. Returns the closed holders. */
export function deleverage(world: World, unit: Unit, ranks: Ranks, behind: bigint): Party[] {
  // Gains in frozen markets pay no fee.
  const payable = admissionEquity(world, unit.sub, unit.isolated, atSettlement);
  const closings = freshMarketsOf(world, unit).map((market) => ({
    market,
    parties: closedParties(world, unit.sub, ranks, market),
  }));
  const parties = closings.flatMap((closing) => closing.parties);
  for (const party of parties) relieve(world, party, parties);
  const unborne = behind < 0n ? charge(world, unit.sub, closings, -behind) : 0n;
  // The owner pays the relief first, then it becomes a deficit.
  let rest = max(0n, behind);
  const lacks = closings.map((closing) => {
    const relief = sum(closing.parties.map(({ relief }) => relief));
    const own = min(rest, relief);
    rest -= own;
    return relief - own;
  });
  const markets = closings.map(({ market }) => market);
  const unpaid = sum(lacks) - payByMarket(world, unit, markets, lacks);
  leaveToShortfall(world, unit, unborne + unpaid);
  takeFees(world, unit, min(rest, payable - (max(0n, behind) - rest)));
  for (const { sub, market, lots, charge: paid, relief } of parties) {
    const side = -sign(positionOf(sub, market.id).lots);
    const price = atSettlement(market, lots);
    transferPosition(world, market, unit.sub, sub, {
      lots: side * lots,
      price,
      money: relief - paid,
      reason: 'adl',
    });
  }
  return parties;
}

/** Takes ranked holders until the position is closed. */
function closedParties(world: World, owner: Sub, ranks: Ranks, market: Market): Party[] {
  const { lots: all } = positionOf(owner, market.id);
  let open = abs(all);
  const parties: Party[] = [];
  for (const sub of rankedHolders(world, ranks, market, -sign(all))) {
    const lots = min(open, abs(positionOf(sub, market.id).lots));
    open -= lots;
    if (lots > 0n) parties.push({ sub, market, lots, charge: 0n, relief: 0n });
  }
  return parties;
}

/** Value of closing at the settlement price less value at the mark. */
function betterBy({ sub, market, lots }: Party): bigint {
  const side = sign(positionOf(sub, market.id).lots);
  return side * lots * (atSettlement(market, side) - atMark(market, side)) * market.unit;
}

/** The closings of the same unit: its cross positions, or the isolated one. */
function ofUnitOf(party: Party, parties: readonly Party[]): Party[] {
  const { isolated } = unitOf(party.sub, party.market);
  return parties.filter(
    (other) => other.sub === party.sub && unitOf(other.sub, other.market).isolated === isolated,
  );
}

/** Relieves units that would end lower and below zero: closings in order, each up to its loss. */
function relieve(world: World, party: Party, parties: readonly Party[]): void {
  if (party.sub.house) return;
  const own = ofUnitOf(party, parties);
  const before = partyEquityOf(world, unitOf(party.sub, party.market));
  const after = before + sum(own.map((other) => betterBy(other) + other.relief));
  party.relief = min(max(0n, -betterBy(party)), max(0n, min(0n, before) - after));
}

/** Charges a deficit to holders that gained; returns the uncovered rest. */
function charge(world: World, owner: Sub, closings: readonly Closing[], deficit: bigint): bigint {
  const all = closings.flatMap(({ parties }) => parties);
  const markets = closings.map(({ market }) => market);
  const parts = layDeficit(owner, markets, deficit);
  const borne = closings.map((closing, i) => {
    const part = parts[i] ?? 0n;
    return part - chargeIn(world, closing, all, part);
  });
  let rest = deficit - sum(borne);
  closings.forEach((closing, i) => {
    const bound = min(rest, max(0n, lossOf(owner, closing.market) - (borne[i] ?? 0n)));
    rest -= bound - chargeIn(world, closing, all, bound);
  });
  return rest;
}

/** Spreads a part over the closed holders of a market; returns the uncovered rest. */
function chargeIn(
  world: World,
  { market, parties }: Closing,
  all: readonly Party[],
  amount: bigint,
): bigint {
  const capacityOf = (party: Party): bigint => {
    const side = sign(positionOf(party.sub, market.id).lots);
    const byGain = gainOf(market, side, party.lots) - party.charge;
    if (party.sub.house) return max(0n, byGain);
    const settled = sum(
      ofUnitOf(party, all).map((other) => betterBy(other) + other.relief - other.charge),
    );
    const equity = partyEquityOf(world, unitOf(party.sub, market)) + settled;
    return max(0n, min(byGain, equity));
  };
  const bearers = parties.map((party) => ({
    lots: party.lots,
    capacity: () => capacityOf(party),
    bear: (part: bigint) => {
      party.charge += part;
    },
  }));
  return spread(amount, bearers);
}

/** Charges the shortfall. */
export function leaveToShortfall(world: World, unit: Unit, amount: bigint): void {
  if (amount === 0n) return;
  emitStep(world, unit, { step: 'shortfall', amountQuanta: amount });
  bookShortfall(world, -amount);
  bookUnit(world, unit, amount, 'shortfall');
}

/** Fees, out of the owner's equity: at least its price advantage over the mark. */
function takeFees(world: World, unit: Unit, most: bigint): void {
  let rest = max(0n, most);
  for (const market of freshMarketsOf(world, unit)) {
    const { lots } = positionOf(unit.sub, market.id);
    const price = atSettlement(market, lots);
    const usual = roundedUp(abs(lots) * price * market.unit, ofPpm(world.config.liquidationFeePpm));
    const fee = min(rest, max(usual, lots * (price - atMark(market, lots)) * market.unit));
    rest -= fee;
    bookUnit(world, unit, -fee, 'liquidationFee');
    book(world, subOf(world, INSURANCE), fee, 'liquidationFee');
  }
}
