/**
 * Sampling times of prices: one per second for the EMA of the mark, one per sampling
 * interval for the premium. The instant within its second or interval is pseudorandom, keyed with
 * the secret `config.samplingSeed`, so quotes cannot target it. It is never on a boundary.
 */
import { floorDivInt } from '../../num/arithmetic.ts';
import type { TimeUs } from '../../num/units.ts';
import { halfSipHash } from '../../base/half-siphash.ts';
import { SECOND_US, type Market } from '../market/market.ts';
import type { ExchangeState } from '../exchange-state.ts';

const EMA_SECOND = 1;
const PREMIUM_INTERVAL = 2;
const WORD = 0x100000000;

/** The EMA's sampling instant in this second since the epoch. */
export function emaInstantUs(state: ExchangeState, market: Market, second: number): number {
  return instantUs(state, market, EMA_SECOND, second, SECOND_US);
}

/** The first EMA instant after a time. */
export function nextEmaUs(state: ExchangeState, market: Market, nowUs: number): number {
  return firstAfter(state, market, EMA_SECOND, SECOND_US, nowUs);
}

/** The first premium sample after a time; Infinity with recorded funding rates. */
export function nextSampleUs(state: ExchangeState, market: Market, nowUs: number): number {
  const { source, sampleIntervalUs } = market.spec.funding;
  if (source === 'external') return Infinity;
  return firstAfter(state, market, PREMIUM_INTERVAL, sampleIntervalUs, nowUs);
}

/** The newest second whose EMA instant is not after now. */
export function newestEmaSecond(state: ExchangeState, market: Market, nowUs: TimeUs): number {
  const second = floorDivInt(nowUs, SECOND_US);
  return emaInstantUs(state, market, second) <= nowUs ? second : second - 1;
}

function firstAfter(
  state: ExchangeState,
  market: Market,
  kind: number,
  lengthUs: number,
  nowUs: number,
): number {
  const interval = floorDivInt(nowUs, lengthUs);
  const instant = instantUs(state, market, kind, interval, lengthUs);
  return instant > nowUs ? instant : instantUs(state, market, kind, interval + 1, lengthUs);
}

/** The instant in interval `n`: its start + 1 + ⌊draw × (length − 1) ÷ 2^32⌋. */
function instantUs(
  state: ExchangeState,
  market: Market,
  kind: number,
  n: number,
  lengthUs: number,
): number {
  const draw = halfSipHash(state.samplingKey, [kind, market.id, n | 0, floorDivInt(n, WORD)]);
  const product = draw * (lengthUs - 1);
  const offset = Number.isSafeInteger(product)
    ? floorDivInt(product, WORD)
    : Number((BigInt(draw) * BigInt(lengthUs - 1)) >> 32n);
  return n * lengthUs + 1 + offset;
}
