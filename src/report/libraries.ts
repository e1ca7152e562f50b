/** The chart libraries' own scripts and styles, read from their packages. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export interface PageLibraries {
  readonly scripts: readonly string[];
  readonly styles: string;
}

export async function pageLibraries(): Promise<PageLibraries> {
  const { resolve } = createRequire(import.meta.url);
  const lightweight = dirname(resolve('lightweight-charts/package.json'));
  const uplot = dirname(resolve('uplot/package.json'));
  const read = (...path: string[]): Promise<string> => readFile(join(...path), 'utf8');
  return {
    scripts: [
      await read(lightweight, 'dist', 'lightweight-charts.standalone.production.js'),
      await read(uplot, 'dist', 'uPlot.iife.min.js'),
    ],
    styles: await read(uplot, 'dist', 'uPlot.min.css'),
  };
}
