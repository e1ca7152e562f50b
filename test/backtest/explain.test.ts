import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  countLiquidations,
  explainLiquidation,
} from '../../src/backtest/explain/explain-liquidation.ts';
import { explainOrder } from '../../src/backtest/explain/explain-order.ts';
import { queueStory } from '../../src/backtest/explain/queue-story.ts';
import { runBacktest } from '../../src/backtest/run-backtest.ts';
import type { Strategy } from '../../src/strategy/strategy.ts';
import { main } from '../../src/cli/main.ts';
import type { Command } from '../../src/engine/commands.ts';
import { lots, marketId, priceTicks, quanta, timeUs } from '../../src/num/units.ts';
import { readRun } from '../../src/run-plan/run-folder.ts';
import { batchesOf, entryOf, inputOf, specOf, START_US } from './made-up.ts';
import { DATASET, example } from '../run-plan/plans.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-explain-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const run = join(folder, 'twap');
beforeAll(async () => {
  const range = ['--to', '2024-08-08T23:55:30Z', '--param', 'slices=4', '--param', 'everyS=10'];
  const args = ['backtest', example('twap'), '--data', DATASET, ...range, '--out', run, '--json'];
  expect(await main(args)).toBe(0);
});

test('the reductions of the volume ahead of an order sum to the initial volume', async () => {
  const { strategies } = await readRun(run);
  const journal = readFileSync(join(run, 'journal.orrery'));
  const resting = strategies[0]!.orders.filter(({ queueAhead }) => Number(queueAhead) > 0);
  expect(resting.length).toBeGreaterThan(0);
  for (const order of resting) {
    const story = queueStory(journal, order.orderNumber)!;
    expect(story.steps[0]).toMatchObject({ cause: 'rested', ahead: order.queueAhead });
    const moved = story.steps.slice(1).reduce((sum, { change }) => sum + Number(change), 0);
    const left = story.steps.at(-1)!.ahead;
    expect(Number(order.queueAhead) + moved).toBeCloseTo(Number(left), 9);
  }
});

test('the command explains orders and fills by every identifier, and reports unknown ones', async () => {
  const { strategies } = await readRun(run);
  const [strategy] = strategies;
  const fill = strategy!.fills.find(({ role }) => role === 'maker')!;
  for (const what of [
    fill.orderId,
    fill.orderId.slice(0, 16),
    `#${fill.orderNumber}`,
    `fill:${fill.fillId}`,
  ]) {
    expect(await main(['explain', run, what, '--json'])).toBe(0);
  }
  expect(await main(['explain', run, 'fill:1'])).toBe(2);
  expect(await main(['explain', run, 'nonsense!'])).toBe(2);
  expect(await main(['explain', run, 'liquidation'])).toBe(2);
  expect(await main(['explain', run, fill.orderId, '--strategy', 'other'])).toBe(2);
});

test('an order’s history has its latency legs, queue, fee and final status', async () => {
  const { strategies, markets } = await readRun(run);
  const { orders, fills } = strategies[0]!;
  const order = orders.find(({ queueAhead, filled }) => Number(queueAhead) > 0 && filled !== '0')!;
  const own = fills.filter(({ orderNumber }) => orderNumber === order.orderNumber);
  const text = explainOrder({
    order,
    fills: own,
    market: markets[0]!,
    latency: 'constant',
    story: queueStory(readFileSync(join(run, 'journal.orrery')), order.orderNumber),
  }).join('\n');
  expect(text).toContain('It reached the exchange 5.5 ms later');
  expect(text).toContain(`It rested on the book behind ${order.queueAhead} at its price`);
  expect(text).toContain('queue model probPower2');
  expect(text).toContain(`Fee ⌈${own[0]!.size} × ${own[0]!.price} × 0.0001⌉ = ${own[0]!.fee}`);
  expect(text).toContain('Filled.');
});

/** A book that falls by two ticks in a thousand per second. */
function falling(): Command[] {
  return Array.from({ length: 40 }, (_, i): Command => {
    const mid = 10_000 - 20 * i;
    return {
      kind: 'tapeSnapshot',
      timeUs: timeUs(START_US + i * 1_000_000 + 1),
      market: marketId(0),
      levels: [1, 2, 3].flatMap((d) => [
        { side: 'bid', priceTicks: priceTicks(mid - d), lots: lots(100_000) } as const,
        { side: 'ask', priceTicks: priceTicks(mid + d), lots: lots(100_000) } as const,
      ]),
    };
  });
}

test('a rejection for margin names what the exchange counts, not a limit beyond the market', async () => {
  const { strategies, markets } = await readRun(run);
  const [order] = strategies[0]!.orders;
  const rejected = { ...order!, status: 'rejected', reason: 'insufficientMargin', size: '0.6' };
  const text = (ioc: boolean, price: string): string =>
    explainOrder({
      order: { ...rejected, ioc, price, restedUs: null, queueAhead: null },
      fills: [],
      market: markets[0]!,
      latency: 'constant',
      story: null,
    }).join('\n');
  expect(text(true, '214748364.7')).toContain(
    'is less than the requirement of 0.6 at the mark × the initial rate, and the fee.',
  );
  expect(text(true, '214748364.7')).not.toContain('214748364.7');
  expect(text(false, '61000')).toContain(
    'the requirement of 0.6 at the mark × the initial rate, the loss from the mark to 61000, and the fee.',
  );
});

test('a liquidation is explained with the margin formula and its numbers', async () => {
  const gambler: Strategy = {
    onStart: (context) => context.setTimer('buy', 2_500_000),
    async onTimer(_name, context) {
      await context.submit({ side: 'buy', size: '4' });
    },
  };
  const entry = entryOf(gambler, { deposit: quanta(100_000_000n) });
  const { strategies, journal } = await runBacktest(
    inputOf([entry], 0, {
      markets: [specOf('T', { initialMargin: '0.02', maintenanceMargin: '0.01' })],
      tape: batchesOf(falling()),
    }),
  );
  const [strategy] = strategies;
  expect(strategy!.liquidations.map(({ step }) => step)).toContain('order');
  expect(strategy!.fills.some(({ liquidation }) => liquidation)).toBe(true);
  const lines = explainLiquidation(journal, entry.account, 0, 1)!;
  const text = lines.join('\n');
  const { equity, maintenance } = strategy!.liquidations[0]!;
  expect(text).toContain(`Equity ${equity} was below the maintenance requirement ${maintenance}`);
  expect(text).toMatch(/T: 4 × \d+(\.\d)? − cost \d+(\.\d+)? = -\d+/);
  expect(text).toMatch(/T: maintenance \|4\| × \d+(\.\d)? × 0\.01 = /);
  // The numbers of the formula are those of the event: balance + unrealised PnL = equity.
  const balance = Number(/balance (-?[\d.]+)/.exec(text)![1]);
  const upnl = Number(/cost [\d.]+ = (-?[\d.]+)/.exec(text)![1]);
  expect(balance + upnl).toBeCloseTo(Number(equity), 6);
  expect(explainLiquidation(journal, entry.account, 0, 99)).toBeNull();
});

describe('with several strategies', () => {
  const GAMBLER = `
    import { decimal, defineStrategy } from 'orrery/strategy';
    export default defineStrategy({
      name: 'gambler',
      parameters: { size: decimal('14', { min: '0.1', max: '20', step: '0.1' }) },
      create: ({ size }) => ({
        onStart: (context) => context.setTimer('bet', 5_000_000),
        onTimer: (_name, context) => context.submit({ side: 'buy', size }),
      }),
    });`;

  async function gamble(out: string, ...more: readonly string[]): Promise<void> {
    const files = ['a', 'b'].map((name) => join(folder, `${name}.ts`));
    for (const file of files) writeFileSync(file, GAMBLER);
    const terms = [
      '--margin',
      '0.0685,0.067',
      '--balance',
      '60000',
      '--to',
      '2024-08-08T23:58:00Z',
    ];
    expect(
      await main([
        'backtest',
        ...files,
        '--data',
        DATASET,
        ...terms,
        ...more,
        '--out',
        out,
        '--json',
      ]),
    ).toBe(0);
  }

  test('a liquidation is found if it is unique, else all candidates are named', async () => {
    const [one, two] = [join(folder, 'one'), join(folder, 'two')];
    await gamble(one, '--param', 'a.size=0.1');
    expect(await main(['explain', one, 'liquidation', '--json'])).toBe(0);
    expect(await main(['explain', one, 'liquidation:2'])).toBe(2);
    await gamble(two);
    const { strategies } = await readRun(two);
    expect(strategies.map(({ liquidations }) => countLiquidations(liquidations))).toEqual([1, 1]);
    expect(await main(['explain', two, 'liquidation:1'])).toBe(2);
    expect(await main(['explain', two, 'liquidation:1', '--strategy', 'b', '--json'])).toBe(0);
  });
});

test('liquidations are counted by their last steps, without rows of transferred positions', () => {
  const steps = ['cancelOrders', 'order', 'safe', 'order', 'takeover', 'takeoverFrom', 'adlTo'];
  expect(countLiquidations(steps.map((step) => ({ step })))).toBe(2);
  expect(countLiquidations([{ step: 'adlTo' }])).toBe(0);
});
