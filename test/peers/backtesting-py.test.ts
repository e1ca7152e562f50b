/**
 * backtesting.py's conventions, selected: `SmaCross` with all the money in whole units, at the next open or on the close, with commission a side and
 * with stop and target, gives the trades and the equity that its documentation asks for (`backtesting-py.ts`), one by one. Its published
 * result on its own data is in docs/BACKTESTING.md.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { executePlan } from '../../src/strategies/plan.ts';
import { plannedOf } from '../strategies/plans.ts';
import { byBacktestingPy, toCents, type Bar, type Rules, type Trade } from './backtesting-py.ts';

const MINUTE_MS = 60_000;
const CASH = 10_000_000;
const near = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'orrery-backtesting-py-'));
const data = join(scratch, 'btc');
const CSV = gunzipSync(readFileSync(near('data/btcusdt-1m.csv.gz'))).toString();
const BARS = CSV.trim()
  .split('\n')
  .slice(1)
  .map((line): Bar => {
    const [timeMs = 0, open = 0, high = 0, low = 0, close = 0] = line.split(',').map(Number);
    return { timeMs, open, high, low, close };
  });

beforeAll(async () => {
  const csv = join(scratch, 'btc.csv');
  writeFileSync(csv, CSV);
  const format = ['--symbol', 'BTCUSDT', '--interval', '1m', '--tick', '0.01', '--lot', '0.0001'];
  expect(await main(['data', 'import', 'csv', csv, '--out', data, ...format])).toBe(0);
});
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

async function byOrrery(rules: Rules): Promise<{ trades: Trade[]; equity: number }> {
  const { fast, slow, commission, onClose } = rules;
  const ppm = (share: number): number => Math.round(share * 1_000_000);
  const parameters = { fast, slow, stop: ppm(rules.stop), target: ppm(rules.target) };
  const { output } = await executePlan({
    data,
    strategies: [await plannedOf(near('all-in-cross.ts'), { bar: '1m', ...parameters })],
    balance: String(CASH),
    seed: '1',
    latency: 'none',
    fees: `${String(commission)},${String(commission)}`,
    bars: `quote=${onClose ? 'close' : 'nextOpen'},path=stopFirst,spread=0,depth=100000000`,
  });
  expect(output.engine.checkInvariants()).toEqual([]);
  const [run] = output.strategies;
  const trades: Trade[] = [];
  let entry = { size: 0, entryMs: 0, entryPrice: 0, fee: 0 };
  for (const fill of run?.fills ?? []) {
    const price = Number(fill.price);
    // What is done on a bar's close is done when it is over; a stop or target fills at its bar's last microsecond.
    const timeMs = fill.timeUs / 1000;
    const ofBar = Math.floor(timeMs / MINUTE_MS) * MINUTE_MS;
    const onTheClose = onClose && ofBar === timeMs;
    const barMs = onTheClose ? ofBar - MINUTE_MS : ofBar;
    const size = Number(fill.position);
    if (size !== 0) {
      entry = { size, entryMs: barMs, entryPrice: price, fee: Number(fill.fee) };
    } else {
      const { fee, ...opened } = entry;
      const profit = Number(fill.realizedPnl) - fee - Number(fill.fee);
      trades.push({ ...opened, exitMs: barMs, exitPrice: price, profit });
    }
  }
  return { trades, equity: Number(run?.summary.equityEnd) };
}

const rounded = (trade: Trade): Trade => ({
  ...trade,
  exitPrice: toCents(trade.exitPrice),
  profit: toCents(trade.profit),
});

test.each([
  ['at the next open', { fast: 10, slow: 20 }, 60],
  ['with a commission of 0.2 %', { fast: 10, slow: 20, commission: 0.002 }, 60],
  ['on the close', { fast: 10, slow: 30, commission: 0.0005, onClose: true }, 40],
  ['with a stop and a target', { fast: 10, slow: 20, stop: 0.001, target: 0.0015 }, 60],
  ['on the close with both', { fast: 5, slow: 20, onClose: true, stop: 0.0007, target: 0.001 }, 80],
] as const)('%s', async (_name, changes, least) => {
  const rules = { commission: 0, onClose: false, stop: 0, target: 0, ...changes };
  const expected = byBacktestingPy(BARS, rules, CASH);
  expect(expected.trades.length).toBeGreaterThan(least);
  const found = await byOrrery(rules);
  expect(found.trades.map(rounded)).toEqual(expected.trades.map(rounded));
  expect(toCents(found.equity)).toBe(toCents(expected.equity));
});
