/** Results of closed trades by market and by side. */
import { mean, sum } from '../../metrics/sample.ts';
import type { ExcursionTrip } from './excursions.ts';

export interface SideResult {
  /** Null: of all markets. */
  readonly symbol: string | null;
  /** Null: of both sides. */
  readonly side: 'long' | 'short' | null;
  readonly trades: number;
  readonly pnl: number;
  readonly fees: number;
  readonly funding: number;
  readonly winRate: number | null;
  readonly profitFactor: number | null;
  readonly meanHeldUs: number | null;
  readonly meanMae: number | null;
  readonly meanMfe: number | null;
}

/** A row per market and side with trades, then the totals that sum several rows. */
export function sideResults(trades: readonly ExcursionTrip[]): SideResult[] {
  const symbols = [...new Set(trades.map(({ symbol }) => symbol))];
  const rows: SideResult[] = [];
  const add = (symbol: string | null, side: SideResult['side']): void => {
    const kept = trades.filter(
      (trade) =>
        (symbol === null || trade.symbol === symbol) && (side === null || trade.side === side),
    );
    if (kept.length > 0) rows.push(resultOf(symbol, side, kept));
  };
  for (const symbol of symbols) for (const side of ['long', 'short'] as const) add(symbol, side);
  if (symbols.length > 1) {
    for (const symbol of symbols) add(symbol, null);
    for (const side of ['long', 'short'] as const) add(null, side);
  }
  if (rows.length > 1) add(null, null);
  return rows;
}

function resultOf(
  symbol: string | null,
  side: SideResult['side'],
  trades: readonly ExcursionTrip[],
): SideResult {
  const pnls = trades.map(({ pnl }) => pnl);
  const losses = -sum(pnls.filter((pnl) => pnl < 0));
  return {
    symbol,
    side,
    trades: trades.length,
    pnl: sum(pnls),
    fees: sum(trades.map(({ fees }) => fees)),
    funding: sum(trades.map(({ funding }) => funding)),
    winRate: pnls.filter((pnl) => pnl > 0).length / pnls.length,
    profitFactor: losses > 0 ? sum(pnls.filter((pnl) => pnl > 0)) / losses : null,
    meanHeldUs: mean(trades.map(({ entryUs, exitUs }) => exitUs - entryUs)),
    meanMae: mean(trades.map(({ mae }) => mae)),
    meanMfe: mean(trades.map(({ mfe }) => mfe)),
  };
}
