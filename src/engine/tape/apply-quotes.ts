/**
 * The synthetic book of recorded trades. A trade has filled the users' orders that it reached, so
 * its quotes fill none: a level stays a tick away from an order that it would cross or lock, as
 * those of bars do. Lots that users took of a level are gone, as of any recorded level.
 */
import { MAX_PRICE_TICKS, priceTicks } from '../../num/units.ts';
import type { Side, TapeLevel, TapeQuotes } from '../commands.ts';
import type { Market } from '../market/market.ts';
import type { Outcome } from '../refusals.ts';
import type { State } from '../state.ts';
import { applyLevel, isLevel } from './apply-depth.ts';
import { endOthers } from './apply-snapshot.ts';
import { bestUser } from './bar-quotes.ts';
import { stateMid } from './stated-mid.ts';
import { emitTape } from './tape-event.ts';

export function applyQuotes(state: State, command: TapeQuotes): Outcome {
  const market = state.markets[command.market];
  if (market === undefined) return { code: 'market_not_found' };
  if (market.status === 'delisted') return { code: 'market_delisted' };
  if (market.impact !== null) return { code: 'impact_needs_levels' };
  if (!command.levels.every(isLevel)) return { code: 'tape_level_invalid' };
  state.context.cause = 'tape';
  market.tape.stale = false;
  const levels = command.levels.flatMap((level) => besideUsers(state, market, level));
  endOthers(state, market, levels);
  for (const level of levels) applyLevel(state, market, level);
  const isMoved = command.levels.some((level, i) => level.priceTicks !== levels[i]?.priceTicks);
  stateMid(state, market, isMoved ? midOf(command.levels) : null);
  emitTape(state, market, 'depth', false);
  return 'ok';
}

/** Best bid + best ask of these levels; null without either. */
function midOf(levels: readonly TapeLevel[]): number | null {
  const pricesOf = (side: Side): number[] =>
    levels
      .filter((level) => level.side === side && level.lots > 0)
      .map((level) => level.priceTicks);
  const mid = Math.max(...pricesOf('bid')) + Math.min(...pricesOf('ask'));
  return Number.isFinite(mid) ? mid : null;
}

/** The level where it crosses and locks no user's order; none if there is no such price. */
function besideUsers(state: State, market: Market, level: TapeLevel): TapeLevel[] {
  const price =
    level.side === 'bid'
      ? Math.min(level.priceTicks, bestUser(state, market, -1) - 1)
      : Math.max(level.priceTicks, bestUser(state, market, 1) + 1);
  return price >= 1 && price <= MAX_PRICE_TICKS
    ? [{ ...level, priceTicks: priceTicks(price) }]
    : [];
}
