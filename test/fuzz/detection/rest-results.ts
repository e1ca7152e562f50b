/** The table of what finds the bugs that `orrery fuzz` misses: JSON, and Markdown for readers. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '../../../reports/prove');
const TABLE = join(FOLDER, 'detection-rest.json');

export interface RestResult {
  readonly id: string;
  readonly area: string;
  /** The failed check; null: missed, undefined: not measured. */
  readonly exhaust?: string | null;
  readonly target?: string | null;
}

export function loadRest(): Map<string, RestResult> {
  if (!existsSync(TABLE)) return new Map();
  const rows = JSON.parse(readFileSync(TABLE, 'utf8')) as readonly RestResult[];
  return new Map(rows.map((row) => [row.id, row]));
}

const isFound = ({ exhaust, target }: RestResult): boolean =>
  (exhaust ?? null) !== null || (target ?? null) !== null;

const cellOf = (found: string | null | undefined): string =>
  found === undefined ? '' : (found ?? '(missed)');

export function saveRest(results: ReadonlyMap<string, RestResult>): void {
  const rows = [...results.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(TABLE, `[\n${rows.map((row) => `  ${JSON.stringify(row)}`).join(',\n')}\n]\n`);
  const found = rows.filter(isFound).length;
  const page = [
    '# Bugs that `orrery fuzz` misses',
    '',
    'Found by `orrery exhaust`, or by `orrery fuzz --target` against a server that has the bug',
    `(test/fuzz/detection/rest.ts): ${String(found)} of ${String(rows.length)}. An empty cell is not measured.`,
    '',
    '| bug | area | exhaust | target |',
    '| --- | --- | --- | --- |',
    ...rows.map(
      ({ id, area, exhaust, target }) =>
        `| ${id} | ${area} | ${cellOf(exhaust)} | ${cellOf(target)} |`,
    ),
    '',
  ];
  writeFileSync(join(FOLDER, 'detection-rest.md'), page.join('\n'));
}
