/** Transfers of a strategy make no result: what they bring is no gain, what they take a loss. */
import { expect, test } from 'vitest';
import { runBacktest } from '../../src/backtest/run-backtest.ts';
import { metricsOf } from '../../src/metrics/metrics.ts';
import { marketId, ppb, timeUs } from '../../src/num/units.ts';
import { curveOf } from '../../src/report/report.ts';
import type { Strategy, StrategyContext } from '../../src/strategy/strategy.ts';
import { addressOfName } from '../../src/wallet/crypto-ports.ts';
import { barCommand } from '../bench/bar-flow.ts';
import { batchesOf, entryOf, inputOf, specOf, START_US } from './made-up.ts';

const SECOND_US = 1_000_000;

async function move(
  context: StrategyContext,
  amount: string,
  accountTo: string,
  indices: readonly [number, number] = [0, 0],
): Promise<void> {
  const { client, account } = context;
  const { cashFeedId } = await client.call('getConfig', {});
  await client.call('transfer', {
    ...{ target: account, accountFrom: account, accountTo, feedId: cashFeedId, amount },
    ...{ subaccountIndexFrom: indices[0], subaccountIndexTo: indices[1] },
    ...{ nonce: Number(context.nextNonce()), expiresAt: 9e12, signatures: [] },
  });
}

test('a present from another strategy is no return', async () => {
  const giver: Strategy = {
    async onStart(context) {
      await context.sleep(5 * SECOND_US);
      await move(context, '4000', addressOfName('taker'));
    },
  };
  const entries = [entryOf(giver, { id: 'giver' }), entryOf({}, { id: 'taker' })];
  const { strategies } = await runBacktest(inputOf(entries));
  const [gave, took] = strategies.map(({ equity, summary }) => ({
    summary,
    ...metricsOf(curveOf(equity)),
  }));
  expect(took).toMatchObject({ totalReturn: 0, maxDrawdown: 0, endEquity: 10_000, sharpe: null });
  expect(took?.summary).toMatchObject({ pnl: '0', transfers: '4000', equityEnd: '14000' });
  expect(strategies[1]?.equity.at(-1)).toMatchObject({ equity: 14_000, transfers: 4000 });
  expect(gave?.totalReturn).toBeCloseTo(-0.4, 12);
  expect(gave?.summary).toMatchObject({ pnl: '0', transfers: '-4000', maxDrawdown: '4000' });
});

test('money in another subaccount is lost until it returns', async () => {
  const mover: Strategy = {
    async onStart(context) {
      await move(context, '4000', context.account, [0, 7]);
      await context.sleep(5 * SECOND_US);
      await move(context, '4000', context.account, [7, 0]);
    },
  };
  const { strategies } = await runBacktest(inputOf([entryOf(mover)]));
  const [{ equity, summary }] = strategies as [(typeof strategies)[0]];
  const { totalReturn, maxDrawdown } = metricsOf(curveOf(equity));
  expect(totalReturn).toBe(0);
  expect(maxDrawdown).toBeCloseTo(0.4, 12);
  expect(summary).toMatchObject({ pnl: '0', transfers: '0' });
});

test('R-6.6: a deficit that the shortfall pays is of liquidation, and no transfer', async () => {
  const bars = [0, 1, 2].map((minute) => ({
    ...barCommand({ minute, open: 100, high: 100, low: 100, close: 100, volume: 5000 }, START_US),
    market: marketId(0),
  }));
  // Longs pay half of their notional, five times their money.
  const funding = {
    kind: 'settleFunding',
    timeUs: timeUs(START_US + 150_000_000),
    market: marketId(0),
    ratePpb: ppb(500_000_000),
  } as const;
  const buyer: Strategy = {
    async onStart(context) {
      await context.sleep(90 * SECOND_US);
      await context.submit({ side: 'buy', size: '1000' });
    },
  };
  const spec = specOf('T', {
    ...{ tickSize: '1', lotSize: '1', indexSource: 'mid', markSource: 'last' },
    ...{ recordedLiquidity: true, funding: { source: 'external' } },
  });
  const tape = batchesOf([bars[0]!, bars[1]!, funding, bars[2]!]);
  const run = await runBacktest(inputOf([entryOf(buyer)], 0, { markets: [spec], tape }));
  const [{ equity, liquidations, summary }] = run.strategies as [(typeof run.strategies)[0]];
  expect(liquidations.map(({ step }) => step)).toContain('shortfall');
  expect(summary).toMatchObject({ equityEnd: '0', pnl: '-10000', transfers: '0' });
  expect(Number(summary.pnlLiquidation)).toBeGreaterThan(30_000);
  expect(metricsOf(curveOf(equity)).endEquity).toBe(0);
});
