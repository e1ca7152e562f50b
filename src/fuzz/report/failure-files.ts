/**
 * Report files of a failure, by file name: a summary with the violated invariant, the minimal
 * journal, a scenario, a shell script and a test. The caller writes the files.
 */
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig } from '../../engine/config.ts';
import type { Engine } from '../../engine/read/views.ts';
import type { Keccak } from '../../gateway/ports.ts';
import { journalOf } from '../check-journal.ts';
import type { Violation } from '../checker.ts';
import { commandsOf } from '../shrink/script.ts';
import type { Shrunk } from '../shrink/shrink.ts';
import { CURL_SECRET, curlReference, curlText, serveConfigText } from './curl-text.ts';
import { perform } from './performance.ts';
import { scenarioReference, scenarioText } from './scenario-text.ts';

export interface FailureFilesOptions {
  readonly createEngine: (config: ExchangeConfig) => Engine;
  readonly keccak: Keccak;
  /** Origin: a command line that finds it again, and the profile. */
  readonly origin: readonly string[];
}

export type FailureFiles = Readonly<Record<string, string | Uint8Array>>;

export function failureFiles(shrunk: Shrunk, options: FailureFilesOptions): FailureFiles {
  const { createEngine, keccak } = options;
  const { violation, script } = shrunk;
  const { config } = script;
  const commands = commandsOf(script, createEngine);
  const common = { createEngine, keccak };
  const performed = perform(config, commands, { ...common, reference: scenarioReference });
  const scenario = scenarioText(config, performed, violation);
  const sent = perform(config, commands, { ...common, reference: curlReference(keccak) });
  return {
    'README.md': readme(shrunk, commands, scenario.leftOut, options.origin),
    'journal.orrery': journalOf(config, commands),
    'scenario.yaml': scenario.text,
    'requests.sh': curlText(sent, violation),
    'serve.yaml': serveConfigText(config, sent),
    secret: CURL_SECRET,
    'regression.test.ts': testText(violation),
  };
}

function readme(
  { violation, from, to, tests, complete }: Shrunk,
  commands: readonly Command[],
  leftOut: readonly string[],
  origin: readonly string[],
): string {
  return [
    `# ${violation.invariant}`,
    '',
    `${violation.rule}: ${violation.says}.`,
    '',
    `Found instead: ${violation.detail}`,
    '',
    `${String(from)} commands shrank to ${String(to)} in ${String(tests)} executions${complete ? '' : ' (stopped early: a shorter one may exist)'}.`,
    '',
    '| file | content |',
    '| --- | --- |',
    '| `journal.orrery` | the commands; `orrery fuzz --journal journal.orrery` checks them again |',
    '| `scenario.yaml` | the same as API requests; `orrery run scenario.yaml` |',
    '| `requests.sh` | the same against a server; its header says how to start it |',
    '| `regression.test.ts` | a test that fails until the defect is fixed |',
    '',
    ...(leftOut.length === 0
      ? []
      : ['The scenario cannot express:', '', ...leftOut.map((what) => `- ${what}`), '']),
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
