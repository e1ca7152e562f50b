/**
 * The saved state of a campaign, checked field by field: a file that was cut, edited or written by
 * another program is named with its first fault.
 */
import { readFile } from 'node:fs/promises';
import { jobVersion } from '../../campaigns/job-id.ts';
import type { CampaignPlan, FailedRun } from '../../fuzz/campaign.ts';
import {
  mustBeCount,
  mustBeCounts,
  mustBeList,
  mustBeObject,
  mustBeOneOf,
  mustBeText,
  mustBeViolation,
  FuzzError,
} from '../../fuzz/fuzz-error.ts';
import { PROFILE_NAMES } from '../../fuzz/profile.ts';
import type { Counts } from '../../fuzz/reached-counts.ts';
import { fileError } from '../../platform/file-error.ts';
import { InputError } from '../cli-support.ts';
import { VERSION } from '../release.ts';

/** Version of the runs of a campaign: another program draws other runs from the same seed. */
export const CAMPAIGN_VERSION = jobVersion(VERSION);

/** What `campaign.json` holds. */
export interface SavedCampaign {
  readonly plan: CampaignPlan;
  readonly runs: number;
  readonly commands: number;
  /** Absent in files of early versions. */
  readonly seconds?: number;
  readonly ended?: boolean;
  readonly counts: Counts;
  readonly failures: readonly FailedRun[];
}

/** Throws `InputError` for a file that `--resume` cannot continue. */
export async function readCampaign(path: string): Promise<SavedCampaign> {
  try {
    const saved: unknown = JSON.parse(await readFile(path, 'utf8'));
    mustBeOfThisVersion(path, saved);
    mustBeCampaign(saved);
    return saved;
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new InputError(`--resume: ${path}: not valid JSON: ${error.message}`);
    }
    if (error instanceof FuzzError) {
      throw new InputError(`--resume: ${path}: not the state of a campaign: ${error.message}`);
    }
    if (error instanceof InputError) throw error;
    throw new InputError(`--resume: ${fileError(path, error).message}`);
  }
}

/** A sum of the runs of two programs would be the result of neither. */
function mustBeOfThisVersion(path: string, saved: unknown): void {
  mustBeObject('content', saved);
  const { version } = saved as Record<string, unknown>;
  if (version === CAMPAIGN_VERSION) return;
  const other =
    version === undefined
      ? 'a program that stated no version'
      : `version ${JSON.stringify(version)}`;
  throw new InputError(
    `--resume: ${path}: is the campaign of ${other}; this program is "${CAMPAIGN_VERSION}"`,
    { hint: 'start a new campaign without --resume' },
  );
}

function mustBeCampaign(saved: unknown): asserts saved is SavedCampaign {
  mustBeObject('content', saved);
  const { plan, runs, commands, seconds, counts, failures } = saved as Record<string, unknown>;
  mustBePlan(plan);
  mustBeAmount('runs', runs);
  mustBeAmount('commands', commands);
  if (seconds !== undefined) mustBeSeconds(seconds);
  mustBeCounts('counts', counts);
  mustBeList('failures', failures, ['run', 'commands', 'violation']);
  for (const [i, { run, violation }] of (failures as FailedRun[]).entries()) {
    mustBeAmount(`failures[${String(i)}].run`, run);
    mustBeViolation(`failures[${String(i)}].violation`, violation);
  }
}

function mustBePlan(plan: unknown): void {
  mustBeObject('plan', plan);
  const { seed, profile, commands, oracle, every, states } = plan as Record<string, unknown>;
  mustBeText('plan.seed', seed);
  mustBeOneOf('plan.profile', profile, [...PROFILE_NAMES, 'all']);
  if (commands !== null) mustBeCount('plan.commands', commands);
  if (typeof oracle !== 'boolean') {
    throw new FuzzError('plan.oracle: must be true or false', { field: 'plan.oracle' });
  }
  mustBeCount('plan.every', every);
  if (states !== undefined) mustBeText('plan.states', states);
}

/** A whole number from 0. */
function mustBeAmount(field: string, value: unknown): void {
  if (Number.isSafeInteger(value) && Number(value) >= 0) return;
  throw new FuzzError(`${field}: must be a whole number from 0`, { field });
}

function mustBeSeconds(value: unknown): void {
  if (typeof value === 'number' && value >= 0) return;
  throw new FuzzError('seconds: must be a number from 0', { field: 'seconds' });
}
