/** Marks, indices, accounts, liquidations, the user's data, kept reads, plots and tags. */
import { roundTrips } from '../../src/report/analysis/round-trips.ts';
import { expect, test, vi } from 'vitest';
import { DataRows } from '../../src/backtest/data-rows.ts';
import { Plots } from '../../src/backtest/recording/plots.ts';
import type { BacktestOutput } from '../../src/backtest/output.ts';
import { runBacktest, type BacktestInput } from '../../src/backtest/run-backtest.ts';
import type { StrategyEntry } from '../../src/backtest/strategy-run.ts';
import type { DataUpdate, Strategy, StrategyContext } from '../../src/strategy/strategy.ts';
import { quanta } from '../../src/num/units.ts';
import { entryOf, inputOf, specOf, START_US } from './made-up.ts';

const FEED_US = 2000;
const run = (
  strategy: Strategy,
  entry: Partial<StrategyEntry> = {},
  input: Partial<BacktestInput> = {},
): Promise<BacktestOutput> => runBacktest(inputOf([entryOf(strategy, entry)], 20, input));

const row = (afterUs: number, value: number): DataUpdate => ({
  feed: 'news',
  timeUs: START_US + afterUs,
  row: { value },
});
const ROWS = [row(-1, 0), row(0, 1), row(150_000, 2), row(150_000, 3), row(7_000_000, 4)];

test('rows of data arrive one feed latency after they are available, in their order', async () => {
  const seen: (readonly [number, unknown])[] = [];
  await run(
    {
      onData: ({ row: { value } }, context) => {
        seen.push([context.now() - START_US, value]);
      },
    },
    {},
    { data: ROWS },
  );
  // Those of before the run are not delivered.
  expect(seen).toEqual([
    [FEED_US, 1],
    [150_000 + FEED_US, 2],
    [150_000 + FEED_US, 3],
    [7_000_000 + FEED_US, 4],
  ]);
});

test('a row that is played before it is available ends the run', async () => {
  // Planted fault: rows become due three seconds early.
  const dueUs = Object.getOwnPropertyDescriptor(DataRows.prototype, 'dueUs')!;
  const taken: PropertyDescriptor = Object.getOwnPropertyDescriptor(DataRows.prototype, 'take')!;
  const original = taken.value as (this: DataRows, atUs: number) => DataUpdate | null;
  const due = vi.spyOn(DataRows.prototype, 'dueUs', 'get').mockImplementation(function (
    this: DataRows,
  ) {
    return (dueUs.get!.call(this) as number) - 3_000_000;
  });
  const take = vi.spyOn(DataRows.prototype, 'take').mockImplementation(function (
    this: DataRows,
    atUs: number,
  ) {
    return original.call(this, atUs + 3_000_000);
  });
  const early = run({ onData: () => undefined }, {}, { data: ROWS });
  await expect(early).rejects.toThrow('data arrive after they are available');
  take.mockRestore();
  due.mockRestore();
});

test('marks and indices are delivered once each, and the kept equity follows them', async () => {
  const marks: string[] = [];
  const indices: string[] = [];
  const pairs: (readonly [number, number])[] = [];
  await run(
    {
      async onStart(context) {
        expect(context.equity()).toBeNull();
        // Between two marks, so that the request finds the mark that was delivered.
        context.setTimer('look', 1_500_000);
        await context.sleep(2_600_000);
        await context.submit({ side: 'buy', size: '0.04' });
      },
      onMark: ({ price, timeUs }, context) => {
        expect(timeUs + FEED_US).toBe(context.now());
        marks.push(price);
      },
      onIndex: ({ price }) => {
        indices.push(price);
      },
      async onTimer(name, context) {
        context.setTimer(name, 1_000_000);
        const kept = context.equity() ?? NaN;
        const stats = await context.client.call('getStats', {
          account: context.account,
          subaccountIndex: 0,
        });
        pairs.push([kept, Number(stats.accountValue)]);
      },
    },
    { keeps: { equity: true } },
  );
  expect(marks.length).toBeGreaterThan(10);
  expect(indices.length).toBeGreaterThan(10);
  expect(marks.some((mark, i) => mark === marks[i + 1])).toBe(false);
  expect(indices.some((index, i) => index === indices[i + 1])).toBe(false);
  expect(pairs.length).toBeGreaterThan(15);
  expect(new Set(pairs.map(([kept]) => kept)).size).toBeGreaterThan(10);
  for (const [kept, exact] of pairs) expect(kept).toBeCloseTo(exact, 6);
});

test('history and book are those of the deliveries; without a handler the definition keeps them', async () => {
  const bars: unknown[] = [];
  const reads: unknown[] = [];
  let lastBook: unknown = null;
  const own: Strategy = {
    onBar(bar, context) {
      bars.push(bar);
      expect(context.history()).toEqual(bars);
      expect(context.history(2)).toEqual(bars.slice(-2));
      expect(context.history(1, { intervalUs: 5_000_000 })).toHaveLength(
        Math.floor(bars.length / 5) > 0 ? 1 : 0,
      );
      bars.length = Math.min(bars.length, 1000);
    },
    onBook(book, context) {
      lastBook = book;
      expect(context.book()).toBe(book);
    },
  };
  // Of one length only, so that the list is the one of the handler.
  const single: Strategy = {
    ...own,
    onBar: (bar, context) => {
      bars.push(bar);
      expect(context.history()).toEqual(bars);
      expect(context.history(2)).toEqual(bars.slice(-2));
    },
  };
  await run(single, { barsUs: [1_000_000] });
  expect(bars.length).toBeGreaterThan(15);
  expect(lastBook).not.toBeNull();
  await run(
    {
      onStart: (context) => context.setTimer('look', 10_500_000),
      onTimer: (_, context) => {
        reads.push(context.history().length, context.book('T')?.symbol);
      },
    },
    { barsUs: [1_000_000], keeps: { bars: 3, book: true } },
  );
  expect(reads).toEqual([3, 'T']);
});

const onStart = (call: (context: StrategyContext) => unknown): Strategy => ({
  onStart: (context) => void call(context),
});

test.each([
  ['history', (c: StrategyContext) => c.history(), 'keeps: { bars: 500 }'],
  ['book', (c: StrategyContext) => c.book(), 'keeps: { book: true }'],
  ['equity', (c: StrategyContext) => c.equity(), 'keeps: { equity: true }'],
])('%s that is not kept names what the definition needs', async (_, call, message) => {
  await expect(run(onStart(call))).rejects.toThrow(message);
});

test.each([
  ['a count of 0', (c: StrategyContext) => c.history(0), 'history(0)'],
  ['more than is kept', (c: StrategyContext) => c.history(4), 'from 1 to 3'],
  ['an unknown length', (c: StrategyContext) => c.history(1, { intervalUs: 7 }), 'no bars of 7'],
  ['a plot without a name', (c: StrategyContext) => c.plot('', 1), '1 to 40 characters'],
  ['text as a value', (c: StrategyContext) => c.plot('x', '1' as never), 'must be a number'],
  ['another pane', (c: StrategyContext) => c.plot('x', 1, { pane: 'y' as never }), "'below'"],
  ['history of another market', (c: StrategyContext) => c.history(1, { symbol: 'U' }), 'market U'],
  ['the book of another market', (c: StrategyContext) => c.book('U'), 'market U'],
  [
    'a plot with another market',
    (c: StrategyContext) => c.plot('x', 1, { symbol: 'U' }),
    'market U',
  ],
  [
    'an unknown side',
    (c: StrategyContext) => c.submit({ side: 'long' as never, size: '1' }),
    'the side of an order must be buy or sell, got long',
  ],
  [
    'a negative size, which would be the other side',
    (c: StrategyContext) => c.submit({ side: 'buy', size: '-1' }),
    'the size of an order must be positive, got -1',
  ],
  [
    'a misspelled price, which would make a market order',
    (c: StrategyContext) => c.submit({ side: 'buy', size: '1', limit: '3' } as never),
    'an order has no limit; it has side, size, price',
  ],
  [
    'a size that is a number, of which a sale would make text',
    (c: StrategyContext) => c.submit({ side: 'sell', size: 1 as never }),
    'the size of an order must be text, got 1: context.market().size(number) makes it',
  ],
  [
    'an order without a size',
    (c: StrategyContext) => c.submit({ side: 'buy' } as never),
    'the size of an order must be text, got undefined',
  ],
  [
    'a price that is a number',
    (c: StrategyContext) => c.submit({ side: 'buy', size: '1', price: 3.5 as never }),
    'the price of an order must be text, got 3.5: context.market().price(number) makes it',
  ],
  [
    'a price of null, which would rest at the highest price',
    (c: StrategyContext) => c.submit({ side: 'buy', size: '1', price: null as never }),
    'the price of an order must be text, got null',
  ],
  [
    'a stop loss as the API has it',
    (c: StrategyContext) =>
      c.submit({ side: 'buy', size: '1', stopLoss: { triggerPrice: '3' } as never }),
    'the stopLoss of an order must be text, got an object',
  ],
  [
    'a post-only order without a price',
    (c: StrategyContext) => c.submit({ side: 'buy', size: '1', postOnly: true }),
    'an order with postOnly needs a price',
  ],
  [
    'a resting order without a price',
    (c: StrategyContext) => c.submit({ side: 'buy', size: '1', ioc: false }),
    'an order with ioc: false needs a price',
  ],
  [
    'a long tag',
    (c: StrategyContext) => c.submit({ side: 'buy', size: '1', tag: 'x'.repeat(81) }),
    'tag',
  ],
  [
    'a 21st plot',
    (c: StrategyContext) => Array.from({ length: 21 }, (_, i) => c.plot(`p${i}`, 1)),
    'at most 20',
  ],
])('%s is refused', async (_, call, message) => {
  const entry = { barsUs: [1_000_000], keeps: { bars: 3, book: true } };
  await expect(run(onStart(call), entry)).rejects.toThrow(message);
});

test('plots keep the last value of an instant, and gaps', async () => {
  const { strategies } = await run({
    onStart: (context) => {
      context.plot('a', 1);
      context.plot('a', 2);
      context.plot('b', NaN, { pane: 'below' });
      context.setTimer('later', 1000);
    },
    onTimer: (_, context) => context.plot('a', 3),
  });
  expect(strategies[0]!.plots).toEqual([
    { name: 'a', symbol: 'T', pane: 'price', timesUs: [START_US, START_US + 1000], values: [2, 3] },
    { name: 'b', symbol: 'T', pane: 'below', timesUs: [START_US], values: [null] },
  ]);
});

test('a name that is plotted for two markets has the values of each apart', () => {
  const plots = new Plots();
  for (const [symbol, value] of [
    ['T', 1],
    ['U', 2],
  ] as const) {
    plots.add(START_US, 'average', value, { symbol });
  }
  expect(plots.output().map(({ symbol, values }) => [symbol, values])).toEqual([
    ['T', [1]],
    ['U', [2]],
  ]);
  // A checkpoint of an earlier version has the name as the key.
  const older = new Map([...(plots.save() as Map<string, { name: string }>)].slice(0, 1));
  const resumed = new Plots();
  resumed.load(new Map([...older.values()].map((series) => [series.name, series])));
  resumed.add(START_US + 1, 'average', 3, { symbol: 'T' });
  expect(resumed.output().map(({ values }) => values)).toEqual([[1, 3]]);
});

test('the tag of an order is on its fills and its protective orders, not on others', async () => {
  const { strategies } = await run({
    async onStart(context) {
      await context.sleep(3_000_000);
      const { bid } = (await context.client.call('getPrice', { symbol: 'T' })) as never as {
        bid: unknown;
      };
      expect(bid).toBeUndefined();
      const bracket = { takeProfit: '2000', stopLoss: '500' };
      await context.submit({ side: 'buy', size: '0.02', tag: 'breakout', ...bracket });
      await context.submit({ side: 'sell', size: '0.01' });
    },
  });
  const [{ orders, fills }] = strategies as [BacktestOutput['strategies'][number]];
  expect(orders.map(({ orderType, tag }) => [orderType, tag])).toEqual([
    ['limit', 'breakout'],
    ['takeProfit', 'breakout'],
    ['stopLoss', 'breakout'],
    ['limit', null],
  ]);
  expect(new Set(fills.map(({ side, tag }) => `${side} ${tag}`))).toEqual(
    new Set(['buy breakout', 'sell null']),
  );
});

test('each step of a liquidation is delivered, and the account after it', async () => {
  const steps: string[] = [];
  const equities: number[] = [];
  const { strategies } = await run(
    {
      async onStart(context) {
        await context.sleep(2_000_000);
        for (let i = 0; i < 10; i++) {
          await context.submit({ side: 'sell', size: '0.04' }).catch(() => undefined);
        }
      },
      onLiquidation: ({ step }) => {
        steps.push(step);
      },
      onAccount: ({ equity }) => {
        equities.push(Number(equity));
      },
    },
    { deposit: quanta(1_000_000n) },
    // Up to 500 times the equity: a move of 0.1 % liquidates.
    { markets: [specOf('T', { initialMargin: '0.002', maintenanceMargin: '0.001' })] },
  );
  expect(strategies[0]!.liquidations.length).toBeGreaterThan(0);
  expect(steps).toEqual(strategies[0]!.liquidations.map(({ step }) => step));
  // Its loss is a closed trade, also where no order on the book closed the position.
  expect(strategies[0]!.summary.positions[0]!.final).toBe('0');
  const trades = roundTrips(strategies[0]!.fills, strategies[0]!.liquidations);
  expect(trades.some(({ liquidated }) => liquidated)).toBe(true);
  const sum = trades.reduce((total, { pnl }) => total + pnl, 0);
  expect(sum).toBeCloseTo(Number(strategies[0]!.summary.pnl), 6);
  expect(equities[0]).toBe(1);
  expect(equities.at(-1)).toBeLessThan(1);
});
