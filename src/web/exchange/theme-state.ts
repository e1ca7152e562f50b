/** Colour scheme of the page, for charts that draw with it. */
import { signal } from '@preact/signals';
import { isDark, switchTheme } from '../theme.ts';

export const theme = signal(isDark() ? 'dark' : 'light');

export function followTheme(): void {
  theme.value = isDark() ? 'dark' : 'light';
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    theme.value = isDark() ? 'dark' : 'light';
  });
}

export function changeTheme(): void {
  switchTheme();
  theme.value = isDark() ? 'dark' : 'light';
}
