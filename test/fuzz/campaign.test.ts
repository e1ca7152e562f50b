/** Campaigns: independent of the division among workers, merged in run order, and resumable. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { CampaignState } from '../../src/cli/fuzz/campaign-state.ts';
import {
  checksOfRun,
  profileOf,
  runBatch,
  shrinkRun,
  type BatchResult,
  type CampaignPlan,
} from '../../src/fuzz/campaign.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { CHECK_NAMES } from '../../src/fuzz/checks/checks.ts';
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

test('a run that ends with an exception of the engine is shrunk to its command', () => {
  const apply: Exchange['apply'] = Reflect.get(Exchange.prototype, 'apply');
  const spy = vi.spyOn(Exchange.prototype, 'apply').mockImplementation(function (
    this: Exchange,
    ...values
  ) {
    if (values[0].kind === 'cancelOrder') throw new Error('sudden');
    return apply.apply(this, values);
  });
  try {
    const { shrunk, files } = shrinkRun(PLAN, 0, { keccak, origin: [] });
    expect([shrunk.violation.invariant, shrunk.violation.detail]).toEqual(['crash', 'sudden']);
    expect(shrunk.to).toBe(1);
    expect(Object.keys(files)).toContain('scenario.yaml');
  } finally {
    spy.mockRestore();
  }
});

test('every profile has runs of every kind, and the oracle is left out only on request', () => {
  const kinds = new Map<string, Set<string>>();
  for (let run = 0; run < 77; run++) {
    const { name } = profileOf(PLAN, run);
    const known = kinds.get(name) ?? new Set();
    kinds.set(name, known.add(checksOfRun({ ...PLAN, oracle: true }, run).join(' ')));
    const others = checksOfRun(PLAN, run);
    expect(others).not.toContain('oracle');
    expect(others.length).toBeGreaterThan(0);
  }
  for (const [name, found] of kinds) expect(found.size, name).toBe(7);
  const all = new Set([...kinds.values()].flatMap((found) => [...found].join(' ').split(' ')));
  expect([...all].sort()).toEqual([...CHECK_NAMES].sort());
});

test('a run that is stopped counts its commands, not itself', () => {
  let polled = 0;
  const stopped = runBatch(PLAN, 0, 5, () => (polled += 1) > 7);
  expect(stopped).toMatchObject({ from: 0, to: 1, failed: null });
  const state = new CampaignState(PLAN);
  state.add({ ...stopped, from: 0, to: 0 });
  expect(state).toMatchObject({ runs: 0, commands: stopped.commands });
  // A failure of a later run is not lost.
  state.add(result(3, 4, 3));
  expect(state.takeLateFailures().map(({ run }) => run)).toEqual([3]);
});
