/**
 * Backtests and imports as a user runs them, by processor time: recorded levels and trades without
 * and with a market maker, one-minute bars under `sma-cross`, bars of five markets, a market of 20
 * agents, and the import of klines. Every run keeps its journal. Prints rows; a year of bars of
 * five markets is 2,628,000 of them.
 *
 *     node --expose-gc --import tsx test/bench/strategies.ts [--only <text>] [--rounds 3]
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { importFiles } from '../../src/cli/data/import.ts';
import { raiseInliningLimits } from '../../src/platform/inlining-limits.ts';
import { keepHeapLean } from '../../src/platform/lean-heap.ts';
import { executePlan, type PlannedStrategy, type RunPlan } from '../../src/run-plan/plan.ts';
import { readPopulation } from '../../src/run-plan/population.ts';
import { bundleStrategy } from '../../src/strategy-loader/bundle.ts';
import { walk } from './bar-flow.ts';
import { writeBars, writeLongTape } from './long-tape.ts';
import { takeTurns, type Contestant } from './measure.ts';

const BARS = 60_000;
const MARKETS = ['BTCUSDT', 'ETHUSDT', 'SOLUSDT', 'XRPUSDT', 'BNBUSDT'];
const BARS_OF_MARKET = 40_000;
const KLINES = 100_000;
const SIMULATED_SECONDS = 1800;
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

// As the command does.
raiseInliningLimits();
keepHeapLean();

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '3' },
  },
});
const folder = await mkdtemp(join(tmpdir(), 'orrery-bench-'));
const at = (name: string): string => join(folder, name);
const example = (name: string): string =>
  fileURLToPath(new URL(`../../examples/strategies/${name}.ts`, import.meta.url));

function player(name: string, plan: () => Promise<RunPlan>, units: number): Contestant {
  let made: RunPlan | null = null;
  return {
    name,
    round: async (_round, watch) => {
      const ready = (made ??= await plan());
      let bytes = 0;
      await watch.timeAsync(() =>
        executePlan(ready, {
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
try {
  const wanted = (name: string): boolean => name.includes(values.only);
  await writeFile(at('quiet.ts'), QUIET);
  const quiet = await strategyOf('quiet', at('quiet.ts'));
  const contestants: Contestant[] = [];
  const add = (name: string, units: number, plan: () => Promise<RunPlan>): void => {
    if (wanted(name)) contestants.push(player(name, plan, units));
  };
  const entries = wanted('levels') ? await writeLongTape(at('tape'), 1) : 0;
  add('levels and trades, quiet', entries, async () => {
    return Promise.resolve({ ...common, data: at('tape'), strategies: quiet });
  });
  add('levels and trades, market maker', entries, async () => {
    const strategies = await strategyOf('maker', example('market-maker'));
    return { ...common, data: at('tape'), strategies };
  });
  if (wanted('bars')) await writeBars(at('bars'), BARS, START_US);
  add('bars, sma-cross', BARS, async () => {
    const strategies = await strategyOf('sma', example('sma-cross'), { bar: '1m' });
    return { ...common, data: at('bars'), strategies };
  });
  if (wanted('markets')) {
    for (const [i, symbol] of MARKETS.entries()) {
      await writeBars(at('markets'), BARS_OF_MARKET, START_US, symbol, i === 0 ? 'replace' : 'add');
    }
  }
  add('bars of five markets, quiet', MARKETS.length * BARS_OF_MARKET, async () => {
    return Promise.resolve({ ...common, data: at('markets'), strategies: quiet });
  });
  add('20 agents, simulated seconds', SIMULATED_SECONDS, async () => {
    await writeFile(at('population.yaml'), POPULATION);
    return { ...common, population: await readPopulation(at('population.yaml')), strategies: [] };
  });
  if (wanted('klines, import')) {
    await writeFile(at('BTCUSDT-1m-2024-01.csv'), klines(KLINES));
    contestants.push({
      name: 'klines, import',
      round: async (_round, watch) => {
        const words = { format: 'binance-klines', file: [at('BTCUSDT-1m-2024-01.csv')] };
        const flags = { inverse: false, add: false, merge: false, replace: true, round: false };
        const units = { symbol: 'BTCUSDT', tick: undefined, lot: undefined, 'skip-bad': 0 };
        const texts = { out: at('imported'), source: '', licence: '', map: undefined };
        const rest = { interval: undefined, json: true, _: [], $0: '' };
        await watch.timeAsync(() =>
          importFiles({ ...words, ...flags, ...units, ...texts, ...rest }),
        );
        return KLINES;
      },
    });
  }
  const rows = await takeTurns(contestants, { warming: 1, rounds: Number(values.rounds) });
  for (const { name, perCpuSecond, spread } of rows) {
    const rate = perCpuSecond.toLocaleString('en');
    console.log(`${name}: ${rate} a second of processor time ± ${(spread * 50).toFixed(1)} %`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
