/** `orrery compare` and `orrery report` of runs that are not alike name what differs. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import type * as CliSupport from '../../src/cli/cli-support.ts';
import { command } from '../../src/cli/commands/compare.ts';
import { main } from '../../src/cli/main.ts';
import { DATASET } from '../run-plan/plans.ts';

vi.mock('../../src/cli/cli-support.ts', async (original) => {
  const real = await original<typeof CliSupport>();
  const print = (line = ''): void => {
    printed += `${line}\n`;
  };
  const printJson = (value: unknown): void => {
    print(JSON.stringify(value));
  };
  return { ...real, print, printError: print, printJson };
});

const folder = mkdtempSync(join(tmpdir(), 'orrery-compare-'));
const file = (...names: string[]): string => join(folder, ...names);
let printed = '';
beforeEach(() => {
  printed = '';
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

for (const name of ['still', 'other']) {
  writeFileSync(
    file(`${name}.ts`),
    `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: '${name}', parameters: {}, create: () => ({}) });
`,
  );
}
const population = (start: number): string => `
market: { symbol: SIM-PERP, tickSize: 0.5, lotSize: 0.001 }
duration: 1m
fundamental: { kind: ornsteinUhlenbeck, start: ${String(start)}, deviationBp: 1, reversion: 20m, every: 1s }
agents:
  - { kind: noise, count: 2, balance: 20000, with: { everyMs: 5000, lots: 4, widthBp: 12 } }
`;

const run = async (name: string, ...args: string[]): Promise<string> => {
  const out = file(name);
  expect(await main(['backtest', ...args, '--no-check', '--out', out])).toBe(0);
  return out;
};
const recorded = ['--data', DATASET, '--to', '2024-08-08T23:55:00Z'];

test('names agents that differ', async () => {
  writeFileSync(file('low.yaml'), population(40_000));
  writeFileSync(file('high.yaml'), population(50_000));
  const low = await run('low', file('still.ts'), '--agents', file('low.yaml'));
  const high = await run('high', file('still.ts'), '--agents', file('high.yaml'));
  expect(await main(['compare', low, high])).toBe(1);
  expect(printed).toContain('terms that differ: 1\n  population: ');
  expect(await main(['report', low, high, '--out', file('both')])).toBe(0);
  const page = readFileSync(file('both', 'index.html'), 'utf8');
  expect(page).toContain('The runs have different data, so their returns are not comparable.');
  expect(page).not.toContain('The runs have the same assumptions.');
}, 60_000);

test('names the fidelity and the model of markets without a book', async () => {
  const from = [file('still.ts'), ...recorded, '--fidelity', 'trades'];
  const book = await run('book', file('still.ts'), ...recorded);
  const trades = await run('trades', ...from);
  const wide = await run('wide', ...from, '--bars', 'spread=7');
  expect(await main(['compare', book, trades])).toBe(1);
  expect(printed).toContain('  BTCUSDT fidelity: l2 against trades\n');
  printed = '';
  expect(await main(['compare', trades, wide])).toBe(1);
  expect(printed).toMatch(/terms that differ: 1\n {2}bars: .*"spreadTicks":1.*"spreadTicks":7/);
}, 60_000);

test('compares one strategy of several, which is named', async () => {
  const two = await run('two', file('still.ts'), file('other.ts'), ...recorded);
  const compare = (strategy?: string): Promise<unknown> =>
    Promise.resolve(
      command.handler({ left: two, right: two, strategy, json: true, _: [], $0: '' }),
    );
  await expect(compare()).rejects.toThrow(
    'name one strategy with --strategy; there are still, other',
  );
  await expect(compare('none')).rejects.toThrow(
    'no strategy none in the run; there are still, other',
  );
  printed = '';
  await compare('other');
  expect(JSON.parse(printed)).toMatchObject({ same: true });
}, 60_000);

test('a run without a strategy is named', async () => {
  writeFileSync(file('agents.yaml'), population(40_000));
  const agents = await run('agents', '--agents', file('agents.yaml'));
  await expect(
    Promise.resolve(
      command.handler({
        left: agents,
        right: agents,
        strategy: undefined,
        json: true,
        _: [],
        $0: '',
      }),
    ),
  ).rejects.toThrow(`${agents}: the run has no strategy`);
}, 60_000);

test('printed commands quote their folders', async () => {
  const out = await run("it's a run", file('still.ts'), ...recorded);
  const quoted = `'${file("it'\\''s a run", 'journal.orrery')}'`;
  expect(printed).toContain(`verify   npx orrery replay ${quoted} --verify\n`);
  expect(await main(['report', out])).toBe(0);
  const { verify } = JSON.parse(readFileSync(join(out, 'report.json'), 'utf8')) as {
    verify: string[];
  };
  expect(verify).toEqual([`npx orrery replay ${quoted} --verify`]);
}, 60_000);

test('says that a live run ended early', async () => {
  const record = {
    ...{ orrery: 'live', version: 1, strategy: 's', parameters: {}, clock: 'wall' },
    ...{ startedUs: 0, endedUs: 1, orders: [], fills: [], ends: [], equity: [], log: [] },
  };
  const live = (name: string, failure: string | null): string => {
    mkdirSync(file(name));
    writeFileSync(file(name, 'live.json'), JSON.stringify({ ...record, failure }));
    return file(name);
  };
  const [whole, cut] = [live('whole', null), live('cut', 'the disk is full')];
  await main(['compare', whole, cut]);
  expect(printed).toContain(`${cut}: the run ended early: the disk is full\n`);
  expect(printed).not.toContain(`${whole}: the run ended early`);
});
