/** Warnings of methods that no update calls, since their names are not those of handlers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backtest } from 'orrery/backtest';
import { defineStrategy, type Strategy } from 'orrery/strategy';
import { afterAll, expect, test } from 'vitest';
import { HANDLERS, misspelt } from '../../src/strategy/handler-names.ts';
import { DATASET } from './plans.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-misspelt-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const run = () => undefined;

const warningsOf = async (strategy: Parameters<typeof backtest>[0]['strategy']) => {
  const { report } = await backtest({ strategy, data: DATASET, to: '2024-08-08T23:55:00Z' });
  return report.data.filter(({ title }) => title.startsWith('Handlers of'));
};

test.each([
  ['in an object', '{ onBars() {}, onfill() {}, onTrade() {} }'],
  ['in a class', 'new (class { onTrade() {} onBars() {} onfill() {} })()'],
])('a misspelt handler of a JavaScript file is a warning: %s', async (_where, handlers) => {
  const path = join(folder, 'mine.js');
  writeFileSync(
    path,
    `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: 'mine', parameters: {}, create: () => (${handlers}) });`,
  );
  const warnings = await warningsOf(path);
  expect(warnings.map(({ text, isWarning }) => [text, isWarning])).toEqual([
    ['mine has a method onBars, which no update calls; did you mean onBar?', true],
    ['mine has a method onfill, which no update calls; did you mean onFill?', true],
  ]);
});

test('so is one of an object of the calling program', async () => {
  const create = () => ({ onTrades: run }) as unknown as Strategy;
  const warnings = await warningsOf(defineStrategy({ name: 'own', parameters: {}, create }));
  expect(warnings.map(({ text }) => text)).toEqual([
    'own has a method onTrades, which no update calls; did you mean onTrade?',
  ]);
});

test.each(['{ onTick() {}, onCandle() {} }', '{}'])(
  'a strategy without handlers is a warning that names them: %s',
  async (handlers) => {
    const path = join(folder, 'idle.js');
    writeFileSync(
      path,
      `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: 'idle', parameters: {}, create: () => (${handlers}) });`,
    );
    const [warning, ...others] = await warningsOf(path);
    expect(others).toEqual([]);
    expect(warning).toMatchObject({
      isWarning: true,
      text: expect.stringMatching(
        /^idle has no handler, so nothing calls it; handlers are onStart, onBook, onTrade, onBar, /,
      ) as string,
    });
  },
);

test.each(['onCandle', 'onTick', 'onOpen', 'onEntry', 'onExit', 'onSignal', 'on', 'once', 'bar'])(
  'a method of another name is one of the strategy: %s',
  (name) => {
    expect(misspelt({ [name]: run })).toEqual([]);
  },
);

test('a handler is none, and neither is a helper beside it or a value', () => {
  expect(misspelt(Object.fromEntries(HANDLERS.map((name) => [name, run])))).toEqual([]);
  expect(misspelt({ onBar: run, onBars: run } as Strategy)).toEqual([]);
  expect(misspelt({ onBars: 3 } as unknown as Strategy)).toEqual([]);
});
