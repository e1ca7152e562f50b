/** Why each trade of a run ended: in runs of the engine, for each kind of exit. */
import { expect, test } from 'vitest';
import type { StrategyOutput } from '../../src/backtest/output.ts';
import { runBacktest, type BacktestInput } from '../../src/backtest/run-backtest.ts';
import type { Command } from '../../src/engine/commands.ts';
import { marketId, priceTicks, quanta, timeUs } from '../../src/num/units.ts';
import { closedTrades, openTrades } from '../../src/report/analysis/excursions.ts';
import type { StrategyContext } from '../../src/strategy/strategy.ts';
import { batchesOf, entryOf, inputOf, madeUpTape, specOf, START_US } from './made-up.ts';

const SECONDS = 30;

interface Ended {
  readonly strategy: StrategyOutput;
  /** Reason and tag of each closed trade; of each that is open at the end. */
  readonly closed: readonly (readonly [string, string | null])[];
  readonly open: readonly (readonly [string, string | null])[];
  /** Σ PnL of all trades. */
  readonly pnl: number;
}

async function run(
  trade: (context: StrategyContext) => Promise<unknown>,
  input: Partial<BacktestInput> = {},
  deposit = quanta(10_000_000_000n),
): Promise<Ended> {
  const onStart = async (context: StrategyContext): Promise<void> => {
    await context.sleep(2_000_000);
    await trade(context);
  };
  const entry = entryOf({ onStart }, { deposit });
  const { strategies, markets } = await runBacktest(inputOf([entry], SECONDS, input));
  const strategy = strategies[0]!;
  const closed = closedTrades(strategy, markets);
  const open = openTrades(strategy, markets);
  return {
    strategy,
    closed: closed.map(({ exitReason, exitTag }) => [exitReason, exitTag]),
    open: open.map(({ exitReason, exitTag }) => [exitReason, exitTag]),
    pnl: [...closed, ...open].reduce((sum, { pnl }) => sum + pnl, 0),
  };
}

type StrategyOrder = Parameters<StrategyContext['submit']>[0];

const ENTRY = { side: 'buy', size: '0.02', tag: 'breakout' } as const;
const enter =
  (...orders: readonly Partial<StrategyOrder>[]) =>
  async (context: StrategyContext): Promise<void> => {
    for (const order of orders) {
      await context.submit({ ...ENTRY, ...order });
      await context.sleep(1_000_000);
    }
  };

test.each([
  ['a plain order', enter({}, { side: 'sell', tag: 'fade' }), ['order', 'fade']],
  [
    'an order without a tag',
    async (context: StrategyContext) => {
      await context.submit(ENTRY);
      await context.sleep(1_000_000);
      await context.submit({ side: 'sell', size: '0.02' });
    },
    ['order', null],
  ],
  [
    'an order that reverses',
    enter({}, { side: 'sell', size: '0.04', tag: 'turn' }),
    ['order', 'turn'],
  ],
  ['its take profit', enter({ takeProfit: '1000.5', stopLoss: '500' }), ['takeProfit', 'breakout']],
  [
    'its stop loss',
    enter({ side: 'sell', takeProfit: '500', stopLoss: '1000.5' }),
    ['stopLoss', 'breakout'],
  ],
  [
    'a trailing stop',
    enter(
      {},
      {
        side: 'sell',
        orderType: 'trailingStop',
        trailingPercent: '0.01',
        reduceOnly: true,
        tag: 'trail',
      },
    ),
    ['trailingStop', 'trail'],
  ],
] as const)('a trade that %s closed', async (_, trade, exit) => {
  const { closed, pnl, strategy } = await run(trade);
  expect(closed).toEqual([exit]);
  expect(pnl).toBeCloseTo(Number(strategy.summary.pnl), 6);
});

test('a liquidation', async () => {
  const { closed } = await run(
    async (context) => {
      for (let i = 0; i < 10; i++) {
        await context.submit({ side: 'sell', size: '0.04' }).catch(() => undefined);
      }
    },
    // Up to 500 times the equity: a move of 0.1 % liquidates.
    { markets: [specOf('T', { initialMargin: '0.002', maintenanceMargin: '0.001' })] },
    quanta(1_000_000n),
  );
  expect(closed.at(-1)).toEqual(['liquidation', null]);
});

test('a position that is open at the end is an open trade at the last mark', async () => {
  const { closed, open, pnl, strategy } = await run(
    enter({}, { side: 'sell', size: '0.005' }, { size: '0.01' }),
  );
  expect([closed, open]).toEqual([[], [['endOfRun', null]]]);
  // With all that was paid and earned, so the trades sum to the result of the run.
  expect(pnl).toBeCloseTo(Number(strategy.summary.pnl), 6);
});

test('a delisting', async () => {
  const delist: Command = {
    kind: 'delistMarket',
    timeUs: timeUs(START_US + 10_000_000),
    market: marketId(0),
    priceTicks: priceTicks(10_010),
  };
  const tape = madeUpTape(10);
  const { closed, open } = await run(enter({}), { tape: batchesOf([...tape, delist]) });
  expect([closed, open]).toEqual([[['delisting', null]], []]);
});
