/**
 * Searches: trials do not depend on workers or interruptions; every trial is logged and counted.
 */
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { constantLatency, slowedLatency } from '../../src/virtual-time/latency.ts';
import { integer, choice, decimal, flag, number } from '../../src/strategy/definition.ts';
import { metricsOf } from '../../src/metrics/metrics.ts';
import { METRICS_DEFAULTS } from '../../src/metrics/options.ts';
import {
  selectionOf,
  spaceOf,
  sweep,
  withoutRatioText,
  type SweepPlan,
} from '../../src/search/sweep.ts';
import { METHODS } from '../../src/search/choices.ts';
import { robustness, variationsOf } from '../../src/search/robustness.ts';
import { RunsAhead } from '../../src/search/runs-ahead.ts';
import { stateFolder } from '../../src/platform/state-folder.ts';
import { countedLog, TrialLedger } from '../../src/search/trial-ledger.ts';
import { TrialLog, type Trial } from '../../src/search/trial-log.ts';
import type { TrialResult, TrialTask } from '../../src/search/trial.ts';
import { walkForward } from '../../src/search/walk-forward.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-sweep-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});
let logs = 0;
const logOf = (search: unknown, path = join(folder, `${logs++}.jsonl`)): TrialLog =>
  TrialLog.open(path, search);

const SPECS = {
  fast: integer(5, { min: 1, max: 20 }),
  mode: choice('a', ['a', 'b']),
};

function searchOf(more: Partial<SweepPlan> = {}): SweepPlan {
  return {
    plan: { data: 'none', strategies: [], balance: '1', seed: '1' },
    space: spaceOf(SPECS, []),
    method: 'random',
    trials: 12,
    eta: 3,
    objective: 'sharpe',
    options: METRICS_DEFAULTS,
    seed: '7',
    fromUs: 0,
    toUs: 1000,
    inputs: [],
    ...more,
  };
}

/** A result that depends only on the parameters and the range of data. */
function figuresOf({ parameters, plan }: TrialTask): TrialResult {
  const fast = Number(parameters['fast']);
  if (fast === 13) return { score: null, error: 'unlucky', figures: null, returns: [] };
  const sharpe =
    -((fast - 7) ** 2) / 10 - (plan.feesTimes ?? 1) + (parameters['mode'] === 'a' ? 1 : 0);
  return {
    score: sharpe,
    error: null,
    figures: {
      pnl: String(plan.toUs ?? 1000),
      totalReturn: 0,
      sharpe,
      maxDrawdown: 0,
      trades: 1,
      fills: 1,
      turnover: '1',
      chainHash: '',
      stateHash: '',
    },
    returns: Array.from({ length: 40 }, (_, i) => ((i * fast) % 7) / 1000 + sharpe / 1000),
  };
}

const quiet = { onTrial: () => undefined, cancelled: () => false };

/** Completes trials in another order than requested. */
async function shuffled(task: TrialTask): Promise<TrialResult> {
  await new Promise((resolve) => setTimeout(resolve, (Number(task.parameters['fast']) * 7) % 5));
  return figuresOf(task);
}

describe('a sweep', () => {
  it.each(METHODS)('%s: trials do not depend on the order of completion', async (method) => {
    const search = searchOf({ method });
    const straight = await sweep(search, {
      ...quiet,
      log: logOf(search),
      run: (task) => Promise.resolve(figuresOf(task)),
    });
    const other = await sweep(search, { ...quiet, log: logOf(search), run: shuffled });
    expect(other).toEqual(straight);
    expect(straight.trials.map(({ number }) => number)).toEqual(straight.trials.map((_, i) => i));
    expect(straight.trials.length).toBe(
      method === 'grid' ? 40 : method === 'halving' ? 12 + 4 + 1 : 12,
    );
  });

  it.each(METHODS)('%s: a stopped search resumes to the same result', async (method) => {
    const search = searchOf({ method });
    const whole = await sweep(search, { ...quiet, log: logOf(search), run: shuffled });
    const path = join(folder, `stopped-${method}.jsonl`);
    let runs = 0;
    for (const stopAfter of [5, 9]) {
      const log = logOf(search, path);
      const stopped = await sweep(search, {
        ...quiet,
        log,
        cancelled: () => runs >= stopAfter,
        run: (task) => {
          runs += 1;
          return shuffled(task);
        },
      });
      log.close();
      expect(stopped.cancelled).toBe(true);
    }
    appendFileSync(path, '{"number":11,"torn');
    const log = logOf(search, path);
    const resumed = await sweep(search, {
      ...quiet,
      log,
      run: (task) => {
        runs += 1;
        return shuffled(task);
      },
    });
    expect(resumed).toEqual(whole);
    expect(runs).toBe(whole.trials.length);
  });

  it('the best trial is among those on all of the data, and failures count as trials', async () => {
    const search = searchOf({ method: 'grid' });
    const { trials, best } = await sweep(search, { ...quiet, log: logOf(search), run: shuffled });
    expect(best?.score).toBe(0);
    expect(trials.filter(({ error }) => error === 'unlucky')).toHaveLength(2);
    const { trials: counted, overfitting } = selectionOf(trials, 365);
    expect(counted.count).toBe(40);
    expect(counted.sharpeVariance).toBeGreaterThan(0);
    expect(overfitting).toMatchObject({ trials: 38, splits: 12870 });
  });

  it('equal trials have no probability of overfitting, since nothing is selected', async () => {
    const search = searchOf({ method: 'grid' });
    const { trials } = await sweep(search, { ...quiet, log: logOf(search), run: shuffled });
    const [first] = trials;
    const equal = trials.map((trial) => ({ ...trial, returns: first?.returns ?? [] }));
    expect(selectionOf(equal, 365).overfitting).toBeNull();
    const other = { ...equal[1]!, returns: trials[1]?.returns ?? [] };
    expect(selectionOf([...equal.slice(0, 9), other], 365).overfitting).not.toBeNull();
  });

  it('failed trials count, and the variance is that of the ratios that there are', async () => {
    const search = searchOf({ method: 'grid' });
    const { trials } = await sweep(search, { ...quiet, log: logOf(search), run: shuffled });
    const ratios = trials.flatMap(({ figures }) => figures?.sharpe ?? []);
    const mean = ratios.reduce((a, b) => a + b) / ratios.length;
    const variance = ratios.reduce((a, b) => a + (b - mean) ** 2, 0) / ratios.length;
    const selection = selectionOf(trials, 365);
    expect(selection.ratios).toBe(38);
    expect(selection.trials.sharpeVariance).toBeCloseTo(variance / 365, 12);
    expect(withoutRatioText(selection.ratios, trials.length)).toBe(
      '38 of 40 trials have a Sharpe ratio: the variance is theirs',
    );
  });

  it('of trials that all failed but one, the variance and the deflated ratio are unknown', async () => {
    const search = searchOf({ method: 'grid' });
    const { trials } = await sweep(search, { ...quiet, log: logOf(search), run: shuffled });
    const failed = { score: null, error: 'unlucky', figures: null, returns: [] };
    const one = trials.map((trial, i) => (i === 0 ? trial : { ...trial, ...failed }));
    const selection = selectionOf(one, 365);
    expect(selection).toMatchObject({ trials: { count: 40, sharpeVariance: null }, ratios: 1 });
    expect(withoutRatioText(1, 40)).toBe(
      '1 of 40 trials has a Sharpe ratio: the variance is unknown',
    );
    const curve = { timesUs: [0, 1, 2, 3].map((n) => n * 864e8), equity: [100, 103, 102, 107] };
    const deflated = (count: number, sharpeVariance: number | null): number | null =>
      metricsOf(curve, null, METRICS_DEFAULTS, { count, sharpeVariance }).deflatedSharpe;
    expect(deflated(40, null)).toBe(null);
    expect(deflated(40, 0.01)).toBeLessThan(deflated(2, 0.01) ?? 0);
    // A run that is the only trial is not selected.
    expect(deflated(1, null)).toBe(metricsOf(curve).probabilisticSharpe);
  });

  it('halving: the variance is not that of its winners alone', async () => {
    const search = searchOf({ method: 'halving' });
    const { trials } = await sweep(search, { ...quiet, log: logOf(search), run: shuffled });
    expect(trials.filter(({ budget }) => budget === 1)).toHaveLength(1);
    const { ratios, trials: counted } = selectionOf(trials, 365);
    expect(ratios).toBe(trials.filter(({ error }) => error === null).length);
    expect(counted.sharpeVariance).toBeGreaterThan(0);
    // The variance of ratios on a quarter of the data is four times as large by chance alone.
    const quarter = trials.map((trial) => ({ ...trial, budget: 0.25 }));
    const whole = trials.map((trial) => ({ ...trial, budget: 1 }));
    expect(selectionOf(quarter, 365).trials.sharpeVariance).toBeCloseTo(
      (selectionOf(whole, 365).trials.sharpeVariance ?? 0) / 4,
      12,
    );
  });

  it('rows that are shorter at their start are compared over the same periods', async () => {
    const search = searchOf({ method: 'grid' });
    const { trials } = await sweep(search, { ...quiet, log: logOf(search), run: shuffled });
    const cutAtStart = trials.map((trial, i) => ({
      ...trial,
      returns: trial.returns.slice(i % 9),
    }));
    const common = trials.map((trial) => ({ ...trial, returns: trial.returns.slice(8) }));
    expect(selectionOf(cutAtStart, 365)).toEqual(selectionOf(common, 365));
    const fromStart = trials.map((trial) => ({ ...trial, returns: trial.returns.slice(0, 32) }));
    expect(selectionOf(cutAtStart, 365)).not.toEqual(selectionOf(fromStart, 365));
  });

  it('trials of other searches count, and none counts twice', async () => {
    const search = searchOf({ method: 'grid' });
    const { trials } = await sweep(search, { ...quiet, log: logOf(search), run: shuffled });
    const state = join(folder, 'state');
    const ledgerOf = (data = 'd1'): TrialLedger => new TrialLedger(state, 'cross', data);
    const ledger = ledgerOf();
    for (const trial of [...trials, ...trials]) ledger.entryOf(search)(trial);
    expect(ledger.count).toBe(40);
    // A write that was cut off costs its own line only.
    appendFileSync(ledger.path, 'torn');
    const other = ledgerOf();
    expect(other.count).toBe(40);
    other.entryOf(searchOf({ plan: { ...search.plan, feesTimes: 2 } }))({
      point: [0, 0],
      budget: 1,
      figures: null,
    });
    expect(ledgerOf().count).toBe(41);
    expect(ledgerOf('d2').count).toBe(0);
    // A strategy with a new name does not begin at zero.
    const renamed = new TrialLedger(state, 'cross 2', 'd1');
    expect(renamed.count).toBe(41);
    renamed.entryOf(search)({ point: [0, 0], budget: 1, figures: null });
    expect([renamed.count, ledgerOf().count]).toEqual([42, 42]);
    expect(selectionOf(trials, 365, 41).trials.count).toBe(41);
    expect(stateFolder({ ORRERY_STATE: '/s' }, '/h')).toBe('/s');
    expect(stateFolder({ XDG_STATE_HOME: '/x' }, '/h')).toBe('/x/orrery');
    expect(stateFolder({}, '/h')).toBe('/h/.local/state/orrery');
  });

  it('trials of two searches that run at once count once', async () => {
    const search = searchOf({ method: 'grid' });
    const { trials } = await sweep(search, { ...quiet, log: logOf(search), run: shuffled });
    const ledgerOf = (): TrialLedger => new TrialLedger(join(folder, 'at-once'), 'cross', 'd1');
    const both = [ledgerOf(), ledgerOf()];
    const figures = { chainHash: 'c'.repeat(64) } as NonNullable<Trial['figures']>;
    for (const trial of trials) {
      for (const ledger of both) ledger.entryOf(search)({ ...trial, figures });
    }
    expect(both.map(({ count }) => count)).toEqual([40, 40]);
    expect(ledgerOf().count).toBe(40);
  });

  it('another seed is another trial if its run differs', () => {
    const search = searchOf({ method: 'grid' });
    const ledgerOf = (): TrialLedger => new TrialLedger(join(folder, 'seeds'), 'coin', 'd1');
    const { figures } = figuresOf({
      ...{ plan: search.plan, parameters: { fast: '3', mode: 'a' } },
      ...{ objective: 'sharpe', options: search.options },
    });
    const count = (seed: string, run: string | null): number => {
      const ledger = ledgerOf();
      ledger.entryOf(searchOf({ method: 'grid', plan: { ...search.plan, seed } }))({
        point: [0, 0],
        budget: 1,
        figures:
          run === null || figures === null ? null : { ...figures, chainHash: run.repeat(32) },
      });
      expect(ledgerOf().count).toBe(ledger.count);
      return ledger.count;
    };
    // A failure, and then the run of the same trial.
    expect([count('1', null), count('1', 'a'), count('1', 'a'), count('1', null)]).toEqual([
      1, 1, 1, 1,
    ]);
    // The run does not depend on this seed; with another warm-up, the run of a seed differs.
    expect([count('2', 'a'), count('1', 'b')]).toEqual([1, 1]);
    // The seeds of a strategy that throws coins.
    expect([count('3', 'c'), count('4', 'd'), count('3', 'c')]).toEqual([2, 3, 3]);
    // Lines of earlier versions have a key only.
    const trials = join(folder, 'seeds', 'trials');
    for (const name of readdirSync(trials)) {
      const text = readFileSync(join(trials, name), 'utf8');
      writeFileSync(join(trials, name), text.replaceAll(/ .*/g, ''));
    }
    expect(ledgerOf().count).toBe(1);
    expect([count('1', 'a'), count('3', 'c')]).toEqual([1, 2]);
  });

  it('trials of a log count, also those that are older than the ledger', async () => {
    const search = searchOf({ method: 'grid' });
    const path = join(folder, 'counted.jsonl');
    const state = join(folder, 'counted');
    const first = logOf(search, path);
    await sweep(search, { ...quiet, log: first, run: shuffled });
    first.close();
    const ledger = new TrialLedger(state, 'cross', 'd1');
    const log = logOf(search, path);
    await sweep(search, {
      ...quiet,
      log: countedLog(log, ledger.entryOf(search)),
      run: () => Promise.reject(new Error('all are in the log')),
    });
    log.close();
    expect(ledger.count).toBe(40);
    // The same parameters on another part of the data are another trial.
    const later = searchOf({ method: 'grid', plan: { ...search.plan, fromUs: 500 } });
    await sweep(later, {
      ...quiet,
      log: countedLog(logOf(later), ledger.entryOf(later)),
      run: shuffled,
    });
    expect(new TrialLedger(state, 'cross', 'd1').count).toBe(80);
  });

  it('halving gives its rounds growing shares of the data', async () => {
    const search = searchOf({ method: 'halving', trials: 9 });
    const seen: number[] = [];
    await sweep(search, {
      ...quiet,
      log: logOf(search),
      run: (task) => {
        seen.push(task.plan.toUs ?? 1000);
        return Promise.resolve(figuresOf(task));
      },
    });
    expect([...new Set(seen)]).toEqual([111, 333, 1000]);
  });
});

describe('a log', () => {
  it('of another search is rejected', () => {
    const path = join(folder, 'other.jsonl');
    logOf({ seed: '1' }, path).close();
    logOf({ seed: '1' }, path).close();
    expect(() => logOf({ seed: '2' }, path)).toThrow('is the log of another search');
  });
  it('of another program is not changed', () => {
    const path = join(folder, 'foreign.jsonl');
    for (const content of ['{"mine":1}', '{"mine":1}\n{"mine":2}']) {
      writeFileSync(path, content);
      expect(() => logOf({}, path)).toThrow('is the log of another search');
      expect(readFileSync(path, 'utf8')).toBe(content);
    }
  });
  it('whose first line is cut off is begun again', () => {
    const path = join(folder, 'torn.jsonl');
    logOf({}, path).close();
    const head = readFileSync(path, 'utf8');
    writeFileSync(path, head.slice(0, 20));
    logOf({}, path).close();
    expect(readFileSync(path, 'utf8')).toBe(head);
  });
  it('that is damaged names its line', () => {
    const path = join(folder, 'damaged.jsonl');
    logOf({}, path).close();
    writeFileSync(path, `${readFileSync(path, 'utf8')}{"number":0}\nx\n{"number":2}\n`);
    expect(() => logOf({}, path)).toThrow('line 3: is damaged');
  });
});

describe('a space', () => {
  it('has every parameter over its range by default', () => {
    const space = spaceOf(
      {
        n: integer(1, { min: 1, max: 3 }),
        x: number(0, { min: 0, max: 1 }),
        d: decimal('0.1', { min: '0.1', max: '0.3', step: '0.1' }),
        c: choice('u', ['u', 'v']),
        f: flag(true),
      },
      [],
    );
    expect(space.map(({ values }) => values.length)).toEqual([3, 101, 3, 2, 2]);
    expect(spaceOf(SPECS, ['fast=1:9:4'])).toHaveLength(1);
  });
  it('has bounds of many decimals, rounded into the range', () => {
    const valuesOf = (min: number, max: number) =>
      spaceOf({ x: number(max, { min, max }) }, [])[0]?.values ?? [];
    expect(valuesOf(0, 2 / 3).at(-1)).toBe('0.6666666666');
    expect(valuesOf(1 / 3, 3.14159265358979)[0]).toBe('0.333333333334');
    expect(valuesOf(-1 / 3, 1)[0]).toBe('-0.333333333333');
    expect(valuesOf(1.5e-7, 1)[0]).toBe('0.00000015');
  });
  it('has no parameter with a value by default', () => {
    expect(spaceOf(SPECS, [], ['fast']).map(({ name }) => name)).toEqual(['mode']);
    expect(() => spaceOf(SPECS, [], ['fast', 'mode'])).toThrow('no parameters to vary');
  });
  it.each([
    [['slow=1:2:1'], 'unknown parameter; valid are fast, mode'],
    [['fast=1:2:1', 'fast=3'], 'given twice'],
  ])('%#', (vary, words) => {
    expect(() => spaceOf(SPECS, vary)).toThrow(words);
  });
  it.each(['fast=3:9:1', ' fast =3'])(
    '--vary %j of a parameter with a value is refused',
    (vary) => {
      expect(() => spaceOf(SPECS, [vary], ['fast'])).toThrow(
        '--vary fast: --param gives it a value',
      );
    },
  );
  it('a logarithmic parameter has values of one ratio, except in a list or with a step', () => {
    const specs = { x: number(1, { min: 0.0001, max: 1_000_000, scale: 'log' }) };
    const [own] = spaceOf(specs, []);
    expect(own?.values).toHaveLength(101);
    expect(own?.values.filter((_, i) => i % 10 === 0)).toEqual([
      '0.0001',
      '0.001',
      '0.01',
      '0.1',
      '1',
      '10',
      '100',
      '1000',
      '10000',
      '100000',
      '1000000',
    ]);
    expect(own?.values[51]).toBe('12.5893');
    expect(spaceOf(specs, ['x=1:4'])[0]?.values[50]).toBe('2');
    expect(spaceOf(specs, ['x=1:4:1'])[0]?.values).toEqual(['1', '2', '3', '4']);
    const small = spaceOf({ x: number(1e-7, { min: 1e-7, max: 1e-5, scale: 'log' }) }, []);
    expect(small[0]?.values[50]).toBe('0.000001');
    expect(spaceOf(specs, ['x=5:5'])[0]?.values).toEqual(['5']);
    const close = spaceOf(specs, ['x=0.000000000001:0.000000000003'])[0]?.values;
    expect(close).toEqual(['0.000000000001', '0.000000000002', '0.000000000003']);
    expect(() => spaceOf(specs, ['x=0:4'])).toThrow('logarithmic, so low must be above 0');
  });
  it.each([
    ['n=1:3', ['1', '2', '3']],
    ['n=0:250', Array.from({ length: 126 }, (_, i) => String(2 * i))],
    ['d=0.1:0.3', ['0.1', '0.2', '0.3']],
    ['d=0:25', Array.from({ length: 126 }, (_, i) => String((2 * i) / 10))],
  ])('a range without a step has values of its parameter only: %s', (vary, values) => {
    const specs = {
      n: integer(1, { min: 0, max: 250 }),
      d: decimal('0.1', { min: '0', max: '25', step: '0.1' }),
    };
    expect(spaceOf(specs, [vary])[0]?.values).toEqual(values);
  });
});

it('a latency factor applies to every leg', () => {
  const slow = slowedLatency(constantLatency(10, 20, 30, 5), 3);
  expect([slow.feedUs(0, null), slow.entryUs(0), slow.responseUs(0), slow.computeUs]).toEqual([
    30, 60, 90, 15,
  ]);
});

it.each([
  ['every value', []],
  ['a coarse list', ['fast=7,20', 'mode=a,b']],
])(
  'robustness shifts numbers by fractions, and latency and fees by factors: %s',
  async (_what, vary) => {
    const search = searchOf({ method: 'grid', space: spaceOf(SPECS, vary) });
    const { best } = await sweep(search, { ...quiet, log: logOf(search), run: shuffled });
    const tested = await robustness(search, SPECS, best as Trial, 365, shuffled);
    expect(tested?.sensitivity.map(({ name }) => name)).toEqual([
      'fast −20 % (6)',
      'fast +10 % (8)',
    ]);
    expect(tested?.stress.map(({ name, score }) => [name, score])).toEqual([
      ['latency × 2', 0],
      ['latency × 5', 0],
      ['fees × 2', -1],
      ['fees × 3', -2],
    ]);
    expect(tested?.bands?.samples).toBe(2000);
  },
);

it('a shift to a bound of many decimals stays within it', async () => {
  const specs = { x: number(0.5, { min: 0, max: 2 / 3 }) };
  const search = searchOf({ method: 'grid', space: spaceOf(specs, ['x=0.6']) });
  const { best } = await sweep(search, { ...quiet, log: logOf(search), run: shuffled });
  const { sensitivity } = variationsOf(search, specs, best as Trial);
  expect(sensitivity.at(-1)?.task.parameters).toEqual({ x: '0.6666666666666666' });
});

it('speculative runs start on idle workers only, and none runs twice', async () => {
  const search = searchOf({ method: 'grid' });
  const { best } = await sweep(search, { ...quiet, log: logOf(search), run: shuffled });
  const { sensitivity, stress } = variationsOf(search, SPECS, best as Trial);
  const tasks = [...sensitivity, ...stress].map(({ task }) => task);
  const begun: { task: TrialTask; end: () => void }[] = [];
  const workers = {
    idle: 2,
    run: (task: TrialTask): Promise<TrialResult> => {
      workers.idle -= 1;
      return new Promise((resolve) => {
        const end = (): void => {
          workers.idle += 1;
          resolve(figuresOf(task));
        };
        begun.push({ task, end });
      });
    },
  };
  const ahead = new RunsAhead(workers);
  ahead.want(tasks);
  expect(begun.map(({ task }) => task)).toEqual(tasks.slice(0, 2));
  begun[0]?.end();
  await Promise.resolve();
  expect(begun.map(({ task }) => task)).toEqual(tasks.slice(0, 3));
  ahead.want([]);
  begun[1]?.end();
  await Promise.resolve();
  expect(begun).toHaveLength(3);
  const tested = robustness(search, SPECS, best as Trial, 365, ahead.take);
  for (const { end } of begun.slice(2)) end();
  expect(begun.map(({ task }) => task)).toEqual(tasks);
  expect(await tested).toEqual(await robustness(search, SPECS, best as Trial, 365, shuffled));
});

it('a walk-forward selects on training and is scored on the next test', async () => {
  const search = searchOf({ method: 'grid' });
  const window = (at: number) => ({
    trainFromUs: at,
    trainToUs: at + 100,
    testFromUs: at + 110,
    testToUs: at + 150,
  });
  const stretches: [number | undefined, number | undefined][] = [];
  const walk = await walkForward(search, [window(0), window(40)], 365, {
    cancelled: () => false,
    maxParallel: 2,
    logOf: (_number, trained) => logOf(trained),
    onWindow: () => undefined,
    run: (task) => {
      stretches.push([task.plan.fromUs, task.plan.toUs]);
      return Promise.resolve(figuresOf(task));
    },
  });
  expect(new Set(stretches.map(String))).toEqual(
    new Set(['0,100', '110,150', '40,140', '150,190']),
  );
  expect(walk.windows.map(({ parameters }) => parameters)).toEqual([
    { fast: '7', mode: 'a' },
    { fast: '7', mode: 'a' },
  ]);
  expect(walk.outOfSample?.periods).toBe(80);
  expect(walk.cancelled).toBe(false);
});

it('a walk-forward keeps the message of a test that failed', async () => {
  const search = searchOf({ method: 'grid' });
  const window = (at: number) => ({
    trainFromUs: at,
    trainToUs: at + 100,
    testFromUs: at + 110,
    testToUs: at + 150,
  });
  const failed = (error: string): TrialResult => ({
    score: null,
    error,
    figures: null,
    returns: [],
  });
  const { windows, outOfSample } = await walkForward(
    search,
    [window(0), window(40), window(80)],
    365,
    {
      cancelled: () => false,
      maxParallel: 1,
      logOf: (_number, trained) => logOf(trained),
      onWindow: () => undefined,
      run: (task) => {
        const { fromUs } = task.plan;
        if (fromUs === 150) return Promise.resolve(failed('gave up after a loss'));
        return Promise.resolve(fromUs === 80 ? failed('no money') : figuresOf(task));
      },
    },
  );
  expect(windows.map(({ error }) => error)).toEqual([null, 'gave up after a loss', 'no money']);
  expect(windows.map(({ parameters }) => parameters === null)).toEqual([false, false, true]);
  // The returns of one test only.
  expect(outOfSample?.periods).toBe(40);
});

it('a test without a score is not in the efficiency, and a window without one is named', async () => {
  const window = (at: number) => ({
    trainFromUs: at,
    trainToUs: at + 100,
    testFromUs: at + 100,
    testToUs: at + 125,
  });
  const walkOf = (objective: string, scores: Readonly<Record<number, number>>) =>
    walkForward({ ...searchOf({ method: 'grid' }), objective }, [window(0), window(25)], 365, {
      cancelled: () => false,
      maxParallel: 1,
      logOf: (_number, trained) => logOf(trained),
      onWindow: () => undefined,
      run: (task) =>
        Promise.resolve({
          ...figuresOf(task),
          score: scores[task.plan.fromUs ?? -1] ?? null,
          error: null,
        }),
    });
  // The second test gained without a loss.
  const { efficiency, outOfSample } = await walkOf('profitFactor', { 0: 2, 100: 1.5, 25: 4 });
  expect(efficiency).toBe(0.75);
  expect(outOfSample?.periods).toBe(80);
  const { windows, outOfSample: chain } = await walkOf('profitFactor', { 0: 2, 100: 1.5 });
  expect(windows.map(({ error }) => error)).toEqual([null, 'profitFactor unknown']);
  expect(chain?.periods).toBe(40);
  // √n × mean ÷ deviation: of a quarter of the trades it is a half.
  const equal = await walkOf('sqn', { 0: 2, 100: 1, 25: 4, 125: 2 });
  expect(equal.efficiency).toBe(1);
});
