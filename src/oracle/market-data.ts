/**
 * Market data: candles and 24-hour figures, folded from all prints on every read.
 */
import type { RetentionConfig } from '../engine/config.ts';
import { max, min, sum } from './numbers.ts';
import type { Print } from './records.ts';
import { DAY, type Market } from './world.ts';

const MINUTE = 60_000_000n;

export interface Candle {
  readonly at: bigint;
  readonly open: bigint;
  readonly high: bigint;
  readonly low: bigint;
  readonly close: bigint;
  readonly volume: bigint;
  /** In force at the end of the bucket. */
  readonly rate: bigint;
}

/** prints of the last `kept` minutes, counted from the newest one with a print. */
export function keptPrints(prints: readonly Print[], kept: bigint): Print[] {
  const minuteOf = (at: bigint): bigint => at - (at % MINUTE);
  const newest = prints.at(-1);
  if (newest === undefined) return [];
  const since = minuteOf(newest.at) - kept * MINUTE;
  return prints.filter((print) => minuteOf(print.at) > since);
}

/** From the first print's bucket (or `since`) on; an empty bucket repeats the previous close. */
export function candlesOf(
  market: Market,
  interval: bigint,
  since: bigint,
  now: bigint,
): readonly Candle[] {
  const [first] = market.prints;
  if (first === undefined) return [];
  const startOf = (at: bigint): bigint => at - (at % interval);
  const candles: Candle[] = [];
  for (let at = max(startOf(first.at), startOf(since)); at <= now; at += interval) {
    const within = market.prints.filter((print) => startOf(print.at) === at);
    const before = market.prints.findLast((print) => print.at < at)?.price ?? first.price;
    const prices = within.map(({ price }) => price);
    candles.push({
      at,
      open: prices[0] ?? before,
      high: prices.reduce(max, prices[0] ?? before),
      low: prices.reduce(min, prices[0] ?? before),
      close: prices.at(-1) ?? before,
      volume: sum(within.map(sizeOf)),
      rate: market.rateChanges.findLast((change) => change.at <= at + interval)?.rate ?? 0n,
    });
  }
  return candles;
}

/**
 * D-16: a bar counts with the minute of its end. A trade of the partial first minute, or of
 * one whose candle is no longer kept, counts if it is one of the last `tradesPerMarket` trades.
 * `keptSince` is the first minute that is kept; null if none was dropped.
 */
export function dayOf(
  market: Market,
  now: bigint,
  { tradesPerMarket, candleMinutesPerMarket }: RetentionConfig,
  keptSince: bigint | null,
): { readonly volume: bigint; readonly notional: bigint; readonly priceBefore: bigint | null } {
  const since = now - DAY;
  const minuteOf = (at: bigint): bigint => at - (at % MINUTE);
  const trades = market.prints.filter(({ id }) => id !== null);
  const single = new Set(tradesPerMarket === 0 ? [] : trades.slice(-tradesPerMarket));
  const first = minuteOf(since);
  const hasCandle = (print: Print): boolean =>
    candleMinutesPerMarket > 0 && minuteOf(print.at) >= (keptSince ?? 0n);
  const isPartial = (print: Print): boolean => minuteOf(print.at) === first && first !== since;
  const recent = market.prints.filter(
    (print) => print.at >= since && (single.has(print) || (hasCandle(print) && !isPartial(print))),
  );
  const before =
    market.prints.findLast((print) =>
      minuteOf(print.at) === first
        ? single.has(print) && print.at <= since
        : minuteOf(print.at) < first && (hasCandle(print) || single.has(print)),
    ) ?? market.prints[0];
  return {
    volume: sum(recent.map(sizeOf)),
    notional: sum(recent.map((print) => sizeOf(print) * print.price * market.unit)),
    priceBefore: before?.price ?? null,
  };
}

const sizeOf = ({ lots }: Print): bigint => (lots < 0n ? -lots : lots);
