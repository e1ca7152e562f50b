/**
 * Writes the report of a failure into its own folder: as it was found before shrinking starts, and
 * the best script so far while it is shrunk. Each file is written as a whole, so an interrupt or a
 * crash leaves the last report.
 */
import { join } from 'node:path';
import { countText } from '../../base/count-text.ts';
import type { ShrinkReport } from '../../fuzz/campaign.ts';
import { journalOf } from '../../fuzz/check-journal.ts';
import type { Failure } from '../../fuzz/fuzz-run.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { writeWholeFile } from '../../platform/whole-file.ts';
import { isInterrupted, print, startProgress } from '../cli-support.ts';
import { lockFailure } from './lock-campaign.ts';
import type { FuzzPool } from './pool.ts';
import { shellWord } from '../../platform/shell-word.ts';

export interface FailureReport {
  /** Folder of all failures, and the rest of this one's name after the invariant. */
  readonly out: string;
  readonly id: string;
  /** Command lines that find it again, and the profile. */
  readonly origin: readonly string[];
  /** Max seconds of shrinking; 0: not at all. */
  readonly shrinkSeconds: number;
  readonly quiet: boolean;
}

/** Writes, shrinks and prints a failure; returns the folder's path. Rejects with `FileError`. */
export async function reportFailure(
  pool: FuzzPool,
  failure: Failure,
  options: FailureReport,
): Promise<string> {
  const name = `${failure.violation.invariant}-${options.id}`;
  const folder = join(options.out, name.replaceAll(/[^\w.-]+/g, '-'));
  await makeFolder(folder);
  const release = lockFailure(folder);
  try {
    await writeFailure(pool, failure, folder, options);
  } finally {
    release();
  }
  return folder;
}

async function writeFailure(
  pool: FuzzPool,
  failure: Failure,
  folder: string,
  { origin, shrinkSeconds, quiet }: FailureReport,
): Promise<void> {
  const original = journalOf(failure.config, failure.commands);
  await writeWholeFile(join(folder, 'original.orrery'), original);
  const started = performance.now();
  let report: ShrinkReport;
  try {
    report = await pool.reportFailure(failure, origin);
    await writeReport(folder, report);
  } catch (error) {
    // The commands are on disk already.
    if (!quiet) print(`${join(folder, 'original.orrery')}: ${messageOf(error)}`);
    return;
  }
  const found = report;
  if (shrinkSeconds > 0) {
    report = (await shrink(pool, { failure, origin, shrinkSeconds, quiet, folder })) ?? report;
  }
  const seconds = (performance.now() - started) / 1000;
  let repeats = await repeatsElsewhere(pool, report);
  if (!repeats && report !== found) {
    repeats = await repeatsElsewhere(pool, found);
    if (repeats) report = found;
  }
  if (!repeats || report === found) {
    await writeReport(folder, repeats ? report : withCaution(report)).catch(() => undefined);
  }
  if (quiet) return;
  printFailure(report, folder, seconds);
  if (!repeats) print(`  CAUTION   ${CAUTION}`);
}

const CAUTION =
  'these commands pass in a new process; the run failed after others, so the engine may keep state outside of the exchange';

/**
 * Whether the commands of a report fail without those that this process ran before. True after an
 * interrupt, which does not wait for it.
 */
async function repeatsElsewhere(pool: FuzzPool, { files, shrunk }: ShrinkReport): Promise<boolean> {
  const journal = files['journal.orrery'];
  if (isInterrupted() || !(journal instanceof Uint8Array)) return true;
  try {
    return await pool.failsElsewhere({ journal, check: shrunk.violation.check });
  } catch {
    // An exchange with a defect may fail in other ways.
    return true;
  }
}

/** The report with a note on top: its files do not show the defect alone. */
function withCaution(report: ShrinkReport): ShrinkReport {
  const readme = String(report.files['README.md']).replace(
    'Each of these fails until the defect is fixed:',
    `Caution: ${CAUTION}. The command under Origin repeats the whole run.`,
  );
  return { ...report, files: { ...report.files, 'README.md': readme } };
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

interface ShrinkTask extends Pick<FailureReport, 'origin' | 'shrinkSeconds' | 'quiet'> {
  readonly failure: Failure;
  readonly folder: string;
}

/** Null if it stops with an error: the last report that was written stays. */
async function shrink(
  pool: FuzzPool,
  { failure, origin, shrinkSeconds, quiet, folder }: ShrinkTask,
): Promise<ShrinkReport | null> {
  const progress = startProgress('shrink', quiet);
  const endsMs = performance.now() + shrinkSeconds * 1000;
  const total = failure.commands.length;
  let last: ShrinkReport | null = null;
  let written = Promise.resolve();
  const explain = (error: unknown): void => {
    if (!quiet) print(`shrinking stopped: ${messageOf(error)}`);
  };
  try {
    last = await pool.shrinkFailure(failure, origin, {
      onProgress: (steps, tests) => {
        const left = `${String(steps)} of ${String(total)} commands, ${countText(tests, 'execution')}`;
        progress.update(1 - (endsMs - performance.now()) / (shrinkSeconds * 1000), left);
      },
      onBest: (best) => {
        last = best;
        written = written.then(() => writeReport(folder, best)).catch(explain);
      },
      isOver: () => performance.now() >= endsMs,
    });
    await written;
    await writeReport(folder, last);
  } catch (error) {
    explain(error);
  } finally {
    progress.stop();
    await written;
  }
  return last;
}

async function writeReport(folder: string, { files }: ShrinkReport): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    await writeWholeFile(join(folder, name), bytes);
  }
}

function printFailure({ shrunk }: ShrinkReport, folder: string, seconds: number): void {
  const { violation, from, to, tests, complete } = shrunk;
  print(`VIOLATED    ${violation.invariant} (${violation.rule})`);
  print(`  must be   ${violation.says}`);
  print(`  found     ${violation.detail}`);
  print(
    `  shrunk    ${countText(from, 'command')} to ${String(to)} in ${seconds.toFixed(1)} s, ${countText(tests, 'execution')}${complete ? '' : ', stopped early'}`,
  );
  print(
    `  written   ${folder}/README.md, scenario.yaml, journal.orrery, requests.sh, regression.test.ts`,
  );
  print(`  explore   npx orrery inspect ${shellWord(folder)} --open`);
}
