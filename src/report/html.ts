/**
 * A run's report as one HTML file that opens offline: figures, assumptions, data quality, then
 * curves, measures and rows of each strategy. Equal runs produce equal bytes.
 */
import type { BacktestOutput } from '../backtest/output.ts';
import type { Note } from '../backtest/note.ts';
import { noBookText } from '../backtest/no-book.ts';
import { conventions } from './conventions.ts';
import type { PageLibraries } from './libraries.ts';
import { notes, pageOf } from './page.ts';
import { pageData } from './page-data.ts';
import type { Report, StrategyReport } from './report.ts';
import { comparison, figures } from './sections/figures.ts';
import { fillTable, fundingTable, liquidationTable, tradeTable } from './sections/lists.ts';
import { marketSection } from './sections/market-section.ts';
import { attributionBars, fillQualityTable, metricsTables } from './sections/measures.ts';
import { monthTable } from './sections/months.ts';
import { divergenceText, duration, escape, time } from './text.ts';

export function renderReport(
  report: Report,
  output: BacktestOutput,
  libraries: PageLibraries,
): string {
  const [first] = report.strategies;
  const isSingle = report.strategies.length === 1;
  const main = `${isSingle && first !== undefined ? figures(first) : comparison(report)}
<h2>Assumptions</h2>
${notes(report.assumptions)}
<h2>Data quality</h2>
${notes([...report.data, ...divergenceNotes(report)])}
${report.markets.map(marketSection).join('\n')}
${report.strategies.map((strategy, i) => strategySection(report, strategy, i)).join('\n')}
${report.strategies.length === 0 ? '' : `<h2>How figures are computed</h2>${notes(conventions(report.options))}`}
<h2>Repeat and verify</h2>
${report.verify.map((line) => `<pre><code>${escape(line)}</code></pre>`).join('\n')}
${hashes(report)}`;
  return pageOf(
    { title: report.title, lede: lede(report), main, data: pageData(report, output) },
    libraries,
  );
}

/** None for a market of agents, which has no history. */
function divergenceNotes({ markets, isEndogenous }: Report): Note[] {
  if (isEndogenous === true) return [];
  return markets.map(({ symbol, divergence }) => ({
    title: 'Divergence',
    text: `${divergenceText(divergence, symbol)}.`,
  }));
}

function lede({ strategies, markets, firstUs, lastUs }: Report): string {
  const names = strategies.map(({ id }) => id).join(', ');
  const symbols = markets.map(({ symbol }) => symbol).join(', ');
  const noBook = markets.flatMap(({ symbol, gapUs }) =>
    gapUs > 0 ? [`; ${symbol}: ${noBookText(gapUs)}`] : [],
  );
  return `${names === '' ? 'Agents' : names} on ${symbols}, ${time(firstUs)} to ${time(lastUs)} UTC (${duration(lastUs - firstUs)})${noBook.join('')}`;
}

function strategySection(report: Report, strategy: StrategyReport, index: number): string {
  const isSingle = report.strategies.length === 1;
  const parameters = Object.entries(strategy.parameters)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(', ');
  const head = isSingle ? '' : `<h2 class="strategy">${escape(strategy.id)}</h2>`;
  return `<section data-strategy="${String(index)}">
${head}
${isSingle ? '' : `<p class="lede">${escape(strategy.name)}${parameters === '' ? '' : `: ${escape(parameters)}`}</p>`}
${isSingle ? '' : figures(strategy)}
<h3>Curves</h3>
${LEGEND}
${marketChoice(strategy)}
<div class="curves" data-draws="curves" role="img" aria-label="Price with fills, equity beside buy and hold, drawdown, position, leverage and margin used over time"></div>
<h3>Metrics</h3>
${metricsTables(strategy, report)}
<h3>Where the PnL came from</h3>
${attributionBars(strategy)}
<h3>How orders were filled</h3>
${fillQualityTable(strategy)}
<h3>Returns by month</h3>
${monthTable(strategy.months)}
<div class="columns">
${smallChart('Distribution of returns', 'histogram', strategy.histogram !== null)}
${smallChart('Rolling Sharpe and volatility', 'rolling', strategy.rolling.length > 0)}
</div>
${liquidationTable(strategy)}
${fundingTable(strategy)}
<h3>Closed trades</h3>
${tradeTable(strategy)}
<h3>Fills</h3>
${fillTable(strategy)}
</section>`;
}

const LEGEND = `<ul class="legend" aria-label="Legend">
<li><b style="background:var(--line)"></b>mid price</li>
<li><b style="background:var(--buy)"></b>buys</li>
<li><b style="background:var(--sell)"></b>sells</li>
<li><b style="background:var(--equity)"></b>equity</li>
<li><b style="background:var(--soft)"></b>buy and hold</li>
<li><b style="background:var(--fall)"></b>drawdown</li>
<li><b style="background:var(--hold)"></b>position, margin used</li>
<li><b style="background:var(--line)"></b>leverage</li>
</ul>`;

/** Empty if there is only one market. */
function marketChoice({ symbols }: StrategyReport): string {
  if (symbols.length < 2) return '';
  const options = symbols.map(
    (symbol, i) => `<option value="${String(i)}">${escape(symbol)}</option>`,
  );
  return `<label>Market <select data-draws="market">${options.join('')}</select></label>`;
}

function smallChart(title: string, name: string, isDrawn: boolean): string {
  const body = isDrawn
    ? `<div class="small" data-draws="${name}" role="img" aria-label="${title}"></div>`
    : '<p>The run is too short for this chart.</p>';
  return `<div><h3>${title}</h3>${body}</div>`;
}

function hashes({ bundle, seed, chainHash, stateHash }: Report): string {
  const rows = Object.entries({
    ...bundle,
    seed,
    'chain hash': chainHash,
    'state hash': stateHash,
  });
  const cells = rows.map(
    ([name, value]) => `<div><dt>${escape(name)}</dt><dd class="hash">${escape(value)}</dd></div>`,
  );
  return `<dl class="notes">${cells.join('')}</dl>`;
}
