/** Accounts below zero (R-6.2 steps 4 and 5). */
import type { World } from './world.ts';

export function clearBelowZero(_world: World): void {
  // Of the risk half of the oracle.
}

export function payShortfall(_world: World): void {
  // Of the risk half of the oracle.
}

export function settleFlatDebts(_world: World): void {
  // Of the risk half of the oracle.
}

export const nextPayDown = (_world: World): bigint | null => null;
