/** The table of mutants that an exhaustive search reaches: JSON to continue from, and Markdown. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorldName } from '../../src/fuzz/exhaust/worlds.ts';
import type { Mutant } from './mutant.ts';
import { UNREACHED_ROOMS } from './unreached.ts';

const FOLDER = join(import.meta.dirname, '../../reports/prove');
const TABLE = join(FOLDER, 'exhaust-mutants.json');

export interface Verdict {
  readonly id: string;
  readonly kind: 'killed' | 'survives' | 'unreached';
  /** The violated check and its number of operations; only of a killed one. */
  readonly by?: string;
  readonly operations?: number;
  /** Where it was killed or survived. */
  readonly world?: WorldName;
  /** The greatest depth that was explored. */
  readonly depth: number;
}

export function loadVerdicts(): Map<string, Verdict> {
  if (!existsSync(TABLE)) return new Map();
  const rows = JSON.parse(readFileSync(TABLE, 'utf8')) as readonly Verdict[];
  return new Map(rows.map((row) => [row.id, row]));
}

/** Killed ones of those reached, in percent. */
export function scoreOf(verdicts: readonly Verdict[]): {
  readonly killed: number;
  readonly reached: number;
  readonly score: number;
} {
  const killed = verdicts.filter(({ kind }) => kind === 'killed').length;
  const reached = verdicts.filter(({ kind }) => kind !== 'unreached').length;
  return { killed, reached, score: reached === 0 ? 100 : (100 * killed) / reached };
}

/** Writes both forms in the order of the mutants; rows of others are dropped. */
export function saveVerdicts(
  verdicts: ReadonlyMap<string, Verdict>,
  mutants: readonly Mutant[],
): void {
  const rows = mutants.flatMap(({ id }) => verdicts.get(id) ?? []);
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(TABLE, `[\n${rows.map((row) => `  ${JSON.stringify(row)}`).join(',\n')}\n]\n`);
  writeFileSync(join(FOLDER, 'exhaust-mutants.md'), markdown(rows, mutants));
}

function markdown(rows: readonly Verdict[], mutants: readonly Mutant[]): string {
  const { killed, reached, score } = scoreOf(rows);
  const count = (n: number): string => String(n);
  const depths = [...new Set(rows.map(({ depth }) => depth))].sort((a, b) => a - b);
  const byDepth = depths.map((depth) => {
    const kinds = (['killed', 'survives', 'unreached'] as const).map((kind) =>
      count(rows.filter((row) => row.depth === depth && row.kind === kind).length),
    );
    return `| ${count(depth)} | ${kinds.join(' | ')} |`;
  });
  const unreached = rows.filter(({ kind }) => kind === 'unreached');
  const fileOf = (id: string): string => mutants.find((mutant) => mutant.id === id)?.file ?? '';
  return [
    '# Mutants that an exhaustive search reaches',
    '',
    `\`node --import tsx test/mutants/exhaust.ts\`: ${count(killed)} of ${count(reached)} reached`,
    `mutants killed, ${score.toFixed(1)} %; ${count(unreached.length)} not reached of ${count(rows.length)} explored, of ${count(mutants.length)}.`,
    '',
    'A mutant is reached if the events or the state of some edge differ from those of the original.',
    'Each is explored to the depth at which it is reached, in all worlds, and survivors one deeper.',
    '',
    '| depth | killed | survive | not reached |',
    '| --- | --- | --- | --- |',
    ...byDepth,
    '',
    '| mutant | result | by | operations | world | depth |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows
      .filter(({ kind }) => kind !== 'unreached')
      .map(
        ({ id, kind, by = '', operations, world = '', depth }) =>
          `| ${id} | ${kind} | ${by} | ${count(operations ?? 0)} | ${world} | ${count(depth)} |`,
      ),
    '',
    '## Not reached',
    '',
    '| mutant | file | why | depth |',
    '| --- | --- | --- | --- |',
    ...unreached.map(({ id, depth }) => {
      const file = fileOf(id);
      return `| ${id} | ${file} | ${reasonOf(file)} | ${count(depth)} |`;
    }),
    '',
  ].join('\n');
}

function reasonOf(file: string): string {
  const room = Object.keys(UNREACHED_ROOMS).find((prefix) => file.startsWith(prefix));
  return room === undefined ? 'needs a longer path' : (UNREACHED_ROOMS[room] ?? '');
}
