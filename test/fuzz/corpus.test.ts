/**
 * Regression corpus of the fuzzer: scenarios (which must pass) and journals. All must satisfy every
 * invariant, agree with the oracle, and behave the same if the exchange is restored before any
 * command.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { outcomeCode } from '../../src/engine/refusals.ts';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Exchange } from '../../src/engine/exchange.ts';
import type { Engine } from '../../src/engine/read/views.ts';
import { allInvariants, checkJournal } from '../../src/fuzz/check-journal.ts';
import { allOf, type Checker } from '../../src/fuzz/checker.ts';
import { oracleLockstep } from '../../src/fuzz/oracle-checker.ts';
import { parseScenario } from '../../src/scenario/parse.ts';
import { runScenario } from '../../src/scenario/run-scenario.ts';
import { JournalReader } from '../../src/journal/format/frames.ts';
import { addressOfName, keccak } from '../../src/wallet/crypto-ports.ts';

const FOLDER = join(import.meta.dirname, 'corpus');
const names = readdirSync(FOLDER).sort();

/** A copy that is saved and restored before each command behaves like the exchange. */
function restoredEachTime(): Checker {
  let twin: Engine | null = null;
  return {
    after: (engine, command, outcome) => {
      const restored = (twin ?? new Exchange(engine.config)).fork();
      twin = restored;
      const alike = outcomeCode(restored.apply(command)) === outcomeCode(outcome);
      if (alike && restored.chainHash() === engine.chainHash()) return null;
      const says = 'a restored exchange behaves like the original';
      return { invariant: 'restored', rule: 'docs/DETERMINISM.md', says, detail: command.kind };
    },
  };
}

function found(journal: Uint8Array): ReturnType<typeof checkJournal> {
  const { config } = new JournalReader(journal).header;
  const checker = allOf(allInvariants(), oracleLockstep(config), restoredEachTime());
  return checkJournal(journal, { checker });
}

test.each(names.filter((name) => name.endsWith('.yaml')))('%s passes', (name) => {
  const parsed = parseScenario(readFileSync(join(FOLDER, name), 'utf8'), name, keccak);
  expect(parsed.ok ? [] : parsed.problems).toEqual([]);
  if (!parsed.ok) return;
  const { steps, journal } = runScenario(parsed.scenario, { keccak, addressOf: addressOfName });
  expect(steps.flatMap(({ differences }) => differences)).toEqual([]);
  expect(found(journal)).toBeNull();
});

test('journals hold every invariant', () => {
  for (const name of names.filter((known) => known.endsWith('.orrery'))) {
    const journal = readFileSync(join(FOLDER, name));
    expect(found(journal), name).toBeNull();
    expect(checkJournal(journal, { checks: ['gateway'] }), name).toBeNull();
  }
});
