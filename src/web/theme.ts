/** Light or dark: the reader's setting, until the page's switch is used. */
import { keep, readKept } from './kept.ts';

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

/** Value of a colour token, for canvases. */
export function colour(token: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${token}`).trim();
}
