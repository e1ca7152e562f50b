/**
 * `npm run bench:sweep [-- times trials]`: speedup of a search of 32 runs of at least a second, with the usual
 * perturbation of its best, from one worker to two. Every run covers the whole tape; a failed trial
 * ends early and fails the bench. A process with one worker uses more than one core, since
 * collector and compiler have their own threads; where `taskset` exists, one core is measured too.
 * The results must be equal.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeLongTape } from './long-tape.ts';

/** The recorded tape is played so many times per run: `-- 1 500` are 500 trials on it. */
const TIMES = Number(process.argv[2] ?? 12);
const TRIALS = Number(process.argv[3] ?? 32);
const ONE_CORE = ['taskset', '-c', '0'];
const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const STRATEGY = fileURLToPath(new URL('../../examples/strategies/sma-cross.ts', import.meta.url));

/** Moving averages of one-second bars; the fast one is always below the slow one. */
const SPACE = ['--vary', 'fast=2:20:1', '--vary', 'slow=30:120:1'];

/** Output of `--json`. */
interface SweepOutput {
  readonly failed: number;
  readonly best: unknown;
  readonly robustness: { readonly sensitivity: unknown[]; readonly stress: unknown[] };
}

interface Swept {
  readonly seconds: number;
  /** The search, its best repeated, and the best's neighbours. */
  readonly runs: number;
  readonly best: string;
}

const folder = await mkdtemp(join(tmpdir(), 'orrery-bench-'));
try {
  const data = join(folder, 'tape');
  await writeLongTape(data, TIMES);
  const sweep = (name: string, workers: number, before: readonly string[] = []): Swept => {
    const args = [MAIN, 'sweep', STRATEGY, '--data', data, '--out', join(folder, name), '--json'];
    const more = [
      ...SPACE,
      '--trials',
      String(TRIALS),
      '--workers',
      String(workers),
      '--no-ledger',
    ];
    const [command = '', ...rest] = [...before, process.execPath, ...args, ...more];
    const started = performance.now();
    const text = execFileSync(command, rest, { encoding: 'utf8' });
    const seconds = (performance.now() - started) / 1e3;
    const { failed, best, robustness } = JSON.parse(text) as SweepOutput;
    if (failed > 0) throw new Error(`${String(failed)} of ${String(TRIALS)} trials failed`);
    const runs = TRIALS + 1 + robustness.sensitivity.length + robustness.stress.length;
    return { seconds, runs, best: JSON.stringify([best, robustness]) };
  };
  const two = sweep('two', 2);
  const compare = (what: string, other: Swept): void => {
    if (other.best !== two.best)
      throw new Error(`the results of two workers and of ${what} differ`);
    console.log(
      `${String(TRIALS)} trials and ${String(other.runs - TRIALS)} more runs of ${(other.seconds / other.runs).toFixed(1)} s: ${other.seconds.toFixed(1)} s with ${what}, ` +
        `${two.seconds.toFixed(1)} s with two workers, ${(other.seconds / two.seconds).toFixed(2)} × as fast`,
    );
  };
  compare('one worker', sweep('one', 1));
  if (spawnSync('taskset', ['-V']).status === 0) {
    compare('one worker on one core', sweep('core', 1, ONE_CORE));
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
