/** Terms of how a run gets its data: its agents, or fidelity and model of the recorded markets. */
import { parseTapeModel } from '../tape/tape-model.ts';
import type { Population } from './population.ts';
import type { RunTerms } from './run-terms.ts';
import type { TapeSource } from './tape-source.ts';

/** Fields of a plan. */
interface Played {
  readonly population?: Population;
  readonly bars?: string;
}

export function playedAs({ population, bars = '' }: Played, { markets }: TapeSource): RunTerms {
  if (population !== undefined) return { population: JSON.stringify(population) };
  const terms: Record<string, string> = {};
  for (const { symbol, fidelity } of markets) terms[`${symbol} fidelity`] = String(fidelity);
  // Recordings with a book use no model.
  const hasModel = markets.some(({ fidelity }) => fidelity === 'bars' || fidelity === 'trades');
  return hasModel ? { ...terms, bars: JSON.stringify(parseTapeModel(bars)) } : terms;
}
