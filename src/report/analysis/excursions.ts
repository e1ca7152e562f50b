/**
 * Excursions of closed trades: how far the mid went against a position and for it while it was
 * held, on the samples of the run and the trade's own prices.
 */
import type { FillRow, MarketOutput, StrategyOutput } from '../../backtest/output.ts';
import { openTrips, roundTrips, type RoundTrip } from './round-trips.ts';

/** A trade with its excursions as fractions of the entry price, at least 0. */
export interface ExcursionTrip extends RoundTrip {
  /** Largest move against the position (MAE). */
  readonly mae: number;
  /** Largest move for the position (MFE). */
  readonly mfe: number;
}

type Path = Pick<MarketOutput, 'symbol' | 'series'>;

/** Trades of fills that were asked for, which a report and its tables share. */
const known = new WeakMap<readonly FillRow[], readonly ExcursionTrip[]>();

/** Closed trades of a strategy in these markets, with their excursions. */
export function closedTrades(
  { fills, liquidations, orders }: Pick<StrategyOutput, 'fills' | 'liquidations' | 'orders'>,
  markets: readonly Path[],
): readonly ExcursionTrip[] {
  let trades = known.get(fills);
  if (trades === undefined) {
    trades = withExcursions(roundTrips(fills, liquidations, orders), markets);
    known.set(fills, trades);
  }
  return trades;
}

/** Positions that are open at the end, valued at the last mark, as trades until then. */
export function openTrades(
  strategy: Pick<StrategyOutput, 'fills' | 'liquidations' | 'funding' | 'equity'>,
  markets: readonly Path[],
): readonly ExcursionTrip[] {
  const marks = markets.flatMap(({ symbol, series }) => {
    const last = series.findLast(({ mark }) => mark !== null)?.mark ?? null;
    return last === null ? [] : [[symbol, last] as const];
  });
  const endUs = strategy.equity.at(-1)?.timeUs ?? 0;
  return withExcursions(openTrips(strategy, new Map(marks), endUs), markets);
}

export function withExcursions(
  trades: readonly RoundTrip[],
  markets: readonly Path[],
): ExcursionTrip[] {
  const paths = new Map(markets.map(({ symbol, series }) => [symbol, series]));
  return trades.map((trade) => {
    const [low, high] = extremes(trade, paths.get(trade.symbol) ?? []);
    return {
      symbol: trade.symbol,
      side: trade.side,
      tag: trade.tag,
      exitReason: trade.exitReason,
      exitTag: trade.exitTag,
      entryUs: trade.entryUs,
      exitUs: trade.exitUs,
      size: trade.size,
      entryPrice: trade.entryPrice,
      exitPrice: trade.exitPrice,
      fees: trade.fees,
      funding: trade.funding,
      notional: trade.notional,
      pnl: trade.pnl,
      pnlShare: trade.pnlShare,
      fills: trade.fills,
      liquidated: trade.liquidated,
      mae: low === 0 ? 0 : -low,
      mfe: high,
    };
  });
}

/** Lowest and highest move of the price for the position, 0 at the entry. */
function extremes(
  { side, entryUs, exitUs, entryPrice, exitPrice }: RoundTrip,
  series: Path['series'],
): readonly [low: number, high: number] {
  const sign = side === 'long' ? 1 : -1;
  const exit = (sign * (exitPrice - entryPrice)) / entryPrice;
  let low = Math.min(0, exit);
  let high = Math.max(0, exit);
  for (let i = firstFrom(series, entryUs); i < series.length; i++) {
    const point = series[i];
    if (point === undefined || point.timeUs > exitUs) break;
    const price = point.mid ?? point.mark;
    if (price === null) continue;
    const move = (sign * (price - entryPrice)) / entryPrice;
    low = Math.min(low, move);
    high = Math.max(high, move);
  }
  return [low, high];
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
