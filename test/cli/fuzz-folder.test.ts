/** The folder of a campaign: a full disk, and a second campaign. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { InputError } from '../../src/cli/cli-support.ts';
import { earlierFindings } from '../../src/cli/fuzz/campaign-report.ts';
import { CampaignState } from '../../src/cli/fuzz/campaign-state.ts';
import { reportFailure } from '../../src/cli/fuzz/failure-folder.ts';
import { lockCampaign } from '../../src/cli/fuzz/lock-campaign.ts';
import type { FuzzPool } from '../../src/cli/fuzz/pool.ts';
import { runCampaign } from '../../src/cli/fuzz/run-campaign.ts';
import { reportTarget, type TargetFailure } from '../../src/cli/fuzz/target-failure.ts';
import type { BatchResult, CampaignPlan } from '../../src/fuzz/campaign.ts';
import { runFuzz } from '../../src/fuzz/fuzz-run.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { FileError } from '../../src/platform/file-error.ts';

const PLAN: CampaignPlan = {
  seed: 'folder',
  profile: 'all',
  commands: 100,
  oracle: true,
  every: 64,
};
const LIMITS = { runs: 50, seconds: Infinity, workers: 2 };
const VIOLATION = { invariant: 'small', rule: 'R-1.6', says: 'few commands', detail: 'many' };
const FULL = new FileError('runs.log: no space left on the device');
const progress = { update: () => undefined, stop: () => undefined };

const passed = (from: number, to: number): BatchResult => ({
  from,
  to,
  commands: 100,
  counts: {},
  failed: null,
});

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orrery-campaign-'));
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true, force: true });
});

test('a second campaign does not write to the folder of a first one', () => {
  lockCampaign(folder);
  expect(() => {
    lockCampaign(folder);
  }).toThrow(InputError);
});

test('a failure is not written to a folder to which another command writes one', async () => {
  const { failure } = runFuzz(drawProfile('folder', { name: 'money', commands: 60 }), {
    after: (engine) => (engine.seq < 20 ? null : VIOLATION),
  });
  if (failure === null) throw new Error('the run fails');
  const options = { out: folder, id: '1', origin: [], shrinkSeconds: 0, quiet: true };
  const files = { 'README.md': 'first' };
  let write: () => void = () => undefined;
  const first = {
    reportFailure: () =>
      new Promise((resolve) => {
        write = () => {
          resolve({ files, shrunk: {} });
        };
      }),
  } as unknown as FuzzPool;
  const second = {
    reportFailure: () => Promise.resolve({ files: { 'README.md': 'second' } }),
  } as unknown as FuzzPool;
  const writing = reportFailure(first, failure, options);
  await expect.poll(() => readdir(join(folder, 'small-1'))).toEqual(['original.orrery']);
  const refused = 'small-1: another command writes to this folder';
  await expect(reportFailure(second, failure, options)).rejects.toThrow(refused);
  const target = { out: folder, seed: '1', divergence: { violation: VIOLATION } };
  await expect(reportTarget(target as unknown as TargetFailure)).rejects.toThrow(refused);
  // One with another name is.
  await reportFailure(second, failure, { ...options, id: '2' });
  write();
  await writing;
  expect(await readFile(join(folder, 'small-1', 'README.md'), 'utf8')).toBe('first');
  await reportFailure(second, failure, options);
  expect(await readFile(join(folder, 'small-1', 'README.md'), 'utf8')).toBe('second');
});

test('a campaign with a run that does not end stops after its limit and names the run', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  const pool = {
    runBatch: (_plan: CampaignPlan, from: number, to: number) =>
      from === 1 ? new Promise<never>(() => undefined) : Promise.resolve(passed(from, to)),
  };
  const watch = { progress, onRun: () => undefined, save: () => Promise.resolve() };
  const limits = { runs: Infinity, seconds: 5, workers: 1 };
  const plan = { ...PLAN, oracle: true };
  const ends = runCampaign(new CampaignState(plan), pool, limits, watch);
  const refused = expect(ends).rejects.toThrow(/^run 1 does not end, .*--run 1$/);
  await vi.advanceTimersByTimeAsync(60_000);
  await refused;
}, 5000);

test('a campaign ends with the fault of a full disk when it cannot write its state', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  const pool = {
    runBatch: async (_plan: CampaignPlan, from: number, to: number) => {
      await vi.advanceTimersByTimeAsync(6000);
      return passed(from, to);
    },
  };
  const save = (): Promise<void> => Promise.reject(FULL);
  const watch = { progress, onRun: () => undefined, save };
  const state = new CampaignState(PLAN);
  await expect(runCampaign(state, pool, LIMITS, watch)).rejects.toThrow(FULL);
  expect(state.runs).toBeLessThan(LIMITS.runs);
});

test('a campaign ends with the fault of a full disk when it cannot write its log', async () => {
  let batches = 0;
  const pool = {
    runBatch: async (_plan: CampaignPlan, from: number, to: number) => {
      batches += 1;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return passed(from, to);
    },
  };
  const onRun = (run: number): void => {
    if (run === 3) throw FULL;
  };
  const save = (): Promise<void> => Promise.resolve();
  const noLog = runCampaign(new CampaignState(PLAN), pool, LIMITS, { progress, onRun, save });
  await expect(noLog).rejects.toThrow(FULL);
  expect(batches).toBe(3);
});

test('a run that fails on a full disk is still reported', async () => {
  const failed = { run: 0, commands: 9, violation: VIOLATION };
  const pool = {
    runBatch: (_plan: CampaignPlan, from: number, to: number) =>
      Promise.resolve(from === 0 ? { ...passed(from, to), failed } : passed(from, to)),
  };
  const onRun = (run: number): void => {
    if (run === 1) throw FULL;
  };
  const save = (): Promise<void> => Promise.resolve();
  const found = await runCampaign(new CampaignState(PLAN), pool, LIMITS, {
    progress,
    onRun,
    save,
  });
  expect(found).toEqual([failed]);
});

test('the commands of a failure stay if the rest of its report cannot be written', async () => {
  const { failure } = runFuzz(drawProfile('folder', { name: 'money', commands: 60 }), {
    after: (engine) => (engine.seq < 20 ? null : VIOLATION),
  });
  if (failure === null) throw new Error('the run fails');
  const pool = {
    reportFailure: () =>
      Promise.resolve({ files: { 'README.md': 'small', 'requests.sh': 'true' } }),
  } as unknown as FuzzPool;
  // A folder in place of a file is as unwritable as a full disk.
  const place = join(folder, 'small-1', 'requests.sh');
  await mkdir(place, { recursive: true });
  await writeFile(join(place, 'file'), '');
  const written = await reportFailure(pool, failure, {
    out: folder,
    id: '1',
    origin: [],
    shrinkSeconds: 1,
    quiet: true,
  });
  expect(await readdir(written)).toEqual(['README.md', 'original.orrery', 'requests.sh']);
});

test.each([
  { alone: ['shrunk', 'found'], kept: 'shrunk', cautions: false },
  { alone: ['found'], kept: 'found', cautions: false },
  { alone: [], kept: 'shrunk', cautions: true },
])('a report fails alone, or has a caution: $alone', async ({ alone, kept, cautions }) => {
  const { failure } = runFuzz(drawProfile('folder', { name: 'money', commands: 60 }), {
    after: (engine) => (engine.seq < 20 ? null : VIOLATION),
  });
  if (failure === null) throw new Error('the run fails');
  const reportOf = (name: string): object => ({
    shrunk: { violation: VIOLATION },
    files: {
      'README.md': `${name}\nEach of these fails until the defect is fixed:\n`,
      'journal.orrery': new TextEncoder().encode(name),
    },
  });
  const pool = {
    reportFailure: () => Promise.resolve(reportOf('found')),
    shrinkFailure: () => Promise.resolve(reportOf('shrunk')),
    failsElsewhere: ({ journal }: { journal: Uint8Array }) =>
      Promise.resolve(alone.includes(new TextDecoder().decode(journal))),
  } as unknown as FuzzPool;
  const options = { out: folder, id: '1', origin: [], shrinkSeconds: 1, quiet: true };
  const written = await reportFailure(pool, failure, options);
  expect(await readFile(join(written, 'journal.orrery'), 'utf8')).toBe(kept);
  const readme = await readFile(join(written, 'README.md'), 'utf8');
  expect(readme).toMatch(new RegExp(`^${kept}\n`));
  expect(readme.includes('Caution: these commands pass in a new process')).toBe(cautions);
  expect(readme.includes('Each of these fails')).toBe(!cautions);
});

test.each([
  ['', 'not valid JSON: Unexpected end'],
  ['{"plan": {"seed": "a"', 'not valid JSON: '],
  ['null', 'not the state of a campaign: content: must be an object, not null'],
  [{ version: undefined }, 'is the campaign of a program that stated no version; this program is'],
  [{ version: 'orrery 9' }, 'is the campaign of version "orrery 9"; this program is "semantics '],
  [{ plan: null }, 'plan: must be an object, not null'],
  [{ plan: { ...PLAN, seed: 5 } }, 'plan.seed: must be text, not 5'],
  [{ plan: { ...PLAN, profile: 'none' } }, 'plan.profile: must be one of swarm, '],
  [{ plan: { ...PLAN, commands: -5 } }, 'plan.commands: must be a whole number from 1, not -5'],
  [{ plan: { ...PLAN, oracle: 'no' } }, 'plan.oracle: must be true or false'],
  [{ plan: { ...PLAN, every: 0 } }, 'plan.every: must be a whole number from 1, not 0'],
  [{ runs: -3 }, 'runs: must be a whole number from 0'],
  [{ runs: 1.5 }, 'runs: must be a whole number from 0'],
  [{ seconds: 'x' }, 'seconds: must be a number from 0'],
  [{ counts: null }, 'counts: must be an object, not null'],
  [{ counts: { flip: 'x' } }, "counts: flip must be a number, not 'x'"],
  [{ failures: {} }, 'failures: must be a list'],
  [{ failures: [1] }, 'failures[0]: must be an object with run and commands and violation'],
])('a damaged state of a campaign is named with its first fault: %j', async (change, fault) => {
  const path = join(folder, 'campaign.json');
  await new CampaignState(PLAN).save(folder);
  const whole = JSON.parse(await readFile(path, 'utf8')) as object;
  const text = typeof change === 'string' ? change : JSON.stringify({ ...whole, ...change });
  await writeFile(path, text);
  const loading = CampaignState.load(folder);
  await expect(loading).rejects.toThrow(InputError);
  await expect(loading).rejects.toThrow(`--resume: ${path}: `);
  await expect(loading).rejects.toThrow(fault);
});

test('a resumed campaign has the failures of a session that was killed', async () => {
  const killed = new CampaignState(PLAN);
  killed.add({
    ...passed(0, 1),
    failed: { run: 0, commands: 100, violation: VIOLATION },
  });
  await killed.save(folder);
  const resumed = await CampaignState.load(folder);
  expect(earlierFindings(resumed)).toEqual([
    {
      violation: VIOLATION,
      again: 'orrery fuzz --seed folder --run 0 --commands 100',
      written: null,
    },
  ]);
});
