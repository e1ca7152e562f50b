/**
 * Backtests and imports as a user runs them, by the clock and by processor time: recorded levels and trades without
 * and with a market maker, one-minute bars under `sma-cross`, bars of five markets, a market of 20
 * agents, and the import of klines. Every run keeps its journal. Each row has a process of its own
 * that does nothing else, and rounds before the first counted one: V8 compiles code for the objects
 * that it has met.
 *
 * A forced collection between rounds would drop the shapes of all objects of a run, and with them
 * most compiled code. So none is forced.
 *
 *     npm run bench:one -- test/bench/strategies.ts [--only <text>] [--rounds 3]
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { must } from '../../src/base/assert.ts';
import { importFiles } from '../../src/cli/data/import.ts';
import { raiseInliningLimits } from '../../src/platform/inlining-limits.ts';
import { keepHeapLean } from '../../src/platform/lean-heap.ts';
import { executePlan } from '../../src/run-plan/plan.ts';
import type { PlannedStrategy, RunPlan } from '../../src/run-plan/run-plan.ts';
import { readPopulation } from '../../src/run-plan/population.ts';
import { bundleStrategy } from '../../src/strategy-loader/bundle.ts';
import { walk } from './bar-flow.ts';
import { writeBars, writeLongTape } from './long-tape.ts';
import { takeTurns, type Stopwatch } from './measure.ts';

const BARS = 300_000;
const MARKETS = ['BTCUSDT', 'ETHUSDT', 'SOLUSDT', 'XRPUSDT', 'BNBUSDT'];
const BARS_OF_MARKET = 200_000;
const KLINES = 300_000;
const KLINES_FILE = 'BTCUSDT-1m.csv';
const SIMULATED_SECONDS = 10_800;
/** Times that the recording is repeated. */
const TAPES = 10;
const WARMING = 2;
const ROWS = [
  'levels and trades, quiet',
  'levels and trades, market maker',
  'bars, sma-cross',
  'bars of five markets, quiet',
  '20 agents, simulated seconds',
  'klines, import',
] as const;
type RowName = (typeof ROWS)[number];
const START_US = 1_600_000_020_000_000;
const QUIET = `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: 'quiet', parameters: {}, create: () => ({ onStop() {} }) });
`;
const POPULATION = `
market: { symbol: SIM-PERP, tickSize: 0.5, lotSize: 0.001, initialMargin: 0.01, maintenanceMargin: 0.005 }
duration: ${String(SIMULATED_SECONDS)}s
fundamental: { kind: ornsteinUhlenbeck, start: 50000, deviationBp: 2, reversion: 20m, every: 1s }
agents:
  - { kind: marketMaker, count: 3, balance: 100000, with: { everyMs: 2000, lots: 40, halfSpreadBp: 2, stepBp: 2 } }
  - { kind: value, count: 4, balance: 50000, with: { everyMs: 8000, lots: 20, thresholdBp: 8 } }
  - { kind: momentum, count: 3, balance: 30000, with: { everyMs: 6000, lots: 30, maxLots: 300, thresholdBp: 3 } }
  - { kind: noise, count: 10, balance: 20000, with: { everyMs: 5000, lots: 4, widthBp: 12 } }
`;

async function played(plan: RunPlan): Promise<void> {
  let bytes = 0;
  await executePlan(plan, {
    journal: (piece) => {
      bytes += piece.length;
    },
  });
  if (bytes === 0) throw new Error('the journal is empty');
}

const example = (name: string): string =>
  fileURLToPath(new URL(`../../examples/strategies/${name}.ts`, import.meta.url));

async function strategyOf(
  id: string,
  file: string,
  parameters: PlannedStrategy['parameters'] = {},
): Promise<PlannedStrategy[]> {
  return [{ id, bundle: await bundleStrategy(file), parameters }];
}

/** Klines as Binance publishes them. */
function klines(count: number): string {
  const rows: string[] = [];
  for (const { minute, open, high, low, close, volume } of walk(count)) {
    const openMs = START_US / 1000 + minute * 60_000;
    const [prices, lots] = [[open, high, low, close].map((ticks) => ticks / 10), volume / 1000];
    const closeMs = openMs + 59_999;
    const value = (lots * (close / 10)).toFixed(4);
    rows.push([openMs, ...prices, lots, closeMs, value, 1, lots, value, 0].join(','));
  }
  return `${rows.join('\n')}\n`;
}

const common = { balance: '100000', seed: '1' };

/** Writes the input of a row. Returns the operations of a round. */
async function prepare(name: RowName, at: (name: string) => string): Promise<number> {
  switch (name) {
    case 'levels and trades, quiet':
    case 'levels and trades, market maker':
      return writeLongTape(at('data'), TAPES);
    case 'bars, sma-cross':
      await writeBars(at('data'), BARS, START_US);
      return BARS;
    case 'bars of five markets, quiet':
      for (const [i, symbol] of MARKETS.entries()) {
        const mode = i === 0 ? 'replace' : 'add';
        await writeBars(at('data'), BARS_OF_MARKET, START_US, symbol, mode);
      }
      return MARKETS.length * BARS_OF_MARKET;
    case '20 agents, simulated seconds':
      await writeFile(at('population.yaml'), POPULATION);
      return SIMULATED_SECONDS;
    case 'klines, import':
      await writeFile(at(KLINES_FILE), klines(KLINES));
      return KLINES;
  }
}

/** Measures one row in this process. */
async function measure(name: RowName, folder: string, units: number): Promise<void> {
  // As the command does.
  raiseInliningLimits();
  keepHeapLean();
  const run = await runOf(name, (file) => join(folder, file));
  const round = async (_round: number, watch: Stopwatch): Promise<number> => {
    await watch.timeAsync(run);
    return units;
  };
  const rounds = Number(values.rounds);
  const [measured] = await takeTurns([{ name, round }], { warming: WARMING, rounds });
  const { perSecond, perCpuSecond, spread } = must(measured, 'each contestant has a row');
  const [clock, cpu] = [perSecond, perCpuSecond].map((rate) => rate.toLocaleString('en'));
  const around = `± ${(spread * 50).toFixed(1)} %`;
  console.log(`${name}: ${clock} a second, ${cpu} a second of processor time ${around}`);
}

async function runOf(name: RowName, at: (name: string) => string): Promise<() => Promise<void>> {
  const data = at('data');
  await writeFile(at('quiet.ts'), QUIET);
  switch (name) {
    case 'levels and trades, quiet':
    case 'bars of five markets, quiet': {
      const strategies = await strategyOf('quiet', at('quiet.ts'));
      return () => played({ ...common, data, strategies });
    }
    case 'levels and trades, market maker': {
      const strategies = await strategyOf('maker', example('market-maker'));
      return () => played({ ...common, data, strategies });
    }
    case 'bars, sma-cross': {
      const strategies = await strategyOf('sma', example('sma-cross'), { bar: '1m' });
      return () => played({ ...common, balance: '10000000', data, strategies });
    }
    case '20 agents, simulated seconds': {
      const population = await readPopulation(at('population.yaml'));
      return () => played({ ...common, population, strategies: [] });
    }
    case 'klines, import':
      return () => importKlines(at);
  }
}

async function importKlines(at: (name: string) => string): Promise<void> {
  const words = { format: 'binance-klines', file: [at(KLINES_FILE)] };
  const flags = { inverse: false, add: false, merge: false, replace: true, round: false };
  const units = { symbol: 'BTCUSDT', tick: undefined, lot: undefined, 'skip-bad': 0 };
  const texts = { out: at('imported'), source: '', licence: '', map: undefined };
  const rest = { interval: undefined, json: true, _: [], $0: '' };
  await importFiles({ ...words, ...flags, ...units, ...texts, ...rest });
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '3' },
    // Of the process of one row.
    row: { type: 'string' },
    folder: { type: 'string', default: '' },
    units: { type: 'string', default: '' },
  },
});
const row = ROWS.find((name) => name === values.row);
if (row !== undefined) await measure(row, values.folder, Number(values.units));
else {
  for (const name of ROWS.filter((each) => each.includes(values.only))) {
    const folder = await mkdtemp(join(tmpdir(), 'orrery-bench-'));
    try {
      const units = String(await prepare(name, (file) => join(folder, file)));
      const options = { row: name, folder, units, rounds: values.rounds };
      const words = Object.entries(options).flatMap(([key, value]) => [`--${key}`, value]);
      const flags = process.execArgv.filter((flag) => flag !== '--expose-gc');
      const args = [...flags, process.argv[1] ?? '', ...words];
      const { status } = spawnSync(process.execPath, args, {
        stdio: ['ignore', 'inherit', 'inherit'],
      });
      if (status !== 0) throw new Error(`${name} failed`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}
