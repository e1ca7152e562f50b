/** Runs a campaign on all workers until its limit is reached, a run fails, or the user stops it. */
import type { FailedRun } from '../../fuzz/campaign.ts';
import { COVERED_STATE_NAMES } from '../../fuzz/coverage.ts';
import { isInterrupted, type Progress } from '../cli-support.ts';
import { shellWord } from '../../platform/shell-word.ts';
import type { CampaignState } from './campaign-state.ts';
import type { FuzzPool } from './pool.ts';

export interface CampaignLimits {
  /** Total runs, or max duration of this session: one of them is Infinity. */
  readonly runs: number;
  readonly seconds: number;
  readonly workers: number;
  /** Runs of a batch; default: about a second of work, so that interrupts are handled soon. */
  readonly batch?: number;
}

/** Callbacks: before each run starts, and when the state should be saved. */
export interface CampaignWatch {
  readonly progress: Progress;
  readonly onRun: (run: number) => void;
  readonly save: () => Promise<void>;
}

/** Interval between saves of the state. */
const SAVE_MS = 5000;
const TICK_MS = 250;
/** A run stops at the limit within a moment; one that does not so much later is endless. */
const PATIENCE_S = 30;

const batchOf = (state: CampaignState, { batch }: CampaignLimits): number =>
  batch ?? (state.plan.oracle ? 1 : 8);

/** Returns the failures; empty on success. */
export async function runCampaign(
  state: CampaignState,
  pool: Pick<FuzzPool, 'runBatch'>,
  limits: CampaignLimits,
  { progress, onRun, save }: CampaignWatch,
): Promise<readonly FailedRun[]> {
  const started = performance.now();
  const before = state.seconds;
  let next = state.runs;
  let failed: readonly FailedRun[] = [];
  let saved = started;
  // A full disk ends the campaign as an interrupt does: runs that failed are still reported.
  let fault: unknown = null;
  const note = (error: unknown): void => {
    fault ??= error;
  };
  const elapsed = (): number => (performance.now() - started) / 1000;
  const mayGoOn = (): boolean =>
    fault === null &&
    !isInterrupted() &&
    failed.length === 0 &&
    next < limits.runs &&
    elapsed() < limits.seconds;

  let onFailure = (): void => undefined;
  const failure = new Promise<void>((resolve) => (onFailure = resolve));
  const open = new Set<number>();
  let onEndless = (): void => undefined;
  const endless = new Promise<void>((resolve) => (onEndless = resolve));
  /** Since the first tick beyond the limit, so that a process that was stopped has patience. */
  const overdue = { sinceS: Infinity, isEndless: false };
  const endsMs = limits.seconds === Infinity ? Infinity : Date.now() + limits.seconds * 1000;
  const work = async (): Promise<void> => {
    while (mayGoOn()) {
      const from = next;
      // After a failure in the middle of a batch, the batches that follow are those from before.
      const size = batchOf(state, limits);
      const to = Math.min(from - (from % size) + size, limits.runs);
      next = to;
      try {
        for (let run = from; run < to; run += 1) {
          open.add(run);
          onRun(run);
        }
      } catch (error) {
        note(error);
        return;
      }
      const result = await pool.runBatch(state.plan, from, to, endsMs);
      for (let run = from; run < to; run += 1) open.delete(run);
      // Runs after a failure do not count; a campaign that goes on repeats them.
      if (failed.length > 0) return;
      failed = state.add(result);
      if (failed.length > 0) onFailure();
    }
  };
  const tick = setInterval(() => {
    state.seconds = before + elapsed();
    const fraction = Math.max(elapsed() / limits.seconds, state.runs / limits.runs);
    progress.update(Math.min(1, fraction), noteOf(state));
    if (limits.batch === undefined && elapsed() > limits.seconds) {
      overdue.sinceS = Math.min(overdue.sinceS, elapsed());
      overdue.isEndless = elapsed() > overdue.sinceS + PATIENCE_S;
      if (overdue.isEndless) onEndless();
    }
    if (performance.now() - saved < SAVE_MS) return;
    saved = performance.now();
    save().catch(note);
  }, TICK_MS);
  try {
    const all = Promise.all(Array.from({ length: limits.workers }, work));
    // Batches on other machines are not waited for: they do not count.
    await Promise.race(limits.batch === undefined ? [all, endless] : [all, failure]);
  } finally {
    clearInterval(tick);
    state.seconds = before + elapsed();
  }
  // Runs before these were stopped by the time limit.
  if (failed.length === 0) failed = state.takeLateFailures();
  if (failed.length === 0 && fault !== null) throw fault as Error;
  // A failure of another worker is worth more.
  if (failed.length === 0 && overdue.isEndless) throw new Error(endlessText(state, [...open]));
  return failed;
}

function endlessText({ plan: { seed } }: CampaignState, runs: readonly number[]): string {
  const again = `orrery fuzz --seed ${shellWord(seed)} --run ${String(runs[0])}`;
  return `run ${runs.join(' or ')} does not end, so a command may be endless; again: ${again}`;
}

function noteOf(state: CampaignState): string {
  const rate = state.seconds > 0 ? Math.round(state.commands / state.seconds) : 0;
  const kinds = Object.keys(state.counts).length;
  return [
    `${state.commands.toLocaleString('en')} commands`,
    `${rate.toLocaleString('en')}/s`,
    `${String(state.runs)} runs`,
    `${String(state.reached)}/${String(COVERED_STATE_NAMES.length)} states`,
    `${String(kinds)} outcomes and events`,
  ].join(', ');
}
