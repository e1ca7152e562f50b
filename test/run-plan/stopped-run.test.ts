/** A stopped run whose files were damaged or changed is not resumed. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serialize } from 'node:v8';
import { afterAll, expect, test } from 'vitest';
import type { BacktestCheckpoint } from '../../src/backtest/output.ts';
import { FileError } from '../../src/platform/file-error.ts';
import type { RunPlan } from '../../src/run-plan/run-plan.ts';
import { RunFolder } from '../../src/run-plan/run-folder.ts';

const scratch = mkdtempSync(join(tmpdir(), 'orrery-stopped-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

const JOURNAL = Buffer.from('the journal so far');
const CHECKPOINT = {
  orrery: 'backtest-checkpoint',
  version: 1,
  journalBytes: JOURNAL.length,
  state: { equity: [10_000, 10_001.5], log: ['bought'] },
} as unknown as BacktestCheckpoint;

async function stopped(name: string): Promise<string> {
  const path = join(scratch, name);
  const folder = await RunFolder.create(path, { seed: 's', balance: '1' } as unknown as RunPlan);
  if (folder.target === 'none') throw new Error('the plan keeps a journal');
  folder.target(JOURNAL);
  expect(await folder.stop(CHECKPOINT)).toBe(true);
  folder.release();
  return path;
}

async function resumed(path: string): Promise<unknown> {
  const { folder, checkpoint } = await RunFolder.resume(path);
  folder.abandon();
  folder.release();
  return checkpoint;
}

test('an undamaged one is resumed, also after a crash of the resumed run', async () => {
  const path = await stopped('whole');
  expect(await resumed(path)).toEqual(CHECKPOINT);
  // A killed run wrote more of the journal.
  const partial = join(path, 'journal.orrery.partial');
  writeFileSync(partial, Buffer.concat([JOURNAL, Buffer.from('more')]));
  expect(await resumed(path)).toEqual(CHECKPOINT);
  expect(readFileSync(partial)).toEqual(JOURNAL);
});

test('a run that stops without a checkpoint leaves no folder, which the next one may take', async () => {
  const path = join(scratch, 'without');
  for (let i = 0; i < 2; i++) {
    const folder = await RunFolder.create(path, { seed: 's' } as unknown as RunPlan);
    expect(await folder.stop(null)).toBe(false);
    folder.release();
    expect(existsSync(path)).toBe(false);
  }
});

test('a resumed run that stops without a checkpoint keeps the former one', async () => {
  const path = await stopped('again');
  const { folder } = await RunFolder.resume(path);
  if (folder.target === 'none') throw new Error('the plan keeps a journal');
  folder.target(Buffer.from('more'));
  expect(await folder.stop(null)).toBe(true);
  folder.release();
  expect(await resumed(path)).toEqual(CHECKPOINT);
});

test('a checkpoint without sums, of version 0.2.0, is resumed', async () => {
  const path = await stopped('old');
  writeFileSync(join(path, 'checkpoint.bin'), serialize(CHECKPOINT));
  expect(await resumed(path)).toEqual(CHECKPOINT);
});

test.each(['checkpoint.bin', 'plan.json', 'journal.orrery.partial'])(
  'a flipped bit of %s is found',
  async (name) => {
    const path = await stopped(`flipped-${name}`);
    const file = join(path, name);
    const bytes = readFileSync(file);
    let refused = 0;
    for (let at = 0; at < bytes.length; at++) {
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << (at % 8)), at);
      writeFileSync(file, flipped);
      let found: unknown;
      try {
        found = await resumed(path);
      } catch (error) {
        expect(['FileError', 'StrategyError']).toContain((error as Error).name);
        refused += 1;
        continue;
      }
      expect(found, `byte ${String(at)}`).toEqual(CHECKPOINT);
    }
    // Flipped bits of versions and of names of an unread field change nothing.
    expect(refused).toBeGreaterThanOrEqual(0.95 * bytes.length);
    writeFileSync(file, bytes);
    expect(await resumed(path)).toEqual(CHECKPOINT);
  },
);

test('what changed is named', async () => {
  const path = await stopped('named');
  writeFileSync(join(path, 'plan.json'), '{}');
  await expect(resumed(path)).rejects.toThrow(
    new FileError(`${join(path, 'plan.json')}: changed since the run was stopped`),
  );
  rmSync(join(path, 'plan.json'));
  await expect(resumed(path)).rejects.toThrow('no such file or folder');
});
