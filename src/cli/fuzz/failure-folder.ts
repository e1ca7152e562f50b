/** Writes the report of a failure into its own folder. */
import { join } from 'node:path';
import type { ShrinkReport } from '../../fuzz/campaign.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { writeWholeFile } from '../../platform/whole-file.ts';
import { print } from '../cli-support.ts';

/** Returns the folder's path. */
export async function writeFailure(out: string, id: string, report: ShrinkReport): Promise<string> {
  const folder = join(out, id.replaceAll(/[^\w.-]+/g, '-'));
  await makeFolder(folder);
  for (const [name, content] of Object.entries(report.files)) {
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    await writeWholeFile(join(folder, name), bytes);
  }
  return folder;
}

export function printFailure({ shrunk }: ShrinkReport, folder: string, seconds: number): void {
  const { violation, from, to, tests, complete } = shrunk;
  print(`VIOLATED    ${violation.invariant} (${violation.rule})`);
  print(`  must be   ${violation.says}`);
  print(`  found     ${violation.detail}`);
  print(
    `  shrunk    ${String(from)} commands to ${String(to)} in ${seconds.toFixed(1)} s, ${String(tests)} executions${complete ? '' : ', stopped early'}`,
  );
  print(
    `  written   ${folder}/README.md, scenario.yaml, journal.orrery, requests.sh, regression.test.ts`,
  );
}
