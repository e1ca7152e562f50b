/**
 * Every scenario of the project passes in four ways, and its state hash is golden (DETERMINISM, net
 * 4).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseScenario } from '../../src/scenario/parse.ts';
import { proveScenario } from '../../src/scenario/prove.ts';
import { runScenario } from '../../src/scenario/run-scenario.ts';
import type { Scenario } from '../../src/scenario/scenario.ts';
import { formatProblem } from '../../src/scenario/source-node.ts';
import { addressOfName, keccak } from '../../src/wallet/crypto-ports.ts';

const FOLDER = new URL('../../scenarios/', import.meta.url);
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml'));
const RULES = new URL('../../docs/RULES.md', import.meta.url);
const ports = { keccak, addressOf: addressOfName };

/** Seeds of the cuts of the journal that each scenario must survive. */
const SEEDS = [1, 2, 3, 5, 8];

function load(file: string): Scenario {
  const parsed = parseScenario(readFileSync(new URL(file, FOLDER), 'utf8'), file, keccak);
  if (parsed.ok) return parsed.scenario;
  throw new Error(parsed.problems.map((problem) => formatProblem(file, problem)).join('\n'));
}

it('has at least twelve scenarios', () => {
  expect(FILES.length).toBeGreaterThanOrEqual(12);
});

describe.each(FILES)('%s', (file) => {
  const scenario = load(file);
  const result = runScenario(scenario, ports);

  it('meets its expectations', () => {
    expect(result.steps.filter((step) => step.differences.length > 0)).toEqual([]);
    expect(result.passed).toBe(true);
  });

  it('has its state hash, a title, and the rules that it demonstrates', () => {
    expect(scenario.expect.stateHash).toBe(result.stateHash);
    expect(scenario.title).not.toBe(file);
    const rules = readFileSync(RULES, 'utf8');
    expect(scenario.rules.length).toBeGreaterThan(0);
    for (const rule of scenario.rules) expect(rules).toMatch(new RegExp(`\\b${rule}\\b`));
  });

  it('runs plain, replayed, restored and recovered to equal chain and state hashes', () => {
    expect(proveScenario(result, ...SEEDS)).toEqual([]);
  });

  it('runs twice to the same journal, byte for byte', () => {
    expect(runScenario(scenario, ports).journal).toEqual(result.journal);
  });
});
