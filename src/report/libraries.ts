/** The scripts and styles of the chart libraries, as the build copied them. */
import { pageAsset } from '../platform/page-assets.ts';

export interface PageLibraries {
  readonly scripts: readonly string[];
  readonly styles: string;
}

export async function pageLibraries(): Promise<PageLibraries> {
  const text = async (name: string): Promise<string> => (await pageAsset(name)).toString('utf8');
  return {
    scripts: [await text('lightweight-charts.js'), await text('uplot.js')],
    styles: await text('uplot.css'),
  };
}
