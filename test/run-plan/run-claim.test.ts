/** Two processes never write to one run folder. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { RunClaim } from '../../src/run-plan/run-claim.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-claim-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});
const file = join(folder, 'run.pid');

test('a second claim is refused until the first is released', () => {
  const first = RunClaim.take(folder);
  expect(() => RunClaim.take(folder)).toThrow(`process ${String(process.pid)} is writing a run`);
  first.release();
  expect(existsSync(file)).toBe(false);
  RunClaim.take(folder).release();
});

test('the claim of a process that has ended is taken over', () => {
  const { pid } = spawnSync(process.execPath, ['--version']);
  writeFileSync(file, `${String(pid)}\n`);
  const claim = RunClaim.take(folder);
  expect(readdirSync(folder)).toEqual(['run.pid']);
  claim.release();
});

test.each(['', 'x', '-1', '0', '1'])('a claim of "%s" is not taken over', (content) => {
  writeFileSync(file, content);
  expect(() => RunClaim.take(folder)).toThrow('is writing a run');
  rmSync(file);
});

test('a claim with the id of this process that it does not hold is of a process before it', () => {
  writeFileSync(file, `${String(process.pid)}\n`);
  RunClaim.take(folder).release();
});

test('a claim that stayed empty was left by a crash', () => {
  writeFileSync(file, '');
  utimesSync(file, 0, 0);
  RunClaim.take(folder).release();
  expect(readdirSync(folder)).toEqual([]);
});
