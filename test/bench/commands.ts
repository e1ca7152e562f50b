/**
 * Whole commands as a user starts them, by the clock and by processor time, children included: a
 * bare Node, `--help`, the backtest of the demo's recording, a year of 1m bars without and with
 * trades, a year of five markets, and a search over a year. Runs keep everything that they write.
 * `sma-cross` has a balance with which it does not go bankrupt on made-up bars.
 *
 *     node --import tsx test/bench/commands.ts [--only <text>] [--rounds 3] [--trials 500]
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { RECORDED } from './long-tape.ts';

const BARS_OF_YEAR = 366 * 1440;
const MARKETS = ['BTC-SAMPLE', 'ETH-SAMPLE', 'SOL-SAMPLE', 'BNB-SAMPLE', 'XRP-SAMPLE'];
const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const SMA = fileURLToPath(new URL('../../examples/strategies/sma-cross.ts', import.meta.url));
const QUIET = `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: 'quiet', parameters: {}, create: () => ({ onStop() {} }) });
`;

interface Measured {
  readonly name: string;
  readonly args: readonly string[];
  /** Bars that it plays, for a rate. */
  readonly bars?: number;
  /** Only the first round: it takes minutes. */
  readonly once?: boolean;
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '3' },
    trials: { type: 'string', default: '500' },
  },
});
const folder = await mkdtemp(join(tmpdir(), 'orrery-bench-'));
const at = (name: string): string => join(folder, name);

/** Seconds of the clock and of all processors. */
function timed(args: readonly string[]): { readonly clock: number; readonly processor: number } {
  const started = performance.now();
  // The shell's times include those of all descendants.
  const shell = ['-c', '"$@" > /dev/null && times', 'sh', process.execPath, ...args];
  const { status, stdout, stderr } = spawnSync('sh', shell, { encoding: 'utf8' });
  const clock = (performance.now() - started) / 1e3;
  if (status !== 0) throw new Error(stderr);
  const children = stdout.trim().split('\n').at(-1) ?? '';
  const parts = [...children.matchAll(/(\d+)m([\d.]+)s/g)];
  const processor = parts.reduce((sum, [, m, s]) => sum + 60 * Number(m) + Number(s), 0);
  return { clock, processor };
}

function backtest(strategy: string, data: string, ...more: readonly string[]): readonly string[] {
  const out = ['--out', at('run'), '--overwrite'];
  return [MAIN, 'backtest', strategy, '--data', data, ...out, ...more];
}

const trading = ['--param', 'bar=1m', '--balance', '10000000'];
const trials = Number(values.trials);
const search = ['--vary', 'fast=2:20:1', '--vary', 'slow=30:120:1', ...trading];
const all: readonly Measured[] = [
  { name: 'node', args: ['-e', '0'] },
  { name: 'help', args: [MAIN, '--help'] },
  { name: 'demo recording, sma-cross', args: backtest(SMA, RECORDED) },
  {
    name: 'year of one market, quiet',
    args: backtest(at('quiet.ts'), at('one')),
    bars: BARS_OF_YEAR,
  },
  {
    name: 'year of one market, sma-cross',
    args: backtest(SMA, at('one'), ...trading),
    bars: BARS_OF_YEAR,
  },
  {
    name: 'year of five markets, quiet',
    args: backtest(at('quiet.ts'), at('five')),
    bars: MARKETS.length * BARS_OF_YEAR,
  },
  {
    name: `search of ${String(trials)} trials over a year, sma-cross`,
    args: [
      ...[MAIN, 'sweep', SMA, '--data', at('one'), '--out', at('search'), '--no-ledger', '--json'],
      ...['--trials', String(trials), '--workers', '2', ...search],
    ],
    bars: trials * BARS_OF_YEAR,
    once: true,
  },
];

try {
  await writeFile(at('quiet.ts'), QUIET);
  const chosen = all.filter(({ name }) => name.includes(values.only));
  const needs = (name: string): boolean => chosen.some(({ args }) => args.includes(at(name)));
  const sample = (name: string, symbols: readonly string[]): void => {
    const days = ['--days', '366', '--from', '2024-01-01'];
    if (needs(name)) {
      timed([MAIN, 'data', 'sample', '--out', at(name), '--symbols', symbols.join(','), ...days]);
    }
  };
  sample('one', MARKETS.slice(0, 1));
  sample('five', MARKETS);
  const figures = new Map<Measured, { clock: number; processor: number }[]>();
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const each of chosen) {
      if (each.once === true && round > 0) continue;
      figures.set(each, [...(figures.get(each) ?? []), timed(each.args)]);
    }
  }
  for (const [{ name, bars }, runs] of figures) {
    const clock = median(runs.map((run) => run.clock));
    const processor = median(runs.map((run) => run.processor));
    const rate = bars === undefined ? '' : `, ${(bars / clock / 1e6).toFixed(2)} M bars/s`;
    console.log(`${name}: ${clock.toFixed(2)} s, processor ${processor.toFixed(2)} s${rate}`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

function median(figures: readonly number[]): number {
  return [...figures].sort((a, b) => a - b)[figures.length >> 1] ?? 0;
}
