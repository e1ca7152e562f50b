/**
 * Colours and typefaces of all pages. Colours of gains and losses differ for colour-blind readers,
 * and never stand alone: a sign or a word accompanies them.
 */

/** Colour tokens of both themes; a test checks their contrasts. */
export const LIGHT = {
  bg: '#f6f7f9',
  surface: '#ffffff',
  sunken: '#eceff3',
  hover: '#f0f3f7',
  line: '#dde2e8',
  'line-strong': '#7f8a97',
  text: '#141920',
  'text-2': '#46505d',
  'text-3': '#5d6875',
  accent: '#2156c9',
  'on-accent': '#ffffff',
  'accent-soft': '#e5edfc',
  gain: '#006b60',
  'gain-soft': '#d8efea',
  loss: '#b33800',
  'loss-soft': '#fce6da',
  buy: '#006b60',
  sell: '#b33800',
  'on-pnl': '#ffffff',
  warn: '#7d5200',
  'warn-soft': '#fcefd0',
  danger: '#b0182b',
  'danger-soft': '#fbe3e5',
  s1: '#2156c9',
  s2: '#b06400',
  s3: '#8c2f86',
  s4: '#0a8a9c',
  s5: '#8a94a1',
} as const;
export const DARK: Readonly<Record<keyof typeof LIGHT, string>> = {
  bg: '#0c0f14',
  surface: '#12161d',
  sunken: '#080a0e',
  hover: '#191e27',
  line: '#252c37',
  'line-strong': '#6b7685',
  text: '#e7eaef',
  'text-2': '#b0b9c5',
  'text-3': '#8d98a6',
  accent: '#7fa8ff',
  'on-accent': '#0a1226',
  'accent-soft': '#16264a',
  gain: '#4ddbbb',
  'gain-soft': '#0c302b',
  loss: '#f5814a',
  'loss-soft': '#3b2015',
  buy: '#0f7d69',
  sell: '#bf470f',
  'on-pnl': '#ffffff',
  warn: '#e8b84d',
  'warn-soft': '#332810',
  danger: '#ff8087',
  'danger-soft': '#3c171b',
  s1: '#6f9bff',
  s2: '#f0b04a',
  s3: '#d98ad0',
  s4: '#5fdbe8',
  s5: '#7a8594',
};

const properties = (theme: Readonly<Record<string, string>>): string =>
  Object.entries(theme)
    .map(([name, value]) => `--${name}:${value}`)
    .join(';');

/**
 * CSS that sets the tokens: by the reader's setting, or by `data-theme` of the root element. Paper
 * is always light: backgrounds are not printed.
 */
export const THEME_CSS = `
:root { color-scheme: light; ${properties(LIGHT)} }
@media screen and (prefers-color-scheme: dark) { :root:not([data-theme=light]) { color-scheme: dark; ${properties(DARK)} } }
@media screen { :root[data-theme=dark] { color-scheme: dark; ${properties(DARK)} } }`;

export const SANS =
  'system-ui, -apple-system, "Segoe UI Variable Text", "Segoe UI", Roboto, "Noto Sans", sans-serif';
export const MONO =
  'ui-monospace, "SF Mono", "Cascadia Mono", "Roboto Mono", "DejaVu Sans Mono", monospace';
