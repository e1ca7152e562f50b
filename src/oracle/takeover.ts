/** Take-over of positions by the CLS vault (R-6.2 (3), (4)). */
import { emitStep } from './ladder-steps.ts';
import {
  admissionEquity,
  atSettlement,
  atTakeover,
  crossInitial,
  frozenHaircut,
  maintenanceOf,
  openInterest,
  type Pricing,
} from './margin.ts';
import { abs, max, min, shareUp, sum } from './numbers.ts';
import { freshMarketsOf, type Unit } from './risk-units.ts';
import { isSelfPriced } from './shortfall.ts';
import { transferPosition } from './transfers-of-positions.ts';
import { positionOf, subOf, VAULT, type Market, type World } from './world.ts';

/** The vault takes the positions if it can; `equity` is at these prices. Returns whether it did. */
export function takeOver(world: World, unit: Unit, pricing: Pricing, equity: bigint): boolean {
  const markets = freshMarketsOf(world, unit);
  const vault = subOf(world, VAULT);
  if (unit.sub === vault || equity < 0n || markets.some(isSelfPriced)) return false;
  // Gains in frozen markets pay for nothing.
  const paid = payments(
    unit,
    markets,
    max(0n, admissionEquity(world, unit.sub, unit.isolated, pricing)),
  );
  if (freeAfter(world, unit, markets, pricing) + sum(paid) < 0n) return false;
  emitStep(world, unit, { step: 'takeover', amountQuanta: equity });
  markets.forEach((market, i) => {
    const { lots } = positionOf(unit.sub, market.id);
    const price = pricing(market, lots);
    const transfer = { lots, price, money: paid[i] ?? 0n, reason: 'takeover' } as const;
    transferPosition(world, market, unit.sub, vault, transfer);
  });
  return true;
}

/** Half of each requirement less the vault's advantage in the price, as far as the money goes. */
function payments(unit: Unit, markets: readonly Market[], money: bigint): bigint[] {
  let rest = money;
  return markets.map((market) => {
    const { lots } = positionOf(unit.sub, market.id);
    const better =
      abs(lots * (atSettlement(market, lots) - atTakeover(market, lots))) * market.unit;
    const half = shareUp(maintenanceOf(unit.sub, market), 2n);
    const paid = min(rest, max(0n, half - better));
    rest -= paid;
    return paid;
  });
}

/** The vault's free collateral including the positions, its own at take-over prices. */
function freeAfter(world: World, unit: Unit, markets: readonly Market[], pricing: Pricing): bigint {
  const vault = subOf(world, VAULT);
  const before = markets.map((market) => ({ ...positionOf(vault, market.id) }));
  for (const market of markets) market.interestTried = openInterest(world, market);
  for (const market of markets) {
    const { lots } = positionOf(unit.sub, market.id);
    const position = positionOf(vault, market.id);
    position.lots += lots;
    position.cost += lots * pricing(market, lots) * market.unit;
  }
  // The part that closes a vault position is realised.
  const closed = markets.map(({ id }) => positionOf(vault, id)).filter(({ lots }) => lots === 0n);
  const free =
    admissionEquity(world, vault, null, atTakeover) -
    sum(closed.map(({ cost }) => cost)) -
    crossInitial(world, vault) -
    frozenHaircut(world, vault);
  markets.forEach((market, i) => {
    Object.assign(positionOf(vault, market.id), before[i]);
    market.interestTried = null;
  });
  return free;
}
