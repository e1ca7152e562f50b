/** Fill quality: queue wait, slippage against arrival, markouts. */
import { MARKOUT_HORIZONS_US, type FillRow } from '../../backtest/output.ts';
import { mean, quantile } from '../../metrics/sample.ts';

/**
 * Fill quality of one role. Basis points are relative to the reference mid; means are weighted by
 * notional.
 */
export interface FillQuality {
  readonly role: 'maker' | 'taker';
  readonly fills: number;
  readonly notional: number;
  /** Time resting on the book before the fill, µs. */
  readonly queueWaitUs: { readonly median: number | null; readonly p90: number | null };
  /** Cost if positive: price against the mid at the order's arrival. */
  readonly slippageBps: number | null;
  /** Gain if positive: price against the mid just before the fill. */
  readonly edgeBps: number | null;
  /** Gain if positive: move of the mid in the fill's favour after each horizon. */
  readonly markoutBps: readonly (number | null)[];
}

export function fillQuality(fills: readonly FillRow[]): FillQuality[] {
  return (['maker', 'taker'] as const)
    .map((role) => ({ role, of: fills.filter((fill) => fill.role === role) }))
    .filter(({ of }) => of.length > 0)
    .map(({ role, of }) => ({
      role,
      fills: of.length,
      notional: of.reduce((sum, fill) => sum + notionalOf(fill), 0),
      queueWaitUs: {
        median: quantile(waits(of), 0.5),
        p90: quantile(waits(of), 0.9),
      },
      slippageBps: weighted(of, (fill) => distanceBps(fill, fill.arrivalMid)),
      edgeBps: weighted(of, (fill) => negated(distanceBps(fill, fill.midBefore))),
      markoutBps: MARKOUT_HORIZONS_US.map((_, i) =>
        weighted(of, (fill) => moved(fill, fill.midBefore, fill.markouts[i] ?? null)),
      ),
    }));
}

const notionalOf = (fill: FillRow): number => Number(fill.size) * Number(fill.price);
const waits = (fills: readonly FillRow[]): number[] => fills.map((fill) => fill.queueWaitUs);
const negated = (value: number | null): number | null => (value === null ? null : -value);
const signOf = ({ side }: Pick<FillRow, 'side'>): number => (side === 'buy' ? 1 : -1);

/** Signed distance of the price from a mid in the fill's direction, basis points of the mid. */
function distanceBps(fill: Pick<FillRow, 'side' | 'price'>, mid: number | null): number | null {
  return mid === null ? null : (signOf(fill) * (Number(fill.price) - mid) * 10_000) / mid;
}

function moved(fill: Pick<FillRow, 'side'>, from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : (signOf(fill) * (to - from) * 10_000) / from;
}

/** Mean weighted by notional over the fills that have the value. */
function weighted(
  fills: readonly FillRow[],
  figure: (fill: FillRow) => number | null,
): number | null {
  const terms: number[] = [];
  const weights: number[] = [];
  for (const fill of fills) {
    const value = figure(fill);
    if (value === null) continue;
    terms.push(value * notionalOf(fill));
    weights.push(notionalOf(fill));
  }
  const total = mean(weights);
  const sum = mean(terms);
  return total === null || sum === null || total === 0 ? null : sum / total;
}
