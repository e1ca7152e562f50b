/** Icon and colours: light or dark as the reader's setting, until the page's switch is used. */
import { ICON_URL } from '../design/icon.ts';
import { DARK, LIGHT } from '../design/tokens.ts';
import { keep, readKept } from './kept.ts';

/** The page has an empty icon until its script runs. */
export function showIcon(): void {
  document.querySelector('link[rel=icon]')?.setAttribute('href', ICON_URL);
}

export function applyKeptTheme(): void {
  const kept = readKept('theme');
  if (kept === 'light' || kept === 'dark') document.documentElement.dataset['theme'] = kept;
}

export function isDark(): boolean {
  const { theme } = document.documentElement.dataset;
  return theme === undefined
    ? matchMedia('(prefers-color-scheme: dark)').matches
    : theme === 'dark';
}

export function switchTheme(): void {
  const theme = isDark() ? 'light' : 'dark';
  document.documentElement.dataset['theme'] = theme;
  keep('theme', theme);
}

/** Value of a colour token, for canvases: a computed style would force a layout. */
export function colour(token: keyof typeof LIGHT): string {
  return (isDark() ? DARK : LIGHT)[token];
}
