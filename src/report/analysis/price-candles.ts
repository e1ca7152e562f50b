/** Candles of the sampled mid for the price chart; the page joins them into longer ones. */
import type { MarketPoint } from '../../backtest/output.ts';

export interface PriceCandles {
  /** Length of the shortest candle in seconds. */
  readonly seconds: number;
  /** Start in seconds since 1970, open, high, low, close. */
  readonly rows: readonly (readonly [number, number, number, number, number])[];
}

/** Lengths in seconds of which the page offers those that give 12 to 1,500 candles. */
export const CANDLE_SECONDS = [1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400, 604_800] as const;
const MOST_CANDLES = 1_500;
const FEWEST_CANDLES = 12;
/** Fewer samples show no high or low. */
const SAMPLES_PER_CANDLE = 4;

/** Null if no length gives enough candles of enough samples. */
export function priceCandles(
  series: readonly MarketPoint[],
  sampleUs: number,
): PriceCandles | null {
  const span = ((series.at(-1)?.timeUs ?? 0) - (series[0]?.timeUs ?? 0)) / 1e6;
  const seconds = CANDLE_SECONDS.find(
    (length) =>
      length * 1e6 >= SAMPLES_PER_CANDLE * sampleUs &&
      span / length <= MOST_CANDLES &&
      span / length >= FEWEST_CANDLES,
  );
  if (seconds === undefined) return null;
  const rows: [number, number, number, number, number][] = [];
  for (const { timeUs, mid, mark } of series) {
    const price = mid ?? mark;
    if (price === null) continue;
    const start = Math.floor(timeUs / 1e6 / seconds) * seconds;
    const last = rows.at(-1);
    if (last?.[0] === start) {
      last[2] = Math.max(last[2], price);
      last[3] = Math.min(last[3], price);
      last[4] = price;
      // A candle opens where the one before closed: samples have no price in between.
    } else {
      const open = last !== undefined && start - last[0] === seconds ? last[4] : price;
      rows.push([start, open, Math.max(open, price), Math.min(open, price), price]);
    }
  }
  return { seconds, rows };
}
