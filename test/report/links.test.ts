/** Links and notes of report pages name what exists. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import type { OrderRow, StrategyOutput } from '../../src/backtest/output.ts';
import { renderExplanation, renderExplanations } from '../../src/report/explain-page.ts';
import { fileAddress } from '../../src/report/file-address.ts';
import { renderReport, renderRuns } from '../../src/report/html.ts';
import { buildReport } from '../../src/report/report.ts';
import { order } from './fixture-pages.ts';
import { ABOUT, fill, output, START_US, STEP_US, strategy } from './fixture.ts';

const LIBRARIES = { scripts: ['void 0;'], styles: '' };

const linkedOrders = (html: string): string[] =>
  [...html.matchAll(/href="explain\.html#(order-\d+)"/g)].map(([, id]) => id ?? '');

/** Alternating fills, each of an order of its own. */
function trading(id: string, first: number, count: number): StrategyOutput {
  const numbers = Array.from({ length: count }, (_, i) => first + i);
  const fills = numbers.map((orderNumber, i) =>
    fill(i % 2 === 0 ? 'buy' : 'sell', '0.02', '61800.1', i % 2 === 0 ? '0.02' : '0', {
      ...{ orderNumber, fillId: orderNumber, timeUs: START_US + STEP_US + i },
    }),
  );
  const orders: OrderRow[] = numbers.map((number) => order(number));
  return strategy(id, { fills, orders });
}

test('a fill links to its order only where the page of orders has it', () => {
  const one = trading('one', 1, 1500);
  // The order of a liquidation is not one of the strategy.
  const liquidated = fill('sell', '0.02', '61700.1', '0', { orderNumber: 9000, liquidation: true });
  const two = trading('two', 1501, 1000);
  const run = output([one, { ...two, fills: [...two.fills, liquidated] }]);
  const pages = { explanations: 'explain.html', timeMachine: null };
  const linked = linkedOrders(renderReport(buildReport(run, ABOUT), run, LIBRARIES, pages));
  const explained = renderExplanations(
    run,
    { title: 'two', latency: '5 ms', folder: 'reports/two' },
    LIBRARIES,
  );
  expect(linked).toHaveLength(2000);
  expect(linked.filter((id) => !explained.includes(`<section id="${id}"`))).toEqual([]);
});

test('a page of several runs names the file of each run that has all rows', () => {
  const run = output([trading('one', 1, 2001)]);
  const reported = ['left', 'right'].map((name) => ({
    ...{ name, report: buildReport(run, ABOUT), output: run, recording: null },
    ...{ explanations: null, timeMachine: null, allRows: `../${name}/report.json` },
  }));
  const html = renderRuns(reported, LIBRARIES);
  expect(html).toContain('The first 2,000 of 2,001; all are in ../left/report.json.');
  expect(html).toContain('The first 2,000 of 2,001; all are in ../right/report.json.');
  expect(html).not.toContain('all are in report.json');
});

test('the page of an order has all steps of its queue, which no file has', () => {
  const own = strategy('one');
  const steps = Array.from({ length: 2001 }, (_, i) => ({
    ...{ timeUs: START_US + STEP_US + i, seq: 100 + i, cause: 'trade' as const },
    ...{ ahead: '1', change: '-0.070', detail: `step ${String(i)}` },
  }));
  const story = {
    ...{ queueModel: 'probPower2' as const, steps, bestBid: '61800', bestAsk: '61801' },
    ...{ equity: '10000', initialRequirement: '10' },
  };
  const html = renderExplanation(
    output([own]),
    { order: order(1), strategy: own, latency: '5 ms', command: 'npx', story },
    LIBRARIES,
  );
  expect(html).toContain('step 2000</td>');
  expect(html).not.toContain('report.json');
});

test('the address of a file leads to it, whatever its name', () => {
  const root = mkdtempSync(join(tmpdir(), 'orrery-links-'));
  try {
    const run = join(root, 'a #1?, 50%');
    mkdirSync(run);
    writeFileSync(join(run, 'explain.html'), '');
    const address = fileAddress(join(root, 'both'), join(run, 'explain.html'));
    const url = new URL(`${address!}#order-1`, pathToFileURL(join(root, 'both', 'index.html')));
    expect(url.hash).toBe('#order-1');
    expect(fileURLToPath(url.href.replace(/#.*/, ''))).toBe(join(run, 'explain.html'));
    expect(fileAddress(root, join(run, 'time-machine.html'))).toBeNull();
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
