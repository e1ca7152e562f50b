/** Files and output of a fuzzing campaign, on this machine or on workers elsewhere. */
import { countText } from '../../base/count-text.ts';
import { must } from '../../base/assert.ts';
import { profileOf, type CampaignPlan, type FailedRun } from '../../fuzz/campaign.ts';
import { describeProfile } from '../../fuzz/profile.ts';
import { FileError } from '../../platform/file-error.ts';
import type { RemoteArguments } from '../campaigns/remote-options.ts';
import { EXIT, Interrupted, isInterrupted, print, printJson, setExitCode } from '../cli-support.ts';
import type { CampaignState } from './campaign-state.ts';
import { writeCiReports, type Finding } from './ci-report.ts';
import { writeCoverage } from './coverage-page.ts';
import { reportFailure } from './failure-folder.ts';
import type { FuzzPool } from './pool.ts';
import { printSummary } from './print-summary.ts';
import type { RunLog } from './run-log.ts';

export interface FuzzArguments extends RemoteArguments {
  readonly seconds: number | undefined;
  readonly runs: number | undefined;
  readonly run: number | undefined;
  readonly seed: string | undefined;
  readonly workers: number;
  readonly profile: CampaignPlan['profile'] | undefined;
  readonly commands: number | undefined;
  readonly oracle: boolean | undefined;
  readonly shrink: boolean;
  readonly 'shrink-seconds': number;
  readonly 'keep-going': boolean;
  readonly resume: boolean | undefined;
  readonly verbose: boolean;
  readonly journal: string | undefined;
  readonly target: string | undefined;
  readonly repeat: string | undefined;
  readonly 'host-command': string | undefined;
  readonly 'sim-token': string | undefined;
  readonly config: string | undefined;
  readonly states: string | undefined;
  readonly out: string;
  readonly junit: string | undefined;
  readonly sarif: string | undefined;
  readonly json: boolean;
}

/** Command line that repeats a run. */
export function againText(plan: CampaignPlan, run: number): string {
  const seed = /^[\w.:-]+$/.test(plan.seed) ? plan.seed : `'${plan.seed.replaceAll("'", `'\\''`)}'`;
  const parts = ['orrery fuzz', '--seed', seed, '--run', String(run)];
  if (plan.profile !== 'all') parts.push('--profile', plan.profile);
  if (plan.commands !== null) parts.push('--commands', String(plan.commands));
  if (!plan.oracle) parts.push('--no-oracle');
  return parts.join(' ');
}

export interface Written {
  readonly folders: string[];
  readonly findings: Finding[];
}

export function printPlan({ seed, profile, oracle }: CampaignPlan): void {
  print(`seed        ${seed}, profile ${profile}${oracle ? '' : ', without the oracle'}`);
}

/** Failures of earlier sessions. One that was killed has named them nowhere else. */
export function earlierFindings({ plan, failures }: CampaignState): Finding[] {
  return failures.map(({ run, violation }) => {
    return { violation, again: againText(plan, run), written: null };
  });
}

export async function noteFailure(
  options: FuzzArguments,
  plan: CampaignPlan,
  one: FailedRun,
  pool: FuzzPool,
  { folders, findings }: Written,
): Promise<void> {
  const written = await shrinkAndWrite(options, plan, one, pool);
  folders.push(written);
  findings.push({ violation: one.violation, again: againText(plan, one.run), written });
}

export async function reportCampaign(
  options: FuzzArguments,
  state: CampaignState,
  log: RunLog,
  { folders, findings }: Written,
): Promise<void> {
  const { json, out, workers } = options;
  await writeCoverage(out, state);
  const subject = `seed ${state.plan.seed}, ${countText(state.runs, 'run')}`;
  await writeCiReports(options, { subject, seconds: state.seconds, findings });
  const summary = { ...state.summary(), workers, log: log.path, written: folders };
  if (json) printJson({ ...summary, interrupted: isInterrupted() });
  else printSummary(state, workers);
  if (state.failures.length > 0) setExitCode(EXIT.failed);
  if (isInterrupted()) throw new Interrupted('interrupted');
}

export async function shrinkAndWrite(
  options: FuzzArguments,
  plan: CampaignPlan,
  { run, failure }: FailedRun,
  pool: FuzzPool,
): Promise<string> {
  const again = againText(plan, run);
  const profile = describeProfile(profileOf(plan, run));
  if (!options.json) {
    print(`run ${String(run)} failed; again: ${again}`);
    if (options.run === undefined) print(profile);
  }
  const found = must(failure, 'a failed run has its commands');
  try {
    return await reportFailure(pool, found, {
      out: options.out,
      id: `${plan.seed}-${String(run)}`,
      origin: [again, '', profile],
      ...shrinkingOf(options),
    });
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    const { invariant, detail } = found.violation;
    throw new FileError(`${error.message}, so run ${String(run)} is not kept`, {
      hint: `it violates ${invariant}: ${detail}; again: ${again}`,
    });
  }
}

export const shrinkingOf = (options: FuzzArguments) => ({
  shrinkSeconds: options.shrink ? options['shrink-seconds'] : 0,
  quiet: options.json,
});
