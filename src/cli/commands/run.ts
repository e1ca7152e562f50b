/**
 * `orrery run`: runs scenario files and reports differences from their expectations. All files are
 * parsed before the first one runs, so bad input exits with code 2 and writes nothing.
 */
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { CommandModule } from 'yargs';
import { countText } from '../../base/count-text.ts';
import type { DescribedEvent } from '../../scenario/describe-event.ts';
import { decodeText } from '../../scenario/decode-text.ts';
import { parseScenario } from '../../scenario/parse.ts';
import { proveScenario } from '../../scenario/prove.ts';
import { runScenario, type ScenarioResult } from '../../scenario/run-scenario.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { formatProblem, START_OF_TEXT } from '../../scenario/source-node.ts';
import { withStateHash } from '../../scenario/update-hash.ts';
import { fileError } from '../../platform/file-error.ts';
import { writeOutput, writeWholeFile } from '../../platform/whole-file.ts';
import { addressOfName, keccak } from '../../wallet/crypto-ports.ts';
import {
  EXIT,
  InputError,
  letInterrupt,
  letSignalsEnd,
  print,
  printJson,
  setExitCode,
  stopIfInterrupted,
} from '../cli-support.ts';
import { mustNotBeInput } from '../own-input.ts';
import { readInput } from '../read-file.ts';
import { solvencyReport, type SolvencyReport } from '../solvency-report.ts';
import { solvencyTable, payersTable } from '../solvency-table.ts';

interface RunArguments {
  readonly scenario: readonly string[];
  readonly json: boolean;
  readonly prove: boolean;
  readonly events: boolean;
  readonly 'update-hash': boolean;
  readonly journal: string | undefined;
}

interface Loaded {
  readonly path: string;
  readonly text: string;
  readonly scenario: Scenario;
}

export const command: CommandModule<object, RunArguments> = {
  command: 'run <scenario..>',
  builder: (yargs) =>
    yargs
      .positional('scenario', {
        type: 'string',
        array: true,
        demandOption: true,
        describe: 'scenario files, folders of them, or patterns such as "scenarios/*.yaml"',
      })
      .option('prove', {
        type: 'boolean',
        default: false,
        describe: 'also replay, restore and recover each run, and compare hashes',
      })
      .option('events', {
        type: 'boolean',
        default: false,
        describe: 'also print all events, counts by kind, and the payers of liquidations',
      })
      .option('update-hash', {
        type: 'boolean',
        default: false,
        describe: 'write the state hash into each scenario that otherwise passes',
      })
      .option('journal', {
        type: 'string',
        describe: 'write the journal to this file (one scenario only)',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example('$0 run scenarios/fees.yaml', 'check one scenario')
      .example('$0 run scenarios --prove', 'run a folder with replay proofs')
      .example(
        '$0 run scenarios/black-friday.yaml --events',
        'print a liquidation cascade and its payers',
      )
      .example('$0 run fees.yaml --journal fees.orrery', 'keep the journal'),
  handler: async (options) => {
    const paths = (await Promise.all(options.scenario.map(expand))).flat();
    if (options.journal !== undefined && paths.length !== 1) {
      throw new InputError(`--journal takes one scenario, found ${String(paths.length)}`);
    }
    mustNotBeInput('journal', options.journal, paths);
    const loaded = await loadAll(paths);
    const reports = [];
    // A run never returns to the event loop, where signals would arrive.
    letSignalsEnd(true);
    stopIfInterrupted();
    for (const one of loaded) reports.push(await runOne(one, options));
    const failed = reports.filter(({ passed }) => !passed).length;
    if (options.json) printJson({ passed: failed === 0, scenarios: reports });
    else if (loaded.length > 1) {
      const passed = String(reports.length - failed);
      print(`${String(reports.length)} scenarios: ${passed} passed, ${String(failed)} failed`);
    }
    if (failed > 0) setExitCode(EXIT.failed);
  },
};

async function runOne(loaded: Loaded, options: RunArguments): Promise<ReturnType<typeof reportOf>> {
  const { path, text, scenario } = loaded;
  const updates = options['update-hash'];
  const subject = updates
    ? { ...scenario, expect: { ...scenario.expect, stateHash: null } }
    : scenario;
  const result = runScenario(subject, { keccak, addressOf: addressOfName });
  const proofs = options.prove ? proveScenario(result, scenario.seed) : [];
  const report = reportOf(path, result, proofs);
  const hasNewHash = updates && report.passed && scenario.expect.stateHash !== result.stateHash;
  if (options.journal !== undefined || hasNewHash) {
    await afterWriting(async () => {
      if (options.journal !== undefined) await writeOutput(options.journal, result.journal);
      if (!hasNewHash) return;
      const updated = withStateHash(text, result.stateHash);
      await writeWholeFile(path, new TextEncoder().encode(updated));
    });
  }
  if (!options.json) {
    if (options.events) printEvents(result);
    printReport(report, options.prove);
    if (options.events) printSolvency(report.solvency);
  }
  return report;
}

/** A signal ends a scenario by itself, and the command after a file: no part of one is left. */
async function afterWriting(write: () => Promise<void>): Promise<void> {
  letSignalsEnd(false);
  await write();
  await letInterrupt();
  letSignalsEnd(true);
}

function reportOf(
  file: string,
  result: ScenarioResult,
  proof: ReturnType<typeof proveScenario>,
): {
  readonly file: string;
  readonly title: string;
  readonly passed: boolean;
  readonly steps: number;
  readonly commands: number;
  readonly chainHash: string;
  readonly stateHash: string;
  readonly failures: ScenarioResult['steps'];
  /** Null if there was no liquidation. */
  readonly solvency: SolvencyReport | null;
} {
  const failures = result.steps.filter(({ differences }) => differences.length > 0);
  if (proof.length > 0) {
    failures.push({
      path: 'proof',
      place: START_OF_TEXT,
      title: 'four ways',
      at: 'the end',
      differences: proof,
      events: () => [],
    });
  }
  return {
    file,
    title: result.title,
    passed: result.passed && proof.length === 0,
    steps: result.steps.length,
    commands: result.commands,
    chainHash: result.chainHash,
    stateHash: result.stateHash,
    failures,
    solvency: solvencyReport(result),
  };
}

function printSolvency(solvency: SolvencyReport | null): void {
  if (solvency === null) return;
  print('');
  print(payersTable(solvency));
  print(solvencyTable(solvency));
}

function printReport(report: ReturnType<typeof reportOf>, proved: boolean): void {
  const { file, title, passed, commands, stateHash } = report;
  const ways = proved && passed ? ', proved four ways' : '';
  print(`${passed ? 'pass' : 'FAIL'}  ${file}: ${title}`);
  print(`      ${countText(commands, 'command')}${ways}, state hash ${stateHash}`);
  for (const { place, path, title: step, at, differences } of report.failures) {
    const [firstLine = ''] = step.split('\n');
    print(
      `      ${file}:${String(place.line)}:${String(place.column)} ${path} at ${at}: ${firstLine}`,
    );
    for (const { path: where, expected, actual } of differences) {
      print(`        ${where}`);
      print(`          expected  ${expected}`);
      print(`          actual    ${actual}`);
    }
  }
}

/**
 * Prints all steps with their events, then counts of event kinds, with ladder steps and reasons
 * separate.
 */
function printEvents(result: ScenarioResult): void {
  const counts = new Map<string, number>();
  for (const { title, at, events } of result.steps) {
    const [firstLine = ''] = title.split('\n');
    print(`${at}  ${firstLine}`);
    for (const event of events()) {
      print(`    ${eventText(event)}`);
      const { kind, step, reason } = event;
      const what = [kind, step ?? reason].filter((part) => typeof part === 'string').join(' ');
      counts.set(what, (counts.get(what) ?? 0) + 1);
    }
  }
  print('');
  for (const [what, count] of [...counts].sort()) print(`${String(count).padStart(8)}  ${what}`);
  print('');
}

/**
 * The kind, then each field by name; the time is the step's. The cause is printed if it is not the
 * command.
 */
function eventText({ kind, at: _at, cause, ...fields }: DescribedEvent): string {
  const shown = Object.entries(cause === 'command' ? fields : { cause, ...fields })
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${fieldText(value)}`);
  return [kind, ...shown].join('  ');
}

function fieldText(value: unknown): string {
  const isText = typeof value === 'string' || typeof value === 'bigint';
  return isText ? String(value) : JSON.stringify(value);
}

async function loadAll(paths: readonly string[]): Promise<Loaded[]> {
  const loaded: Loaded[] = [];
  const faults: string[] = [];
  for (const path of paths) {
    const text = decodeText(await readInput(path));
    if (typeof text !== 'string') {
      faults.push(formatProblem(path, text));
      continue;
    }
    const parsed = parseScenario(text, path, keccak);
    if (parsed.ok) loaded.push({ path, text, scenario: parsed.scenario });
    else if (isOfAnotherKind(path, text)) faults.push(`${path}: is not a scenario: ${WHAT_IT_IS}`);
    else faults.push(...parsed.problems.map((problem) => formatProblem(path, problem)));
  }
  if (faults.length > 0) throw new InputError(faults.join('\n        '));
  return loaded;
}

/** A file of another name without the key `orrery`, such as a strategy or a document. */
const isOfAnotherKind = (path: string, text: string): boolean =>
  !SCENARIO_FILE.test(path) && !/^\W*orrery\W*:/m.test(text);

const WHAT_IT_IS = 'it must be a YAML file that begins with "orrery: 1" (orrery new scenario)';

const SCENARIO_FILE = /\.ya?ml$/;

/** Scenarios of a folder, files that match a pattern, or the file itself; sorted by name. */
async function expand(path: string): Promise<string[]> {
  const pattern = basename(path);
  const isPattern = /[*?]/.test(pattern);
  const folder = isPattern ? dirname(path) : path;
  if (!isPattern && !(await isFolder(path))) return [path];
  const wanted = isPattern ? globRegExp(pattern) : SCENARIO_FILE;
  const names = await readdir(folder).catch((error: unknown) => {
    throw fileError(folder, error);
  });
  const found = names.filter((name) => wanted.test(name)).sort();
  if (found.length === 0) throw new InputError(`${path}: no scenario file here`);
  return found.map((name) => join(folder, name));
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    throw fileError(path, error);
  }
}

/** `*` matches any text, `?` one character. */
function globRegExp(pattern: string): RegExp {
  const source = pattern.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${source.replaceAll('*', '.*').replaceAll('?', '.')}$`);
}
