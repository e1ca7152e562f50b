/**
 * Bars with another tool's fill convention give that tool's trades: grademark and the exchange on
 * the same bars, trade by trade (docs/DATA.md "Bars").
 *
 * grademark decides on a finished bar and trades at the next bar's open. Stop and target fill at
 * their own prices, the stop first if a bar reaches both. The exchange differs in one point: a bar
 * that opens beyond the stop or the target never traded at it, so the exit is at the open.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { DataFrame, type IDataFrame } from 'data-forge';
import { backtest, type IBar, type IStrategy } from 'grademark';
import { afterAll, describe, expect, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { executePlan } from '../../src/run-plan/plan.ts';
import { plannedOf } from '../run-plan/plans.ts';

const scratch = mkdtempSync(join(tmpdir(), 'orrery-peers-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});
const near = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const [HEADER = '', ...LINES] = gunzipSync(readFileSync(near('data/btcusdt-1m.csv.gz')))
  .toString()
  .trim()
  .split('\n');

interface Trade {
  readonly entryMs: number;
  readonly entryPrice: number;
  readonly exitMs: number;
  readonly exitPrice: number;
  readonly profit: number;
}

interface Rule {
  readonly fast: number;
  readonly slow: number;
  readonly stop: number;
  readonly target: number;
}

interface Bar extends IBar {
  readonly fast: number;
  readonly slow: number;
}

/** `atOpen`: uses the stop or target price that grademark reports. */
function byGrademark(
  lines: readonly string[],
  { fast, slow, stop, target }: Rule,
): (Trade & { readonly atOpen: boolean })[] {
  const closes: number[] = [];
  const meanOf = (length: number): number =>
    closes.slice(-length).reduce((sum, value) => sum + value, 0) / Math.min(length, closes.length);
  const bars = lines.map((line): Bar => {
    const [time = 0, open = 0, high = 0, low = 0, close = 0, volume = 0] = line
      .split(',')
      .map(Number);
    closes.push(close);
    return {
      time: new Date(time),
      open,
      high,
      low,
      close,
      volume,
      fast: meanOf(fast),
      slow: meanOf(slow),
    };
  });
  const strategy: IStrategy<Bar, Bar> = {
    lookbackPeriod: slow,
    entryRule: (enter, { bar }) => {
      if (bar.fast > bar.slow) enter();
    },
    exitRule: (exit, { bar }) => {
      if (!(bar.fast > bar.slow)) exit();
    },
    ...(stop === 0 ? {} : { stopLoss: () => stop }),
    ...(target === 0 ? {} : { profitTarget: () => target }),
  };
  const frame: IDataFrame<number, Bar> = new DataFrame(bars);
  const opens = new Map(bars.map(({ time, open }) => [time.getTime(), open]));
  return backtest(strategy, frame)
    .filter(({ exitReason }) => exitReason !== 'finalize')
    .map(({ entryTime, entryPrice, exitTime, exitPrice, exitReason }) => {
      const open = opens.get(exitTime.getTime()) ?? 0;
      const opensBeyond =
        (stop > 0 && open <= entryPrice - stop) || (target > 0 && open >= entryPrice + target);
      const atOpen = exitReason !== 'exit-rule' && opensBeyond;
      const paid = atOpen ? open : exitPrice;
      const times = { entryMs: entryTime.getTime(), exitMs: exitTime.getTime() };
      return { ...times, entryPrice, exitPrice: paid, profit: paid - entryPrice, atOpen };
    });
}

async function byOrrery(name: string, lines: readonly string[], rule: Rule): Promise<Trade[]> {
  const csv = join(scratch, `${name}.csv`);
  const data = join(scratch, name);
  writeFileSync(csv, [HEADER, ...lines].join('\n'));
  const format = ['--symbol', 'BTCUSDT', '--interval', '1m', '--tick', '0.01', '--lot', '0.0001'];
  expect(await main(['data', 'import', 'csv', csv, '--out', data, ...format])).toBe(0);
  const planned = await plannedOf(near('long-cross.ts'), { ...rule });
  const { output } = await executePlan({
    data,
    strategies: [planned],
    balance: '1000000',
    seed: '1',
    latency: 'none',
    fees: '0,0',
    bars: 'quote=nextOpen,path=stopFirst,spread=0,depth=100000000',
  });
  expect(output.engine.checkInvariants()).toEqual([]);
  const trades: Trade[] = [];
  let entry = { timeUs: 0, price: '' };
  for (const { timeUs, price, position, realizedPnl } of output.strategies[0]?.fills ?? []) {
    if (Number(position) > 0) entry = { timeUs, price };
    else {
      trades.push({
        entryMs: entry.timeUs / 1000,
        entryPrice: Number(entry.price),
        exitMs: timeUs / 1000,
        exitPrice: Number(price),
        profit: Number(realizedPnl),
      });
    }
  }
  return trades;
}

/**
 * A bar's own time is its start; a stop or target fills at its last microsecond, when the bar is
 * complete.
 */
function toBar({ entryMs, entryPrice, exitMs, exitPrice, profit }: Trade): Trade {
  const cents = (value: number): number => Math.round(value * 100) / 100;
  return {
    entryMs,
    entryPrice: cents(entryPrice),
    exitMs: Math.floor(exitMs / 60_000) * 60_000,
    exitPrice: cents(exitPrice),
    profit: cents(profit),
  };
}

const MINUTES = 60_000;
const START_MS = Number(LINES[0]?.split(',')[0]);
const minuteOf = (line: string): number => (Number(line.split(',')[0]) - START_MS) / MINUTES;
const FULL = LINES;
/** Without every seventh minute, and without four hours. */
const WITH_HOLES = LINES.filter(
  (line) => minuteOf(line) % 7 !== 3 && !(minuteOf(line) > 300 && minuteOf(line) < 540),
);

describe.each([
  ['full', FULL],
  ['holes', WITH_HOLES],
] as const)('on bars that are %s', (name, lines) => {
  test.each([
    ['a cross', { fast: 10, slow: 20, stop: 0, target: 0 }, 25],
    ['a cross with a stop', { fast: 5, slow: 30, stop: 60, target: 0 }, 25],
    ['a cross with a stop and a target', { fast: 8, slow: 21, stop: 50, target: 80 }, 25],
  ] as const)('%s gives grademark’s trades, to the cent', async (rule, parameters, minTrades) => {
    const trades = byGrademark(lines, parameters);
    expect(trades.filter(({ atOpen }) => !atOpen).length).toBeGreaterThan(minTrades);
    const expected = trades.map(toBar);
    const found = (await byOrrery(`${name}-${rule.replaceAll(' ', '-')}`, lines, parameters)).map(
      toBar,
    );
    expect(found).toEqual(expected);
  });
});
