/** `orrery report` and `orrery explain --html` on runs of the command. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { command } from '../../src/cli/commands/report.ts';
import { main } from '../../src/cli/main.ts';
import { readRun } from '../../src/run-plan/run-folder.ts';
import { DATASET, example } from './plans.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-report-command-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const run = (name: string, ...more: string[]): Promise<number> =>
  main([
    ...['backtest', example('grid'), '--data', DATASET, '--to', '2024-08-08T23:55:00Z'],
    ...['--out', join(folder, name), '--json', ...more],
  ]);
const page = (...path: string[]): string => readFileSync(join(folder, ...path), 'utf8');

test('runs are put on one page, a run is written again, and an order has a page', async () => {
  expect(await run('a')).toBe(0);
  expect(await run('b', '--param', 'stepBp=4')).toBe(0);
  const [a, b, both] = ['a', 'b', 'both'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  expect(await main(['report', a, b, '--out', both])).toBe(0);
  const html = page('both', 'index.html');
  expect(html.includes('2 runs')).toBe(true);
  expect(html.match(/role="tab"/g)).toHaveLength(2);
  expect(/href="\.\.\/a\/explain\.html#order-\d/.test(html)).toBe(true);
  const first = page('a', 'index.html');
  rmSync(join(a, 'index.html'));
  expect(await main(['report', a])).toBe(0);
  expect(page('a', 'index.html') === first).toBe(true);

  const { strategies } = await readRun(a);
  const [fill] = strategies[0]!.fills;
  const number = String(fill!.orderNumber);
  expect(await main(['explain', a, `fill:${String(fill!.fillId)}`, '--html', '--json'])).toBe(0);
  const order = page('a', `explain-${number}.html`);
  expect(order.includes(`Order #${number} of grid`)).toBe(true);
  expect(order.includes('ahead of it')).toBe(true);
  expect(page('a', 'explain.html').includes(`id="order-${number}"`)).toBe(true);
});

test.each([
  [['none'], 'no such file or folder'],
  [['a', 'b', 'a/'], 'named twice'],
  [Array.from({ length: 21 }, (_, i) => `r${String(i)}`), 'a page has at most 20'],
])('report refuses %j', async (names, message) => {
  const run = names.map((name) => join(folder, name));
  const refused = Promise.resolve(
    command.handler({
      run,
      pg: undefined,
      out: join(folder, 'refused'),
      json: false,
      _: [],
      $0: '',
    }),
  );
  await expect(refused).rejects.toThrow(message);
  expect(existsSync(join(folder, 'refused'))).toBe(false);
});
