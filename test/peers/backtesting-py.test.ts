/**
 * backtesting.py's conventions, selected. `SmaCross` with all money in whole units, at the next
 * open or on the close, with commission per side and with stop and target, gives the documented
 * trades and equity at each close (`backtesting-py.ts`). The first days of its own data give the
 * trades printed in its guide. docs/BACKTESTING.md has the complete result.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import type { StrategyOutput } from '../../src/backtest/output.ts';
import { main } from '../../src/cli/main.ts';
import { executePlan } from '../../src/run-plan/plan.ts';
import { plannedOf } from '../run-plan/plans.ts';
import { byBacktestingPy, toCents, type Bar, type Rules, type Trade } from './backtesting-py.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const near = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'orrery-backtesting-py-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

interface Market {
  readonly bars: readonly Bar[];
  readonly barMs: number;
  readonly lot: string;
  readonly cash: number;
}

async function imported({ bars, barMs, lot }: Market): Promise<string> {
  const data = mkdtempSync(join(scratch, 'data-'));
  const csv = join(data, 'bars.csv');
  const rows = bars.map(({ timeMs, open, high, low, close }) =>
    [timeMs, open, high, low, close, 1].join(','),
  );
  writeFileSync(csv, ['time,open,high,low,close,volume', ...rows].join('\n'));
  const interval = barMs === DAY_MS ? '1d' : '1m';
  const format = ['--symbol', 'M', '--interval', interval, '--tick', '0.01', '--lot', lot];
  expect(await main(['data', 'import', 'csv', csv, '--out', join(data, 'set'), ...format])).toBe(0);
  return join(data, 'set');
}

async function byOrrery(market: Market, rules: Rules): Promise<StrategyOutput> {
  const { fast, slow, commission, onClose } = rules;
  const ppm = (share: number): number => Math.round(share * 1_000_000);
  const parameters = { fast, slow, stop: ppm(rules.stop), target: ppm(rules.target) };
  const bar = market.barMs === DAY_MS ? '1d' : '1m';
  const { output } = await executePlan({
    data: await imported(market),
    strategies: [await plannedOf(near('all-in-cross.ts'), { bar, ...parameters })],
    balance: String(market.cash),
    seed: '1',
    latency: 'none',
    fees: `${String(commission)},${String(commission)}`,
    bars: `quote=${onClose ? 'close' : 'nextOpen'},path=stopFirst,spread=0,depth=100000000`,
    sampleUs: market.barMs * 1000,
  });
  expect(output.engine.checkInvariants()).toEqual([]);
  const [run] = output.strategies;
  if (run === undefined) throw new Error('the run has a strategy');
  return run;
}

/** Round trips, each at the start of its bar. */
function tradesOf({ fills }: StrategyOutput, barMs: number, onClose: boolean): Trade[] {
  const trades: Trade[] = [];
  let entry = { size: 0, entryMs: 0, entryPrice: 0, fee: 0 };
  for (const fill of fills) {
    const price = Number(fill.price);
    // Actions on a bar's close are done at its end; a stop or target fills at its bar's last
    // microsecond.
    const timeMs = fill.timeUs / 1000;
    const begins = Math.floor(timeMs / barMs) * barMs;
    const ofMs = onClose && begins === timeMs ? begins - barMs : begins;
    const size = Number(fill.position);
    if (size !== 0) {
      entry = { size, entryMs: ofMs, entryPrice: price, fee: Number(fill.fee) };
    } else {
      const { fee, ...opened } = entry;
      const profit = toCents(Number(fill.realizedPnl) - fee - Number(fill.fee));
      trades.push({ ...opened, exitMs: ofMs, exitPrice: price, profit });
    }
  }
  return trades;
}

const btc = (): Market => {
  const csv = gunzipSync(readFileSync(near('data/btcusdt-1m.csv.gz'))).toString();
  const [, ...lines] = csv.trim().split('\n');
  const bars = lines.map((line): Bar => {
    const [timeMs = 0, open = 0, high = 0, low = 0, close = 0] = line.split(',').map(Number);
    return { timeMs, open, high, low, close };
  });
  return { bars, barMs: MINUTE_MS, lot: '1', cash: 10_000_000 };
};

test.each([
  ['at the next open', { fast: 10, slow: 20 }, 60],
  ['with a commission of 0.2 %', { fast: 10, slow: 20, commission: 0.002 }, 60],
  ['on the close', { fast: 10, slow: 30, commission: 0.0005, onClose: true }, 40],
  ['with a stop and a target', { fast: 10, slow: 20, stop: 0.001, target: 0.0015 }, 60],
  ['on the close with both', { fast: 5, slow: 20, onClose: true, stop: 0.0007, target: 0.001 }, 80],
] as const)('%s', async (_name, changes, minTrades) => {
  const rules = { commission: 0, onClose: false, stop: 0, target: 0, ...changes };
  const market = btc();
  const expected = byBacktestingPy(market.bars, rules, market.cash);
  expect(expected.trades.length).toBeGreaterThan(minTrades);
  const run = await byOrrery(market, rules);
  expect(tradesOf(run, market.barMs, rules.onClose)).toEqual(
    expected.trades.map((trade) => ({ ...trade, profit: toCents(trade.profit) })),
  );
  expect(toCents(Number(run.summary.equityEnd))).toBe(toCents(expected.equity.at(-1) ?? 0));
  if (rules.onClose) return;
  // A sample is at the close of a bar, not at the open that follows in the same instant.
  // After the deposit, at each close.
  const curve = run.equity.slice(1).map(({ equity }) => toCents(equity));
  expect(curve).toEqual(expected.equity.map(toCents));
});

/**
 * The guide's `SmaCross` of 10 and 15 days (Quick Start User Guide of backtesting.py 0.6, "Trade data"): size, days, prices and the profit before
 * commission of its first trades; cash of 10,000, commission of 0.2 %.
 */
const PUBLISHED = `
  87 2004-09-17 2004-11-12 114.42 185.23 6160.47
  -86 2004-11-12 2004-11-26 185.23 175.80 810.98
  95 2004-11-26 2004-11-30 175.80 180.71 466.45
  -95 2004-11-30 2004-12-06 180.71 179.13 150.10
  96 2004-12-06 2004-12-15 179.13 177.99 -109.44`;

test('the first trades printed in its guide', async () => {
  const [, ...lines] = readFileSync(near('data/goog-2004.csv'), 'utf8').trim().split('\n');
  const bars = lines.map((line): Bar => {
    const [day = '', ...prices] = line.split(',');
    const [open = 0, close = 0] = prices.map(Number);
    // None of its orders waits for a price within a day.
    const range = { high: Math.max(open, close), low: Math.min(open, close) };
    return { timeMs: Date.parse(day), open, ...range, close };
  });
  const market = { bars, barMs: DAY_MS, lot: '1', cash: 10_000 };
  const rules = { fast: 10, slow: 15, commission: 0.002, onClose: false, stop: 0, target: 0 };
  const trades = tradesOf(await byOrrery(market, rules), DAY_MS, false);
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const shown = trades.map(({ size, entryMs, exitMs, entryPrice, exitPrice }) => {
    const profit = size * (exitPrice - entryPrice);
    const prices = [entryPrice, exitPrice, profit].map((value) => value.toFixed(2));
    return [size, day(entryMs), day(exitMs), ...prices].join(' ');
  });
  expect(shown).toEqual(PUBLISHED.trim().split(/\n\s*/));
});
