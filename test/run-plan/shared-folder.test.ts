/** Runs that start at one time have folders of their own, or all but one are refused. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import type * as CliSupport from '../../src/cli/cli-support.ts';
import { main } from '../../src/cli/main.ts';
import type { RunPlan } from '../../src/run-plan/run-plan.ts';
import { RunClaim } from '../../src/run-plan/run-claim.ts';
import { claimFolder, makeFreeFolder, RunFolder } from '../../src/run-plan/run-folder.ts';
import { DATASET, example } from './plans.ts';

vi.mock('../../src/cli/cli-support.ts', async (original) => {
  const real = await original<typeof CliSupport>();
  const explainFailure = (error: unknown): number => {
    printed += error instanceof Error ? error.message : '';
    return real.explainFailure(error);
  };
  return { ...real, print: () => undefined, printError: () => undefined, explainFailure };
});

let printed = '';
const scratch = mkdtempSync(join(tmpdir(), 'orrery-shared-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});
const PLAN = { data: 'none', strategies: [], balance: '1', seed: '1' } as unknown as RunPlan;

test('of several claims of one new folder, one is granted', async () => {
  const path = join(scratch, 'a', 'b');
  const claims = await Promise.allSettled([1, 2, 3, 4].map(() => claimFolder(path, false)));
  const granted = claims.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  expect(granted).toHaveLength(1);
  for (const claim of claims) {
    if (claim.status === 'rejected') expect(String(claim.reason)).toContain('is writing a run');
  }
  granted[0]?.release();
  expect(readdirSync(path)).toEqual([]);
});

const THEIRS = '{"orrery":"run"}';

test.each(['index.html', 'plan.json', 'report.json', 'trades.arrow', 'run.json', 'live.json'])(
  'a folder with a foreign %s is refused, even with --overwrite',
  async (name) => {
    const path = join(scratch, `foreign-${name}`);
    mkdirSync(path);
    writeFileSync(join(path, name), '{"scripts":1}');
    for (const overwrite of [false, true]) {
      await expect(RunFolder.create(path, PLAN, overwrite)).rejects.toThrow(
        `${path}: holds ${name}, which is of no run; choose another folder`,
      );
    }
    expect(readdirSync(path)).toEqual([name]);
  },
);

test('the pages of a run are replaced with it', async () => {
  const path = join(scratch, 'replaced');
  mkdirSync(path);
  writeFileSync(join(path, 'run.json'), THEIRS);
  writeFileSync(join(path, 'index.html'), '');
  (await RunFolder.create(path, PLAN, true)).release();
  expect(readdirSync(path).sort()).toEqual(['journal.orrery.partial', 'plan.json']);
});

test('a run that ends while another one waits for its claim is kept', async () => {
  const path = join(scratch, 'ended');
  const take = vi.spyOn(RunClaim, 'take').mockImplementationOnce((folder) => {
    // The other run writes its record, and releases its claim.
    writeFileSync(join(folder, 'run.json'), THEIRS);
    return RunClaim.take(folder);
  });
  await expect(RunFolder.create(path, PLAN)).rejects.toThrow('holds a run; choose another folder');
  take.mockRestore();
  expect(readdirSync(path)).toEqual(['run.json']);
  expect(readFileSync(join(path, 'run.json'), 'utf8')).toBe(THEIRS);
});

test('runs without a name for their folder get different ones', async () => {
  const path = join(scratch, 'reports', 'grid');
  const made = await Promise.all([1, 2, 3].map(() => makeFreeFolder(path)));
  expect(made.sort()).toEqual([path, `${path}-2`, `${path}-3`]);
  writeFileSync(join(scratch, 'file'), '');
  await expect(makeFreeFolder(join(scratch, 'file', 'x'))).rejects.toThrow('file');
});

const LIVE = ['--url', 'http://127.0.0.1:9', '--param', 'stepBp=2'];
test.each([
  ['live', ['live', example('grid'), ...LIVE, '--sim-token', 't', '--deposit', '1']],
  ['backtest', ['backtest', example('grid'), '--data', DATASET]],
])('%s is refused before it starts where another process writes', async (name, args) => {
  const out = join(scratch, name);
  mkdirSync(out);
  const claim = RunClaim.take(out);
  printed = '';
  vi.stubEnv('ORRERY_KEY', `0x${'1'.repeat(64)}`);
  expect(await main([...args, '--out', out])).toBe(2);
  vi.unstubAllEnvs();
  expect(printed).toContain('is writing a run to it; wait for its end');
  expect(readdirSync(out)).toEqual(['run.pid']);
  claim.release();
});

test('a live run that cannot start releases its folder, and keeps the earlier run in it', async () => {
  const out = join(scratch, 'earlier');
  mkdirSync(out);
  writeFileSync(join(out, 'live.json'), '{"orrery":"live"}');
  vi.stubEnv('ORRERY_KEY', `0x${'1'.repeat(64)}`);
  const live = ['live', example('grid'), ...LIVE, '--out', out];
  expect(await main([...live, '--overwrite'])).not.toBe(0);
  expect(await main(live)).toBe(2);
  vi.unstubAllEnvs();
  expect(printed).toContain('holds a run; choose another folder');
  expect(readdirSync(out)).toEqual(['live.json']);
  expect(existsSync(join(out, 'run.pid'))).toBe(false);
});
