/** Writes a run's report to a folder: index.html, report.json, and Arrow files of each strategy. */
import { join } from 'node:path';
import type { BacktestOutput } from '../backtest/output.ts';
import { fileError } from '../platform/file-error.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { writeWholeFile } from '../platform/whole-file.ts';
import { equityArrow, fillsArrow, ordersArrow } from './arrow.ts';
import { renderReport } from './html.ts';
import { pageLibraries } from './libraries.ts';
import { buildReport, type Report, type ReportAbout } from './report.ts';

export interface WrittenReport {
  readonly report: Report;
  /** Path of the page. */
  readonly page: string;
}

/** Writes the page last, so that its files exist whenever it does. */
export async function writeReport(
  output: BacktestOutput,
  about: ReportAbout,
  folder: string,
): Promise<WrittenReport> {
  const page = join(folder, 'index.html');
  try {
    const report = buildReport(output, about);
    const html = renderReport(report, output, await pageLibraries());
    await makeFolder(folder);
    const files = output.strategies.flatMap((strategy) => {
      const name = (what: string): string =>
        join(folder, `${fileName(strategy.id, output)}${what}.arrow`);
      return [
        [name('equity'), equityArrow(strategy, output)],
        [name('orders'), ordersArrow(strategy)],
        [name('fills'), fillsArrow(strategy)],
      ] as const;
    });
    const json = Buffer.from(`${JSON.stringify(report, null, 1)}\n`);
    files.push([join(folder, 'report.json'), json]);
    // Together, because each waits for the disk.
    await Promise.all(files.map(([file, content]) => writeWholeFile(file, content)));
    await writeWholeFile(page, Buffer.from(html));
    return { report, page };
  } catch (error) {
    throw fileError(page, error);
  }
}

/** File names contain the strategy's id if there are several. */
function fileName(id: string, { strategies }: BacktestOutput): string {
  return strategies.length === 1 ? '' : `${id.replace(/[^A-Za-z0-9_-]/g, '-')}-`;
}
