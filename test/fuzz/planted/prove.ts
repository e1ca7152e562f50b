/** Finds a planted bug in a long run and shrinks it. */
import type { Checker } from '../../../src/fuzz/checker.ts';
import { PROFILE_NAMES } from '../../../src/fuzz/profile.ts';
import type { Failure } from '../../../src/fuzz/fuzz-run.ts';
import type { Shrunk } from '../../../src/fuzz/shrink/shrink.ts';
import type { PlantedBug } from './bugs.ts';
import { buildWith, type BuiltFuzzer } from './build.ts';

export interface PlantedResult {
  readonly bug: PlantedBug;
  readonly shrunk: Shrunk;
  readonly seconds: number;
  readonly built: BuiltFuzzer;
}

export async function provePlanted(bug: PlantedBug, commands: number): Promise<PlantedResult> {
  const built = await buildWith(bug);
  const failure = findFailure(built, bug, commands);
  const started = performance.now();
  const shrunk = built.shrink(failure, {
    createEngine: (config) => new built.Exchange(config),
    createChecker: (commands) => checkerOf(built, commands <= 64 ? 1 : Infinity),
  });
  return { bug, shrunk, built, seconds: (performance.now() - started) / 1000 };
}

const checkerOf = (built: BuiltFuzzer, every: number): Checker =>
  built.allOf(built.stateInvariants(every), built.streamInvariants(every));

/**
 * The first run of that many commands in which the bug shows; checked after its last command only.
 */
function findFailure(built: BuiltFuzzer, bug: PlantedBug, commands: number): Failure {
  for (let i = 0; i < 200; i++) {
    const name = bug.profile ?? PROFILE_NAMES[i % PROFILE_NAMES.length] ?? 'swarm';
    const profile = built.drawProfile(`${bug.name} ${String(i)}`, { name, commands });
    const checker = checkerOf(built, Infinity);
    const late: Checker = {
      ...(checker.onEvent === undefined ? {} : { onEvent: checker.onEvent }),
      after: (engine, command, outcome) => {
        checker.after(engine, command, outcome);
        return null;
      },
      end: (engine) => checker.end?.(engine) ?? null,
    };
    const { failure } = built.runFuzz(profile, late);
    if (failure?.violation.invariant === bug.invariant && failure.commands.length === commands) {
      return failure;
    }
  }
  throw new Error(`${bug.name} was not found`);
}
