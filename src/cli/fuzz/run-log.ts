/**
 * Log of the options of each run of a campaign, one line before the run starts: `runs.log` in its
 * folder.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { profileOf, type CampaignPlan } from '../../fuzz/campaign.ts';
import { summariseProfile } from '../../fuzz/profile.ts';
import { fileError } from '../../platform/file-error.ts';
import { print } from '../cli-support.ts';

export class RunLog {
  readonly path: string;
  private readonly plan: CampaignPlan;
  private readonly verbose: boolean;
  private readonly file: number;

  /**
   * Appends to the existing log if `resumed`, else creates a new one. `verbose` also prints each
   * line.
   */
  constructor(
    folder: string,
    plan: CampaignPlan,
    options: { readonly resumed: boolean; readonly verbose: boolean },
  ) {
    this.path = join(folder, 'runs.log');
    this.plan = plan;
    this.verbose = options.verbose;
    try {
      this.file = openSync(this.path, options.resumed ? 'a' : 'w');
    } catch (error) {
      throw fileError(this.path, error);
    }
  }

  readonly note = (run: number): void => {
    const line = `run ${String(run)}  ${summariseProfile(profileOf(this.plan, run))}`;
    try {
      writeSync(this.file, `${line}\n`);
    } catch (error) {
      throw fileError(this.path, error);
    }
    if (this.verbose) print(line);
  };

  close(): void {
    closeSync(this.file);
  }
}
