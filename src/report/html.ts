/**
 * A run's report as one HTML file that opens offline: figures first, then what was assumed and what the data lack, then
 * the curves and the fills. Nothing is fetched; the page's policy forbids it.
 *
 * The same result makes the same bytes.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { BacktestResult, FillRow, Note } from '../backtest/result.ts';
import { fileError } from '../store/file-error.ts';
import { PAGE_SCRIPT } from './page-script.ts';
import { PAGE_STYLE } from './page-style.ts';

/** More rows than anyone reads; the rest are in result.json. */
const MAX_ROWS = 2000;

/** Writes index.html and result.json into a folder; answers the page's path. */
export async function writeReport(result: BacktestResult, folder: string): Promise<string> {
  const page = join(folder, 'index.html');
  try {
    const html = renderReport(result, await chartLibrary());
    await mkdir(folder, { recursive: true });
    await writeWhole(join(folder, 'result.json'), `${JSON.stringify(result, null, 2)}\n`);
    await writeWhole(page, html);
  } catch (error) {
    throw fileError(page, error);
  }
  return page;
}

async function writeWhole(path: string, text: string): Promise<void> {
  const temporary = `${path}.partial-${String(process.pid)}`;
  await writeFile(temporary, text);
  await rename(temporary, path);
}

async function chartLibrary(): Promise<string> {
  const resolve = createRequire(import.meta.url).resolve;
  const folder = dirname(resolve('lightweight-charts/package.json'));
  const path = join(folder, 'dist', 'lightweight-charts.standalone.production.js');
  return readFile(path, 'utf8');
}

/** The page; `library` is the chart library's own script. */
export function renderReport(result: BacktestResult, library: string): string {
  const { summary } = result;
  const scripts = [scriptText(library), scriptText(PAGE_SCRIPT)];
  const policy =
    `default-src 'none'; style-src 'unsafe-inline'; img-src data:; ` +
    `script-src ${scripts.map((text) => `'sha256-${sha256(text)}'`).join(' ')}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(result.title)}</title>
<link rel="icon" href="data:,">
<style>${PAGE_STYLE}</style>
</head>
<body>
<header>
<h1>${escape(result.title)}</h1>
<p class="lede">${escape(summary.strategy)} on ${escape(summary.symbol)}, ${time(summary.firstUs)} to ${time(summary.lastUs)} UTC (${duration(summary.lastUs - summary.firstUs)})</p>
</header>
<main>
${figures(result)}
<h2>What was assumed</h2>
${notes(result.assumptions)}
<h2>Data and their gaps</h2>
${notes(result.data)}
<h2>Curves</h2>
<ul class="legend" aria-label="Legend">
<li><b style="background:var(--line)"></b>mid price</li>
<li><b style="background:var(--buy)"></b>buys</li>
<li><b style="background:var(--sell)"></b>sells</li>
<li><b style="background:var(--equity)"></b>equity</li>
<li><b style="background:var(--fall)"></b>drawdown</li>
<li><b style="background:var(--hold)"></b>position</li>
</ul>
<div id="charts" role="img" aria-label="Price with fills, equity, drawdown and position over time"></div>
<h2>Fills</h2>
${fillTable(result.fills)}
<h2>How figures are computed</h2>
${notes(result.conventions)}
<h2>Repeat and verify</h2>
${result.verify.map((line) => `<pre><code>${escape(line)}</code></pre>`).join('\n')}
<p>Chain hash <span class="hash">${escape(summary.chainHash)}</span><br>State hash <span class="hash">${escape(summary.stateHash)}</span></p>
</main>
<footer>Charts by TradingView Lightweight Charts™, Apache-2.0, tradingview.com.</footer>
<script type="application/json" id="data">${json(pageData(result))}</script>
<script>${scripts[0] ?? ''}</script>
<script>${scripts[1] ?? ''}</script>
</body>
</html>
`;
}

function figures({ summary }: BacktestResult): string {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ['PnL', signed(summary.pnl), true],
    ['of it trading', signed(summary.pnlTrading), true],
    ['of it fees', signed(summary.pnlFees), true],
    ['of it funding', signed(summary.pnlFunding), true],
    ['Equity at the end', grouped(summary.equityEnd), false],
    ['Largest drawdown', grouped(summary.maxDrawdown), false],
    ['Fills', `${String(summary.fills)} (${String(summary.makerFills)} as maker)`, false],
    [
      'Orders',
      `${String(summary.orders)}${summary.rejectedOrders > 0 ? ` (${String(summary.rejectedOrders)} rejected)` : ''}`,
      false,
    ],
    ['Volume', grouped(summary.volume), false],
    ['Turnover', grouped(summary.turnover), false],
    ['Final position', signed(summary.finalPosition), false],
    ['Largest position', summary.maxPosition, false],
  ];
  const cells = rows.map(([name, value, coloured]) => {
    const tone = !coloured || /^0*$/.test(value.replace(/[−+.,]/g, '')) ? '' : toneOf(value);
    return `<div><dt>${escape(name)}</dt><dd${tone}>${escape(value)}</dd></div>`;
  });
  return `<dl class="figures">${cells.join('')}</dl>`;
}

function toneOf(value: string): string {
  return value.startsWith('−') ? ' class="loss"' : ' class="gain"';
}

function notes(items: readonly Note[]): string {
  const entries = items.map(
    ({ title, text }) => `<div><dt>${escape(title)}</dt><dd>${escape(text)}</dd></div>`,
  );
  return `<dl class="notes">${entries.join('')}</dl>`;
}

function fillTable(fills: readonly FillRow[]): string {
  if (fills.length === 0) return '<p>No order was filled.</p>';
  const rows = fills
    .slice(0, MAX_ROWS)
    .map(
      (fill) =>
        `<tr><td>${time(fill.timeUs)}</td><td class="${fill.side === 'buy' ? 'gain' : 'loss'}">${fill.side}</td>` +
        `<td>${fill.role}</td><td>${grouped(fill.price)}</td><td>${escape(fill.size)}</td>` +
        `<td>${escape(fill.fee)}</td><td>${signed(fill.realizedPnl)}</td><td>${String(fill.orderNumber)}</td></tr>`,
    );
  const cut =
    fills.length > MAX_ROWS
      ? `<p>The first ${String(MAX_ROWS)} of ${String(fills.length)}; all are in result.json.</p>`
      : '';
  return `<label>Filter fills <input id="search" type="search" placeholder="sell maker 61,8" autocomplete="off"></label>
<div class="table" tabindex="0"><table id="fills"><thead><tr><th>Time, UTC</th><th>Side</th><th>Role</th><th>Price</th><th>Size</th><th>Fee</th><th>Realised</th><th>Order</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div>${cut}`;
}

/** What the curves need. Precision is the market's own. */
function pageData(result: BacktestResult): unknown {
  const decimals = (text: string): number => text.split('.')[1]?.length ?? 0;
  const most = (texts: readonly string[]): number => Math.max(0, ...texts.map(decimals));
  const format = (precision: number): unknown => ({
    type: 'price',
    precision,
    minMove: Number(`1e-${String(precision)}`),
  });
  return {
    series: result.series,
    fills: result.fills.map(({ timeUs, side }) => ({ timeUs, side })),
    priceFormat: format(Math.min(8, Math.max(1, most(result.fills.map(({ price }) => price)) + 1))),
    moneyFormat: format(2),
    sizeFormat: format(Math.min(8, Math.max(2, most(result.fills.map(({ size }) => size))))),
  };
}

/** Decimal text with a real minus or a plus, and thousands apart. */
function signed(text: string): string {
  if (text.startsWith('-')) return `−${grouped(text.slice(1))}`;
  return text === '0' ? text : `+${grouped(text)}`;
}

function grouped(text: string): string {
  const [whole = '', fraction] = text.split('.');
  const negative = whole.startsWith('-');
  const digits = (negative ? whole.slice(1) : whole).replace(/\B(?=(?:\d{3})+$)/g, ',');
  return `${negative ? '−' : ''}${digits}${fraction === undefined ? '' : `.${fraction}`}`;
}

/** 2024-08-08 23:54:16.298 */
function time(us: number): string {
  return new Date(us / 1000).toISOString().replace('T', ' ').slice(0, 23);
}

function duration(us: number): string {
  const seconds = Math.round(us / 1e6);
  const parts = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60];
  const names = ['h', 'min', 's'];
  return parts
    .map((part, i) => (part === 0 ? '' : `${String(part)} ${names[i] ?? ''}`))
    .filter((part) => part !== '')
    .join(' ');
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${String(character.charCodeAt(0))};`);
}

/** JSON inside a script element: `<` cannot end it. */
function json(value: unknown): string {
  return JSON.stringify(value).replace(/</g, '\\u003c');
}

/** A script that cannot close its own element. */
function scriptText(text: string): string {
  return text.replace(/<\/script/gi, '<\\/script');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
