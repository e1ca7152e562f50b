/**
 * Finds a planted bug as `orrery fuzz` does, shrinks it, and runs its reproductions in the build
 * with the bug and in the one without.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CampaignPlan, FailedRun, ShrinkReport } from '../../../src/fuzz/campaign.ts';
import { addressOfName, keccak } from '../../../src/wallet/crypto-ports.ts';
import { bundleWith } from '../../mutants/build.ts';
import type { SourceEdit } from '../../mutants/mutant.ts';

export type Built = typeof import('../planted/entry.ts');

const ENTRY = join(import.meta.dirname, '../planted/entry.ts');
/** Below node_modules, so that imports of packages resolve. */
const FOLDER = join(import.meta.dirname, '../../../node_modules/.cache/orrery/reproductions');

/** The program with these edits. */
export async function buildWith(id: string, edits: readonly SourceEdit[]): Promise<Built> {
  const file = join(FOLDER, `${id}.mjs`);
  await bundleWith(ENTRY, file, id, edits);
  return (await import(`${pathToFileURL(file).href}?${id}`)) as Built;
}

export const PLAN: CampaignPlan = {
  seed: 'planted',
  profile: 'all',
  commands: null,
  oracle: true,
  every: 64,
};

/** A search for a failed run: the run at which it ended, and its failure if it has one. */
interface Found {
  readonly run: number;
  readonly failed: FailedRun | null;
}

/** The first failed run from `from` on and below `end`, within a budget of processor time. */
export function findFailure(built: Built, from: number, cpuSeconds: number, end = Infinity): Found {
  const started = process.cpuUsage();
  const spent = (): number => {
    const { user, system } = process.cpuUsage(started);
    return (user + system) / 1e6;
  };
  let run = from;
  while (run < end && spent() < cpuSeconds) {
    const { failed, to } = built.runBatch(PLAN, run, run + 1, () => spent() >= cpuSeconds);
    if (failed !== null) return { run, failed };
    run = to;
  }
  return { run, failed: null };
}

/** Shrinks within a budget of processor time. */
export function shrinkWithin(built: Built, failed: FailedRun, cpuSeconds: number): ShrinkReport {
  const started = process.cpuUsage();
  const { failure } = failed;
  if (failure === undefined) throw new Error('a failed run has its commands');
  return built.shrinkFailure(failure, {
    keccak,
    origin: [],
    cancelled: () => {
      const { user, system } = process.cpuUsage(started);
      return (user + system) / 1e6 >= cpuSeconds;
    },
  });
}

/** Per artefact, the reason for which it fails in a build; null if it passes. */
export interface Verdict {
  readonly journal: string | null;
  readonly scenario: string | null;
}

export function judge(build: Built, { files }: Pick<ShrinkReport, 'files'>): Verdict {
  const journal = build.checkJournal(files['journal.orrery'] as Uint8Array);
  return {
    journal: journal === null ? null : journal.violation.invariant,
    scenario: scenarioFault(build, files['scenario.yaml'] as string),
  };
}

/** The first difference of a scenario in a build; null if it passes. */
export function scenarioFault(build: Built, text: string): string | null {
  const parsed = build.parseScenario(text, 'scenario.yaml', keccak);
  if (!parsed.ok) throw new Error(parsed.problems.map(({ message }) => message).join('; '));
  try {
    const { passed, steps } = build.runScenario(parsed.scenario, {
      keccak,
      addressOf: addressOfName,
    });
    const [first] = steps.flatMap(({ differences }) => differences);
    return passed ? null : `${first?.path ?? ''} ${first?.actual ?? ''}`;
  } catch (error) {
    return `throws ${error instanceof Error ? error.message : String(error)}`;
  }
}
