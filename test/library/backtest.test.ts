/** `orrery/backtest` as its users call it. */
import { inspect } from 'node:util';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backtest, openDataset, StrategyError, sweep, writeReport } from 'orrery/backtest';
import type { BacktestOptions, SweepOptions } from 'orrery/backtest';
import { replayJournal } from 'orrery/journal';
import { afterAll, expect, test } from 'vitest';
import grid from '../../examples/strategies/grid.ts';
import { main } from '../../src/cli/main.ts';
import { readRun } from '../../src/run-plan/run-folder.ts';
import { DATASET, example } from '../run-plan/plans.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-library-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const SHORT = { data: DATASET, to: '2024-08-08T23:55:00Z' };
const run = (options: Partial<BacktestOptions> = {}) =>
  backtest({ strategy: grid, id: 'grid', ...SHORT, ...options });

test('an object, a file and the command line give the same run', async () => {
  const out = join(folder, 'command');
  const args = ['--data', DATASET, '--to', SHORT.to, '--out', out, '--json'];
  expect(await main(['backtest', example('grid'), ...args])).toBe(0);
  const [ofObject, ofFile, ofCommand] = [
    await run(),
    await run({ strategy: example('grid') }),
    await readRun(out),
  ];
  expect(ofObject.strategies[0].fills.length).toBeGreaterThan(0);
  expect(ofFile.chainHash).toBe(ofObject.chainHash);
  expect(ofCommand.chainHash).toBe(ofObject.chainHash);
  expect(ofFile.stateHash).toBe(ofObject.stateHash);
  expect(ofObject.report.assumptions.map(({ text }) => text).join()).toContain(
    'an object of the calling program',
  );
});

test('runs side by side do not change each other', async () => {
  const options = [{ seed: '1' }, { seed: '1', parameters: { stepBp: 3 } }];
  const alone = [];
  for (const one of options) alone.push((await run(one)).chainHash);
  const together = await Promise.all(options.map((one) => run(one)));
  expect(together.map(({ chainHash }) => chainHash)).toEqual(alone);
  expect(new Set(alone).size).toBe(2);
});

test('a journal in memory and one in pieces replay to the hashes of the run', async () => {
  const pieces: Uint8Array[] = [];
  const seen: number[] = [];
  const kept = await run({ journal: true, onProgress: (fraction) => seen.push(fraction) });
  await run({ journal: (bytes) => pieces.push(bytes) });
  expect(Buffer.concat(pieces).equals(kept.journal)).toBe(true);
  const { engine, mismatch } = replayJournal(kept.journal);
  expect(mismatch).toBeNull();
  expect(engine.stateHash()).toBe(kept.stateHash);
  expect(seen.length).toBeGreaterThan(0);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
  expect((await run()).journal).toHaveLength(0);
});

test('several strategies have accounts of their own, and a report is written', async () => {
  const others = [{ strategy: grid, parameters: { stepBp: 4 } }, { strategy: example('quotes') }];
  const result = await run({ others });
  expect(result.strategies.map((strategy) => strategy.id)).toEqual(['grid', 'grid-2', 'quotes']);
  expect(new Set(result.strategies.map(({ account }) => account)).size).toBe(3);
  const page = await writeReport(result, join(folder, 'report'));
  expect(existsSync(page)).toBe(true);
  expect(existsSync(join(folder, 'report', 'report.json'))).toBe(true);
});

test.each([
  [{ stratgy: 1 }, "option 'stratgy' is not known; options are strategy, id"],
  [{ data: undefined }, 'give either data'],
  [{ agents: 'x.yaml' }, 'give either data'],
  [{ data: join(folder, 'none') }, 'none: no such file or folder'],
  [{ strategy: join(folder, 'none.ts') }, 'none.ts: no such file or folder'],
  [{ strategy: undefined }, 'strategy: must be the path of a file or an object'],
  [{ strategy: {} }, "strategy: the strategy's `name` must be text"],
  [{ others: [{ strategy: grid, id: 'grid' }] }, "id 'grid': two strategies of the run have it"],
  [{ parameters: { stepBp: 0 } }, "parameter 'stepBp' is '0': must be a number from 0.1 to 1000"],
  [{ parameters: { step: 1 } }, "unknown parameter 'step'; the strategy has "],
  [{ symbols: ['ETH'] }, 'no market ETH in the data; there are BTCUSDT'],
  [{ markets: ['ETH'] }, 'no market ETH; markets are BTCUSDT'],
  [{ markets: ['BTCUSDT', 'BTCUSDT'] }, 'market BTCUSDT: given twice'],
  [{ from: 'noon' }, "from 'noon': must be a UTC time such as"],
  [{ to: -1 }, "to '-1': must be a UTC time"],
  [
    { from: '2030-01-01T00:00:00Z' },
    'no data between from and to; the data are from 2024-08-08T23:',
  ],
  [
    { balance: '9000000000000' },
    'balance: all start balances together are at most 4611686018427.387904',
  ],
  [{ balance: '0' }, "balance '0': must be a positive amount with at most 6 decimals"],
  [{ latency: 'fast' }, "latency 'fast': must be none, a length of time"],
  [{ queue: 'lifo' }, "queue 'lifo': must be one of fifo, riskAverse"],
  [{ fidelity: 'l4' }, "fidelity 'l4': must be one of l3, l2, trades, bars"],
  [{ impact: 'halving:0s' }, "impact 'halving:0s': must be none, permanent"],
  [{ fees: { maker: '0.1' } }, "fees.taker 'undefined': must be decimal text such as 0.0001"],
  [
    { fees: { maker: '2', taker: '2' } },
    'market.takerFee: must be from 0 to 0.1 with at most 6 decimals',
  ],
  [{ margin: { initial: 'x', maintenance: '1' } }, "margin.initial 'x': must be decimal text"],
  [{ warmUp: 'soon' }, "warmUp 'soon': must be a length of time such as 1h30m"],
  [
    { sample: 10 },
    "sample '10': must be a length of time such as 1h30m, or whole microseconds, at",
  ],
  [{ faults: 'reject=2' }, "faults: reject '2' must be a number from 0 to 1"],
])('%j is refused with the option and its limit', async (options, message) => {
  const refused = run(options as unknown as Partial<BacktestOptions>);
  await expect(refused).rejects.toThrow(message);
  await expect(refused).rejects.not.toThrow('--');
});

test('progress of a part of the data ends at 1', async () => {
  const seen: number[] = [];
  const onProgress = (fraction: number) => seen.push(fraction);
  await run({ from: '2024-08-08T23:55:00Z', to: '2024-08-08T23:55:20Z', onProgress });
  expect(seen.at(-1)).toBe(1);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
  expect(seen[0]).toBeLessThan(0.5);
  expect(seen.at(-1)).toBeGreaterThan(0.95);
});

test('an error prints no details that it has not', async () => {
  const error: unknown = await run({ from: 'noon' }).catch((thrown: unknown) => thrown);
  expect(inspect(error)).toContain("code: 'strategy'");
  expect(inspect(error)).not.toContain('undefined');
});

test('an aborted signal ends a run with its reason', async () => {
  const reason = new Error('enough');
  await expect(run({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const controller = new AbortController();
  const onProgress = (): void => {
    controller.abort(reason);
  };
  await expect(run({ signal: controller.signal, onProgress })).rejects.toBe(reason);
});

test('a strategy that throws is named with its handler and the virtual time', async () => {
  const { parameters } = grid;
  const create = () => ({
    onTrade: () => {
      throw new TypeError('broken');
    },
  });
  await expect(run({ strategy: { name: 'bad', parameters, create } })).rejects.toThrow(
    /strategy 'grid' failed in onTrade at 2024-08-08 23:.*: TypeError: broken/,
  );
});

const VARY = { stepBp: [2, 4, 8] };
const search = (options: Partial<SweepOptions> = {}) =>
  sweep({ strategy: grid, ...SHORT, method: 'grid', vary: VARY, workers: 0, ...options });

test('a sweep gives each trial with its parameters, and the same ones of a file', async () => {
  const seen: number[] = [];
  const found = await search({
    objective: 'totalReturn',
    onTrial: (done) => seen.push(done),
  });
  expect(found.all.map(({ parameters }) => parameters)).toEqual(
    VARY.stepBp.map((step) => ({ stepBp: String(step) })),
  );
  expect(found.all.map(({ error }) => error)).toEqual([null, null, null]);
  const scores = found.all.map(({ score }) => score ?? NaN);
  expect(found.best?.score).toBe(Math.max(...scores));
  expect(found.trials.count).toBe(3);
  expect(seen).toEqual([1, 2, 3]);
  const range = { stepBp: { min: 2, max: 4, step: 2 } };
  const log = join(folder, 'trials.jsonl');
  const options = { strategy: example('grid'), objective: 'totalReturn', log } as const;
  const ofFile = await search({ ...options, id: grid.name, vary: range });
  expect(ofFile.all.map(({ score }) => score)).toEqual(scores.slice(0, 2));
  expect(existsSync(log)).toBe(true);
});

test.each([
  [{ trials: 0 }, 'trials 0: must be a whole number from 1 to 1000000'],
  [{ eta: 1 }, 'eta 1: must be a whole number from 2 to 100'],
  [{ method: 'guess' }, "method 'guess': must be one of grid, random, sobol, halving, tpe"],
  [{ objective: 'luck' }, "objective 'luck': must be one of totalReturn"],
  [{ vary: { stepBp: [0] } }, "parameter 'stepBp' is '0': must be a number from 0.1 to 1000"],
  [{ vary: { nothing: [0] } }, 'vary nothing: unknown parameter; valid are '],
  [{ workers: 2 }, 'workers 2: a strategy object runs in this process, so must be 0'],
  [{ workers: -1 }, 'workers -1: must be a whole number from 0 to 256'],
  [{ log: 'x' }, 'log: a strategy object has no hash that names its trials'],
  [{ ledger: true }, 'ledger: a strategy object has no hash that names its trials'],
  [{ trails: 3 }, "option 'trails' is not known"],
])('a sweep refuses %j with the option and its limit', async (options, message) => {
  await expect(search(options as unknown as Partial<SweepOptions>)).rejects.toThrow(message);
});

test('trials of other sweeps count where a ledger is kept', async () => {
  const ledger = join(folder, 'ledger');
  const counted = async (step: number, more: Partial<SweepOptions>): Promise<number> =>
    (await search({ strategy: example('grid'), vary: { stepBp: [step] }, ...more })).trials.count;
  expect(await counted(2, { ledger })).toBe(1);
  expect(await counted(4, { ledger })).toBe(2);
  expect(await counted(4, { ledger })).toBe(2);
  expect(await counted(8, {})).toBe(1);
  expect(await counted(8, { ledger: false })).toBe(1);
  expect(await counted(8, { ledger })).toBe(3);
});

test('an aborted signal ends a sweep with its reason', async () => {
  const reason = new Error('enough');
  const controller = new AbortController();
  const onTrial = (): void => {
    controller.abort(reason);
  };
  await expect(search({ signal: controller.signal, onTrial })).rejects.toBe(reason);
});

test('a dataset opens by its folder', async () => {
  const dataset = await openDataset(DATASET);
  expect(dataset.markets.map(({ symbol }) => symbol)).toEqual(['BTCUSDT']);
  expect(new StrategyError('x').name).toBe('StrategyError');
});
