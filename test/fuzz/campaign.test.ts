/** Campaigns: independent of the division among workers, merged in run order, and resumable. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CampaignState } from '../../src/cli/fuzz/campaign-state.ts';
import {
  runBatch,
  shrinkRun,
  type BatchResult,
  type CampaignPlan,
} from '../../src/fuzz/campaign.ts';
import { addCounts, neverReached } from '../../src/fuzz/reached-counts.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';

const PLAN: CampaignPlan = {
  seed: 'campaign',
  profile: 'all',
  commands: 400,
  oracle: false,
  every: 64,
};

test('the runs of a batch do not depend on the worker', () => {
  const whole = runBatch(PLAN, 0, 7);
  const [first, second] = [runBatch(PLAN, 0, 3), runBatch(PLAN, 3, 7)];
  expect(first.commands + second.commands).toBe(whole.commands);
  expect(addCounts(first.counts, second.counts)).toEqual(whole.counts);
  expect(whole.failed).toBeNull();
  expect(neverReached(whole.counts)).not.toContain('refusal nonce_used');
});

const result = (from: number, to: number, fails: number | null = null): BatchResult => ({
  from,
  to,
  commands: (to - from) * 10,
  counts: { 'sometimes adl': 1 },
  failed:
    fails === null
      ? null
      : {
          run: fails,
          commands: 5,
          violation: { invariant: 'x', rule: 'R-1.6', says: 'y', detail: 'z' },
        },
});

test('results are merged in run order, up to the first failure', () => {
  const state = new CampaignState(PLAN);
  expect(state.add(result(8, 16))).toEqual([]);
  expect(state.runs).toBe(0);
  state.add(result(0, 8));
  expect(state).toMatchObject({ runs: 16, commands: 160, reached: 1 });
  state.add(result(24, 32));
  const [failed] = state.add(result(16, 20, 19));
  expect(failed?.run).toBe(19);
  expect(state).toMatchObject({ runs: 20, commands: 200 });
});

test('a saved campaign resumes where it stopped', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'orrery-fuzz-'));
  try {
    const state = new CampaignState(PLAN);
    state.add(result(0, 8));
    await state.save(folder);
    const resumed = await CampaignState.load(folder);
    expect(resumed.summary()).toEqual(state.summary());
    await expect(CampaignState.load(join(folder, 'none'))).rejects.toThrow('--resume');
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a run without a failure cannot be shrunk', () => {
  expect(() => shrinkRun(PLAN, 0, { keccak, origin: [] })).toThrow('does not fail again');
});
