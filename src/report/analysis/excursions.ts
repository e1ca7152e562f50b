/**
 * Excursions of closed trades: how far the mid went against a position and for it while it was
 * held, on the samples of the run and the trade's own prices.
 */
import type { MarketOutput } from '../../backtest/output.ts';
import type { RoundTrip } from './round-trips.ts';

/** A trade with its excursions as fractions of the entry price, at least 0. */
export interface ExcursionTrip extends RoundTrip {
  /** Largest move against the position (MAE). */
  readonly mae: number;
  /** Largest move for the position (MFE). */
  readonly mfe: number;
}

type Path = Pick<MarketOutput, 'symbol' | 'series'>;

export function withExcursions(
  trades: readonly RoundTrip[],
  markets: readonly Path[],
): ExcursionTrip[] {
  const paths = new Map(markets.map(({ symbol, series }) => [symbol, series]));
  return trades.map((trade) => ({ ...trade, ...excursions(trade, paths.get(trade.symbol) ?? []) }));
}

function excursions(
  { side, entryUs, exitUs, entryPrice, exitPrice }: RoundTrip,
  series: Path['series'],
): Pick<ExcursionTrip, 'mae' | 'mfe'> {
  const sign = side === 'long' ? 1 : -1;
  let [low, high] = [0, 0];
  const see = (price: number): void => {
    const move = (sign * (price - entryPrice)) / entryPrice;
    low = Math.min(low, move);
    high = Math.max(high, move);
  };
  see(exitPrice);
  for (let i = firstFrom(series, entryUs); i < series.length; i++) {
    const point = series[i];
    if (point === undefined || point.timeUs > exitUs) break;
    const price = point.mid ?? point.mark;
    if (price !== null) see(price);
  }
  return { mae: low === 0 ? 0 : -low, mfe: high };
}

/** Index of the first sample at or after a time. */
function firstFrom(series: Path['series'], timeUs: number): number {
  let [from, to] = [0, series.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((series[middle]?.timeUs ?? 0) < timeUs) from = middle + 1;
    else to = middle;
  }
  return from;
}
