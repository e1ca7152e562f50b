/** A search is known by the content of the files that its trials read. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SEMANTICS_VERSION } from '../../src/journal/format/header.ts';
import { planSearch, searchIdentity } from '../../src/search/plan-search.ts';
import { hashOf, TrialLog } from '../../src/search/trial-log.ts';
import { choice, integer, type ParameterValues } from '../../src/strategy/definition.ts';
import { writeDataset } from '../live/made-up-dataset.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-plan-search-'));
const data = join(folder, 'data');
const delays = join(folder, 'delays.csv');
const log = join(folder, 'trials.jsonl');
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function identity(): Promise<object> {
  const latency = `measured:file=${delays}`;
  const { search } = await planSearch(
    { data, strategies: [], balance: '1', seed: '1', latency },
    { parameters: { fast: integer(5, { min: 1, max: 20 }) } },
    { method: 'grid', trials: 1, eta: 3, objective: 'sharpe', seed: '1', vary: [] },
  );
  return searchIdentity(search);
}

function measured(answeredUs: number): void {
  writeFileSync(delays, `sentUs,exchangeUs,answeredUs\n1,2,${String(answeredUs)}\n`);
}

test('files that changed in place are those of another search', async () => {
  await writeDataset(data, [{ symbol: 'AAA', steps: 40, everyUs: 100_000, marksEvery: 2 }]);
  measured(3);
  const first = await identity();
  TrialLog.open(log, first).close();
  expect(hashOf(await identity())).toBe(hashOf(first));

  measured(4);
  expect(hashOf(await identity())).not.toBe(hashOf(first));

  measured(3);
  rmSync(data, { recursive: true });
  await writeDataset(data, [{ symbol: 'AAA', steps: 40, everyUs: 100_000, marksEvery: 3 }]);
  const other = await identity();
  expect(hashOf(other)).not.toBe(hashOf(first));
  expect(() => TrialLog.open(log, other)).toThrow(/another search/);
});

test('the same files with other units are those of another search', async () => {
  const manifest = join(data, 'manifest.json');
  const first = await identity();
  const text = readFileSync(manifest, 'utf8');
  for (const name of ['tickSize', 'lotSize']) {
    writeFileSync(manifest, text.replace(new RegExp(`("${name}": *")`, 'g'), '$11'));
    expect(hashOf(await identity()), name).not.toBe(hashOf(first));
  }
  writeFileSync(manifest, text);
  expect(hashOf(await identity())).toBe(hashOf(first));
});

test('a search whose longest warm-up leaves no time to trade is refused before its trials', async () => {
  const parameters = {
    slow: integer(5, { min: 1, max: 50 }),
    bar: choice('1s', ['1s', '1m']),
    size: integer(1, { min: 1, max: 3 }),
  };
  const warmUpUs = ({ slow, bar }: ParameterValues): number =>
    Number(slow) * (bar === '1m' ? 60_000_000 : 1_000_000);
  const planned = (vary: readonly string[], more: { readonly warmUpUs?: number } = {}) =>
    planSearch(
      { data, strategies: [], balance: '1', seed: '1', ...more },
      { parameters, warmUpUs },
      { method: 'grid', trials: 1, eta: 3, objective: 'sharpe', seed: '1', vary },
    );
  await expect(planned([])).rejects.toThrow(
    /^the warm-up of 50m leaves no time to trade: the data have \ds; all trials have the longest one of the search, that of (?=.*slow=50)(?=.*bar=1m)(?!.*size).*; --vary narrows a parameter$/,
  );
  await expect(planned(['slow=1:2:1'], { warmUpUs: 60_000_000 })).rejects.toThrow(
    /the data have \ds; use more data, or set a shorter warm-up$/,
  );
  await expect(planned(['slow=1:2:1'])).resolves.toHaveProperty('search');
});

test('two texts of one value are refused', async () => {
  const own = join(folder, 'own');
  await writeDataset(own, [{ symbol: 'AAA', steps: 40, everyUs: 100_000, marksEvery: 2 }]);
  const planned = planSearch(
    { data: own, strategies: [], balance: '1', seed: '1' },
    { parameters: { fast: integer(5, { min: 1, max: 20 }) } },
    { method: 'grid', trials: 1, eta: 3, objective: 'sharpe', seed: '1', vary: ['fast=10,1e1'] },
  );
  await expect(planned).rejects.toThrow('--vary fast: 10 and 1e1 are the same value');
});

test('trials by the rules of another release are those of another search', async () => {
  const path = join(folder, 'rules.jsonl');
  const own = await identity();
  TrialLog.open(path, own).close();
  const head = readFileSync(path, 'utf8');
  writeFileSync(path, head.replace(`"rules":${String(SEMANTICS_VERSION)}`, '"rules":1'));
  expect(() => TrialLog.open(path, own)).toThrow('or version of Orrery');
  writeFileSync(path, head);
  TrialLog.open(path, own).close();
});
