/** Candles of the exchange as bars of a strategy. */
import { must } from '../base/assert.ts';
import type { ResponseOf } from '../contract/endpoints.ts';
import { CANDLE_INTERVALS } from '../contract/words.ts';
import { parseDuration } from '../num/time-text.ts';
import type { BarUpdate } from '../strategy/strategy.ts';

/** API names of candle intervals by length, µs. */
export const CANDLES = new Map(
  CANDLE_INTERVALS.map((word) => [must(parseDuration(word) ?? undefined, 'a duration'), word]),
) as ReadonlyMap<number, (typeof CANDLE_INTERVALS)[number]>;

export function barOf(
  candle: ResponseOf<'getCandles'>[number],
  span: Pick<BarUpdate, 'symbol' | 'intervalUs' | 'startUs'>,
): BarUpdate {
  const { open, high, low, close, volume } = candle;
  return {
    ...span,
    timeUs: span.startUs + span.intervalUs,
    open: Number(open),
    high: Number(high),
    low: Number(low),
    close: Number(close),
    volume: Number(volume),
  };
}
