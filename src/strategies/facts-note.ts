/** Stylised facts of a market in words, for a report. */
import type { Note } from '../backtest/note.ts';
import type { Quantiles, StylisedFacts } from '../backtest/stylised-facts.ts';

export function factsNote(facts: StylisedFacts): Note {
  const { symbol, samples, returns, tailExponent, autocorrelation, spread, depth } = facts;
  const of = ({ p5, p50, p95 }: Quantiles): string =>
    `${short(p5)} / ${short(p50)} / ${short(p95)} (5 %, median, 95 %)`;
  const lags = autocorrelation.map(
    ({ lag, returns: plain, absolute }) =>
      `${String(lag)}: ${plain.toFixed(3)} and ${absolute.toFixed(3)}`,
  );
  return {
    title: `Stylised facts of ${symbol}`,
    text: [
      `${String(samples)} samples of mid.`,
      `Excess kurtosis of returns over ${returns.map(({ lag, excessKurtosis, deviationBp }) => `${String(lag)} samples ${excessKurtosis.toFixed(2)} (deviation ${deviationBp.toFixed(2)} bp)`).join(', ')}.`,
      tailExponent === null ? '' : `Tail exponent ${tailExponent.toFixed(2)}.`,
      `Autocorrelation of returns and of their sizes at lag ${lags.join('; ')}.`,
      `Spread ${of(spread)}; size at the touch ${of(depth)}.`,
    ].join(' '),
  };
}

function short(value: number): string {
  return String(Math.round(value * 1e6) / 1e6);
}
