/**
 * EMA of the basis (impact mid − index), a leg of the `median` mark.
 *
 * A sample is in force from its instant (sampling.ts) until the next one. It is measured again only
 * after book or index changed; seconds without a change are added when the EMA is next read: n of
 * them weigh min(150, n) / 150. The state is in 1e-6 ticks, rounded toward zero. A frozen market
 * takes no samples and its frozen seconds do not count.
 */
import { floorDivInt } from '../../num/arithmetic.ts';
import { PPM } from '../../num/units.ts';
import { SECOND_US, type Market } from '../market/market.ts';
import type { ExchangeState } from '../exchange-state.ts';
import { impactQuotes } from './impact-price.ts';
import { newestEmaSecond, nextEmaUs } from './sampling.ts';

const EMA_SECONDS = 150;
/** 1e-6 ticks in a half tick. */
const MICRO_OF_HALF = 500_000;

/** Advances the EMA to now with the sample in force. Called before index or mark change. */
export function advanceEma(state: ExchangeState, market: Market): void {
  if (market.spec.markSource !== 'median' || market.frozen) return;
  advanceTo(market, newestEmaSecond(state, market, state.nowUs));
}

function advanceTo(market: Market, second: number): void {
  const seconds = second - market.emaSecond;
  if (seconds <= 0) return;
  const distance = market.emaSampleHalfTicks * MICRO_OF_HALF - market.emaMicroTicks;
  market.emaMicroTicks += timesOver(distance, Math.min(EMA_SECONDS, seconds), EMA_SECONDS);
  market.emaSecond = second;
}

/** Schedules a measurement of the basis after a change of book or index. */
export function scheduleEma(state: ExchangeState, market: Market): void {
  if (market.emaDueUs !== Infinity || market.frozen) return;
  if (market.spec.markSource !== 'median') return;
  market.emaDueUs = nextEmaUs(state, market, state.nowUs);
}

/** Resumes sampling after a thaw, as if no second had passed. */
export function resumeEma(state: ExchangeState, market: Market): void {
  if (market.spec.markSource !== 'median') return;
  market.emaSecond = floorDivInt(state.nowUs, SECOND_US);
  scheduleEma(state, market);
}

/** Takes a due sample. Returns whether EMA or sample changed, so that the mark may change. */
export function runEmaTimer(state: ExchangeState, market: Market): boolean {
  const { emaMicroTicks, emaSampleHalfTicks } = market;
  const second = floorDivInt(state.nowUs, SECOND_US);
  advanceTo(market, second - 1);
  market.emaSampleHalfTicks = basisHalfTicks(state, market);
  const distance = market.emaSampleHalfTicks * MICRO_OF_HALF - market.emaMicroTicks;
  market.emaMicroTicks += Math.trunc(distance / EMA_SECONDS);
  market.emaSecond = second;
  market.emaDueUs = Infinity;
  return market.emaMicroTicks !== emaMicroTicks || market.emaSampleHalfTicks !== emaSampleHalfTicks;
}

/** Impact mid, clamped around the index, less the index; 0 without a mid or an index. */
function basisHalfTicks(state: ExchangeState, market: Market): number {
  const index = market.indexTicks;
  if (index === null) return 0;
  const quotes = impactQuotes(state, market);
  if (quotes === null) return 0;
  const deviation = floorDivInt(2 * index * market.spec.maxMarkDeviationPpm, PPM);
  return Math.min(deviation, Math.max(-deviation, quotes.bid + quotes.ask - 2 * index));
}

/** value × by ÷ divisor, rounded toward 0; exact if the product is, since the divisor is small. */
function timesOver(value: number, by: number, divisor: number): number {
  const product = value * by;
  if (Number.isSafeInteger(product)) return Math.trunc(product / divisor);
  return Number((BigInt(value) * BigInt(by)) / BigInt(divisor));
}
