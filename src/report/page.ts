/**
 * HTML frame of every page with its style, scripts and data. The content security policy forbids
 * network access.
 */
import { createHash } from 'node:crypto';
import type { Note } from '../backtest/note.ts';
import { ICON_URL } from '../design/icon.ts';
import { prose } from '../design/number-text.ts';
import type { PageLibraries } from './libraries.ts';
import { PAGE_SCRIPT } from './page-script.ts';
import { PAGE_STYLE } from './page-style.ts';
import { escape, json } from './text.ts';

export interface Page {
  readonly title: string;
  readonly lede: string;
  /** The result in a sentence. */
  readonly verdict?: string;
  /** Chain hash, shown as a link to the section `verify`. */
  readonly hash?: string;
  /** Address of the hash's link; the section `verify` unless given. */
  readonly hashLink?: string;
  /** Address and title of the page above this one. */
  readonly back?: readonly [href: string, title: string];
  /** Titles of the sections by id, for the list at the side. */
  readonly sections?: readonly (readonly [id: string, title: string])[];
  /** HTML. */
  readonly main: string;
  /** Data for the page's script. */
  readonly data: unknown;
}

export function pageOf(page: Page, libraries: PageLibraries): string {
  const { title, lede, verdict, hash, hashLink = '#verify', back, sections, main, data } = page;
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
<link rel="icon" href="${ICON_URL}">
<style>${libraries.styles}${PAGE_STYLE}</style>
</head>
<body>
<header>
<h1>${escape(title)}</h1>
<div class="tools">${back === undefined ? '' : `<a class="chip" href="${escape(back[0])}">← ${escape(back[1])}</a>`}${hash === undefined ? '' : `<a class="chip" href="${escape(hashLink)}" title="${escape(hash)}">chain <code>${escape(hash.slice(0, 8))}</code></a>`}<button data-themes>Theme</button></div>
<p class="lede">${escape(lede)}</p>
${verdict === undefined ? '' : `<p class="verdict">${escape(verdict)}</p>`}
</header>
<main>
${sections === undefined ? main : `${rail(sections)}<div class="content">${main}</div>`}
</main>
<footer>All times are UTC. Charts by <a href="https://www.tradingview.com/">TradingView Lightweight Charts™</a>, Apache-2.0, and µPlot, MIT.</footer>
<script type="application/json" id="data">${json(data)}</script>
${scripts.map((text) => `<script>${text}</script>`).join('\n')}
</body>
</html>
`;
}

function rail(sections: readonly (readonly [id: string, title: string])[]): string {
  const links = sections.map(([id, title]) => `<a href="#${id}">${escape(title)}</a>`);
  return `<nav class="rail" aria-label="Sections">${links.join('')}</nav>`;
}

export function notes(items: readonly Note[]): string {
  const entries = items.map(
    ({ title, text }) => `<div><dt>${escape(title)}</dt><dd>${noteText(text)}</dd></div>`,
  );
  return `<dl class="notes">${entries.join('')}</dl>`;
}

/** A sentence as HTML; a hash has its first digits, and the others where the pointer rests. */
function noteText(text: string): string {
  return escape(prose(text)).replace(
    /\b([\da-f]{8})([\da-f]{56})\b\.?/g,
    (_, first: string, rest: string) => `<code title="${first}${rest}">${first}…</code>`,
  );
}

/** Escapes script text so that it cannot close its element. */
function scriptText(text: string): string {
  return text.replace(/<\/script/gi, '<\\/script');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
