/**
 * `npm run bench:sweep`: a search of 32 runs of a second or more with one worker and with two, turn and turn about: how much sooner two
 * cores are through. The results must be the same.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeLongTape } from './long-tape.ts';

const TRIALS = 32;
const TIMES = Number(process.argv[2] ?? 4);
const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const STRATEGY = fileURLToPath(new URL('../../examples/strategies/sma-cross.ts', import.meta.url));

const folder = await mkdtemp(join(tmpdir(), 'orrery-bench-'));
try {
  const data = join(folder, 'tape');
  await writeLongTape(data, TIMES);
  const sweep = (workers: number): { readonly seconds: number; readonly said: unknown } => {
    const out = join(folder, `out-${String(workers)}`);
    const args = [MAIN, 'sweep', STRATEGY, '--data', data, '--out', out, '--json'];
    const more = ['--trials', String(TRIALS), '--workers', String(workers), '--no-robustness'];
    const started = performance.now();
    const text = execFileSync(process.execPath, [...args, ...more], { encoding: 'utf8' });
    const seconds = (performance.now() - started) / 1e3;
    return { seconds, said: (JSON.parse(text) as { best: unknown }).best };
  };
  const one = sweep(1);
  const two = sweep(2);
  if (JSON.stringify(one.said) !== JSON.stringify(two.said)) {
    throw new Error('one worker and two find different things');
  }
  console.log(
    `${String(TRIALS)} runs of ${(one.seconds / TRIALS).toFixed(1)} s: ${one.seconds.toFixed(1)} s with one worker, ` +
      `${two.seconds.toFixed(1)} s with two, ${(one.seconds / two.seconds).toFixed(2)} × as fast`,
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}
