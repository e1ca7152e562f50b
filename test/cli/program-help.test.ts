import { beforeAll, expect, test, vi } from 'vitest';
import type * as CliSupport from '../../src/cli/cli-support.ts';
import { COMMANDS, COMPLETION, main, parserOf } from '../../src/cli/main.ts';
import { programHelp } from '../../src/cli/program-help.ts';

let failure = '';
vi.mock('../../src/cli/cli-support.ts', async (original) => {
  const real = await original<typeof CliSupport>();
  const explainFailure = (error: unknown): number => {
    failure = error instanceof Error ? error.message : '';
    return real.explainFailure(error);
  };
  return { ...real, explainFailure };
});

// A line that is refused ends before its command is loaded, and the tests may end then, too.
beforeAll(async () => {
  await Promise.all([
    import('../../src/cli/commands/backtest.ts'),
    import('../../src/cli/commands/sweep.ts'),
    // The command begins to load it before it reads its files.
    import('../../src/run-plan/plan.ts'),
  ]);
}, 60_000);

test('the help of the program is that of yargs', async () => {
  const parser = await parserOf(['--help']);
  expect(programHelp([COMPLETION, ...COMMANDS])).toBe(await parser.getHelp());
});

test.each([
  ['backtest none.ts --data none --seed', 'seed'],
  ['backtest none.ts --data= --seed 7', 'data'],
  ['backtest none.ts --seed --data none', 'seed'],
  ['backtest none.ts --data none --param', 'param'],
  ['sweep none.ts --data none --trials', 'trials'],
  // A shell gives an empty text for a variable without a value.
  ['backtest none.ts --data none --out ', 'out'],
])('%s lacks a value', async (line, option) => {
  expect(await main(line.split(' '))).toBe(2);
  expect(failure).toBe(`--${option} needs a value`);
});

test.each([
  ['backtest none.ts --data none --fees 0.1,0.1 --fees=0.2,0.2', 'fees'],
  ['backtest none.ts --data none --data other', 'data'],
  ['sweep none.ts --data none --trials 3 --trials 4', 'trials'],
])('%s gives an option twice', async (line, option) => {
  expect(await main(line.split(' '))).toBe(2);
  expect(failure).toBe(`--${option} takes one value; 2 are given`);
});

test('options with several values can be repeated', async () => {
  await main('backtest none.ts --data none --param a=1 --param b=2'.split(' '));
  expect(failure).toBe('none.ts: no such file or folder');
});

test.each([['--pg='], ['--pg', '']])(
  'an empty %s stands for the environment variable',
  async (...pg: string[]) => {
    vi.stubEnv('ORRERY_PG', '');
    await main(['report', 'none', ...pg]);
    expect(failure).toBe('name a database: --pg postgres://…, or ORRERY_PG');
  },
);

test('options with a value and flags do not lack one', async () => {
  for (const line of [
    'backtest none.ts --data none --seed 0 --json',
    'backtest none.ts --data none --no-journal --overwrite',
    'backtest none.ts --data none --seed -1',
  ]) {
    await main(line.split(' '));
    expect(failure).toContain('none.ts');
  }
});
