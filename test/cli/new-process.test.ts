/** `orrery new` and `orrery data sample`: each template runs and trades as it is written. */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type * as CliSupport from '../../src/cli/cli-support.ts';
import { main } from '../../src/cli/main.ts';
import { backtest } from '../../src/library/backtest/index.ts';
import { openDataset } from '../../src/tape-files/dataset-files.ts';

vi.mock('../../src/cli/cli-support.ts', async (original) => {
  const real = await original<typeof CliSupport>();
  const print = (line = ''): void => {
    printed += `${line}\n`;
  };
  const explainFailure = (error: unknown): number => {
    print(error instanceof Error ? error.message : '');
    return real.explainFailure(error);
  };
  return { ...real, print, printError: print, explainFailure };
});

const root = fileURLToPath(new URL('../../', import.meta.url));
const recorded = join(root, 'data', 'btcusdt-20240808');
const scratch = mkdtempSync(join(tmpdir(), 'orrery-new-'));
const sample = join(scratch, 'sample');
let printed = '';

beforeAll(async () => {
  expect(await main(['data', 'sample', '--out', sample, '--days', '30', '--seed', 'test'])).toBe(0);
});
beforeEach(() => {
  printed = '';
});
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

describe('names', () => {
  test.each([
    ['strategy', 'mine.ts', 'mine.ts'],
    ['scenario', 'mine.yaml', 'mine.yaml'],
    ['scenario', 'mine.yml', 'mine.yaml'],
  ])('orrery new %s %s writes %s', async (what, name, file) => {
    const dir = mkdtempSync(join(scratch, 'names-'));
    expect(await main(['new', what, name, '--dir', dir])).toBe(0);
    expect(printed).toContain(`wrote ${join(dir, file)}\n`);
    expect(readFileSync(join(dir, file), 'utf8')).not.toContain(`${name}.`);
  });

  test.each([
    ['strategy', 'mine.js', 'must start with a letter or digit'],
    ['strategy', '.ts', "name '.ts': may contain letters"],
    ['strategy', 'mine.ts.ts', "name 'mine.ts.ts': may contain letters"],
    ['strategy', 'folder/mine.ts', '; --dir names the folder'],
    ['scenario', 'mine.ts', "name 'mine.ts': may contain letters"],
  ])('orrery new %s %s is refused, and writes nothing', async (what, name, message) => {
    const dir = mkdtempSync(join(scratch, 'names-'));
    expect(await main(['new', what, name, '--dir', dir])).toBe(2);
    expect(printed).toContain(message);
    expect(readdirSync(dir)).toEqual([]);
  });
});

describe('orrery new strategy', () => {
  test.each([
    ['trend', recorded],
    ['sma', sample],
    ['maker', recorded],
    ['carry', sample],
    ['pairs', sample],
  ] as const)(
    '--template %s trades, and none of its orders is rejected',
    async (template, data) => {
      const dir = join(scratch, template);
      expect(
        await main([
          'new',
          'strategy',
          'mine',
          '--template',
          template,
          '--data',
          data,
          '--dir',
          dir,
        ]),
      ).toBe(0);
      const strategy = join(dir, 'mine.ts');
      expect(printed).toContain(`wrote ${strategy}\n`);
      expect(readFileSync(strategy, 'utf8')).not.toContain('{{');
      const { strategies } = await backtest({ strategy, data });
      const [{ fills, log, name }] = strategies;
      expect(name).toBe('mine');
      expect(fills.length).toBeGreaterThan(1);
      expect(new Set(fills.map(({ symbol }) => symbol)).size).toBe(
        template === 'carry' || template === 'pairs' ? 2 : 1,
      );
      expect(log.filter((line) => JSON.stringify(line).includes('rejected'))).toEqual([]);
    },
  );

  test('the test that it writes passes, and fails for a strategy that does not trade', async () => {
    const dir = join(scratch, 'with-test');
    expect(await main(['new', 'strategy', 'mine', '--dir', dir, '--data', recorded])).toBe(0);
    mkdirSync(join(dir, 'node_modules'));
    symlinkSync(root, join(dir, 'node_modules', 'orrery'));
    const env = Object.fromEntries(
      Object.entries(process.env).filter(
        ([name]) => !/^(VITEST|NODE_TEST_CONTEXT|NODE_OPTIONS)/.test(name),
      ),
    );
    const run = () =>
      spawnSync(process.execPath, ['--test', 'mine.test.mjs'], { cwd: dir, env, encoding: 'utf8' });
    const first = run();
    expect(first.stdout).toMatch(/pass 2\n/);
    expect(first.status).toBe(0);
    const idle = readFileSync(join(dir, 'mine.ts'), 'utf8').replace('context.warmingUp', 'true');
    writeFileSync(join(dir, 'mine.ts'), idle);
    const second = run();
    expect(second.stdout).toContain('no fill');
    expect(second.status).toBe(1);
  });

  test('nothing is written where a file exists, without --force', async () => {
    const dir = join(scratch, 'twice');
    mkdirSync(dir);
    writeFileSync(join(dir, 'mine.test.mjs'), 'kept');
    expect(await main(['new', 'strategy', 'mine', '--dir', dir])).toBe(2);
    expect(printed).toContain('mine.test.mjs: exists; --force overwrites it');
    expect(existsSync(join(dir, 'mine.ts'))).toBe(false);
    expect(await main(['new', 'strategy', 'mine', '--dir', dir, '--no-test'])).toBe(0);
    expect(readFileSync(join(dir, 'mine.test.mjs'), 'utf8')).toBe('kept');
    expect(await main(['new', 'strategy', 'mine', '--dir', dir, '--force'])).toBe(0);
    expect(readFileSync(join(dir, 'mine.test.mjs'), 'utf8')).not.toBe('kept');
  });

  test('names the command that makes data which are not there', async () => {
    const data = join(scratch, 'none');
    const args = ['new', 'strategy', 'mine', '--template', 'pairs', '--data', data];
    expect(await main([...args, '--dir', join(scratch, 'no-data')])).toBe(0);
    expect(printed).toMatch(/data {2}npx orrery data sample --out .*none\n/);
  });

  test.each([
    [['new', 'strategy', '../x'], "name '../x'"],
    [['new', 'scenario', 'x', '--template', 'sma'], '--template applies to strategies'],
    [['new', 'scenario', 'x', '--data', 'd'], '--data applies to strategies'],
  ])('%j is refused', async (args, message) => {
    expect(await main(args)).toBe(2);
    expect(printed).toContain(message);
  });
});

describe('orrery data sample', () => {
  test('writes markets with their terms, and says that they are synthetic', async () => {
    const { markets, manifest } = await openDataset(sample);
    expect(markets.map(({ symbol }) => symbol)).toEqual(['BTC-SAMPLE', 'ETH-SAMPLE']);
    for (const stream of manifest.streams) {
      expect(stream.counts).toEqual({ bar: 30 * 1_440, funding: 90 });
      expect(stream.source).toBe('synthetic: orrery data sample, seed test');
      expect(stream.gaps).toBe(0);
    }
    expect(await main(['data', 'verify', sample])).toBe(0);
  });

  test('the same command writes the same files', async () => {
    const again = join(scratch, 'again');
    expect(await main(['data', 'sample', '--out', again, '--days', '30', '--seed', 'test'])).toBe(
      0,
    );
    const files = async (folder: string) =>
      (await openDataset(folder)).manifest.streams.flatMap(({ parts }) => parts);
    expect(await files(again)).toEqual(await files(sample));
  });

  test.each([
    [['--days', '0'], '--days must be a whole number from 1'],
    [['--days', '4000'], '--days must be a whole number from 1 to 3660'],
    [['--from', '2024-02-30'], "--from must be a day such as 2024-01-01, got '2024-02-30'"],
    [['--symbols', 'BTCUSDT'], "--symbols: 'BTCUSDT' is none of BTC-SAMPLE"],
    [['--symbols', 'BTC-SAMPLE,btc-sample'], '--symbols names a market twice'],
  ])('%j is refused, and nothing is written', async (args, message) => {
    const out = join(scratch, 'refused');
    expect(await main(['data', 'sample', '--out', out, ...args])).toBe(2);
    expect(printed).toContain(message);
    expect(existsSync(out)).toBe(false);
  });

  test('an existing folder is kept: a dataset without --replace, another folder always', async () => {
    expect(await main(['data', 'sample', '--out', sample, '--days', '1'])).toBe(2);
    expect(printed).toContain('exists; --replace overwrites a dataset');
    const other = join(scratch, 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'thesis.txt'), 'kept');
    expect(await main(['data', 'sample', '--out', other, '--days', '1', '--replace'])).toBe(2);
    expect(printed).toContain('exists and is not a dataset');
    expect(existsSync(join(other, 'thesis.txt'))).toBe(true);
  });

  test('folders beside the dataset are kept, and nothing is left there', async () => {
    const dir = join(scratch, 'beside');
    for (const name of ['sample.new', 'sample.partial']) {
      mkdirSync(join(dir, name), { recursive: true });
      writeFileSync(join(dir, name, 'thesis.txt'), 'kept');
    }
    expect(await main(['data', 'sample', '--out', join(dir, 'sample'), '--days', '1'])).toBe(0);
    expect(readdirSync(dir).sort()).toEqual(['sample', 'sample.new', 'sample.partial']);
    for (const name of ['sample.new', 'sample.partial']) {
      expect(readFileSync(join(dir, name, 'thesis.txt'), 'utf8')).toBe('kept');
    }
  });
});

test('the shell gets commands, options and choices to complete', async () => {
  const complete = async (...words: string[]) => {
    const lines: string[] = [];
    const spy = vi.spyOn(console, 'log').mockImplementation((line: string) => lines.push(line));
    await main(['--get-yargs-completions', 'orrery', ...words]);
    spy.mockRestore();
    return lines.join('\n').split('\n');
  };
  expect(await complete('back')).toContain('backtest');
  expect(await complete('backtest', '--da')).toContain('--data');
  expect(await complete('data', '')).toContain('sample');
  expect(await complete('new', 'strategy', 'x', '--template', '')).toEqual(
    expect.arrayContaining(['sma', 'maker', 'carry', 'pairs']),
  );
});
