/** Section of an endogenous market: figures and charts of its stylised facts. */
import type { Quantiles } from '../../backtest/stylised-facts.ts';
import type { MarketReport } from '../report.ts';
import { grouped, ratio } from '../../design/number-text.ts';
import { escape } from '../text.ts';
import { figureRow } from './figures.ts';

export function marketSection(market: MarketReport, index: number): string {
  const { shape, symbol } = market;
  if (shape === null) return '';
  return `<section data-market="${String(index)}">
<h2 class="strategy" id="market-${String(index)}">The market ${escape(symbol)}</h2>
${tiles(market)}
<h3>Price and fundamental value</h3>
${chart('price', 'Mid and index over time')}
<div class="columns pairs">
${titled('Returns and normal distribution', 'returns', 'In standard deviations, counts on a logarithmic scale: points above the curve in the tails are fat tails.')}
${titled('Autocorrelation of returns and |returns|', 'memory', 'By lag in samples. The thin lines are the 95 % band of independent draws; |returns| above it are volatility clustering.')}
${titled('Spread', 'spread', 'Samples by best ask minus best bid, without the largest hundredth.')}
${titled('Size at the best prices', 'depth', 'Samples by size at the best bid and ask together, without the largest hundredth.')}
</div>
</section>`;
}

function tiles({ shape, trades, volume }: MarketReport): string {
  if (shape === null) return '';
  const { facts } = shape;
  const [first] = facts.returns;
  const [memory] = facts.autocorrelation;
  const of = ({ p5, p50, p95 }: Quantiles): string =>
    [p5, p50, p95].map((value) => grouped(String(Math.round(value * 1e6) / 1e6))).join(' · ');
  const rows: readonly (readonly [string, string])[] = [
    ['Trades', grouped(String(trades))],
    ['Volume', grouped(volume)],
    ['Deviation of returns, bp', ratio(first?.deviationBp ?? null)],
    ['Excess kurtosis', ratio(first?.excessKurtosis ?? null)],
    ['Tail exponent (Hill)', ratio(facts.tailExponent)],
    ['Autocorrelation of returns', ratio(memory?.returns ?? null, 3)],
    ['Autocorrelation of |returns|', ratio(memory?.absolute ?? null, 3)],
    ['Spread: 5 %, median, 95 %', of(facts.spread)],
    ['Touch: 5 %, median, 95 %', of(facts.depth)],
  ];
  return figureRow(rows.map(([name, value]) => ({ name, value: escape(value) })));
}

function titled(title: string, name: string, caption: string): string {
  return `<div><h3>${title}</h3>${chart(name, title)}<p class="caption">${caption}</p></div>`;
}

function chart(name: string, label: string): string {
  return `<div class="small" data-draws="${name}" role="img" aria-label="${label}"></div>`;
}
