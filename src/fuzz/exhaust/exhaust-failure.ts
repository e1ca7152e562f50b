/** Reports of a failed edge: its commands, and the files of a failure that `orrery fuzz` writes. */
import { must } from '../../base/assert.ts';
import type { Command } from '../../engine/commands.ts';
import { Exchange } from '../../engine/exchange.ts';
import type { Keccak } from '../../gateway/ports.ts';
import { shrinkFailure, type ShrinkReport } from '../campaign.ts';
import { journalOf } from '../check-journal.ts';
import type { Violation } from '../checker.ts';
import { checkerOf } from '../checks/checks.ts';
import { applyChecked, type Failure } from '../fuzz-run.ts';
import type { FailureFiles } from '../report/failure-files.ts';
import type { ExhaustFailure } from './expand.ts';
import { ExploredExchange } from './explored-exchange.ts';
import type { OperationName } from './operations.ts';
import { commandsOf, openingOf } from './preparations.ts';
import { CONFIG } from './setting.ts';
import { operationsOf, type WorldName } from './worlds.ts';

/** Checks that compare the exchange with itself: not every failure shows in one run of commands. */
const COMPARISONS = new Set(['mergedStates', 'restored', 'labels', 'refusalChangesState']);

export interface ExhaustReport {
  readonly files: FailureFiles;
  /** Of the journal; the shrunk script has its own. */
  readonly commands: number;
}

/** The names of a path. */
export const namesOf = (world: WorldName, path: readonly number[]): readonly OperationName[] =>
  path.map((i) => must(operationsOf(world)[i], 'a path has known operations'));

/** The opening, and the commands of a path; ends with the command that throws, if one does. */
export function commandsOfPath(world: WorldName, path: readonly number[]): Command[] {
  const exchange = new ExploredExchange(CONFIG);
  const opening = openingOf(world);
  for (const command of opening) exchange.apply(command);
  return [...opening, ...commandsOf(exchange, namesOf(world, path))];
}

/** The first violation that a check finds in a run of the commands; null if none. */
function foundInRun(commands: readonly Command[]): Violation | null {
  const checker = checkerOf(['state', 'stream', 'oracle', 'restore'], CONFIG, { every: 1 });
  const engine = new Exchange(CONFIG);
  const emit = checker.onEvent ?? (() => undefined);
  for (const command of commands) {
    const found = applyChecked(engine, command, emit, checker).violation;
    if (found !== null) return found;
  }
  return null;
}

/**
 * The files of a failure. A path is minimal in operations, since shorter ones were explored first;
 * the shrinker then simplifies the opening. Failures of comparisons have a journal for each path.
 */
export function exhaustReport(
  world: WorldName,
  failure: ExhaustFailure,
  options: { readonly keccak: Keccak; readonly origin: readonly string[] },
): ExhaustReport {
  const { violation, path, other } = failure;
  const commands = commandsOfPath(world, path);
  const origin = [...options.origin, '', `operations: ${namesOf(world, path).join(', ')}`];
  const found = foundInRun(commands);
  if (found !== null || !COMPARISONS.has(violation.invariant)) {
    const failed: Failure = { violation: found ?? violation, config: CONFIG, commands };
    const report: ShrinkReport = shrinkFailure(failed, { ...options, origin });
    return { files: report.files, commands: report.shrunk.to };
  }
  const readme = [
    `# ${violation.invariant}`,
    '',
    `${violation.rule}: ${violation.says}.`,
    '',
    `Found instead: ${violation.detail}`,
    '',
    '`journal.orrery` has the commands of the path. `orrery exhaust` finds the failure again.',
    ...(other === null
      ? []
      : ['', `\`other.orrery\` leads to the same state: ${namesOf(world, other).join(', ')}.`]),
    '',
    '## Origin',
    '',
    '```',
    ...origin,
    '```',
    '',
  ];
  return {
    files: {
      'README.md': readme.join('\n'),
      'journal.orrery': journalOf(CONFIG, commands),
      ...(other === null
        ? {}
        : { 'other.orrery': journalOf(CONFIG, commandsOfPath(world, other)) }),
    },
    commands: commands.length,
  };
}
