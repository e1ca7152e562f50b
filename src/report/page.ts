/**
 * HTML frame of every page with its style, scripts and data. The content security policy forbids
 * network access.
 */
import { createHash } from 'node:crypto';
import type { Note } from '../backtest/note.ts';
import type { PageLibraries } from './libraries.ts';
import { PAGE_SCRIPT } from './page-script.ts';
import { PAGE_STYLE } from './page-style.ts';
import { escape, json } from './text.ts';

export interface Page {
  readonly title: string;
  readonly lede: string;
  /** HTML. */
  readonly main: string;
  /** Data for the page's script. */
  readonly data: unknown;
}

export function pageOf({ title, lede, main, data }: Page, libraries: PageLibraries): string {
  const scripts = [...libraries.scripts, PAGE_SCRIPT].map(scriptText);
  const policy =
    `default-src 'none'; style-src 'unsafe-inline'; img-src data:; ` +
    `script-src ${scripts.map((text) => `'sha256-${sha256(text)}'`).join(' ')}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<link rel="icon" href="data:,">
<style>${libraries.styles}${PAGE_STYLE}</style>
</head>
<body>
<header>
<h1>${escape(title)}</h1>
<p class="lede">${escape(lede)}</p>
</header>
<main>
${main}
</main>
<footer>Charts by TradingView Lightweight Charts™, Apache-2.0, tradingview.com, and µPlot, MIT.</footer>
<script type="application/json" id="data">${json(data)}</script>
${scripts.map((text) => `<script>${text}</script>`).join('\n')}
</body>
</html>
`;
}

export function notes(items: readonly Note[]): string {
  const entries = items.map(
    ({ title, text }) => `<div><dt>${escape(title)}</dt><dd>${escape(text)}</dd></div>`,
  );
  return `<dl class="notes">${entries.join('')}</dl>`;
}

/** Escapes script text so that it cannot close its element. */
function scriptText(text: string): string {
  return text.replace(/<\/script/gi, '<\\/script');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
