/**
 * A run over HTTP and WebSocket on a served replay equals the backtest: the log of a strategy that
 * sees and does everything, orders, fills and equity, on made-up recordings of each kind.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { comparedLive, comparedRun, firstDifference } from '../../src/live/compare-runs.ts';
import { executePlan } from '../../src/run-plan/plan.ts';
import type { RunPlan } from '../../src/run-plan/run-plan.ts';
import { onAllData, planOf, plannedOf } from '../run-plan/plans.ts';
import { writeDataset, type MadeUpMarket } from './made-up-dataset.ts';
import { liveOnReplay, serveReplay } from './replayed.ts';

const TESTER = fileURLToPath(new URL('tester.ts', import.meta.url));
const CONSTANT = 'constant:feed=2ms,entry=5ms,response=5ms,compute=500us';
const folder = mkdtempSync(join(tmpdir(), 'orrery-equality-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const A: MadeUpMarket = { symbol: 'AAA', steps: 150, everyUs: 100_000 };
const MARKED: MadeUpMarket = { ...A, marksEvery: 2 };
const HOUR_US = 3_600_000_000;
const SPARSE: MadeUpMarket = { ...A, everyUs: 300_000_000, marksEvery: 1, fundingEvery: 24 };

interface Case {
  readonly name: string;
  readonly markets: readonly MadeUpMarket[];
  readonly plan: Partial<RunPlan>;
  readonly parameters?: Readonly<Record<string, string | number>>;
  /** Words of the log without which the case tests nothing. */
  readonly shows: readonly (readonly [words: RegExp, min: number])[];
  readonly liquidations?: number;
}

const CASES: readonly Case[] = [
  {
    name: 'recorded marks and indices that fire stops',
    markets: [MARKED],
    plan: { latency: CONSTANT },
    shows: [
      [/ fill /, 10],
      [/"role":"maker"/, 1],
      [/ order .*pending/, 5],
    ],
  },
  {
    name: 'recorded marks without latency',
    markets: [MARKED],
    plan: { latency: 'none' },
    shows: [[/ fill /, 10]],
  },
  {
    name: 'recorded funding rates',
    markets: [{ ...MARKED, fundingEvery: 10 }],
    plan: { latency: CONSTANT },
    shows: [[/ funding .*"payment":"-?0\.0*[1-9]/, 5]],
  },
  {
    name: 'jittered latency',
    markets: [{ ...MARKED, fundingEvery: 20 }],
    plan: { latency: 'jitter:feed=2ms,entry=5ms,response=5ms,compute=500us,jitter=3ms' },
    shows: [[/ fill /, 10]],
  },
  {
    name: 'recorded latency',
    markets: [{ ...MARKED, lags: true, calm: true }],
    plan: { latency: 'recorded:entry=1,response=2,least=1ms,compute=300us' },
    shows: [[/ bar /, 10]],
  },
  {
    name: 'an order that arrives after the data and is the best bid',
    markets: [MARKED],
    plan: { latency: CONSTANT },
    parameters: { style: 'late' },
    shows: [[/ placed \[\["new"/, 1]],
  },
  {
    name: 'several markets, with one margin',
    markets: [
      { ...MARKED, fundingEvery: 15 },
      { ...MARKED, symbol: 'BBB', fundingEvery: 15 },
      { ...A, symbol: 'CCC', everyUs: 70_000 },
    ],
    plan: { latency: CONSTANT },
    shows: [
      [/ fill .*AAA/, 3],
      [/ fill .*BBB/, 3],
      [/ fill .*CCC/, 3],
    ],
  },
  {
    name: 'several markets without latency',
    markets: [MARKED, { ...MARKED, symbol: 'BBB' }],
    plan: { latency: 'none' },
    shows: [[/ fill .*BBB/, 3]],
  },
  {
    name: 'a liquidation',
    markets: [{ ...MARKED, drift: -3 }],
    plan: { latency: CONSTANT, balance: '20' },
    parameters: { style: 'leverage' },
    shows: [[/ fill .*"quantity":"-/, 1]],
    liquidations: 2,
  },
  {
    name: 'a liquidation in two markets',
    markets: [
      { ...MARKED, drift: -3 },
      { ...MARKED, symbol: 'BBB', drift: -3 },
    ],
    plan: { latency: CONSTANT, balance: '40' },
    parameters: { style: 'leverage', everyMs: 120 },
    shows: [
      [/ fill .*AAA.*"quantity":"-/, 1],
      [/ fill .*BBB.*"quantity":"-/, 1],
    ],
    liquidations: 2,
  },
  {
    name: 'more than a day, in which tokens expire',
    markets: [{ ...SPARSE, steps: 360 }],
    plan: { latency: CONSTANT, sampleUs: HOUR_US },
    parameters: { everyMs: 1_100_000, barS: 3600 },
    shows: [
      [/ funding .*"payment":"-?0\.0*[1-9]/, 5],
      [/ fill /, 5],
    ],
  },
  {
    name: 'recorded bars, delivered at their end',
    markets: [{ symbol: 'AAA', steps: 60, everyUs: 60_000_000, bars: true }],
    plan: { latency: CONSTANT, sampleUs: 60_000_000 },
    parameters: { everyMs: 25_000, barS: 60 },
    shows: [
      [/ bar /, 50],
      [/ fill /, 5],
    ],
  },
  {
    name: 'recorded bars, delivered when the next one opens',
    markets: [{ symbol: 'AAA', steps: 60, everyUs: 60_000_000, bars: true }],
    plan: { latency: 'none', sampleUs: 60_000_000, bars: 'quote=nextOpen,spread=0' },
    parameters: { everyMs: 25_000, barS: 60 },
    shows: [[/ bar /, 50]],
  },
  {
    name: 'trades only',
    markets: [A],
    plan: { latency: CONSTANT, fidelity: 'trades' },
    shows: [[/ trade /, 50]],
  },
  {
    name: 'single orders that move',
    markets: [{ ...A, everyUs: 130_000, orders: true }],
    plan: { latency: CONSTANT, queue: 'fifo' },
    shows: [
      [/ fill /, 10],
      [/ book /, 100],
    ],
  },
];

// They wait for the disk most of the time.
test.concurrent.each(CASES)(
  '$name',
  async ({ name, markets, plan: more, parameters = {}, shows, liquidations = 0 }) => {
    const data = join(folder, name.replaceAll(/\W+/g, '-'));
    await writeDataset(data, markets);
    const planned = await plannedOf(TESTER, parameters);
    const base = onAllData(planOf([planned], { data, sampleUs: 1_000_000 }));
    const plan: RunPlan = { ...base, ...more };
    const { output } = await executePlan(plan);
    const [backtest] = output.strategies;
    const served = await serveReplay(plan);
    try {
      const live = await liveOnReplay(served, plan, planned);
      expect(live.log.map(({ text }) => text)).toEqual(backtest?.log.map(({ text }) => text));
      expect(live.log).toEqual(backtest?.log);
      expect(
        firstDifference(
          comparedLive(live),
          comparedRun({ strategies: output.strategies }, null, ''),
        ),
      ).toBeNull();
      expect(live.equity.length).toBe(backtest?.equity.length);
      expect(live.foreignOrders).toBe(0);
      expect(backtest?.liquidations.length).toBeGreaterThanOrEqual(liquidations);
      for (const [words, min] of shows) {
        const count = live.log.filter(({ text }) => words.test(text)).length;
        expect([String(words), count >= min, count]).toEqual([String(words), true, count]);
      }
    } finally {
      await served.remove();
    }
  },
  120_000,
);
