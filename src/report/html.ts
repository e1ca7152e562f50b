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
import { comparison, figures, verdict } from './sections/figures.ts';
import { fillTable, fundingTable, liquidationTable, tradeTable } from './sections/lists.ts';
import { marketSection } from './sections/market-section.ts';
import { attributionBars, fillQualityTable, metricsTables } from './sections/measures.ts';
import { monthTable } from './sections/months.ts';
import { duration, time } from '../design/number-text.ts';
import { divergenceText, escape } from './text.ts';

export function renderReport(
  report: Report,
  output: BacktestOutput,
  libraries: PageLibraries,
): string {
  const [first] = report.strategies;
  const single = report.strategies.length === 1 ? first : undefined;
  const main = `${single === undefined ? comparison(report) : figures(single)}
${report.strategies.map((strategy, i) => strategySection(report, strategy, i)).join('\n')}
${report.markets.map(marketSection).join('\n')}
<h2 id="assumptions">Assumptions</h2>
${notes(report.assumptions)}
<h2 id="data-quality">Data quality</h2>
${notes([...report.data, ...divergenceNotes(report)])}
${report.strategies.length === 0 ? '' : `<h2 id="conventions">How figures are computed</h2>${notes(conventions(report.options))}`}
<h2 id="verify">Repeat and verify</h2>
${report.verify.map((line) => `<pre><code>${escape(line)}</code></pre>`).join('\n')}
${hashes(report)}`;
  return pageOf(
    {
      title: report.title,
      lede: lede(report),
      ...(single === undefined ? {} : { verdict: verdict(single) }),
      hash: report.chainHash,
      sections: sectionsOf(report),
      main,
      data: pageData(report, output),
    },
    libraries,
  );
}

function sectionsOf({ strategies, markets }: Report): (readonly [string, string])[] {
  const own =
    strategies.length === 1
      ? ([
          ['result', 'Result'],
          ['price', 'Price, fills'],
          ['metrics', 'Metrics'],
          ['fills', 'Trades, fills'],
        ] as const)
      : [
          ...(strategies.length > 1 ? ([['strategies', 'Strategies']] as const) : []),
          ...strategies.map(({ id }, i) => [`strategy-${String(i)}`, id] as const),
        ];
  const shaped = markets.flatMap(({ shape, symbol }, i) =>
    shape === null ? [] : [[`market-${String(i)}`, symbol] as const],
  );
  return [
    ...own,
    ...shaped,
    ['assumptions', 'Assumptions'],
    ['data-quality', 'Data quality'],
    ...(strategies.length === 0 ? [] : ([['conventions', 'Conventions']] as const)),
    ['verify', 'Verify'],
  ];
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
  // Anchors of a page with one strategy, which the list of sections uses.
  const id = (name: string): string => (isSingle ? ` id="${name}"` : '');
  const head = isSingle
    ? ''
    : `<h2 class="strategy" id="strategy-${String(index)}">${escape(strategy.id)}</h2>
<p class="lede">${escape(strategy.name)}${parameters === '' ? '' : `: ${escape(parameters)}`}</p>
<p class="verdict">${escape(verdict(strategy))}</p>
${figures(strategy)}`;
  return `<section data-strategy="${String(index)}">
${head}
<div class="split"${id('result')}>
<div><h3>Equity and drawdown</h3>
${readout([
  ['equity', 's1', 'equity'],
  ['hold', 's5', 'buy and hold', true],
  ['fall', 's3', 'drawdown'],
])}
<div class="curves" data-draws="equity" role="img" aria-label="Equity beside buy and hold, and drawdown, over time"></div></div>
<div><h3>Where the PnL came from</h3>
${attributionBars(strategy)}</div>
</div>
<h3${id('price')}>Price with fills, position, leverage</h3>
${marketChoice(strategy)}
${readout([
  ['mid', 'text-2', 'mid'],
  ['position', 's2', 'position'],
  ['leverage', 's4', 'leverage'],
  ['margin', 's3', 'margin used', true],
  ['fills', 'text-2', 'fills here'],
  ...(strategy.plots.length === 0 ? [] : ([['plots', 'text-2', 'plotted']] as const)),
])}
<div class="curves price" data-draws="price-fills" role="img" aria-label="Price with fills, position, leverage and margin used over time"></div>
<h2${id('metrics')}>Metrics</h2>
${metricsTables(strategy, report)}
<h3>How orders were filled</h3>
${fillQualityTable(strategy)}
${strategy.months.length < 2 ? '' : `<h3>Returns by month</h3>${monthTable(strategy.months)}`}
<div class="columns">
${smallChart('Distribution of returns', 'histogram', strategy.histogram === null ? 'Needs two returns.' : null)}
${smallChart('Rolling Sharpe and volatility', 'rolling', strategy.rolling.length > 0 ? null : 'Needs a run of a day or more, with ten returns.')}
</div>
${liquidationTable(strategy)}
${fundingTable(strategy)}
<h2${id('fills')}>Closed trades</h2>
${tradeTable(strategy)}
<h2>Fills</h2>
${fillTable(strategy)}
</section>`;
}

/** Titles of a chart's curves with their values under the pointer, which the script writes. */
function readout(
  curves: readonly (readonly [name: string, token: string, title: string, isDashed?: boolean])[],
): string {
  const items = curves.map(([name, token, title, isDashed]) => {
    const mark =
      name === 'fills' || name === 'plots'
        ? ''
        : `<i style="color:var(--${token})"${isDashed === true ? ' class="dashed"' : ''}></i>`;
    return `<li>${mark}${title} <b data-reads="${name}"></b></li>`;
  });
  return `<ul class="readout" aria-hidden="true">${items.join('')}</ul>`;
}

/** Empty if there is only one market. */
function marketChoice({ symbols }: StrategyReport): string {
  if (symbols.length < 2) return '';
  const options = symbols.map(
    (symbol, i) => `<option value="${String(i)}">${escape(symbol)}</option>`,
  );
  return `<label>Market <select data-draws="market">${options.join('')}</select></label>`;
}

function smallChart(title: string, name: string, missing: string | null): string {
  const body =
    missing === null
      ? `<div class="small" data-draws="${name}" role="img" aria-label="${title}"></div>`
      : `<p class="caption">${missing}</p>`;
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
