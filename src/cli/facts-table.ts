/** Stylised facts of a market as a terminal table. */
import Table from 'cli-table3';
import type { Quantiles, StylisedFacts } from '../backtest/stylised-facts.ts';

export function factsTable(facts: StylisedFacts): string {
  const table = new Table({
    head: [facts.symbol, ''],
    colAligns: ['left', 'right'],
    style: { head: [], border: [], compact: true },
  });
  const over = (lag: number): string => (lag === 1 ? '1 sample' : `${String(lag)} samples`);
  table.push(['samples', String(facts.samples)]);
  for (const { lag, deviationBp, excessKurtosis } of facts.returns) {
    table.push([`deviation of returns over ${over(lag)}`, `${deviationBp.toFixed(2)} bp`]);
    table.push([`excess kurtosis over ${over(lag)}`, excessKurtosis.toFixed(2)]);
  }
  table.push(['tail exponent (Hill)', facts.tailExponent?.toFixed(2) ?? 'too few']);
  for (const { lag, returns, absolute } of facts.autocorrelation) {
    table.push([
      `autocorrelation at ${over(lag)}: returns, sizes`,
      `${returns.toFixed(3)}, ${absolute.toFixed(3)}`,
    ]);
  }
  table.push(['spread 5 %, median, 95 %', of(facts.spread)]);
  table.push(['size at the best prices 5 %, median, 95 %', of(facts.depth)]);
  return table.toString();
}

function of({ p5, p50, p95 }: Quantiles): string {
  return [p5, p50, p95].map((value) => String(Math.round(value * 1e6) / 1e6)).join(', ');
}
