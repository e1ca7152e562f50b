/**
 * Impact: house liquidity that users consumed is displaced. A level of historical size
 * h has max(0, h − displaced) house lots until the market's impact model restores them:
 *
 * - `none`: at the level's next historical update;
 * - `permanent`: when history itself empties the level;
 * - `halving`: half of the displaced lots return every `impactHalfLifeUs`, counted in whole
 *   half-lives when the level is next updated.
 */
import { timeUs } from '../../num/units.ts';
import type { Market } from '../market/market.ts';
import type { ExchangeState } from '../exchange-state.ts';

/** Records that users took `size` house lots at this level. */
export function noteDisplaced(
  state: ExchangeState,
  market: Market,
  side: 1 | -1,
  price: number,
  size: number,
): void {
  if (market.spec.impactModel === 'none') return;
  const displaced = displacedLots(state, market, side, price);
  const level = market.tape.level(side, price, state.nowUs);
  if (level.displaced === 0) level.displacedAtUs = state.nowUs;
  level.displaced = displaced + size;
}

/** Current displaced lots of this level. */
export function displacedLots(
  state: ExchangeState,
  market: Market,
  side: 1 | -1,
  price: number,
): number {
  const level = market.tape.find(side, price);
  if (level === undefined || level.displaced === 0) return 0;
  if (market.spec.impactModel === 'halving') {
    const halfLife = market.spec.impactHalfLifeUs;
    let elapsed = state.nowUs - level.displacedAtUs;
    while (elapsed >= halfLife && level.displaced > 0) {
      level.displaced = Math.floor(level.displaced / 2);
      level.displacedAtUs = timeUs(level.displacedAtUs + halfLife);
      elapsed -= halfLife;
    }
  }
  return level.displaced;
}
