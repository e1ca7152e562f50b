/** The regression corpus: what fuzzing has found, as scenarios (which must pass) and journals (which must hold every invariant). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { judgeJournal } from '../../src/fuzz/judge-journal.ts';
import { parseScenario } from '../../src/scenario/parse.ts';
import { runScenario } from '../../src/scenario/run.ts';
import { addressOfName, keccak } from '../../src/wallet/ethers-ports.ts';

const FOLDER = join(import.meta.dirname, 'corpus');
const names = readdirSync(FOLDER).sort();

test.each(names.filter((name) => name.endsWith('.yaml')))('%s passes', (name) => {
  const parsed = parseScenario(readFileSync(join(FOLDER, name), 'utf8'), name, keccak);
  expect(parsed.ok ? [] : parsed.problems).toEqual([]);
  if (!parsed.ok) return;
  const { steps, journal } = runScenario(parsed.scenario, { keccak, addressOf: addressOfName });
  expect(steps.flatMap(({ differences }) => differences)).toEqual([]);
  expect(judgeJournal(journal)).toBeNull();
});

test('journals hold every invariant', () => {
  for (const name of names.filter((known) => known.endsWith('.orrery'))) {
    expect(judgeJournal(readFileSync(join(FOLDER, name))), name).toBeNull();
  }
});
