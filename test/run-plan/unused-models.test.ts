/** Models of data of another kind have no part in a run, which its report says. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backtest } from 'orrery/backtest';
import { defineStrategy } from 'orrery/strategy';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { DATASET } from './plans.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-unused-'));
const bars = join(folder, 'bars');
beforeAll(async () => {
  expect(await main(['data', 'sample', '--out', bars, '--days', '1'])).toBe(0);
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const strategy = defineStrategy({
  name: 'own',
  parameters: {},
  create: () => ({ onBar: () => undefined }),
});

const warningsOf = async (options: Partial<Parameters<typeof backtest>[0]>): Promise<string[]> => {
  const { report } = await backtest({ strategy, data: bars, ...options });
  return report.data.filter(({ title }) => title.startsWith('Unused')).map(({ text }) => text);
};

test('a queue model on bars is a warning, and the report names none', async () => {
  const { report } = await backtest({ strategy, data: bars });
  expect(report.assumptions).toContainEqual({
    title: 'Queue position: none',
    text: 'Bars have no queue: fill=touch or fill=through of --bars states which prices fill a resting order.',
  });
  expect(await warningsOf({ queue: 'probLog' })).toEqual([
    '--queue probLog is not used: the data are played as bars, and it is for l2 and trades.',
  ]);
  expect(await warningsOf({ bars: 'fill=through' })).toEqual([]);
});

test('a recording of best prices or funding rates alone is refused', async () => {
  const quotes = join(folder, 'X-quotes.csv');
  writeFileSync(quotes, 'timestamp,bid_price,bid_size,ask_price,ask_size\n1704067200,9.5,1,10,1\n');
  const rates = join(folder, 'X-rates.csv');
  writeFileSync(rates, 'time,rate\n1704067200,0.0001\n');
  for (const [file, kind] of [
    [quotes, 'touch'],
    [rates, 'funding'],
  ] as const) {
    const data = join(folder, kind);
    expect(await main(['data', 'import', 'csv', file, '--symbol', 'X', '--out', data])).toBe(0);
    await expect(backtest({ strategy, data })).rejects.toThrow(
      `${kind}: X has ${kind} alone, which cannot be played; add trades, a book or bars`,
    );
  }
});

test('a model of bars on price levels is a warning', async () => {
  const levels = { data: DATASET, to: '2024-08-08T23:54:30Z' };
  expect(await warningsOf({ ...levels, bars: 'spread=1' })).toEqual([
    '--bars spread=1 is not used: the data are played as l2, and it is for bars and trades.',
  ]);
  expect(await warningsOf({ ...levels, queue: 'probLog' })).toEqual([]);
  expect(await warningsOf({ ...levels, bars: 'spread=1', fidelity: 'trades' })).toEqual([]);
});
