import { deserialize, serialize } from 'node:v8';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import type { MarketOutput } from '../../src/backtest/output.ts';
import { marketShape } from '../../src/report/analysis/market-shape.ts';
import { stylisedFacts } from '../../src/backtest/stylised-facts.ts';
import { normal, ornsteinUhlenbeck } from '../../src/agents/fundamental.ts';
import { RandomStreams } from '../../src/virtual-time/rng.ts';
import { main } from '../../src/cli/main.ts';
import { executePlan } from '../../src/run-plan/plan.ts';
import type { RunPlan } from '../../src/run-plan/run-plan.ts';
import { readPopulation, type Population } from '../../src/run-plan/population.ts';
import { DATASET, example, plannedOf } from '../run-plan/plans.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-agents-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const MIXED = fileURLToPath(new URL('../../examples/populations/mixed.yaml', import.meta.url));

async function shortened(durationUs: number): Promise<Population> {
  return { ...(await readPopulation(MIXED)), durationUs };
}

const planOf = (population: Population, more: Partial<RunPlan> = {}): RunPlan => ({
  population,
  strategies: [],
  balance: '10000',
  seed: '7',
  ...more,
});

test('prices of a simulated market have the stylised facts', async () => {
  const { output, stylisedFacts: facts } = await executePlan(planOf(await shortened(400_000_000)));
  expect(output.engine.checkInvariants()).toEqual([]);
  expect(output.markets[0]!.trades).toBeGreaterThan(700);
  const [measured] = facts;
  // Fat tails, volatility clustering, and no autocorrelation of returns.
  expect(measured!.returns[0]!.excessKurtosis).toBeGreaterThan(0.5);
  expect(measured!.autocorrelation[0]!.absolute).toBeGreaterThan(0.05);
  expect(Math.abs(measured!.autocorrelation[0]!.returns)).toBeLessThan(0.25);
  expect(measured!.spread.p50).toBeGreaterThan(0);
  expect(measured!.depth.p95).toBeGreaterThan(measured!.depth.p5);
  // The price stays near the fundamental value.
  for (const { mid, index } of output.markets[0]!.series.slice(60)) {
    if (mid !== null) expect(Math.abs(mid / index! - 1)).toBeLessThan(0.02);
  }
});

test('a strategy with the name of an agent is refused: it would share its random numbers', async () => {
  const population = await shortened(10_000_000);
  const [group] = population.agents;
  const id = `${group!.kind}-0-0`;
  const planned = await plannedOf(example('quotes'), {}, id);
  const run = executePlan(planOf(population, { strategies: [planned] }));
  await expect(run).rejects.toThrow(
    `strategy '${id}': an agent has this name; give it another one`,
  );
});

test('a population is deterministic; another agent does not change the others’ random numbers', async () => {
  const population = await shortened(60_000_000);
  const first = await executePlan(planOf(population));
  const again = await executePlan(planOf(population));
  expect(again.output.chainHash).toBe(first.output.chainHash);
  const other = await executePlan(planOf(population, { seed: '8' }));
  expect(other.output.chainHash).not.toBe(first.output.chainHash);
  expect(other.output.markets[0]!.series[30]!.index).not.toBe(
    first.output.markets[0]!.series[30]!.index,
  );
  const more = {
    ...population,
    agents: [...population.agents, { ...population.agents[3]!, count: 1 }],
  };
  const shifted = await executePlan(planOf(more));
  expect(shifted.output.markets[0]!.series.map(({ index }) => index)).toEqual(
    first.output.markets[0]!.series.map(({ index }) => index),
  );
});

test('a resumed run of simulated agents equals an uninterrupted run, also when resumed twice', async () => {
  const population = await shortened(90_000_000);
  const chunks: Uint8Array[] = [];
  const journal = (bytes: Uint8Array): void => void chunks.push(bytes);
  const plan = planOf(population);
  const whole = await executePlan(plan, { journal });
  let polls = 0;
  const cancelled = (): boolean => ++polls > 3;
  const { checkpoint } = (await executePlan(plan, { journal, cancelled })).output;
  expect(checkpoint).not.toBeNull();
  for (const resume of [checkpoint, deserialize(serialize(checkpoint)) as typeof checkpoint]) {
    const { output, stylisedFacts: facts } = await executePlan(plan, {
      journal,
      resume: deserialize(serialize(resume)) as typeof resume,
    });
    expect(output.cancelled).toBe(false);
    expect(output.chainHash).toBe(whole.output.chainHash);
    expect(output.stateHash).toBe(whole.output.stateHash);
    expect(facts).toEqual(whole.stylisedFacts);
  }
});

test('a strategy trades with agents, also on a recorded fundamental', async () => {
  const population = await shortened(120_000_000);
  const recorded: Population = {
    ...population,
    fundamental: { ...population.fundamental, kind: 'recorded', data: DATASET },
  };
  const strategy = await plannedOf(example('grid'), { stepBp: 2 });
  const { output, data } = await executePlan(planOf(recorded, { strategies: [strategy] }));
  expect(output.strategies[0]!.summary.fills).toBeGreaterThan(0);
  // BTCUSDT on that evening.
  expect(output.markets[0]!.series[60]!.index).toBeCloseTo(61_800, -3);
  expect(data.map(({ title }) => title)).toEqual(['An endogenous market']);
});

test('R-5.3b: an index every five minutes does not freeze the market', async () => {
  const whole = await shortened(1_200_000_000);
  const population: Population = {
    ...whole,
    fundamental: { ...whole.fundamental, everyUs: 300_000_000 },
    agents: whole.agents.slice(0, 1).map((group) => ({ ...group, count: 1 })),
  };
  const { output } = await executePlan(planOf(population));
  expect(output.markets[0]!.frozenUs).toBe(0);
});

test.each([7_000_000, 90_000_000])(
  'a market lasts its duration with an index each %i µs',
  async (everyUs) => {
    const short = await shortened(20_000_000);
    const population: Population = {
      ...short,
      fundamental: { ...short.fundamental, everyUs },
      agents: short.agents.slice(0, 1),
    };
    const { output } = await executePlan(planOf(population));
    expect(output.deliveredUs).toBeGreaterThanOrEqual(population.startUs + 20_000_000);
    expect(output.markets[0]!.series.at(-1)!.index).toBeGreaterThan(0);
  },
);

test('a recorded fundamental that ends before the market is refused', async () => {
  const hour = await shortened(3_600_000_000);
  const fundamental = { ...hour.fundamental, kind: 'recorded', data: DATASET } as const;
  await expect(executePlan(planOf({ ...hour, fundamental }))).rejects.toThrow(
    /its prices last 34\d s, less than the duration of the population, 3600 s/,
  );
});

test('a hole of a year in a recorded fundamental takes no memory for its intervals', async () => {
  const data = join(folder, 'hole');
  const rows = ['2024-01-01', '2025-01-01'].map((day) => `${day}T00:00:00Z,50000,1`);
  const file = join(folder, 'hole.csv');
  writeFileSync(file, ['time,price,size', ...rows, ''].join('\n'));
  expect(await main(['data', 'import', 'csv', file, '--symbol', 'BTC', '--out', data])).toBe(0);
  const second = await shortened(1_000_000);
  const fundamental = { ...second.fundamental, kind: 'recorded', data, everyUs: 1000 } as const;
  // 3 × 10^10 intervals.
  const agents = second.agents.slice(0, 1).map((group) => ({ ...group, count: 1 }));
  const { output } = await executePlan(planOf({ ...second, fundamental, agents }));
  expect(output.markets[0]!.series.at(-1)!.index).toBe(50_000);
});

test('the report of a simulated market shows its terms and charts its stylised facts', async () => {
  const plan = planOf(await shortened(120_000_000));
  const { output, assumptions } = await executePlan(plan);
  expect(assumptions.map(({ title }) => title)).toEqual([
    'Index of SIM-PERP: the fundamental value',
    'Fees and margin',
  ]);
  expect(assumptions[1]!.text).toBe(
    'Maker 0.01 %, taker 0.035 %; initial margin 1 %, maintenance 0.5 %.',
  );
  const shape = marketShape(output.markets[0]!);
  const mids = output.markets[0]!.series.flatMap(({ mid }) => mid ?? []);
  const total = (counts: readonly number[]): number => counts.reduce((sum, n) => sum + n, 0);
  // Every return is in a bin; the normal counts sum to the same but for values beyond the bins.
  expect(total(shape.returns!.bins.counts)).toBe(mids.length - 1);
  expect(total(shape.returns!.normal)).toBeGreaterThan(0.97 * (mids.length - 1));
  expect(total(shape.returns!.normal)).toBeLessThan(1.01 * (mids.length - 1));
  expect(shape.memory[0]).toEqual({
    returns: shape.facts.autocorrelation[0]!.returns,
    absolute: shape.facts.autocorrelation[0]!.absolute,
  });
  expect(shape.noise).toBeCloseTo(1.96 / Math.sqrt(mids.length - 1), 12);
  expect(total(shape.spread!.counts)).toBe(Math.ceil(mids.length * 0.99));
});

test.each([
  ['agents: []', 'agents must name at least one group'],
  ['agents: [{ kind: dragon }]', "agents[0].kind 'dragon' must be one of noise, value"],
  ['agents: [{ kind: noise, count: 0 }]', 'agents[0].count must be a whole number from 1 to 10000'],
  [
    'agents: [{ kind: noise, with: { taking: 2 } }]',
    "agents[0].with parameter 'taking' is '2': must be a number from 0 to 1",
  ],
  [
    'agents: [{ kind: noise }, { kind: value, balance: 12.3456789 }]',
    "population.yaml: agents[1].balance '12.3456789' must be a positive multiple of the smallest amount, 0.000001",
  ],
  [
    'agents: [{ kind: noise, balance: lots }]',
    "agents[0].balance 'lots' must be a positive multiple",
  ],
  [
    'agents: [{ kind: noise }]\nfundamental: { start: 50000.05 }',
    "population.yaml: fundamental.start '50000.05' must be a positive multiple of the tick, 0.1",
  ],
  [
    'agents: [{ kind: noise }]\nmarket: { tickSize: wide }',
    "market.tickSize 'wide' must be a positive decimal number",
  ],
  ['agents: [{ kind: noise }]\nduration: soon', "duration 'soon' must be a length of time"],
  [
    'agents: [{ kind: noise }]\nduration: 1ms',
    "duration '1ms' must be a length of time such as 10m, at least 1s",
  ],
  [
    'agents: [{ kind: noise, latency: soon }]',
    "population.yaml: agents[0].latency 'soon': must be none, a length of time, constant",
  ],
  [
    'agents: [{ kind: noise, latency: "constant:feed=-1ms" }]',
    "population.yaml: agents[0].latency feed '-1ms' must be a length of time",
  ],
  ['agents: [{ kind: noise, latency: "measured:file=none.csv" }]', 'none.csv: no such file'],
  ['agents: [{ kind: noise }]\nfoo: 1', 'foo is not a known key; valid are market, duration'],
  ['agents: [{ kind: noise }]\nfundamental: { kind: recorded }', 'fundamental.data must be given'],
  ['- a', 'the file must be a map'],
])('%s is rejected with place and limit', async (text, words) => {
  const path = join(folder, 'population.yaml');
  writeFileSync(path, text);
  await expect(readPopulation(path)).rejects.toThrow(words);
});

test('draws of the fundamental have mean 0 and variance 1, and revert to the mean', () => {
  const random = new RandomStreams('f').stream('x');
  const draws = Array.from({ length: 20_000 }, () => normal(random));
  const mean = draws.reduce((sum, draw) => sum + draw, 0) / draws.length;
  const variance = draws.reduce((sum, draw) => sum + draw * draw, 0) / draws.length;
  expect(mean).toBeCloseTo(0, 1);
  expect(variance).toBeCloseTo(1, 1);
  const values = ornsteinUhlenbeck(
    { start: 200, mean: 100, reversion: 0.1, deviation: 0.001 },
    random,
  );
  const path = Array.from({ length: 200 }, () => values.next().value);
  expect(path[0]).toBe(200);
  expect(path[199]).toBeCloseTo(100, -0.5);
});

test('stylised facts of known series', () => {
  const market = (mids: readonly number[]): MarketOutput => ({
    symbol: 'T',
    tickSize: '1',
    lotSize: '1',
    gaps: [],
    frozenUs: 0,
    fundingRates: [],
    trades: 0,
    volume: '0',
    divergence: { size: '0', levels: 0 },
    series: mids.map((mid, i) => ({
      timeUs: i,
      mid,
      mark: mid,
      index: mid,
      spread: (i % 100) + 1,
      bidSize: 1,
      askSize: 2,
    })),
  });
  // Alternating returns: perfectly anticorrelated, of equal size, kurtosis 1.
  const zigzag = market(Array.from({ length: 2001 }, (_, i) => (i % 2 === 0 ? 100 : 100.1)));
  const facts = stylisedFacts(zigzag);
  expect(facts.autocorrelation[0]!.returns).toBeCloseTo(-1, 2);
  expect(facts.returns[0]!.excessKurtosis).toBeCloseTo(-2, 2);
  expect(facts.spread).toEqual({ p5: 5, p25: 25, p50: 50, p75: 75, p95: 95 });
  expect(facts.depth.p50).toBe(3);
  // A Pareto tail of exponent 3: sizes u^(−1/3).
  const random = new RandomStreams('hill').stream('u');
  let mid = 1e6;
  const pareto = Array.from({ length: 20_001 }, (_, i) => {
    const size = 1e-6 / Math.cbrt(random.next());
    mid *= 1 + (i % 2 === 0 ? size : -size);
    return mid;
  });
  expect(stylisedFacts(market(pareto)).tailExponent).toBeCloseTo(3, 0);
});
