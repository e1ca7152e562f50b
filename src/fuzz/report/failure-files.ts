/**
 * Report files of a failure, by file name: a summary with the violated invariant, the minimal
 * journal, a scenario, a shell script and a test. The caller writes the files.
 */
import { countText } from '../../base/count-text.ts';
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig } from '../../engine/config.ts';
import type { Engine } from '../../engine/read/views.ts';
import type { Keccak } from '../../gateway/ports.ts';
import { checkCommands, journalOf } from '../check-journal.ts';
import { CHECK_NAMES, type CheckName } from '../checks/checks.ts';
import type { Violation } from '../checker.ts';
import {
  mustBeFunction,
  mustBeScript,
  mustBeTexts,
  mustBeViolation,
  mustHave,
} from '../fuzz-error.ts';
import { commandsOf } from '../shrink/script.ts';
import type { Shrunk } from '../shrink/shrink.ts';
import { CURL_SECRET, curlText, serveConfigText } from './curl-text.ts';
import { isThrown } from '../thrown.ts';
import { reproduce, type Reproduction, type ReproductionOptions } from './reproduction.ts';
import { scenarioReference, scenarioText } from './scenario-text.ts';

export interface FailureFilesOptions {
  readonly createEngine: (config: ExchangeConfig) => Engine;
  readonly keccak: Keccak;
  /** Origin: a command line that finds it again, and the profile. */
  readonly origin: readonly string[];
}

export type FailureFiles = Readonly<Record<string, string | Uint8Array>>;

/** Throws `FuzzError`. */
export function failureFiles(shrunk: Shrunk, options: FailureFilesOptions): FailureFiles {
  mustHave('shrunk', shrunk, ['script', 'violation']);
  mustHave('options', options, ['createEngine', 'keccak', 'origin']);
  const { createEngine, keccak } = options;
  mustBeFunction('createEngine', createEngine);
  mustBeFunction('keccak', keccak);
  mustBeTexts('origin', options.origin);
  const { violation, script } = shrunk;
  mustBeViolation('violation', violation);
  mustBeScript('script', script);
  const { config } = script;
  const commands = commandsOf(script, createEngine);
  const common = { createEngine, keccak };
  const scenario = failing(config, commands, violation, {
    ...common,
    reference: scenarioReference,
    tape: true,
  });
  const sent = failing(config, commands, violation, {
    ...common,
    reference: ({ digest }) => digest,
    tape: false,
  });
  const checks = checksOf(violation);
  return {
    'README.md': readme(shrunk, commands, options.origin),
    'journal.orrery': journalOf(config, commands),
    'scenario.yaml': scenarioText(config, scenario, violation, checks),
    'requests.sh': curlText(sent, violation),
    'serve.yaml': serveConfigText(config, sent),
    secret: CURL_SECRET,
    'regression.test.ts': testText(violation),
  };
}

/** The failure's own check; those of outcome and state if the exchange threw. */
const checksOf = ({ check }: Violation): readonly CheckName[] => {
  const own = CHECK_NAMES.find((name) => name === check);
  return own === undefined ? ['state', 'oracle'] : [own];
};

/** Whether a property of the caller failed, which no file has. */
const isOfCaller = (violation: Violation): boolean =>
  violation.check === undefined && !isThrown(violation);

/**
 * Requests where they reproduce the failure. Otherwise every step is a command of the engine: a
 * request may need another time, or make another command in an exchange with that defect.
 */
function failing(
  config: ExchangeConfig,
  commands: readonly Command[],
  violation: Violation,
  options: Omit<ReproductionOptions, 'readable'>,
): Reproduction {
  const readable = reproduce(config, commands, { ...options, readable: true });
  if (isOfCaller(violation)) return readable;
  const { createEngine } = options;
  const checks = checksOf(violation);
  const found = checkCommands(config, readable.commands, { checks, createEngine });
  return found === null ? reproduce(config, commands, { ...options, readable: false }) : readable;
}

const FAILS = 'Each of these fails until the defect is fixed:';
const LACKS =
  'These have the commands, and not the check, which is one of the caller. So they pass:';
const ORIGINAL = [
  '`original.orrery` has the commands before shrinking. `orrery inspect . --open` shows the state',
  'after each command, and names the violated check.',
];

function readme(
  { violation, from, to, tests, complete }: Shrunk,
  commands: readonly Command[],
  origin: readonly string[],
): string {
  return [
    `# ${violation.invariant}`,
    '',
    `${violation.rule}: ${violation.says}.`,
    '',
    `Found instead: ${violation.detail}`,
    '',
    `${countText(from, 'command')} shrank to ${String(to)} in ${countText(tests, 'execution')}${complete ? '' : ' (stopped early: a shorter one may exist)'}.`,
    '',
    isOfCaller(violation) ? LACKS : FAILS,
    '',
    '| file | content |',
    '| --- | --- |',
    '| `journal.orrery` | the commands; `orrery fuzz --journal journal.orrery` checks them |',
    '| `scenario.yaml` | the same as API requests; `orrery run scenario.yaml` |',
    '| `requests.sh` | the same against a server, which it starts; `bash requests.sh` |',
    '| `regression.test.ts` | a test for vitest |',
    '',
    ...(isOfCaller(violation)
      ? ['`orrery inspect . --open` shows the state after each command.']
      : ORIGINAL),
    '',
    '## Commands',
    '',
    '```',
    ...commands.map((command, i) => `${String(i + 1)} ${commandText(command)}`),
    '```',
    '',
    '## Origin',
    '',
    '```',
    ...origin,
    '```',
    '',
  ].join('\n');
}

function testText({ invariant, rule, says }: Violation): string {
  return [
    "import { readFileSync } from 'node:fs';",
    "import { checkJournal } from 'orrery/fuzz';",
    "import { expect, test } from 'vitest';",
    '',
    `test(${JSON.stringify(`${rule}: ${says} (${invariant})`)}, () => {`,
    "  const journal = readFileSync(new URL('./journal.orrery', import.meta.url));",
    '  expect(checkJournal(journal)?.violation).toBeUndefined();',
    '});',
    '',
  ].join('\n');
}

/** A command on one line: kind, then its non-default fields. */
export function commandText({ kind, ...fields }: Command): string {
  return `${kind} ${JSON.stringify(fields, (name, value: unknown) => {
    if (value === null || value === false || name === 'spec') return undefined;
    return typeof value === 'bigint' ? String(value) : value;
  })}`;
}
