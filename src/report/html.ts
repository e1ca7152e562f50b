/**
 * A run's report as one HTML file that opens offline: figures first, then what was assumed and what the data lack, then
 * each strategy's curves, measures and rows. Nothing is fetched; the page's policy forbids it.
 *
 * The same run makes the same bytes.
 */
import { createHash } from 'node:crypto';
import type { Note } from '../backtest/note.ts';
import type { BacktestOutput } from '../backtest/output.ts';
import { conventions } from './conventions.ts';
import type { PageLibraries } from './libraries.ts';
import { pageData } from './page-data.ts';
import { PAGE_SCRIPT } from './page-script.ts';
import { PAGE_STYLE } from './page-style.ts';
import type { Report, StrategyReport } from './report.ts';
import { comparison, figures } from './sections/figures.ts';
import { fillTable, fundingTable, liquidationTable, tradeTable } from './sections/lists.ts';
import { marketSection } from './sections/market.ts';
import { attributionBars, fillQualityTable, metricsTables } from './sections/measures.ts';
import { monthTable } from './sections/months.ts';
import { duration, escape, json, time } from './text.ts';

export function renderReport(
  report: Report,
  output: BacktestOutput,
  libraries: PageLibraries,
): string {
  const scripts = [...libraries.scripts, PAGE_SCRIPT].map(scriptText);
  const policy =
    `default-src 'none'; style-src 'unsafe-inline'; img-src data:; ` +
    `script-src ${scripts.map((text) => `'sha256-${sha256(text)}'`).join(' ')}`;
  const [first] = report.strategies;
  const isSingle = report.strategies.length === 1;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(report.title)}</title>
<link rel="icon" href="data:,">
<style>${libraries.styles}${PAGE_STYLE}</style>
</head>
<body>
<header>
<h1>${escape(report.title)}</h1>
<p class="lede">${escape(lede(report))}</p>
</header>
<main>
${isSingle && first !== undefined ? figures(first) : comparison(report)}
<h2>What was assumed</h2>
${notes(report.assumptions)}
<h2>Data and their gaps</h2>
${notes(report.data)}
${report.markets.map(marketSection).join('\n')}
${report.strategies.map((strategy, i) => strategySection(report, strategy, i)).join('\n')}
${report.strategies.length === 0 ? '' : `<h2>How figures are computed</h2>${notes(conventions(report.options))}`}
<h2>Repeat and verify</h2>
${report.verify.map((line) => `<pre><code>${escape(line)}</code></pre>`).join('\n')}
${hashes(report)}
</main>
<footer>Charts by TradingView Lightweight Charts™, Apache-2.0, tradingview.com, and µPlot, MIT.</footer>
<script type="application/json" id="data">${json(pageData(report, output))}</script>
${scripts.map((text) => `<script>${text}</script>`).join('\n')}
</body>
</html>
`;
}

function lede({ strategies, markets, firstUs, lastUs }: Report): string {
  const names = strategies.map(({ id }) => id).join(', ');
  const symbols = markets.map(({ symbol }) => symbol).join(', ');
  return `${names === '' ? 'Agents' : names} on ${symbols}, ${time(firstUs)} to ${time(lastUs)} UTC (${duration(lastUs - firstUs)})`;
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
${smallChart('Returns by size', 'histogram', strategy.histogram !== null)}
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

/** Nothing where there is nothing to choose. */
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
    : '<p>The run is too short to draw it.</p>';
  return `<div><h3>${title}</h3>${body}</div>`;
}

function notes(items: readonly Note[]): string {
  const entries = items.map(
    ({ title, text }) => `<div><dt>${escape(title)}</dt><dd>${escape(text)}</dd></div>`,
  );
  return `<dl class="notes">${entries.join('')}</dl>`;
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

/** A script that cannot close its own element. */
function scriptText(text: string): string {
  return text.replace(/<\/script/gi, '<\\/script');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
