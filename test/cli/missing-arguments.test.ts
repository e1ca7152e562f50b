/**
 * A command line without an argument gets its name, its meaning and an example; a number that is
 * none is shown as it was written.
 */
import { expect, test, vi } from 'vitest';
import type * as CliSupport from '../../src/cli/cli-support.ts';
import type { InputError } from '../../src/cli/cli-support.ts';
import { COMMANDS, main } from '../../src/cli/main.ts';

let printed = '';
vi.mock('../../src/cli/cli-support.ts', async (original) => {
  const real = await original<typeof CliSupport>();
  const explainFailure = (error: unknown): number => {
    const { message, hint } = error as InputError;
    printed = hint === undefined ? message : `${message} (${hint})`;
    return real.explainFailure(error);
  };
  return { ...real, explainFailure };
});

async function refused(line: string): Promise<string> {
  printed = '';
  expect(await main(line.split(' '))).toBe(2);
  return printed;
}

test.each(COMMANDS.filter(({ usage }) => usage.includes('<')).map(({ usage }) => [usage]))(
  '%s without arguments',
  async (usage) => {
    const [name = '', ...rest] = usage.split(' ');
    const message = await refused(name);
    for (const argument of rest.filter((word) => word.startsWith('<'))) {
      expect(message).toContain(`${argument.replace('..', '')}: `);
    }
    expect(message).toMatch(new RegExp(`\\((for example: orrery ${name} |see orrery ${name} --)`));
  },
);

test.each([
  [
    'explain reports/my',
    'missing <what>: order id or its first digits, #order-number, fill:<id>, or liquidation[:n] (for example: orrery explain reports/sma-cross 9f3a2c)',
  ],
  [
    'compare live/my',
    'missing <right>: folder of the second run (for example: orrery compare live/my reports/my)',
  ],
  [
    'new strategy',
    'missing <name>: name of the strategy or scenario (for example: orrery new strategy momentum)',
  ],
  ['data', 'missing <action>: import, info, verify, book, sample (see orrery data --help)'],
  [
    'data import csv',
    'missing <file>: files of one recording, in order; plain, gzip, zip, lz4 or zstd (for example: orrery data import binance-klines BTCUSDT-1m-2024-01.zip --out data/btc)',
  ],
  [
    'data import my.csv --symbol T --out my',
    'missing <format>: format of the files; auto detects it from their names (for example: orrery data import binance-klines BTCUSDT-1m-2024-01.zip --out data/btc)',
  ],
  [
    'new momentum',
    'missing <what>: kind of file (strategy, scenario) (for example: orrery new strategy momentum)',
  ],
  ['sweep', 'name a strategy file (create one with: orrery new strategy)'],
  ['walkforward', 'name a strategy file (create one with: orrery new strategy)'],
])('orrery %s', async (line, message) => {
  expect(await refused(line)).toBe(message);
});

test.each([
  ['fuzz --seconds abc', '--seconds must be a number, got "abc"'],
  ['fuzz --runs=1,5', '--runs must be a number, got "1,5"'],
  ['exhaust --depth -x', '--depth must be a number, got "-x"'],
  ['economic --plans 0x', '--plans must be a number, got "0x"'],
  ['fuzz --shrink-seconds ten', '--shrink-seconds must be a number, got "ten"'],
])('orrery %s', async (line, message) => {
  expect(await refused(line)).toBe(message);
});
