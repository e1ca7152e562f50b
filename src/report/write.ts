/** Writes a run's report to a folder: index.html, report.json, and its tables as Arrow files. */
import { join } from 'node:path';
import type { BacktestOutput } from '../backtest/output.ts';
import { fileError } from '../platform/file-error.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { writeWholeFile } from '../platform/whole-file.ts';
import { renderReport } from './html.ts';
import { pageLibraries } from './libraries.ts';
import { buildReport, type Report, type ReportAbout } from './report.ts';
import { arrowTable } from './tables/arrow-table.ts';
import { runTables } from './tables/run-tables.ts';

/** `orrery export` writes the others. */
const WRITTEN: readonly string[] = ['equity', 'positions', 'fills', 'orders', 'trades'];

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
    const files = runTables(output)
      .filter(({ name }) => WRITTEN.includes(name))
      .map((table) => [join(folder, `${table.name}.arrow`), arrowTable(table)] as const);
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
