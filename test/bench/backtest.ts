/**
 * Benchmarks of `orrery backtest` as a user sees it: a strategy without market subscriptions on
 * recorded levels and trades, and on one-minute bars, from the files to journal and hashes; and the
 * startup time. The argument names one of the three, since a process of the command plays one kind
 * of data. Prints JSON.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { raiseInliningLimits } from '../../src/platform/inlining-limits.ts';
import { bundleStrategy } from '../../src/strategy-loader/bundle.ts';
import { executePlan } from '../../src/run-plan/plan.ts';
import { writeBars, writeLongTape } from './long-tape.ts';

const ROUNDS = 5;
const TIMES = 3;
const BARS = 1_000_000;
const TINY_BARS = 100;
const START_US = 1_600_000_020_000_000;
const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const QUIET = `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: 'quiet', parameters: {}, create: () => ({ onStop() {} }) });
`;

// As the command does.
raiseInliningLimits();

const folder = await mkdtemp(join(tmpdir(), 'orrery-bench-'));
const at = (name: string): string => join(folder, name);
try {
  await writeFile(at('quiet.ts'), QUIET);
  const bundle = await bundleStrategy(at('quiet.ts'));
  const strategies = [{ id: 'quiet', bundle, parameters: {} }];

  /** `count` units per second of processor time, journal included. */
  const rate = async (data: string, count: number): Promise<number> => {
    let bytes = 0;
    const before = process.cpuUsage();
    await executePlan(
      { data, strategies, balance: '10000', seed: '1' },
      {
        journal: (piece) => {
          bytes += piece.length;
        },
      },
    );
    const { user, system } = process.cpuUsage(before);
    if (bytes === 0) throw new Error('the journal is empty');
    return count / ((user + system) / 1e6);
  };
  const seconds = (args: readonly string[]): number => {
    const started = performance.now();
    execFileSync(process.execPath, args, { stdio: 'ignore' });
    return (performance.now() - started) / 1e3;
  };
  const tiny = ['backtest', at('quiet.ts'), '--data', at('tiny'), '--out', at('out')];
  const groups = {
    tape: async () => {
      const entries = await writeLongTape(at('tape'), TIMES);
      return { tape: () => rate(at('tape'), entries) };
    },
    bars: async () => {
      await writeBars(at('bars'), BARS, START_US);
      return { bars: () => rate(at('bars'), BARS) };
    },
    start: async () => {
      await writeBars(at('tiny'), TINY_BARS, START_US);
      return {
        node: () => seconds(['-e', '0']),
        help: () => seconds([MAIN, '--help']),
        tiny: () => seconds([MAIN, ...tiny]),
      };
    },
  };
  const group = process.argv[2] as keyof typeof groups;
  const contestants: Record<string, () => number | Promise<number>> = await groups[group]();
  const figures = new Map<string, number[]>();
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, run] of Object.entries(contestants)) {
      const figure = await run();
      // The first round warms the compiler.
      if (round >= 0) figures.set(name, [...(figures.get(name) ?? []), figure]);
    }
  }
  const medians = [...figures].map(([name, values]) => [
    name,
    values.sort((a, b) => a - b)[values.length >> 1] ?? 0,
  ]);
  process.stdout.write(JSON.stringify(Object.fromEntries(medians)));
} finally {
  await rm(folder, { recursive: true, force: true });
}
