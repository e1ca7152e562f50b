/** The table of a measurement of detection: JSON for the next part, and Markdown for readers. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LISTS, type BugList } from './subtle-bugs.ts';

const FOLDER = join(import.meta.dirname, '../../../reports/prove');
const TABLE = join(FOLDER, 'detection.json');

export interface DetectionResult {
  readonly id: string;
  readonly area: string;
  readonly list: BugList;
  /** The check and the invariant that found the bug; null: missed. */
  readonly by: string | null;
  /** Processor time of the search. */
  readonly seconds: number;
  /** The failed run, or the run at which the search stopped. */
  readonly run: number;
  /** Processor time of shrinking the reproductions; 0: not tested. */
  readonly shrinkSeconds: number;
  /** What is wrong with the reproductions. */
  readonly faults: readonly string[];
}

export function loadResults(): Map<string, DetectionResult> {
  if (!existsSync(TABLE)) return new Map();
  const rows = JSON.parse(readFileSync(TABLE, 'utf8')) as readonly DetectionResult[];
  return new Map(rows.map((row) => [row.id, row]));
}

/** Writes both forms, in the order of `ids`; rows of other bugs are dropped. */
export function saveResults(
  results: ReadonlyMap<string, DetectionResult>,
  ids: readonly string[],
): void {
  const rows = ids.flatMap((id) => results.get(id) ?? []);
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(TABLE, `[\n${rows.map((row) => `  ${JSON.stringify(row)}`).join(',\n')}\n]\n`);
  writeFileSync(join(FOLDER, 'detection.md'), markdown(rows));
}

function scoreOf(rows: readonly DetectionResult[], within: number): string {
  const found = rows.filter(({ by, seconds }) => by !== null && seconds <= within).length;
  return `${String(found)} of ${String(rows.length)}`;
}

function markdown(rows: readonly DetectionResult[]): string {
  const lists = LISTS.map((list) => {
    const own = rows.filter((row) => row.list === list);
    const scores = [10, 30, 60, 120].map((within) => scoreOf(own, within)).join(' | ');
    return `| ${list} | ${scores} |`;
  });
  return [
    '# Detection of subtle bugs',
    '',
    'Found by `orrery fuzz` within so many seconds of processor time on one core',
    '(test/fuzz/detection/detect.ts). A missed bug was searched for the seconds of its row; bugs',
    'without a row are not measured, and those that no command can show are left out.',
    '',
    '| list | 10 s | 30 s | 60 s | 120 s |',
    '| --- | --- | --- | --- | --- |',
    ...lists,
    '',
    '| bug | area | list | found by | s | run |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows.map(
      ({ id, area, list, by, seconds, run }) =>
        `| ${id} | ${area} | ${list} | ${by ?? '(missed)'} | ${seconds.toFixed(1)} | ${String(run)} |`,
    ),
    '',
  ].join('\n');
}
