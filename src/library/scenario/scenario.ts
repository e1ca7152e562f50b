/** Scenario files as library calls: read, run and prove, with the package's own cryptography. */
import { readFile } from 'node:fs/promises';
import { UserError } from '../../base/user-error.ts';
import { FileError, fileError } from '../../platform/file-error.ts';
import { parseScenario as parse } from '../../scenario/parse.ts';
import { runScenario as run, type ScenarioResult } from '../../scenario/run-scenario.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { formatProblem, type Problem } from '../../scenario/source-node.ts';
import { addressOfName, keccak } from '../../wallet/crypto-ports.ts';

/** A scenario's text is not valid: one line per problem, each with line and column. */
export class ScenarioError extends UserError {
  override readonly name = 'ScenarioError';
  readonly code = 'scenario';
  readonly problems: readonly Problem[];

  constructor(file: string, problems: readonly Problem[]) {
    super(problems.map((problem) => formatProblem(file, problem)).join('\n'));
    this.problems = problems;
  }
}

function isParsed(value: unknown): value is Scenario {
  const { config, steps } = Object(value) as Partial<Scenario>;
  return typeof config === 'object' && Array.isArray(steps);
}

function notAScenario(file: string): ScenarioError {
  const message = 'must be a parsed scenario, or its text';
  return new ScenarioError(file, [{ place: { line: 1, column: 1 }, path: '', message }]);
}

/**
 * Parses a scenario (YAML, docs/SCENARIOS.md).
 *
 * @param file name of the scenario in messages
 * @throws ScenarioError with every problem of the text
 */
export function parseScenario(text: string, file = 'scenario'): Scenario {
  if (typeof text !== 'string') throw notAScenario(file);
  const parsed = parse(text, file, keccak);
  if (!parsed.ok) throw new ScenarioError(file, parsed.problems);
  return parsed.scenario;
}

/**
 * Reads and parses a scenario file (UTF-8).
 *
 * @throws FileError when the file cannot be read, ScenarioError when its text is not valid
 */
export async function readScenario(path: string): Promise<Scenario> {
  if (typeof path !== 'string') throw new FileError('path: must be that of a file');
  const bytes = await readFile(path).catch((error: unknown) => {
    throw fileError(path, error);
  });
  return parseScenario(new TextDecoder().decode(bytes), path);
}

/**
 * Runs a scenario through a recorded exchange and checks its expectations; invariants are checked
 * after every command. A failed expectation is in the result (`passed`, `differences` of its step).
 * Synchronous.
 *
 * @param scenario a parsed scenario, or its text
 * @throws ScenarioError when a text is not valid
 */
export function runScenario(scenario: Scenario | string): ScenarioResult {
  const given: unknown = scenario;
  const parsed = typeof scenario === 'string' ? parseScenario(scenario) : scenario;
  if (typeof given !== 'string' && !isParsed(given)) throw notAScenario('scenario');
  return run(parsed, { keccak, addressOf: addressOfName });
}
