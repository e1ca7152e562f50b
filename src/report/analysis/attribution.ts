/**
 * PnL attribution. The parts sum to the total. `inventory` is the effect of price moves on held
 * positions, without the spread earned at the fill and without the move in the 10 s after it (the
 * second markout).
 */
import type { FillRow, StrategySummary } from '../../backtest/output.ts';
import { sum } from '../../metrics/sample.ts';

export interface Attribution {
  /**
   * Σ size × (mid just before the fill − price), signed by side; negative if the spread was paid.
   */
  readonly spread: number;
  /** Σ size × (mid 10 s after − mid just before), signed by side; usually negative for a maker. */
  readonly adverseSelection: number;
  /** The remaining price gains and losses. */
  readonly inventory: number;
  readonly feesMaker: number;
  readonly feesTaker: number;
  readonly feesOriginator: number;
  readonly funding: number;
  readonly liquidation: number;
  /** Sum of the parts: equity at the end − at the start − transfers. */
  readonly total: number;
  /** Fills without a mid before or after them; they count as inventory. */
  readonly fillsWithoutMid: number;
}

export function attribution(summary: StrategySummary, fills: readonly FillRow[]): Attribution {
  const spreads: number[] = [];
  const moves: number[] = [];
  let fillsWithoutMid = 0;
  for (const fill of fills) {
    const after = fill.markouts[1] ?? null;
    if (fill.midBefore === null || after === null) {
      fillsWithoutMid += 1;
      continue;
    }
    const signed = (fill.side === 'buy' ? 1 : -1) * Number(fill.size);
    spreads.push(signed * (fill.midBefore - Number(fill.price)));
    moves.push(signed * (after - fill.midBefore));
  }
  const trading = Number(summary.pnlTrading);
  const spread = sum(spreads);
  const adverseSelection = sum(moves);
  const rest = {
    feesMaker: Number(summary.feesMaker),
    feesTaker: Number(summary.feesTaker),
    feesOriginator: Number(summary.feesOriginator),
    funding: Number(summary.pnlFunding),
    liquidation: Number(summary.pnlLiquidation),
  };
  return {
    spread,
    adverseSelection,
    inventory: trading - spread - adverseSelection,
    ...rest,
    total: sum([trading, ...Object.values(rest)]),
    fillsWithoutMid,
  };
}
