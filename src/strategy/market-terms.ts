/**
 * A market's terms for strategies, built from the API's record, so that they are identical live.
 */
import type { ResponseOf } from '../contract/endpoints.ts';
import { must } from '../base/assert.ts';
import { formatDecimal, parseDecimal } from '../num/decimal.ts';
import type { MarketTerms, Rounding } from './strategy.ts';

/** Max rounding error of a quotient that still counts as a whole number. */
const SLACK = 1e-9;

/** Fields of a market's record that are terms for strategies. */
export type TermsRecord = Pick<
  ResponseOf<'getMarkets'>[number],
  'symbol' | 'tickSize' | 'lotSize' | 'minQuantity' | 'maxPrice'
> & { readonly makerFee: string | number; readonly takerFee: string | number };

export function marketTerms(record: TermsRecord): MarketTerms {
  return {
    symbol: record.symbol,
    tickSize: record.tickSize,
    lotSize: record.lotSize,
    minQuantity: record.minQuantity,
    maxPrice: record.maxPrice,
    makerFee: Number(record.makerFee),
    takerFee: Number(record.takerFee),
    price: (value, rounding = 'nearest') => onSteps(value, record.tickSize, rounding),
    size: (value, rounding = 'down') => onSteps(value, record.lotSize, rounding),
  };
}

/**
 * The number in whole steps, as decimal text. `down` is toward zero. Throws `RangeError` for NaN
 * and infinities.
 */
function onSteps(value: number, step: string, rounding: Rounding): string {
  const { digits, scale } = must(parseDecimal(step) ?? undefined, 'a step is decimal text');
  const size = Math.abs(value) / Number(step);
  const whole =
    rounding === 'nearest'
      ? Math.round(size)
      : rounding === 'down'
        ? Math.floor(size + SLACK * Math.max(1, size))
        : Math.ceil(size - SLACK * Math.max(1, size));
  if (!Number.isSafeInteger(whole)) {
    throw new RangeError(`${String(value)} cannot be expressed in steps of ${step}`);
  }
  return formatDecimal(BigInt(value < 0 ? -whole : whole) * digits, scale);
}
