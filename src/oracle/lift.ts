/** Insurance payments to a unit (R-6.2 (4), R-6.7). */
import { bookUnit, emitStep } from './ladder-steps.ts';
import { min, sum } from './numbers.ts';
import type { Unit } from './risk-units.ts';
import { allowance, countPaid } from './shortfall.ts';
import { book, INSURANCE, subOf, type Market, type World } from './world.ts';

/**
 * Pays a deficit by market, within the limits of each market and the exchange; returns the total.
 */
export function payByMarket(
  world: World,
  unit: Unit,
  markets: readonly (Market | null)[],
  parts: readonly bigint[],
): bigint {
  let left = allowance(world, null);
  const paid = markets.map((market, i) => {
    const part = min(left, min(parts[i] ?? 0n, allowance(world, market)));
    left -= part;
    return part;
  });
  const all = sum(paid);
  if (all === 0n) return 0n;
  emitStep(world, unit, { step: 'insurance', amountQuanta: all });
  book(world, subOf(world, INSURANCE), -all, 'insurance');
  bookUnit(world, unit, all, 'insurance');
  markets.forEach((market, i) => {
    countPaid(world, market, paid[i] ?? 0n);
  });
  return all;
}
