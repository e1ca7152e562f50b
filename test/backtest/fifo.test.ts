/**
 * `--queue fifo`: single orders contain queue positions, so no model is used, and the report states
 * it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { readRun } from '../../src/run-plan/run-folder.ts';
import { DATASET } from '../run-plan/plans.ts';

const scratch = mkdtempSync(join(tmpdir(), 'orrery-fifo-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

/** Bids once, behind the resting 7 and 4. */
const JOINS = `
import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({
  name: 'joins',
  parameters: {},
  create: () => {
    let sent = false;
    return {
      async onBook(update, context) {
        if (sent || update.bid?.size !== '11' || update.ask === null) return;
        sent = true;
        await context.submit({ side: 'buy', size: '2', price: update.bid.price, postOnly: true });
      },
    };
  },
});
`;

/** Seconds, type (1 adds, 3 removes, 4 executes), order, size, price in 1/10,000, side. */
const MESSAGES = [
  [34_200.1, 1, 1, 7, 5_000_000, 1],
  [34_200.2, 1, 2, 50, 5_000_100, -1],
  [34_205, 1, 3, 4, 5_000_000, 1],
  [34_206, 1, 4, 9, 5_000_000, 1],
  // The first order leaves: 4 remain ahead. An execution of these 4 leaves 0; the 9 behind do not
  // matter.
  [34_207, 3, 1, 7, 5_000_000, 1],
  [34_208, 4, 3, 4, 5_000_000, 1],
  [34_209, 4, 4, 2, 5_000_000, 1],
  [34_210, 1, 5, 1, 4_999_900, 1],
];

test('an order in a recording of single orders has its exact queue position', async () => {
  const messages = join(scratch, 'AAPL_2012-06-21_34200000_57600000_message_1.csv');
  writeFileSync(messages, MESSAGES.map((row) => row.join(',')).join('\n'));
  const strategy = join(scratch, 'joins.ts');
  writeFileSync(strategy, JOINS);
  const data = join(scratch, 'data');
  const units = ['--symbol', 'AAPL', '--tick', '0.0001', '--lot', '1'];
  expect(await main(['data', 'import', 'lobster', messages, '--out', data, ...units])).toBe(0);
  const out = join(scratch, 'run');
  const args = ['backtest', strategy, '--data', data, '--latency', 'none', '--out', out, '--json'];
  expect(await main([...args, '--queue', 'fifo'])).toBe(0);
  const run = await readRun(out);
  expect(run.assumptions).toContainEqual({
    title: 'Queue position: fifo',
    text: 'Each historical order has its own place in the queue, so the queue position of an order is exact. Trades fill orders in time priority.',
  });
  const [joined] = run.strategies[0]!.orders;
  expect(joined).toMatchObject({ queueAhead: '11', status: 'filled' });
  // History executed the order behind it.
  expect(
    run.strategies[0]!.fills.map(({ size, timeUs }) => [size, (timeUs % 86_400e6) / 1e6]),
  ).toEqual([['2', 34_209]]);
});

test('on levels it is rejected with the alternatives', async () => {
  const strategy = join(scratch, 'joins.ts');
  writeFileSync(strategy, JOINS);
  expect(
    await main([
      'backtest',
      strategy,
      '--data',
      DATASET,
      '--queue',
      'fifo',
      '--out',
      join(scratch, 'l2'),
    ]),
  ).toBe(2);
});
