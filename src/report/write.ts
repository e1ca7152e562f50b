/**
 * Writes a run's report to a folder: index.html, explain.html, report.json, and its tables as Arrow
 * files; or one page of several runs.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileError } from '../platform/file-error.ts';
import { jsonFile } from '../platform/json-pieces.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { writeWholeFile } from '../platform/whole-file.ts';
import { EXPLANATIONS, latencyOf, renderExplanations } from './explain-page.ts';
import { renderReport, renderRuns } from './html.ts';
import { pageLibraries } from './libraries.ts';
import type { ReportedRun } from './page-data.ts';
import { buildReport, type Report, type ReportAbout } from './report.ts';
import { REPORT_FILE } from './text.ts';
import { arrowTable } from './tables/arrow-table.ts';
import { runTables, type TableName } from './tables/run-tables.ts';

/** Page that steps through a run, where its folder has one. */
export const TIME_MACHINE = 'time-machine.html';

/** In the folder of a run that commands read; its report may be in another one. */
const PLAN_FILE = 'plan.json';

/** `orrery export` writes the others. */
const WRITTEN: readonly TableName[] = ['equity', 'positions', 'fills', 'orders', 'trades'];

export interface WrittenReport {
  readonly report: Report;
  /** Path of the page. */
  readonly page: string;
}

/**
 * Writes the page last, so that its files exist whenever it does. `others` settles when the other
 * files of the run are written: its record and the page that steps through it.
 */
export async function writeReport(
  output: ReportedRun['output'],
  about: ReportAbout,
  folder: string,
  others: Promise<unknown> = Promise.resolve(),
): Promise<WrittenReport> {
  const page = join(folder, 'index.html');
  try {
    const report = buildReport(output, about);
    const libraries = await pageLibraries();
    const hasOrders = output.strategies.length > 0;
    await makeFolder(folder);
    const texts: [string, Iterable<string>][] = [[join(folder, REPORT_FILE), jsonFile(report, 1)]];
    if (hasOrders) {
      const latency = latencyOf(about.assumptions);
      // A plan is there before its run.
      const isRun = about.verify.length > 0 && existsSync(join(folder, PLAN_FILE));
      const orders = renderExplanations(
        output,
        { title: about.title, latency, folder: isRun ? folder : null },
        libraries,
      );
      texts.push([join(folder, EXPLANATIONS), [orders]]);
    }
    // Together, because each waits for the disk.
    await Promise.all([
      ...texts.map(([file, pieces]) => writeWholeFile(file, pieces)),
      writeTables(output, folder),
    ]);
    await others;
    const html = renderReport(report, output, libraries, {
      explanations: hasOrders ? EXPLANATIONS : null,
      timeMachine: existsSync(join(folder, TIME_MACHINE)) ? TIME_MACHINE : null,
    });
    await writeWholeFile(page, [html]);
    return { report, page };
  } catch (error) {
    throw fileError(page, error);
  }
}

/** The cells of one table at a time are in memory. */
async function writeTables(output: ReportedRun['output'], folder: string): Promise<void> {
  const written: Promise<void>[] = [];
  for (const name of WRITTEN) {
    for (const table of runTables(output, [name])) {
      written.push(writeWholeFile(join(folder, `${table.name}.arrow`), arrowTable(table)));
    }
  }
  await Promise.all(written);
}

/** Writes one page of several runs. Returns its path. */
export async function writeRuns(runs: readonly ReportedRun[], folder: string): Promise<string> {
  const page = join(folder, 'index.html');
  try {
    const html = renderRuns(runs, await pageLibraries());
    await makeFolder(folder);
    await writeWholeFile(page, Buffer.from(html));
    return page;
  } catch (error) {
    throw fileError(page, error);
  }
}
