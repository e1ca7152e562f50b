/**
 * Backtests and imports as a user runs them, by processor time: recorded levels and trades without
 * and with a market maker, one-minute bars under `sma-cross`, bars of five markets, a market of 20
 * agents, and the import of klines. Every run keeps its journal. Each row has a process of its own,
 * and rounds before the first counted one, so that V8 has compiled its code and no other.
 *
 *     node --expose-gc --import tsx test/bench/strategies.ts [--only <text>] [--rounds 3]
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
import { executePlan, type PlannedStrategy, type RunPlan } from '../../src/run-plan/plan.ts';
import { readPopulation } from '../../src/run-plan/population.ts';
import { bundleStrategy } from '../../src/strategy-loader/bundle.ts';
import { walk } from './bar-flow.ts';
import { writeBars, writeLongTape } from './long-tape.ts';
import { takeTurns, type Contestant, type Stopwatch } from './measure.ts';

const BARS = 300_000;
const MARKETS = ['BTCUSDT', 'ETHUSDT', 'SOLUSDT', 'XRPUSDT', 'BNBUSDT'];
const BARS_OF_MARKET = 200_000;
const KLINES = 300_000;
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

function player(name: string, plan: RunPlan, units: number): Contestant {
  return {
    name,
    round: async (_round, watch) => {
      let bytes = 0;
      await watch.timeAsync(() =>
        executePlan(plan, {
          journal: (piece) => {
            bytes += piece.length;
          },
        }),
      );
      if (bytes === 0) throw new Error(`${name}: the journal is empty`);
      return units;
    },
  };
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
    rows.push([openMs, ...prices, lots, closeMs, lots, 1, lots, lots, 0].join(','));
  }
  return `${rows.join('\n')}\n`;
}

const common = { balance: '100000', seed: '1' };

/** Measures one row in this process. */
async function measure(name: RowName, rounds: number): Promise<void> {
  // As the command does.
  raiseInliningLimits();
  keepHeapLean();
  const folder = await mkdtemp(join(tmpdir(), 'orrery-bench-'));
  try {
    const contestant = await contestantOf(name, (file) => join(folder, file));
    const [row] = await takeTurns([contestant], { warming: WARMING, rounds });
    const { perCpuSecond, spread } = must(row, 'each contestant has a row');
    const rate = perCpuSecond.toLocaleString('en');
    console.log(`${name}: ${rate} a second of processor time ± ${(spread * 50).toFixed(1)} %`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function contestantOf(name: RowName, at: (name: string) => string): Promise<Contestant> {
  await writeFile(at('quiet.ts'), QUIET);
  const quiet = await strategyOf('quiet', at('quiet.ts'));
  switch (name) {
    case 'levels and trades, quiet': {
      const entries = await writeLongTape(at('tape'), TAPES);
      return player(name, { ...common, data: at('tape'), strategies: quiet }, entries);
    }
    case 'levels and trades, market maker': {
      const entries = await writeLongTape(at('tape'), TAPES);
      const strategies = await strategyOf('maker', example('market-maker'));
      return player(name, { ...common, data: at('tape'), strategies }, entries);
    }
    case 'bars, sma-cross': {
      await writeBars(at('bars'), BARS, START_US);
      const strategies = await strategyOf('sma', example('sma-cross'), { bar: '1m' });
      return player(name, { ...common, balance: '10000000', data: at('bars'), strategies }, BARS);
    }
    case 'bars of five markets, quiet': {
      for (const [i, symbol] of MARKETS.entries()) {
        const mode = i === 0 ? 'replace' : 'add';
        await writeBars(at('markets'), BARS_OF_MARKET, START_US, symbol, mode);
      }
      const plan = { ...common, data: at('markets'), strategies: quiet };
      return player(name, plan, MARKETS.length * BARS_OF_MARKET);
    }
    case '20 agents, simulated seconds': {
      await writeFile(at('population.yaml'), POPULATION);
      const population = await readPopulation(at('population.yaml'));
      return player(name, { ...common, population, strategies: [] }, SIMULATED_SECONDS);
    }
    case 'klines, import': {
      await writeFile(at('BTCUSDT-1m-2024-01.csv'), klines(KLINES));
      return { name, round: async (_round, watch) => importKlines(at, watch) };
    }
  }
}

async function importKlines(at: (name: string) => string, watch: Stopwatch): Promise<number> {
  const words = { format: 'binance-klines', file: [at('BTCUSDT-1m-2024-01.csv')] };
  const flags = { inverse: false, add: false, merge: false, replace: true, round: false };
  const units = { symbol: 'BTCUSDT', tick: undefined, lot: undefined, 'skip-bad': 0 };
  const texts = { out: at('imported'), source: '', licence: '', map: undefined };
  const rest = { interval: undefined, json: true, _: [], $0: '' };
  await watch.timeAsync(() => importFiles({ ...words, ...flags, ...units, ...texts, ...rest }));
  return KLINES;
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '3' },
    row: { type: 'string' },
  },
});
const row = ROWS.find((name) => name === values.row);
if (row !== undefined) await measure(row, Number(values.rounds));
else {
  for (const name of ROWS.filter((each) => each.includes(values.only))) {
    const args = [...process.execArgv, process.argv[1] ?? '', '--row', name];
    const { status } = spawnSync(process.execPath, [...args, '--rounds', values.rounds], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    if (status !== 0) throw new Error(`${name} failed`);
  }
}
