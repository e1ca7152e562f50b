/**
 * The V8 settings of `orrery` in a program that uses the library: processor time of the first and
 * of later backtests of the sample data, of a verification of their journal, and peak memory. Each setting has processes of its own; these alternate. Prints medians.
 *
 *     node --import tsx test/bench/v8-settings.ts
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { verifyJournal } from '../../src/journal-files/index.ts';
import { backtest } from '../../src/library/backtest/index.ts';
import { raiseInliningLimits } from '../../src/platform/inlining-limits.ts';
import { keepHeapLean } from '../../src/platform/lean-heap.ts';

const PROCESSES = 3;
const RUNS = 4;
const SETTINGS: Readonly<Record<string, () => void>> = {
  none: () => undefined,
  inlining: raiseInliningLimits,
  heap: keepHeapLean,
};
const root = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

interface Figures {
  readonly firstMs: number;
  readonly laterMs: number;
  readonly verifyMs: number;
  readonly peakMiB: number;
}

async function processorMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e3;
}

async function measure(): Promise<Figures> {
  const options = {
    strategy: root('examples/strategies/market-maker.ts'),
    data: root('data/btcusdt-20240808'),
  };
  const folder = mkdtempSync(join(tmpdir(), 'orrery-bench-'));
  try {
    const file = join(folder, 'journal.orrery');
    const [firstMs = 0, ...later] = await times(async () => {
      writeFileSync(file, (await backtest({ ...options, journal: true })).journal);
    });
    const verified = await times(() => verifyJournal(file));
    const peakMiB = process.resourceUsage().maxRSS / 1024;
    return { firstMs, laterMs: median(later), verifyMs: median(verified), peakMiB };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function times(work: () => unknown): Promise<number[]> {
  const all: number[] = [];
  for (let i = 0; i < RUNS; i++) all.push(await processorMs(work));
  return all;
}

const [setting] = process.argv.slice(2);
if (setting !== undefined) {
  SETTINGS[setting]?.();
  console.log(JSON.stringify(await measure()));
} else {
  const all = new Map<string, Figures[]>(Object.keys(SETTINGS).map((name) => [name, []]));
  for (let i = 0; i < PROCESSES; i++) {
    for (const [name, figures] of all) {
      const args = ['--import', 'tsx', fileURLToPath(import.meta.url), name];
      const output = execFileSync(process.execPath, args, { encoding: 'utf8' });
      figures.push(JSON.parse(output) as Figures);
    }
  }
  for (const [name, figures] of all) {
    const of = (key: keyof Figures): string => median(figures.map((one) => one[key])).toFixed(0);
    console.log(
      `${name}: first ${of('firstMs')} ms, later ${of('laterMs')} ms, ` +
        `verification ${of('verifyMs')} ms, peak ${of('peakMiB')} MiB`,
    );
  }
}
