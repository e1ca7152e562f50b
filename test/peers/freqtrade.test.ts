/**
 * freqtrade's table of backtests, candle by candle: entries at the next open, stop before target
 * within a candle, targets and trailed stops at their own prices, gaps at the open (docs/DATA.md
 * "Bars"). `freqtrade-cases.ts` lists the excluded cases with reasons.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { executePlan } from '../../src/run-plan/plan.ts';
import type { PlannedStrategy } from '../../src/run-plan/run-plan.ts';
import { plannedOf } from '../run-plan/plans.ts';
import { CASES, type Case } from './freqtrade-cases.ts';

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2018, 0, 1);
const WHY: Readonly<Record<string, string>> = {
  limit: 'signal',
  stopLoss: 'stop',
  takeProfit: 'roi',
  trailingStop: 'trail',
};

const scratch = mkdtempSync(join(tmpdir(), 'orrery-freqtrade-'));
let planned: PlannedStrategy;
beforeAll(async () => {
  planned = await plannedOf(fileURLToPath(new URL('candle-rules.ts', import.meta.url)));
});
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

async function importCandles(name: string, candles: readonly string[]): Promise<string> {
  const csv = join(scratch, `${name}.csv`);
  const rows = candles.map((candle, i) => {
    const prices = candle.split(' ').slice(0, 4);
    return [START_MS + i * HOUR_MS, ...prices, 6172].join(',');
  });
  writeFileSync(csv, ['time,open,high,low,close,volume', ...rows].join('\n'));
  const data = join(scratch, name);
  const format = ['--symbol', 'UNIT', '--interval', '1h', '--tick', '0.01', '--lot', '1'];
  expect(await main(['data', 'import', 'csv', csv, '--out', data, ...format])).toBe(0);
  return data;
}

function rulesOf(asked: Case, candles: readonly string[]): PlannedStrategy['parameters'] {
  const bitsOf = (signal: string): number =>
    candles.reduce((sum, row, i) => sum + (row.split(' ').includes(signal) ? 1 << i : 0), 0);
  const ppm = (share = 0): number => Math.round(share * 1_000_000);
  const price = (value = 0): string => String(value);
  const { later } = asked;
  return {
    enterLong: bitsOf('EL'),
    exitLong: bitsOf('XL'),
    enterShort: bitsOf('ES'),
    exitShort: bitsOf('XS'),
    stop: ppm(asked.stop),
    roi: ppm(asked.roi),
    roiAfter: later?.after ?? 0,
    laterRoi: ppm(later?.roi ?? 0),
    trail: ppm(asked.trail),
    trailFrom: ppm(asked.trailFrom),
    entryPrice: price(asked.entryPrice),
    exitPrice: price(asked.exitPrice),
    adjustEntry: price(asked.adjustEntry),
    adjustExit: price(asked.adjustExit),
    cancelAfter: asked.cancelAfter ?? 0,
    endAt: asked.endsHeld === true ? candles.length - 1 : 0,
  };
}

test.each(CASES.map((asked) => [asked.name, asked] as const))('%s', async (name, asked) => {
  const candles = asked.candles.split('\n');
  const data = await importCandles(`case-${name.split(':')[0] ?? ''}`, candles);
  const { output } = await executePlan({
    data,
    strategies: [{ ...planned, parameters: rulesOf(asked, candles) }],
    balance: '10000',
    seed: '1',
    latency: 'none',
    fees: '0,0',
    bars: 'quote=nextOpen,path=stopFirst,spread=0,depth=100000000',
  });
  expect(output.engine.checkInvariants()).toEqual([]);
  const [run] = output.strategies;
  const types = new Map(run?.orders.map((order) => [order.orderId, order.orderType]));
  // A bar is played at its last microsecond, actions at its open at its first.
  const candleOf = (timeUs: number): number => Math.floor((timeUs / 1000 - START_MS) / HOUR_MS);
  const trades: string[] = [];
  let profit = 0;
  let entry = { candle: 0, price: 0, isShort: false };
  for (const fill of run?.fills ?? []) {
    if (Number(fill.position) !== 0) {
      const isShort = Number(fill.position) < 0;
      entry = { candle: candleOf(fill.timeUs), price: Number(fill.price), isShort };
      continue;
    }
    const way = entry.isShort ? -1 : 1;
    profit += (way * (Number(fill.price) - entry.price)) / entry.price;
    const type = types.get(fill.orderId) ?? '';
    const isTimed = asked.later?.roi === null;
    const why = isTimed && type === 'limit' ? 'roi' : (WHY[type] ?? type);
    const exit = String(candleOf(fill.timeUs));
    trades.push(`${String(entry.candle)}-${exit} ${why}${entry.isShort ? ' short' : ''}`);
  }
  expect(trades).toEqual(asked.trades);
  expect((profit * (asked.leverage ?? 1)).toFixed(3).replace('-0.000', '0.000')).toBe(
    asked.profit.toFixed(3),
  );
});
