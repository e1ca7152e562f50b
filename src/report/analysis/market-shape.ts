/**
 * Stylised facts of an endogenous market for charts: return distribution with a normal reference,
 * autocorrelation of returns and |returns|, distributions of spread and depth, price with
 * fundamental value.
 */
import type { MarketOutput, MarketPoint } from '../../backtest/output.ts';
import {
  autocorrelation,
  returnsOf,
  stylisedFacts,
  type StylisedFacts,
} from '../../backtest/stylised-facts.ts';
import { deviation, mean } from '../../metrics/sample.ts';
import { histogram, type Histogram } from './distributions.ts';

export interface MarketShape {
  readonly facts: StylisedFacts;
  readonly price: readonly {
    readonly timeUs: number;
    readonly mid: number | null;
    readonly index: number | null;
  }[];
  /**
   * Returns over one sample, standardised; `normal` is the expected count of a normal distribution
   * per bin.
   */
  readonly returns: { readonly bins: Histogram; readonly normal: readonly number[] } | null;
  /** At lags of 1 … n samples. */
  readonly memory: readonly { readonly returns: number; readonly absolute: number }[];
  /** 95 % band of correlations of independent draws. */
  readonly noise: number;
  readonly spread: Histogram | null;
  readonly depth: Histogram | null;
}

const BINS = 41;
const MAX_LAG = 60;
/** Max points of the price curve, above the number of pixels. */
const MAX_POINTS = 1500;

export function marketShape(market: MarketOutput): MarketShape {
  const quoted = market.series.filter(
    (point): point is MarketPoint & { mid: number } => point.mid !== null,
  );
  const returns = returnsOf(
    quoted.map(({ mid }) => mid),
    1,
  );
  const lags = Math.min(MAX_LAG, Math.floor(returns.length / 4));
  const sizes = returns.map(Math.abs);
  const step = Math.max(1, Math.ceil(market.series.length / MAX_POINTS));
  return {
    facts: stylisedFacts(market),
    price: market.series
      .filter((_, i) => i % step === 0)
      .map(({ timeUs, mid, index }) => ({ timeUs, mid, index })),
    returns: besideNormal(returns),
    memory: Array.from({ length: lags }, (_, i) => ({
      returns: autocorrelation(returns, i + 1),
      absolute: autocorrelation(sizes, i + 1),
    })),
    noise: 1.96 / Math.sqrt(Math.max(1, returns.length)),
    spread: withoutTail(quoted.flatMap(({ spread }) => spread ?? [])),
    depth: withoutTail(quoted.map(({ bidSize, askSize }) => bidSize + askSize)),
  };
}

function besideNormal(returns: readonly number[]): MarketShape['returns'] {
  const middle = mean(returns);
  const spread = deviation(returns, 'sample');
  if (middle === null || spread === null || spread === 0) return null;
  const bins = histogram(
    returns.map((value) => (value - middle) / spread),
    BINS,
  );
  if (bins === null) return null;
  const scale = (returns.length * bins.width) / Math.sqrt(2 * Math.PI);
  const normal = bins.counts.map((_, i) => {
    const x = bins.low + (i + 0.5) * bins.width;
    return scale * Math.exp((-x * x) / 2);
  });
  return { bins, normal };
}

/** Histogram without the largest hundredth, which would compress the rest. */
function withoutTail(values: readonly number[]): Histogram | null {
  const sorted = [...values].sort((a, b) => a - b);
  return histogram(sorted.slice(0, Math.ceil(sorted.length * 0.99)), BINS);
}
