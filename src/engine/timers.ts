/**
 * Timers. Before a command later than now, every due timer runs at its own time. Order at
 * one instant: order expiry, freezing of markets, announced terms, EMA samples, mark recomputation
 * by market id, premium samples, funding, insurance payments to the shortfall, units below zero,
 * triggers, TWAP slices, liquidation, vault snapshots, the vault's closing orders. Each instant's
 * quotes are settled before the next, so splitting an interval never changes state.
 */
import { timeUs, type TimeUs } from '../num/units.ts';
import { runTermsTimer } from './market/set-terms.ts';
import { expireDue } from './orders/expire.ts';
import { nextExpiryUs } from './orders/expiry.ts';
import { settleFollowUps } from './orders/pending-effects.ts';
import { runTriggers } from './orders/triggers.ts';
import { nextSliceUs, activateDueSlices } from './orders/twap.ts';
import { clearBelowZero } from './liquidation/clearing.ts';
import { runFreezeTimer } from './pricing/freshness.ts';
import { runFundingTimer, samplePremium } from './funding/funding.ts';
import {
  nextLiquidationUs,
  resumeLiquidations,
  runLiquidations,
} from './liquidation/liquidation.ts';
import { runEmaSample, runMarkTimer, settleQuotes } from './pricing/mark-price.ts';
import { runShortfallTimer } from './liquidation/insurance.ts';
import { runVaultLeave } from './vault/vault-leave.ts';
import { runVaultSnapshots } from './vault/vault.ts';
import type { ExchangeState } from './exchange-state.ts';
import type { State } from './state.ts';

/** Time of the next timer; Infinity without one. */
export function nextTimerUs(state: ExchangeState): number {
  let earliest = Infinity;
  for (const market of state.markets) earliest = Math.min(earliest, market.nextTimerUs);
  state.marketTimers.earliestUs = earliest;
  return Math.min(earliest, nextExchangeTimerUs(state));
}

/** The next timer that belongs to no market. */
function nextExchangeTimerUs(state: ExchangeState): number {
  return Math.min(
    Math.min(nextExpiryUs(state), nextSliceUs(state), nextLiquidationUs(state)),
    Math.min(state.vaultSnapshotUs, state.shortfallDueUs, state.vaultLeaveUs),
  );
}

/** The next timer if it is due by `untilUs`, otherwise Infinity; O(1) while none is due. */
export function timerDueBy(state: ExchangeState, untilUs: TimeUs): number {
  if (state.marketTimers.earliestUs > untilUs && nextExchangeTimerUs(state) > untilUs) {
    return Infinity;
  }
  const next = nextTimerUs(state);
  return next <= untilUs ? next : Infinity;
}

/** Runs every timer due at or before the command's time, then sets the time to it. */
export function runTimers(state: State): void {
  const { context } = state;
  const untilUs = context.commandUs;
  for (let due = timerDueBy(state, untilUs); due !== Infinity; due = timerDueBy(state, untilUs)) {
    state.nowUs = timeUs(Math.max(state.nowUs, due));
    context.nextStep();
    for (const market of state.markets) market.beginInstant();
    context.cause = 'expiry';
    expireDue(state);
    settleFollowUps(state);
    context.cause = 'timer';
    for (const market of state.markets) {
      if (market.freezeDueUs <= state.nowUs) runFreezeTimer(state, market);
    }
    for (const market of state.markets) {
      if (market.termsDueUs <= state.nowUs) runTermsTimer(state, market);
    }
    for (const market of state.markets) {
      if (market.emaDueUs <= state.nowUs) runEmaSample(state, market);
    }
    runMarkTimers(state);
    for (const market of state.markets) {
      if (market.sampleDueUs <= state.nowUs) samplePremium(state, market);
    }
    for (const market of state.markets) {
      if (market.fundingDueUs <= state.nowUs) runFundingTimer(state, market);
    }
    runShortfallTimer(state);
    if (context.due.riskCheck) clearBelowZero(state);
    runTriggers(state);
    activateDueSlices(state);
    settleFollowUps(state);
    // Slices trade: triggers that watch the last price see it.
    runTriggers(state);
    resumeLiquidations(state);
    runLiquidations(state);
    runVaultSnapshots(state);
    runVaultLeave(state);
    // The vault may have traded.
    settleFollowUps(state);
    if (context.due.riskCheck) clearBelowZero(state);
    runTriggers(state);
    runLiquidations(state);
    settleQuotes(state);
  }
  state.nowUs = untilUs;
  context.cause = 'command';
}

/**
 * Recomputes due marks, each in its own step: units that one of them takes below zero are cleared
 * before the next moves. Otherwise a party with a gain in one market and an equal loss in another
 * would have no equity to charge, and the shortfall would pay.
 */
function runMarkTimers(state: State): void {
  let moved = false;
  const { context } = state;
  for (const market of state.markets) {
    if (market.markDueUs > state.nowUs) continue;
    if (moved) {
      if (context.due.riskCheck) clearBelowZero(state);
      context.nextStep();
    }
    runMarkTimer(state, market);
    moved = true;
  }
}
