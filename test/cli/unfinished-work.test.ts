/** A new campaign or search does not replace one that was stopped. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  endCheckpoint,
  loadCheckpoint,
  mustNotReplace,
  saveCheckpoint,
} from '../../src/cli/exhaust/checkpoint-file.ts';
import { CampaignState } from '../../src/cli/fuzz/campaign-state.ts';
import { Expander, type ExhaustPlan } from '../../src/fuzz/exhaust/expand.ts';
import { newSearch, searchIdentity } from '../../src/fuzz/exhaust/new-search.ts';

const scratch = mkdtempSync(join(tmpdir(), 'orrery-unfinished-'));

afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

const CAMPAIGN = {
  seed: 'long',
  profile: 'all',
  commands: null,
  oracle: true,
  every: 64,
} as const;

test('a campaign that was stopped is kept until it has ended', async () => {
  const folder = mkdtempSync(join(scratch, 'fuzz-'));
  const state = new CampaignState(CAMPAIGN);
  await CampaignState.mustNotReplace(folder);
  await state.save(folder);
  // Nothing is lost before its first run.
  await CampaignState.mustNotReplace(folder);
  state.add({ from: 0, to: 1, commands: 7, counts: {}, failed: null });
  await state.save(folder);
  await expect(CampaignState.mustNotReplace(folder)).rejects.toMatchObject({
    message: `${folder}: its campaign of seed long was stopped after 1 run`,
    hint: expect.stringContaining('continue it with --resume') as string,
  });
  state.ended = true;
  await state.save(folder);
  await CampaignState.mustNotReplace(folder);
  // A resumed campaign has not ended.
  expect((await CampaignState.load(folder)).ended).toBe(false);
});

test('a search that was stopped is kept until it is complete or fails', async () => {
  const folder = mkdtempSync(join(scratch, 'exhaust-'));
  const plan: ExhaustPlan = {
    world: 'money',
    depth: 2,
    oracleDepth: 0,
    samplePpm: 0,
    digest: false,
  };
  const search = newSearch(plan);
  const { identity } = searchIdentity(plan);
  await mustNotReplace(folder, searchIdentity);
  await saveCheckpoint(folder, search, identity, 0);
  // Nothing is lost before its first edge.
  await mustNotReplace(folder, searchIdentity);
  const expander = new Expander(plan, (a, b) => Buffer.compare(a, b) === 0);
  const expandOne = (): void => {
    const batch = search.take();
    if (batch !== null) search.add(batch.from, expander.expand(batch));
  };
  expandOne();
  await saveCheckpoint(folder, search, identity, 0);
  await expect(mustNotReplace(folder, searchIdentity)).rejects.toMatchObject({
    message: `${folder}: its search of world money was stopped after ${String(search.edges)} edges`,
    hint: expect.stringContaining('continue it with --resume') as string,
  });
  // A search of another engine cannot be continued.
  await mustNotReplace(folder, () => ({ identity: 'other' }));
  const before = readFileSync(join(folder, 'checkpoint.bin'));
  await endCheckpoint(folder);
  await mustNotReplace(folder, searchIdentity);
  const { search: resumed } = await loadCheckpoint(folder, searchIdentity);
  expect(resumed.edges).toBe(search.edges);
  expect(readFileSync(join(folder, 'checkpoint.bin')).length).toBe(before.length - 1);
  while (!search.isComplete) expandOne();
  await saveCheckpoint(folder, search, identity, 0);
  await mustNotReplace(folder, searchIdentity);
});
