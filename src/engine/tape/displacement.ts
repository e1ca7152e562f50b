/**
 * Impact (DESIGN §6): house liquidity that users took is gone. Of a level of historical size h there stand at most
 * max(0, h − displaced) house lots, until the market's impact model lets them return:
 *
 * - `none`: at the level's next historical update;
 * - `permanent`: when history itself empties the level;
 * - `halving`: half of what is displaced returns every `impactHalfLifeUs`, counted in whole half-lives when the
 *   level is next updated.
 */
import { timeUs } from '../../num/units.ts';
import type { Market } from '../market/market.ts';
import type { State } from '../state.ts';

/** Notes that users took `size` house lots at this level of the house's side. */
export function noteDisplaced(
  state: State,
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

/** Lots displaced at this level now. */
export function displacedLots(state: State, market: Market, side: 1 | -1, price: number): number {
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
