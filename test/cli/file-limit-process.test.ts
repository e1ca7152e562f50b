/** A file that cannot be written is named, in a process with a limit of file sizes. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'orrery-page-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const DATA = ['--data', 'data/btcusdt-20240808', '--no-check'];

/** Blocks have 1 KiB. */
function limited(blocks: number, ...words: string[]): { stderr: string; status: number | null } {
  const command = [process.execPath, 'dist/cli/main.js', ...words];
  const script = `ulimit -f ${String(blocks)}; exec "$@"`;
  const env = { ...process.env, ORRERY_STATE: join(folder, 'state') };
  return spawnSync('bash', ['-c', script, 'bash', ...command], {
    cwd: ROOT,
    encoding: 'utf8',
    env,
  });
}

test('the time machine of a backtest is larger than a file may be', () => {
  const out = join(folder, 'run');
  const words = ['backtest', 'examples/strategies/quotes.ts', ...DATA, '--out', out];
  // More than the journal needs, less than the page with it.
  const run = limited(500, ...words, '--to', '2024-08-08T23:55:00Z');
  const page = join(out, 'time-machine.html');
  expect(run.stderr).toBe(`orrery: ${page}: larger than the limit of a file's size\n`);
  expect(run.status).toBe(2);
  expect(existsSync(page)).toBe(false);
  expect(existsSync(join(out, 'run.json'))).toBe(true);
}, 60_000);

test('the log of a search is larger than a file may be', () => {
  const out = join(folder, 'search');
  const words = ['sweep', 'examples/strategies/sma-cross.ts', ...DATA, '--out', out];
  const run = limited(4, ...words, '--vary', 'fast=3,5', '--method', 'grid');
  const log = join(out, 'trials.jsonl');
  expect(run.stderr).toBe(`orrery: ${log}: larger than the limit of a file's size\n`);
  expect(run.status).toBe(2);
}, 60_000);
