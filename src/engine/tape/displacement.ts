/**
 * Impact: what users took of history's volume is gone until history brings new volume, that is
 * until the recorded size of the level grows. `taken` counts these lots; a smaller recorded size
 * lowers it. A resting order fills against max(0, recorded − taken) of a level that crosses it,
 * under every impact model. The model decides when the book shows such lots again, to takers and to
 * the queue:
 *
 * - `none`: at the level's next update;
 * - `permanent`: when history brings new volume;
 * - `halving`: half of them in each whole `impactHalfLifeUs` since the mean time at which they were
 *   taken, at the level's next update;
 * - `squareRoot`: as `permanent`. Besides, levels near the best are hidden (reach.ts).
 */
import { ceilDivBig } from '../../num/arithmetic.ts';
import { timeUs } from '../../num/units.ts';
import type { Market } from '../market/market.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { houseLots } from './house.ts';
import { hideWithinReach } from './reach.ts';
import type { TapeLevelState } from './tape-book.ts';

/** Records that users took `size` house lots at this level. */
export function noteTaken(
  state: ExchangeState,
  market: Market,
  side: 1 | -1,
  price: number,
  size: number,
): void {
  const level = market.tape.takenLevel(side, price);
  level.taken += size;
  if (market.spec.impactModel === 'none') return;
  const displaced = displacedLots(state, market, level);
  if (displaced === 0) level.displacedAtUs = state.nowUs;
  else if (market.spec.impactModel === 'halving') {
    // The mean by lots: a first lot must not end the half-life of the next ones (decision 0149).
    const sinceUs = BigInt(state.nowUs - level.displacedAtUs) * BigInt(size);
    const laterUs = Number(ceilDivBig(sinceUs, BigInt(displaced + size)));
    level.displacedAtUs = timeUs(level.displacedAtUs + laterUs);
  }
  level.displaced = displaced + size;
}

/** Records that a taker took `size` lots of a house level: its impact hides levels at once. */
export function takeFromHouse(
  state: State,
  market: Market,
  houseSide: 1 | -1,
  price: number,
  size: number,
): void {
  noteTaken(state, market, houseSide, price, size);
  const { impact } = market;
  if (impact === null) return;
  impact.take(state.nowUs, houseSide > 0 ? -1 : 1, size);
  const withheld = impact.withheld(houseSide);
  // History still states the level.
  if (houseLots(market, houseSide, price) === 0 && !withheld.has(price)) withheld.set(price, 0);
  hideWithinReach(state, market, impact, houseSide);
}

/** Lots of the level that the impact model keeps out of the book now. */
export function displacedLots(state: ExchangeState, market: Market, level: TapeLevelState): number {
  const { impactModel, impactHalfLifeUs } = market.spec;
  if (impactModel === 'halving') {
    let elapsed = state.nowUs - level.displacedAtUs;
    while (elapsed >= impactHalfLifeUs && level.displaced > 0) {
      level.displaced = Math.floor(level.displaced / 2);
      level.displacedAtUs = timeUs(level.displacedAtUs + impactHalfLifeUs);
      elapsed -= impactHalfLifeUs;
    }
  }
  return level.displaced;
}

/** History removed lots of the level: at most `size` of it remain taken. */
export function capTaken(
  state: ExchangeState,
  market: Market,
  level: TapeLevelState,
  size: number,
): void {
  level.taken = Math.min(level.taken, size);
  level.restated = Math.min(level.restated, level.taken);
  level.displaced = Math.min(displacedLots(state, market, level), size);
}

/** History states `size` lots of which users took some: counts those that it did not before. */
export function noteDivergence(market: Market, level: TapeLevelState, size: number): void {
  const restated = Math.min(size, level.taken);
  if (restated <= level.restated) return;
  market.tape.divergedLots += restated - level.restated;
  if (level.restated === 0) market.tape.divergedLevels++;
  level.restated = restated;
}
