/** Candles of the exchange as bars of a strategy. */
import { must } from '../base/assert.ts';
import type { ResponseOf } from '../contract/endpoints.ts';
import { CANDLE_INTERVALS } from '../contract/words.ts';
import { pagesOf, type MatcherClient } from '../gateway/matcher-client.ts';
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

/** Bars that have ended, oldest first, and the time from which all series are there. */
export async function storedBars(
  client: MatcherClient,
  { symbols, barsUs }: { readonly symbols: readonly string[]; readonly barsUs: readonly number[] },
  { fromUs, toUs, unitUs }: Readonly<Record<'fromUs' | 'toUs' | 'unitUs', number>>,
): Promise<{ readonly bars: readonly BarUpdate[]; readonly sinceUs: number }> {
  const from = Math.ceil(fromUs / 1000);
  const bars: BarUpdate[] = [];
  /** Of the series that begins last. */
  let sinceUs = fromUs;
  for (const intervalUs of barsUs) {
    for (const symbol of symbols) {
      const interval = CANDLES.get(intervalUs) ?? '1m';
      let firstUs = toUs;
      const query = { symbol, interval, from, limit: 5000 };
      for await (const { body } of pagesOf(client, 'getCandles', query)) {
        for (const candle of body) {
          const bar = barOf(candle, { symbol, intervalUs, startUs: candle.time * unitUs });
          firstUs = Math.min(firstUs, bar.startUs);
          if (bar.timeUs <= toUs && bar.volume > 0) bars.push(bar);
        }
      }
      // The first bar of the span may have begun before it.
      sinceUs = Math.max(sinceUs, firstUs - intervalUs);
    }
  }
  return { bars: bars.sort((a, b) => a.timeUs - b.timeUs), sinceUs };
}
