/** Some markets end little above their opening price: orders, quotes and prices meet the limit. */
import { formatDecimal } from '../../num/decimal.ts';
import { Dice } from '../dice.ts';
import type { ProfileName } from '../profile.ts';

/** Drawn with dice of its own: the rest of a profile does not depend on it. */
export function drawCeiling(
  market: string,
  name: ProfileName,
  ticks: number,
  tickScale: number,
): { readonly maxPrice?: string } {
  const dice = Dice.of(market, `ceiling ${name}`);
  // Bankrupting prices are far from the opening price.
  if (name === 'crisis' || !dice.chance(180)) return {};
  const above = Math.ceil((ticks * dice.pick([2, 30, 200])) / 1000);
  return { maxPrice: formatDecimal(BigInt(ticks + above), tickScale) };
}
