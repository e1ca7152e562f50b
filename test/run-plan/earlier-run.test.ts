/** A run of release 0.2: its record and its plan lack some fields. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { readRun } from '../../src/run-plan/run-folder.ts';
import { DATASET, example } from './plans.ts';

const scratch = mkdtempSync(join(tmpdir(), 'orrery-earlier-run-'));
const folder = join(scratch, 'run');
type Json = Record<string, unknown>;
function edit(name: string, change: (content: Record<string, Json[]>) => void): void {
  const path = join(folder, name);
  const content = JSON.parse(readFileSync(path, 'utf8')) as Record<string, Json[]>;
  change(content);
  writeFileSync(path, JSON.stringify(content));
}

beforeAll(async () => {
  const run = ['backtest', example('grid'), '--data', DATASET, '--to', '2024-08-08T23:55:00Z'];
  expect(await main([...run, '--out', folder, '--json'])).toBe(0);
  edit('run.json', ({ markets, strategies }) => {
    for (const market of markets!) delete market['divergence'];
    for (const strategy of strategies!) {
      delete strategy['plots'];
      for (const order of strategy['orders'] as Json[]) {
        delete order['tag'];
        delete order['triggerPrice'];
      }
      for (const fill of strategy['fills'] as Json[]) {
        delete fill['tag'];
        delete fill['seq'];
      }
    }
  });
  edit('plan.json', ({ strategies }) => {
    for (const { bundle } of strategies!) delete (bundle as Json)['data'];
  });
});
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

test('a report is written of it, and its orders are explained', async () => {
  expect(await main(['report', folder])).toBe(0);
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  expect(/>[^<>]*\b(?:undefined|NaN)\b[^<>]*<\/(?:td|p|dd|li|h\d)>/.exec(page)).toBeNull();
  const { strategies } = await readRun(folder);
  const [fill] = strategies[0]!.fills;
  const number = String(fill!.orderNumber);
  expect(await main(['explain', folder, `#${number}`, '--html', '--json'])).toBe(0);
  const order = readFileSync(join(folder, `explain-${number}.html`), 'utf8');
  expect(order).toContain('It reached the exchange');
  expect(order).not.toContain('reason  undefined');
});
