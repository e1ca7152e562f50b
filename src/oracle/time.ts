/** Time: due timers run at their own times, then the command, then its consequences. */
import { clearBelowZero, nextPayDown, payShortfall } from './clearing.ts';
import { settleConsequences } from './consequences.ts';
import { expireOrders, expiryOf } from './endings.ts';
import { nextFunding, nextSample, noteTested, settleDue, takeSample } from './funding.ts';
import { liquidateAll } from './liquidation.ts';
import {
  beginStep,
  freezeDue,
  nextFreeze,
  noticeQuotes,
  recomputeDue,
  sampleBasis,
} from './mark.ts';
import { max } from './numbers.ts';
import { takeTerms } from './operator.ts';
import { startSlices } from './twap.ts';
import { runTriggers } from './triggers.ts';
import { nextSnapshot, nextVaultLeave, runVaultLeave, takeSnapshots } from './vault.ts';
import type { World } from './world.ts';

/** Time of the next timer up to a time; null without one. */
function nextDue(world: World, until: bigint): bigint | null {
  let next: bigint | null = null;
  const note = (due: bigint | null): void => {
    if (due !== null && due <= until && (next === null || due < next)) next = due;
  };
  note(nextSnapshot(world));
  note(nextPayDown(world));
  note(nextVaultLeave(world));
  for (const { end, position } of world.pauses) if (position.resumesAt === end) note(end);
  for (const order of world.live) {
    note(expiryOf(order));
    note(order.dueAt);
  }
  for (const market of world.markets) {
    note(nextFreeze(world, market));
    note(market.nextAt);
    note(market.emaDue);
    note(market.markDue);
    note(nextSample(world, market, until));
    note(nextFunding(world, market));
  }
  return next;
}

export function runTimers(world: World, until: bigint): void {
  for (let due = nextDue(world, until); due !== null; due = nextDue(world, until)) {
    world.now = max(world.now, due);
    beginStep(world);
    noteTested(world);
    world.cause = 'expiry';
    expireOrders(world);
    settleConsequences(world);
    world.cause = 'timer';
    for (const market of world.markets) freezeDue(world, market);
    for (const market of world.markets) takeTerms(world, market);
    for (const market of world.markets) sampleBasis(world, market);
    moveMarks(world);
    for (const market of world.markets) takeSample(world, market);
    for (const market of world.markets) settleDue(world, market);
    payShortfall(world);
    clearBelowZero(world);
    runTriggers(world);
    startSlices(world);
    settleConsequences(world);
    // Slices trade, and triggers may watch the last price.
    runTriggers(world);
    for (const { end, position } of world.pauses) {
      // The liquidation of another pause is over, or its position has closed.
      if (end <= world.now && position.resumesAt === end) world.danger = true;
    }
    world.pauses = world.pauses.filter(({ end }) => end > world.now);
    liquidateAll(world);
    takeSnapshots(world);
    runVaultLeave(world);
    // The vault may have traded.
    runConsequences(world);
  }
  world.now = until;
  world.cause = 'command';
  beginStep(world);
}

/** Recomputes due marks by market id, each in a new step after clearing units below zero. */
function moveMarks(world: World): void {
  const due = world.markets.filter(({ markDue }) => markDue !== null && markDue <= world.now);
  due.forEach((market, i) => {
    if (i > 0) {
      clearBelowZero(world);
      beginStep(world);
    }
    recomputeDue(world, market);
  });
}

/** Consequences of a command, in the order of the timers. */
export function runConsequences(world: World): void {
  settleConsequences(world);
  clearBelowZero(world);
  runTriggers(world);
  liquidateAll(world);
  noticeQuotes(world);
}
