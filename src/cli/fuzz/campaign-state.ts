/**
 * Progress of a campaign: batches added in the order of their runs, kept in a file so that it can
 * be resumed.
 */
import { join } from 'node:path';
import { countText } from '../../base/count-text.ts';
import {
  ownStates,
  type BatchResult,
  type CampaignPlan,
  type FailedRun,
} from '../../fuzz/campaign.ts';
import { addCounts, neverReached, type Counts } from '../../fuzz/reached-counts.ts';
import { statesNeverReached, COVERED_STATES, COVERED_STATE_NAMES } from '../../fuzz/coverage.ts';
import { writeWholeFile } from '../../platform/whole-file.ts';
import { InputError } from '../cli-support.ts';
import { CAMPAIGN_VERSION, readCampaign } from './read-campaign.ts';

const FILE = 'campaign.json';

export class CampaignState {
  readonly plan: CampaignPlan;
  runs = 0;
  commands = 0;
  counts: Counts = {};
  /** Seconds of run time over all sessions. */
  seconds = 0;
  /** Whether its last session reached its limit or a failure. */
  ended = false;
  readonly failures: FailedRun[] = [];
  private saving: Promise<unknown> = Promise.resolve();
  /** Results whose predecessors are missing. */
  private readonly pending = new Map<number, BatchResult>();

  constructor(plan: CampaignPlan) {
    this.plan = plan;
  }

  /** Adds a result in order of its runs; returns the failures that become known. */
  add(result: BatchResult): readonly FailedRun[] {
    this.pending.set(result.from, result);
    const found: FailedRun[] = [];
    for (;;) {
      const next = this.pending.get(this.runs);
      if (next === undefined) break;
      this.pending.delete(this.runs);
      this.runs = next.to;
      this.count(next);
      if (next.failed !== null) found.push(this.note(next.failed));
      // A run that was stopped ends the session.
      else if (next.to > next.from) continue;
      else break;
      // Runs after the first failure do not count, so results do not depend on the number of
      // workers.
      this.pending.clear();
      break;
    }
    return found;
  }

  /** Failures of runs after one that the time limit stopped, which no later result follows. */
  takeLateFailures(): readonly FailedRun[] {
    const late = [...this.pending.values()].sort((a, b) => a.from - b.from);
    this.pending.clear();
    for (const result of late) this.count(result);
    return late.flatMap(({ failed }) => (failed === null ? [] : [this.note(failed)])).slice(0, 1);
  }

  private count({ commands, counts }: BatchResult): void {
    this.commands += commands;
    this.counts = addCounts(this.counts, counts);
  }

  /** Keeps the failure without its commands, which are written to its folder. */
  private note(failed: FailedRun): FailedRun {
    const { run, commands, violation } = failed;
    this.failures.push({ run, commands, violation });
    return failed;
  }

  get reached(): number {
    return COVERED_STATE_NAMES.length - statesNeverReached(this.counts).length;
  }

  summary(): Record<string, unknown> {
    const never = statesNeverReached(this.counts);
    return {
      ...this.plan,
      // A script.
      states: undefined,
      ownStates: Object.fromEntries(ownStates(this.counts)),
      runs: this.runs,
      commands: this.commands,
      seconds: Math.round(this.seconds * 10) / 10,
      commandsPerSecond: this.seconds > 0 ? Math.round(this.commands / this.seconds) : 0,
      statesReached: COVERED_STATE_NAMES.length - never.length,
      statesNeverReached: never.map((name) => ({
        name,
        rule: COVERED_STATES[name][0],
        says: COVERED_STATES[name][1],
      })),
      neverReached: neverReached(this.counts),
      failures: this.failures,
    };
  }

  /** The last state that was saved is the one on disk, also of calls that overlap. */
  async save(folder: string): Promise<void> {
    const { plan, runs, commands, counts, seconds, ended, failures } = this;
    const version = CAMPAIGN_VERSION;
    const state = { version, plan, runs, commands, seconds, ended, failures, counts };
    const text = new TextEncoder().encode(`${JSON.stringify(state, null, 2)}\n`);
    const saved = this.saving.then(() => writeWholeFile(join(folder, FILE), text));
    this.saving = saved.catch(() => undefined);
    await saved;
  }

  /** Throws `InputError` if a campaign that can be continued would be lost. */
  static async mustNotReplace(folder: string): Promise<void> {
    const path = join(folder, FILE);
    const saved = await readCampaign(path).catch(() => null);
    if (saved === null || saved.ended !== false || saved.runs === 0) return;
    const { plan, runs } = saved;
    throw new InputError(
      `${folder}: its campaign of seed ${plan.seed} was stopped after ${countText(runs, 'run')}`,
      { hint: `continue it with --resume, name another folder with --out, or delete ${path}` },
    );
  }

  /** Throws `InputError` if the folder has no state that can be continued. */
  static async load(folder: string): Promise<CampaignState> {
    const { plan, runs, commands, counts, seconds, failures } = await readCampaign(
      join(folder, FILE),
    );
    const state = new CampaignState(plan);
    state.runs = runs;
    state.commands = commands;
    state.counts = counts;
    state.seconds = seconds ?? 0;
    state.failures.push(...failures);
    return state;
  }
}
