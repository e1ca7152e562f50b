/** Trials as jobs: without paths and bundles, so that a job is the same on every machine. */
import { UserError } from '../base/user-error.ts';
import { isFileFault } from '../platform/file-error.ts';
import type { TrialResult, TrialTask } from '../search/trial.ts';
import type { FileCache } from './file-cache.ts';
import { packed, referencesOf, unpacked, type InputPaths, type PackedPlan } from './inputs.ts';
import type { RemoteJobs } from './remote-jobs.ts';

export type PackedTask = Omit<TrialTask, 'plan'> & { readonly plan: PackedPlan };

/** Runs trials elsewhere; null if stopped. */
export function remoteTrials(
  jobs: RemoteJobs,
  paths: InputPaths,
): (task: TrialTask) => Promise<TrialResult | null> {
  return async ({ plan, parameters, objective, options }) => {
    const task: PackedTask = { plan: packed(plan, paths), parameters, objective, options };
    const text = await jobs.run('trial', task);
    if (text === null) return null;
    const result = JSON.parse(text) as TrialResult;
    const names = Object.entries(paths).map(([path, reference]) => [reference, path] as const);
    return withNames(result, names);
  };
}

/**
 * A run that could not read its files. It counts as an attempt, unlike a fault of the cache:
 * a job that names a file which no machine has must not end every worker.
 */
class TrialFault extends UserError {
  override readonly name = 'TrialFault';
  readonly code = 'worker';
}

/** Runs the trial of a job with this machine's files; null if stopped. */
export async function runTrialJob(
  { plan, ...task }: PackedTask,
  cache: FileCache,
  run: (task: TrialTask) => Promise<TrialResult | null>,
): Promise<TrialResult | null> {
  const references = referencesOf(plan);
  const paths = await Promise.all(references.map((name) => cache.resolve(name)));
  const pathOf = new Map(references.map((name, i) => [name, paths[i] ?? name]));
  const local = await unpacked(
    plan,
    (name) => pathOf.get(name) ?? name,
    (sha256) => cache.bundle(sha256),
  );
  let result: TrialResult | null;
  try {
    result = await run({ ...task, plan: local });
  } catch (error) {
    // Files may have gone since they were verified; the next attempt verifies them again.
    cache.forget();
    throw isFileFault(error) ? new TrialFault((error as Error).message) : error;
  }
  if (result === null) return null;
  return withNames(
    result,
    [...pathOf].map(([name, path]) => [path, name] as const),
  );
}

/** Replaces file names in the error of a trial. */
function withNames(
  result: TrialResult,
  names: readonly (readonly [from: string, to: string])[],
): TrialResult {
  if (result.error === null) return result;
  let { error } = result;
  for (const [from, to] of names) error = error.replaceAll(from, to);
  return { ...result, error };
}
