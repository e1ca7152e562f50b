/**
 * What happens because time passes. Before a command later than now, every due timer runs at its own time; at
 * one instant in this order: order expiry, then mark recomputation by market id. Each instant's quotes are settled
 * before the next, so cutting an interval in two never changes state.
 */
import { timeUs, type TimeUs } from '../num/units.ts';
import { expireDue } from './orders/expire.ts';
import { nextExpiryUs } from './orders/expiry.ts';
import { runMarkTimer, settleQuotes } from './risk/mark-price.ts';
import type { State } from './state.ts';

/** When the next timer is due; Infinity when none is. */
export function nextTimerUs(state: State): number {
  let next = nextExpiryUs(state);
  for (const market of state.markets) if (market.markDueUs < next) next = market.markDueUs;
  return next;
}

/** Runs every timer due at or before `untilUs`, then lets it be that time. */
export function runTimers(state: State, untilUs: TimeUs): void {
  for (let due = nextTimerUs(state); due <= untilUs; due = nextTimerUs(state)) {
    state.nowUs = timeUs(Math.max(state.nowUs, due));
    state.cause = 'expiry';
    expireDue(state);
    state.cause = 'timer';
    for (const market of state.markets) {
      if (market.markDueUs <= state.nowUs) runMarkTimer(state, market);
    }
    settleQuotes(state);
  }
  state.nowUs = untilUs;
  state.cause = 'command';
}
