/**
 * A run's report as one HTML file that opens offline: figures, assumptions, data quality, then
 * curves, measures and rows of each strategy. Equal runs produce equal bytes.
 */
import type { Note } from '../backtest/note.ts';
import type { FillRow } from '../backtest/output.ts';
import { noBookText } from '../backtest/no-book.ts';
import { conventions } from './conventions.ts';
import type { PageLibraries } from './libraries.ts';
import { notes, pageOf } from './page.ts';
import { instantLink, labelOf, pageData, type ReportedRun, type RunLinks } from './page-data.ts';
import type { Report, StrategyReport } from './report.ts';
import { comparison, figures, verdict } from './sections/figures.ts';
import { drawdownTable } from './sections/drawdown-table.ts';
import { explainedOrders } from './explain-page.ts';
import {
  decimalsOf,
  fillTable,
  type FillLinks,
  fundingTable,
  liquidationTable,
  tradeTable,
} from './sections/lists.ts';
import { reasonsOf } from './reason-text.ts';
import { marketSection } from './sections/market-section.ts';
import {
  attributionBars,
  fillQualityTable,
  furtherTables,
  metricsTables,
} from './sections/measures.ts';
import { calendarSection } from './sections/months.ts';
import { rollingCharts, smallChart } from './sections/rolling-charts.ts';
import { sideTable } from './sections/side-table.ts';
import { amount, duration, grouped, percent, time, prose } from '../design/number-text.ts';
import { divergenceText, escape, listed, MOST_ROWS, REPORT_FILE, table } from './text.ts';

export function renderReport(
  report: Report,
  output: ReportedRun['output'],
  libraries: PageLibraries,
  links: RunLinks = { explanations: null, timeMachine: null },
): string {
  const run = { name: '', report, output, recording: null, allRows: REPORT_FILE, ...links };
  const [first] = report.strategies;
  const single = report.strategies.length === 1 ? first : undefined;
  const main = `${single === undefined ? comparison([run]) : figures(single)}
${sectionsOfRuns([run])}
${report.markets.map(marketSection).join('\n')}
<h2 id="assumptions">Assumptions</h2>
${notes(report.assumptions)}
<h2 id="data-quality">Data quality</h2>
${notes([...report.data, ...divergenceNotes(report)])}
${report.strategies.length === 0 ? '' : `<h2 id="conventions">How figures are computed</h2>${notes(conventions(report.options))}`}
<h2 id="verify">Repeat and verify</h2>
${report.verify.map((line) => `<pre tabindex="0"><code>${escape(line)}</code></pre>`).join('\n')}
${hashes(report)}`;
  return pageOf(
    {
      title: report.title,
      lede: ledeOf(report),
      ...(single === undefined ? {} : { verdict: verdict(single) }),
      hash: report.chainHash,
      sections: sectionsOf(report),
      main,
      data: pageData([run]),
    },
    libraries,
  );
}

/** Several runs on one page: all curves and a table first, then a tab per strategy. */
export function renderRuns(runs: readonly ReportedRun[], libraries: PageLibraries): string {
  const all = runs.flatMap(({ report }) => report.strategies);
  const [only] = all;
  const differing = differingNotes(runs);
  const main = `${only !== undefined && all.length === 1 ? figures(only) : comparison(runs)}
${sectionsOfRuns(runs)}
<h2 id="assumptions">Assumptions</h2>
${differing === '' ? '<p>The runs have the same assumptions.</p>' : `<p>Assumptions that differ between the runs:</p>${differing}`}
<h2 id="verify">Repeat and verify</h2>
${runs.map(({ name, report }) => `<h3>${escape(name)}</h3>${report.verify.map((line) => `<pre tabindex="0"><code>${escape(line)}</code></pre>`).join('')}${hashes(report)}`).join('\n')}`;
  return pageOf(
    {
      title: `${String(runs.length)} runs`,
      lede: runs.map(spanOf).join('; '),
      verdict: runsVerdict(runs),
      sections: [
        ...resultSections(all.length),
        ['assumptions', 'Assumptions'],
        ['verify', 'Verify'],
      ],
      main,
      data: pageData(runs),
    },
    libraries,
  );
}

/** Share of the time by which starts and ends of comparable runs may differ. */
const TIMES_APART = 0.05;

/** The best run by return, in a sentence. */
function runsVerdict(runs: readonly ReportedRun[]): string {
  const all = runs.flatMap((run) =>
    run.report.strategies.flatMap(({ id, metrics }) =>
      metrics === null ? [] : [{ label: labelOf(run, id), metrics }],
    ),
  );
  const [best, second] = all.sort((a, b) => b.metrics.totalReturn - a.metrics.totalReturn);
  if (best === undefined) return 'No run can be measured.';
  const starts = runs.map(({ report }) => report.firstUs);
  const ends = runs.map(({ report }) => report.lastUs);
  // Warm-ups of different lengths begin some samples apart.
  const apart = Math.max(...starts) - Math.min(...starts) + Math.max(...ends) - Math.min(...ends);
  const isMixed = apart > TIMES_APART * (Math.max(...ends) - Math.min(...starts));
  const recordings = new Set(runs.flatMap(({ recording }) => recording ?? []));
  const different = isMixed ? 'cover different times' : 'have different data';
  const mixed =
    isMixed || recordings.size > 1
      ? ` The runs ${different}, so their returns are not comparable.`
      : '';
  const next =
    second === undefined
      ? ''
      : `, before ${second.label} with ${percent(second.metrics.totalReturn)}`;
  return `Highest return: ${best.label} with ${percent(best.metrics.totalReturn)}${next}.${mixed}`;
}

/** Rows of assumptions that are not the same in all runs; empty if there are none. */
function differingNotes(runs: readonly ReportedRun[]): string {
  const notesOf = ({ report, recording }: ReportedRun): readonly Note[] =>
    recording === null
      ? report.assumptions
      : [...report.assumptions, { title: 'Recorded data', text: recording }];
  const titles = [...new Set(runs.flatMap((run) => notesOf(run).map(({ title }) => title)))];
  const textOf = (run: ReportedRun, title: string): string =>
    notesOf(run).find((note) => note.title === title)?.text ?? 'none';
  const rows = titles.filter((title) => new Set(runs.map((run) => textOf(run, title))).size > 1);
  if (rows.length === 0) return '';
  return table(
    rows,
    [
      { title: 'Assumption', isText: true, cell: (title) => title },
      ...runs.map((run) => ({
        title: run.name,
        isText: true,
        isLong: true,
        // A hash has its first digits; all are in the section below.
        cell: (title: string) =>
          prose(textOf(run, title)).replace(/\b([\da-f]{8})[\da-f]{56}\b\.?/g, '$1…'),
      })),
    ],
    { caption: 'assumptions that differ' },
  );
}

/** Sections of all strategies; tabs if there are several. */
function sectionsOfRuns(runs: readonly ReportedRun[]): string {
  const all = runs.flatMap((run) => {
    const linked = explainedOrders(run.output);
    return run.report.strategies.map((strategy) => ({
      ...{ run, strategy, linked, label: labelOf(run, strategy.id) },
    }));
  });
  const sections = all.map((one, index) =>
    strategySection(one, { index, isSingle: all.length === 1 }),
  );
  if (all.length < 2) return sections.join('\n');
  const tabs = all.map(
    ({ label }, i) =>
      `<button role="tab" id="tab-${String(i)}" aria-controls="strategy-${String(i)}" aria-selected="${String(i === 0)}" tabindex="${i === 0 ? '0' : '-1'}">${escape(label)}</button>`,
  );
  return `<h2 id="tabs">Results of each</h2>
<div role="tablist" class="tabs" aria-label="Strategies">${tabs.join('')}</div>
${sections.join('\n')}`;
}

/** Sections of the results of some strategies. */
function resultSections(count: number): readonly (readonly [string, string])[] {
  if (count === 0) return [];
  if (count > 1) {
    return [
      ['strategies', 'Strategies'],
      ['tabs', `${String(count)} results`],
    ];
  }
  return [
    ['result', 'Result'],
    ['price', 'Price, fills'],
    ['metrics', 'Metrics'],
    ['drawdowns', 'Drawdowns'],
    ['calendar', 'Calendar'],
    ['sides', 'Long, short'],
    ['fills', 'Trades, fills'],
  ];
}

function sectionsOf({ strategies, markets }: Report): (readonly [string, string])[] {
  const shaped = markets.flatMap(({ shape, symbol }, i) =>
    shape === null ? [] : [[`market-${String(i)}`, symbol] as const],
  );
  return [
    ...resultSections(strategies.length),
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
  return markets.flatMap(({ symbol, divergence }) =>
    divergence === null
      ? []
      : [{ title: 'Divergence', text: `${divergenceText(divergence, symbol)}.` }],
  );
}

/** Names and markets, unless the title has them, and the time of the run. */
function ledeOf(report: Report): string {
  const what = subject(report);
  const text = lede(report);
  return report.title === what ? text.slice(what.length + 2) : text;
}

/** The name of a run first, unless it is that of its strategy. */
function spanOf({ name, report }: ReportedRun): string {
  const text = lede(report);
  return text.startsWith(`${name} on `) ? text : `${name}: ${text}`;
}

function subject({ strategies, markets }: Report): string {
  const names = listed(strategies.map(({ id }) => id));
  return `${names === '' ? 'Agents' : names} on ${listed(markets.map(({ symbol }) => symbol))}`;
}

function lede(report: Report): string {
  const { markets, firstUs, lastUs } = report;
  const noBook = markets.flatMap(({ symbol, gapUs }) =>
    gapUs > 0 ? [`; ${symbol}: ${noBookText(gapUs)}`] : [],
  );
  // Seconds say nothing about a run of days.
  const shown = (us: number): string => time(us).slice(0, lastUs - firstUs < 86_400e6 ? 23 : 16);
  return `${subject(report)}, ${shown(firstUs)} to ${shown(lastUs)} UTC (${duration(lastUs - firstUs)})${noBook.join('')}`;
}

interface Section {
  readonly run: ReportedRun;
  readonly strategy: StrategyReport;
  readonly label: string;
  /** Orders that the page of explanations has. */
  readonly linked: ReadonlySet<number>;
}

function strategySection(
  { run, strategy, label, linked }: Section,
  { index, isSingle }: { readonly index: number; readonly isSingle: boolean },
): string {
  const { report, explanations, allRows } = run;
  const parameters = Object.entries(strategy.parameters)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(', ');
  // Anchors of a page with one strategy, which the list of sections uses.
  const id = (name: string): string => (isSingle ? ` id="${name}"` : '');
  const head = isSingle
    ? ''
    : `<h2 class="strategy">${escape(label)}</h2>
<p class="lede">${escape(strategy.name)}${parameters === '' ? '' : `: ${escape(parameters)}`}</p>
<p class="verdict">${escape(verdict(strategy))}</p>
${figures(strategy)}`;
  const panel = isSingle
    ? ''
    : ` id="strategy-${String(index)}" role="tabpanel" aria-labelledby="tab-${String(index)}" tabindex="0"`;
  const links: FillLinks = {
    reasons: reasonsOf(run.output.strategies.find(({ id }) => id === strategy.id)?.orders ?? []),
    order: (order: number): string | null =>
      explanations === null || !linked.has(order) ? null : `${explanations}#order-${String(order)}`,
    instant:
      run.timeMachine === null ? null : (fill: FillRow): string | null => instantLink(run, fill),
  };
  const spanUs = report.lastUs - report.firstUs;
  const shown = { decimals: decimalsOf(report.markets), allRows };
  return `<section data-strategy="${String(index)}"${panel}>
${head}
<div class="split"${id('result')}>
<div><h2>Equity and drawdown</h2>
${readout([
  ['equity', 's1', 'equity'],
  ['hold', 's5', 'buy and hold', true],
  ['fall', 's3', 'drawdown'],
])}
<div class="curves" data-draws="equity" role="img" aria-label="${escape(curvesText(strategy))}"></div></div>
<div><h2>Where the PnL came from</h2>
${attributionBars(strategy)}</div>
</div>
<h2${id('price')}>Price with fills, position, leverage</h2>
<div class="toolbar choices">${marketChoice(strategy)}<label>Price as <select data-draws="candles"><option value="0">line</option></select></label></div>
${readout([
  ['mid', 'text-2', 'mid'],
  ['position', 's2', 'position'],
  ['leverage', 's4', 'leverage'],
  ['margin', 's3', 'margin used', true],
  ['fills', 'text-2', 'fills here'],
  ...(strategy.plots.length === 0 ? [] : ([['plots', 'text-2', 'plotted']] as const)),
])}
<div class="curves price" data-draws="price-fills" role="img" aria-label="${escape(`Price of ${strategy.symbols.join(', ')} with ${String(strategy.fills.length)} fills, position, leverage and margin used; the table of fills has the same data`)}"></div>
${beyondTable(strategy, allRows)}
<h2${id('metrics')}>Metrics</h2>
${metricsTables(strategy, report)}
${furtherTables(strategy)}
<h3>How orders were filled</h3>
${fillQualityTable(strategy)}
<div class="columns pairs">
${smallChart('Distribution of returns', 'histogram', strategy.histogram === null ? 'Needs two returns.' : null)}
${rollingCharts(strategy, report)}
</div>
<h2${id('drawdowns')}>Worst drawdowns</h2>
${drawdownTable(strategy, allRows)}
<h2${id('calendar')}>Calendar</h2>
${calendarSection({ ...strategy, spanUs })}
<h2${id('sides')}>By market, long and short</h2>
${sideTable(strategy)}
${smallChart('Excursions of closed trades', 'excursions', strategy.trades.length > 0 ? null : 'Needs a closed trade.')}
${strategy.trades.length === 0 ? '' : '<p class="caption">Result of a trade by its largest move against it (MAE): losers far right ran long, winners far right were lucky. On the samples of the run.</p>'}
${liquidationTable(strategy, shown)}
<h2${id('fills')}>Trades</h2>
${tradeTable(strategy, index, shown)}
<h2>Fills</h2>
${fillTable(strategy, index, links, shown)}
${fundingTable(strategy, index, shown)}
</section>`;
}

/** Place for a fill that the table of fills does not have; empty if it has all. */
function beyondTable({ fills }: StrategyReport, allRows: string): string {
  if (fills.length <= MOST_ROWS) return '';
  const text = `The table of fills has the first ${grouped(String(MOST_ROWS))}; all are in ${allRows}.`;
  return `<p class="detail" data-draws="fill" data-beyond="${escape(text)}" role="status" hidden></p>`;
}

/** Summary of the curves for screen readers. */
function curvesText({ summary, metrics }: StrategyReport): string {
  return `Equity from ${amount(Number(summary.equityStart))} to ${amount(Number(summary.equityEnd))} beside buy and hold, with a largest drawdown of ${percent(metrics?.maxDrawdown ?? null)}`;
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

function hashes({ bundle, seed, chainHash, stateHash }: Report): string {
  const rows = Object.entries({
    ...bundle,
    seed,
    'chain hash': chainHash,
    'state hash': stateHash,
  });
  const cells = rows.map(([name, value]) => {
    const isLong = value.length > 16;
    const shown = isLong ? `${value.slice(0, 8)}…` : value;
    const copy = isLong
      ? ` <button data-copies-text="${escape(value)}" aria-label="${escape(`Copy ${name}`)}">Copy</button>`
      : '';
    return `<div><dt>${escape(name)}</dt><dd><code title="${escape(value)}">${escape(shown)}</code>${copy}</dd></div>`;
  });
  return `<dl class="notes">${cells.join('')}</dl>`;
}
