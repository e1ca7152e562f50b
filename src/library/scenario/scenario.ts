/** Scenario files as library calls: read, run and prove, with the package's own cryptography. */
import { readFile } from 'node:fs/promises';
import { UserError } from '../../base/user-error.ts';
import { FileError, fileError } from '../../platform/file-error.ts';
import { decodeText } from '../../scenario/decode-text.ts';
import { parseScenario as parse } from '../../scenario/parse.ts';
import type { Difference } from '../../scenario/match-expectation.ts';
import { proveScenario as prove } from '../../scenario/prove.ts';
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

/**
 * Differences of hashes between the run of a scenario and three others from its journal: replayed,
 * restored from snapshots, and recovered from a cut; empty if all agree.
 *
 * @param plain result of `runScenario`
 * @param seeds places of cuts, whole numbers from 0
 * @throws ScenarioError for other arguments, JournalError when the journal is damaged
 */
export function proveScenario(plain: ScenarioResult, ...seeds: readonly number[]): Difference[] {
  const { journal, stateHash, chainHash } = Object(plain) as Partial<ScenarioResult>;
  const hasHashes = typeof stateHash === 'string' && typeof chainHash === 'string';
  if (!(journal instanceof Uint8Array) || !hasHashes) {
    throw wrongArgument('plain', 'must be a result of runScenario');
  }
  for (const seed of seeds) {
    if (Number.isSafeInteger(seed) && seed >= 0) continue;
    throw wrongArgument('seeds', `must be whole numbers from 0, not ${String(seed)}`);
  }
  return prove(plain, ...seeds);
}

function wrongArgument(path: string, message: string): ScenarioError {
  return new ScenarioError('proveScenario', [{ place: { line: 1, column: 1 }, path, message }]);
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
  const text = decodeText(bytes);
  if (typeof text !== 'string') throw new ScenarioError(path, [text]);
  return parseScenario(text, path);
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
