/** Parameters from decimal text to engine units. Errors name the field and its limit. */
import { formatDecimal, stepsExact, type Decimal } from '../num/decimal.ts';
import {
  COLLATERAL_DECIMALS,
  durationUs,
  ppb,
  ppm,
  priceTicks,
  quanta,
  type DurationUs,
  type Ppb,
  type Ppm,
  type PriceTicks,
  type Quanta,
} from '../num/units.ts';
import type { Fields } from './fields.ts';

/** A ratio in decimal text as parts per 1e9. */
export function ratePpb(fields: Fields, name: string, min: number, max: number): Ppb {
  const whole = stepsExact(fields.decimal(name), { digits: 1n, scale: 9 });
  if (whole === null || whole < BigInt(min) * 10n ** 9n || whole > BigInt(max) * 10n ** 9n) {
    fields.fail(name, `must be from ${String(min)} to ${String(max)} with at most 9 decimals`);
  }
  return ppb(Number(whole));
}

/** Money ≥ 0; `fallback` if the field is absent. */
export function amount(fields: Fields, name: string, fallback: Quanta): Quanta {
  return fields.has(name) ? quanta(inQuanta(fields, name)) : fallback;
}

/** Money ≥ 0; null if the field is absent. */
export function optionalAmount(fields: Fields, name: string): Quanta | null {
  return fields.has(name) ? quanta(inQuanta(fields, name)) : null;
}

/** A positive price on the tick, at most `maxTicks`. */
export function inTicks(fields: Fields, name: string, tick: Decimal, maxTicks: bigint): PriceTicks {
  const whole = stepsExact(positive(fields, name), tick);
  if (whole === null || whole > maxTicks) {
    fields.fail(
      name,
      `must be a multiple of tickSize ${formatDecimal(tick.digits, tick.scale)} up to maxPrice`,
    );
  }
  return priceTicks(Number(whole));
}

/** 16 hex digits, optionally with 0x. */
export function samplingSeed(fields: Fields, name: string): string {
  const text = fields.text(name).toLowerCase().replace(/^0x/, '');
  if (!/^[0-9a-f]{16}$/.test(text)) fields.fail(name, 'must be 16 hex digits');
  return text;
}

/** Duration in milliseconds; `fallback` if the field is absent. */
export function millis(
  fields: Fields,
  name: string,
  min: number,
  fallback: DurationUs,
): DurationUs {
  return fields.has(name) ? durationUs(count(fields, name, min, 1e12) * 1000) : fallback;
}

export function positive(fields: Fields, name: string): Decimal {
  const value = fields.decimal(name);
  if (value.digits <= 0n) fields.fail(name, 'must be positive');
  return value;
}

export function inLots(fields: Fields, name: string, lot: Decimal): bigint {
  const whole = stepsExact(positive(fields, name), lot);
  if (whole === null) {
    fields.fail(name, `must be a multiple of lotSize ${formatDecimal(lot.digits, lot.scale)}`);
  }
  return whole;
}

export function inQuanta(fields: Fields, name: string): bigint {
  const value = fields.decimal(name);
  const whole = stepsExact(value, { digits: 1n, scale: COLLATERAL_DECIMALS });
  if (whole === null || whole < 0n) {
    fields.fail(name, `must be 0 or more with at most ${String(COLLATERAL_DECIMALS)} decimals`);
  }
  return whole;
}

/** A ratio in decimal text as parts per million; a negative fallback makes it required. */
export function rate(
  fields: Fields,
  name: string,
  fallback: number,
  min: number,
  max: number,
): Ppm {
  if (!fields.has(name) && fallback >= min) return ppm(fallback);
  const whole = stepsExact(fields.decimal(name), { digits: 1n, scale: 6 });
  if (whole === null || whole < BigInt(min) || whole > BigInt(max)) {
    fields.fail(
      name,
      `must be from ${formatDecimal(BigInt(min), 6)} to ${formatDecimal(BigInt(max), 6)} ` +
        'with at most 6 decimals',
    );
  }
  return ppm(Number(whole));
}

export function count(fields: Fields, name: string, min: number, max: number): number {
  const range = `must be an integer from ${String(min)} to ${String(max)}`;
  const value = fields.integer(name, range);
  if (value < BigInt(min) || value > BigInt(max)) fields.fail(name, range);
  return Number(value);
}

export function word<T extends string>(
  fields: Fields,
  name: string,
  words: readonly T[],
  fallback: T,
): T {
  if (!fields.has(name)) return fallback;
  const text = fields.text(name);
  const found = words.find((known) => known === text);
  if (found === undefined) fields.fail(name, `must be one of ${words.join(', ')}`);
  return found;
}

/** A boolean, from YAML or from text. */
export function flag(fields: Fields, name: string, fallback: boolean): boolean {
  if (typeof fields.get(name) === 'boolean') return fields.boolean(name);
  return word(fields, name, ['true', 'false'], String(fallback)) === 'true';
}
