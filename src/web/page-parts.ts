/**
 * Parts of a page that is one file: script of the worker, embedded data. A copy of the page with
 * other data is made from the same parts, so that a shared file has the same security policy.
 */
import { dataElements, escapeText, NO_ABOUT, type About } from '../design/page-elements.ts';

/** Text of an element that the build or the command put into the page. */
export function textOf(id: string): string {
  return document.getElementById(id)?.textContent ?? '';
}

export function startWorker(): Worker {
  const url = URL.createObjectURL(new Blob([textOf('worker')], { type: 'text/javascript' }));
  return new Worker(url);
}

export interface Embedded {
  readonly about: About;
  /** Base64 of gzip, in pieces. */
  readonly journal: readonly string[];
  /** Empty if the journal has its first command. */
  readonly base: readonly string[];
}

/** null if the page has no journal of its own. */
export function embedded(): Embedded | null {
  const text = textOf('about');
  if (text === '') return null;
  const pieces = (name: string): readonly string[] =>
    [...document.querySelectorAll(`script.${name}`)].map(({ textContent }) => textContent);
  const about = { ...NO_ABOUT, ...(JSON.parse(text) as Partial<About>) };
  return { about, journal: pieces('journal'), base: pieces('base') };
}

/** The page as a file with a journal: gzip as base64. */
export function pageWith(about: About, journal: string, base: string): Blob {
  const { policy } = document.documentElement.dataset;
  const parts = [
    `<!doctype html>\n<html lang="en" data-policy="${escapeText(policy ?? '')}">\n<head>\n<meta charset="utf-8">\n`,
    `<meta http-equiv="Content-Security-Policy" content="${escapeText(policy ?? '')}">\n`,
    `<meta name="viewport" content="width=device-width, initial-scale=1">\n`,
    `<title>${escapeText(about.name)} · time machine · Orrery</title>\n<link rel="icon" href="data:,">\n`,
    `</head>\n<body>\n<div id="page"></div>\n`,
    `<script type="text/plain" id="worker">${textOf('worker')}</script>\n`,
    ...dataElements(about, journal, base),
    `<script id="script">${textOf('script')}</script>\n</body>\n</html>\n`,
  ];
  return new Blob(parts, { type: 'text/html' });
}

export function download(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => {
    URL.revokeObjectURL(url);
  }, 60_000);
}
