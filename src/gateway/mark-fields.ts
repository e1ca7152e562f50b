/** Source and limits of a market's mark price, from decimal text. */
import type { MarginTier, MarketSpec, MarkSource } from '../engine/config.ts';
import type { Decimal } from '../num/decimal.ts';
import type { Ppm, PriceTicks } from '../num/units.ts';
import { inTicks, optionalAmount, rate, word } from './config-values.ts';
import type { Fields } from './fields.ts';

export function parseMarkSource(fields: Fields): MarkSource {
  return word(fields, 'markSource', ['median', 'index', 'last', 'mid', 'external'], 'median');
}

/** Default bound: half of each maintenance rate, at most the gap of the rates and 1 % (R-5.3). */
function largestDeviation(tiers: readonly MarginTier[]): number {
  return Math.min(
    ...tiers.map(({ initialMarginPpm: initial, maintenanceMarginPpm: maintenance }) =>
      Math.min(Math.floor(maintenance / 2), initial - maintenance),
    ),
  );
}

/** Deviation bound of the mark; limited in turn for a mark derived from trades or quotes. */
export function parseDeviation(
  fields: Fields,
  markSource: MarkSource,
  tiers: readonly MarginTier[],
): Ppm {
  const largest = largestDeviation(tiers);
  const deviation = rate(fields, 'maxMarkDeviation', Math.min(largest, 10_000), 0, 1_000_000);
  const isBound = markSource !== 'index' && markSource !== 'external';
  if (isBound && deviation > largest) {
    fields.fail(
      'maxMarkDeviation',
      'must be at most half of maintenanceMargin and at most initialMargin less maintenanceMargin, in every tier',
    );
  }
  return deviation;
}

/** A mark from the market's own book needs an initial price or recorded liquidity. */
export function parseInitialMark(
  fields: Fields,
  markSource: MarkSource,
  recordedLiquidity: boolean,
  tick: Decimal,
  maxPrice: bigint,
): PriceTicks | null {
  const ownPrices = markSource === 'last' || markSource === 'mid';
  if (!fields.has('initialMark')) {
    if (ownPrices && !recordedLiquidity) {
      fields.fail('markSource', `${markSource} needs initialMark, or recordedLiquidity`);
    }
    return null;
  }
  if (!ownPrices) fields.fail('initialMark', 'is for markSource last or mid');
  return inTicks(fields, 'initialMark', tick, maxPrice);
}

export function parseOpenNotionals(
  fields: Fields,
): Pick<MarketSpec, 'openNotionalLower' | 'openNotionalUpper'> {
  const openNotionalLower = optionalAmount(fields, 'openNotionalLower');
  const openNotionalUpper = optionalAmount(fields, 'openNotionalUpper');
  if ((openNotionalLower === null) !== (openNotionalUpper === null)) {
    fields.fail('openNotionalLower', 'and openNotionalUpper are required together');
  }
  if ((openNotionalLower ?? 0n) >= (openNotionalUpper ?? 1n)) {
    fields.fail('openNotionalUpper', 'must exceed openNotionalLower');
  }
  return { openNotionalLower, openNotionalUpper };
}
