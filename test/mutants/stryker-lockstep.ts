/**
 * Short runs of every profile beside the oracle, for the mutants of `npm run stryker`. A mutant
 * that changes an outcome, an event or a state of one of them fails.
 */
import { expect, test } from 'vitest';
import { allOf } from '../../src/fuzz/checker.ts';
import { checkerOf } from '../../src/fuzz/checks/checks.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { runFuzz } from '../../src/fuzz/fuzz-run.ts';
import { PROFILE_NAMES } from '../../src/fuzz/profile.ts';

const RUNS_EACH = 2;
const COMMANDS = 500;

for (const name of PROFILE_NAMES) {
  for (let run = 0; run < RUNS_EACH; run += 1) {
    test(`${name} ${String(run)} agrees with the oracle`, () => {
      const drawn = drawProfile(`stryker ${String(run)}`, { name });
      const profile = { ...drawn, commands: Math.min(drawn.commands, COMMANDS) };
      const { failure } = runFuzz(profile, (config) =>
        allOf(checkerOf(['state', 'oracle'], config, { every: 64 })),
      );
      expect(failure?.violation ?? null).toBeNull();
    });
  }
}
