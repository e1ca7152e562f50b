/** Analysis of fills and curves for reports: trades, attribution, fill quality, months. */
import { describe, expect, it } from 'vitest';
import { attribution } from '../../src/report/analysis/attribution.ts';
import { histogram, monthlyReturns, rolling } from '../../src/report/analysis/distributions.ts';
import { fillQuality } from '../../src/report/analysis/fill-quality.ts';
import type { FillRow, OrderRow, StrategyOutput } from '../../src/backtest/output.ts';
import { heldTrades, openTrips, roundTrips } from '../../src/report/analysis/round-trips.ts';
import { cut } from '../../src/metrics/curve.ts';
import { correlation } from '../../src/metrics/further.ts';
import { METRICS_DEFAULTS } from '../../src/metrics/options.ts';
import { sharpe, sortino } from '../../src/metrics/ratios.ts';
import { buildReport } from '../../src/report/report.ts';
import { rollingCharts } from '../../src/report/sections/rolling-charts.ts';
import { tradeTable } from '../../src/report/sections/lists.ts';
import { runTables } from '../../src/report/tables/run-tables.ts';
import { RandomStreams } from '../../src/virtual-time/rng.ts';
import { ABOUT, fill, output, START_US, STEP_US, strategy } from './fixture.ts';

/** Neumaier's sum, as it is written in books. */
function plainSum(values: Iterable<number>): number {
  let total = 0;
  let lost = 0;
  for (const value of values) {
    const next = total + value;
    lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
    total = next;
  }
  return total + lost;
}

describe('round trips', () => {
  it('from flat to flat, with mean prices, fees and funding', () => {
    const [trade, ...others] = roundTrips([
      fill('buy', '1', '100', '1', { fee: '0.1' }),
      fill('buy', '3', '104', '4', { fee: '0.3', originatorFee: '0.1' }),
      fill('sell', '1', '110', '3', { fee: '0.1', realizedPnl: '7', realizedFunding: '-0.5' }),
      fill('sell', '3', '106', '0', { timeUs: START_US + 9, realizedPnl: '9' }),
    ]);
    expect(others).toEqual([]);
    expect(trade).toMatchObject({
      side: 'long',
      entryUs: START_US,
      exitUs: START_US + 9,
      size: 4,
      entryPrice: 103,
      exitPrice: 107,
      fees: 0.6,
      funding: -0.5,
      notional: 412 + 428,
      fills: 4,
    });
    expect(trade?.pnl).toBeCloseTo(7 + 9 - 0.5 - 0.6, 12);
    expect(trade?.pnlShare).toBeCloseTo(14.9 / 412, 12);
  });
  it('a fill that reverses the position ends one and starts the next, its fee split by size', () => {
    const trips = roundTrips([
      fill('sell', '1', '100', '-1'),
      fill('buy', '4', '90', '3', { fee: '0.4', realizedPnl: '10' }),
      fill('sell', '3', '95', '0', { realizedPnl: '15' }),
    ]);
    expect(trips.map(({ side, size, fees, pnl }) => [side, size, fees, pnl])).toEqual([
      ['short', 1, 0.1, 9.9],
      ['long', 3, expect.closeTo(0.3, 12), expect.closeTo(14.7, 12)],
    ]);
  });
  it('sizes are those of positions, without the rounding of sums', () => {
    const trips = roundTrips([
      fill('buy', '0.05', '100', '0.05'),
      fill('sell', '0.06', '100', '-0.01'),
      fill('buy', '0.03', '100', '0.02'),
      fill('buy', '0.01', '100', '0.03'),
      fill('sell', '0.03', '100', '0'),
    ]);
    expect(trips.map(({ size }) => size)).toEqual([0.05, 0.01, 0.03]);
  });
  it('markets are separate, and a position open at the end is not a trade', () => {
    const trips = roundTrips([
      fill('buy', '1', '100', '1'),
      fill('sell', '1', '10', '-1', { symbol: 'ETHUSDT' }),
      fill('buy', '1', '9', '0', { symbol: 'ETHUSDT', realizedPnl: '1', liquidation: true }),
    ]);
    expect(trips).toMatchObject([{ symbol: 'ETHUSDT', side: 'short', pnl: 1, liquidated: true }]);
  });
});

describe('round trips that end outside the book', () => {
  const moved = (step: string, size: string, price: string, more: object = {}) => ({
    timeUs: START_US + 5,
    symbol: 'BTCUSDT',
    step,
    equity: '0',
    maintenance: '0',
    size,
    limitPrice: price,
    bankruptcyPrice: null,
    amount: '0',
    realizedPnl: '-20',
    realizedFunding: '-1',
    ...more,
  });
  const step = moved('order', '-2', '70', { realizedPnl: undefined });

  it('a liquidated position is a trade that ends at the price of the transfer', () => {
    const trips = roundTrips(
      [
        fill('buy', '2', '100', '2', { fee: '0.5' }),
        // The next trade does not continue the one that was liquidated.
        fill('buy', '1', '80', '1', { timeUs: START_US + 8 }),
        fill('sell', '1', '85', '0', { timeUs: START_US + 9, realizedPnl: '5' }),
      ],
      [step, moved('takeoverFrom', '-2', '90')],
    );
    expect(trips).toMatchObject([
      { side: 'long', size: 2, entryPrice: 100, exitPrice: 90, liquidated: true, pnl: -21.5 },
      { side: 'long', size: 1, entryPrice: 80, exitPrice: 85, liquidated: false, pnl: 5 },
    ]);
    expect(trips[0]).toMatchObject({ exitUs: START_US + 5, fills: 1 });
  });

  it('what is taken is not traded: notionals of trades are those of fills, as the turnover', () => {
    const fills = [fill('buy', '2', '100', '2'), fill('sell', '0.5', '95', '1.5')];
    const taken = [moved('takeoverFrom', '-1', '90')];
    expect(heldTrades(fills, taken, START_US + 9)).toMatchObject([{ notional: 247.5 }]);
    const all = [moved('takeoverFrom', '-1.5', '90')];
    expect(heldTrades(fills, all, START_US + 9)).toMatchObject([{ notional: 247.5 }]);
    expect(roundTrips(fills, all)).toMatchObject([{ notional: 247.5, exitPrice: 91.25 }]);
  });

  it('a position that is taken in parts is one trade, whatever the rounding of their sum', () => {
    const at = { timeUs: START_US + 9 };
    const fills = [fill('buy', '0.3', '100', '0.3'), fill('buy', '1', '90', '1', at)];
    const taken = ['-0.1', '-0.2'].map((size) => moved('adlFrom', size, '90'));
    expect(roundTrips(fills, taken)).toMatchObject([{ size: 0.3, exitUs: START_US + 5 }]);
    const held = { fills, liquidations: taken, funding: [] };
    expect(openTrips(held, new Map(), START_US + 10)).toMatchObject([{ side: 'long', size: 1 }]);
  });

  it('transfers of two markets at one instant are ordered by the fills before them', () => {
    const at = { timeUs: START_US + 5 };
    const trips = roundTrips(
      [fill('buy', '2', '100', '2'), fill('buy', '1', '88', '1', at)],
      [
        moved('adlFrom', '-1', '9', { symbol: 'ETHUSDT', fillsBefore: 1 }),
        moved('adlFrom', '-2', '90', { fillsBefore: 1 }),
      ],
    );
    expect(trips).toMatchObject([{ size: 2, entryPrice: 100 }]);
  });

  it('fills and transfers of one instant are ordered by the positions that fills found', () => {
    const at = { timeUs: START_US + 5 };
    const trips = roundTrips(
      [
        fill('buy', '2', '100', '2'),
        fill('sell', '0.5', '90', '1.5', { ...at, liquidation: true, realizedPnl: '-5' }),
        fill('buy', '1', '88', '1', at),
      ],
      [moved('adlFrom', '-1.5', '89', { realizedPnl: '-16.5', realizedFunding: '0' })],
    );
    expect(trips).toMatchObject([{ size: 2, pnl: -21.5, liquidated: true, fills: 2 }]);
  });

  it('the other side of a deleveraging was not liquidated, and a part of it leaves it open', () => {
    const trips = roundTrips(
      [
        fill('sell', '2', '100', '-2'),
        fill('buy', '1', '70', '0', { timeUs: START_US + 9, realizedPnl: '30' }),
      ],
      [moved('adlTo', '1', '80', { realizedPnl: '20', realizedFunding: '0' })],
    );
    expect(trips).toMatchObject([{ side: 'short', exitPrice: 75, pnl: 50, liquidated: false }]);
  });
});

describe('the reason of an exit', () => {
  const opened = fill('buy', '2', '100', '2', { orderNumber: 1, tag: 'in' });
  const closedBy = (more: Partial<FillRow>) =>
    fill('sell', '2', '90', '0', { orderNumber: 2, timeUs: START_US + 1, ...more });
  const orders = [
    { orderNumber: 1, orderType: 'stopLoss' },
    { orderNumber: 2, orderType: 'twap' },
    { orderNumber: 3, orderType: 'trailingStop' },
  ];

  it.each([
    [{ tag: 'out' }, 'order', 'out'],
    [{ orderNumber: 3, tag: 'in' }, 'trailingStop', 'in'],
    [{ liquidation: true }, 'liquidation', null],
    // An order that is not in the list.
    [{ orderNumber: 9 }, 'order', null],
  ] as const)('of a fill %j is %s (%s)', (more, exitReason, exitTag) => {
    const [trade] = roundTrips([opened, closedBy(more)], [], orders);
    expect(trade).toMatchObject({ tag: 'in', exitReason, exitTag });
  });

  it.each([
    ['takeoverFrom', 'liquidation'],
    ['adlFrom', 'liquidation'],
    ['adlTo', 'deleveraging'],
    ['delistingFrom', 'delisting'],
    ['delistingTo', 'delisting'],
  ])('of a transfer %s is %s', (step, exitReason) => {
    const row = {
      ...{ timeUs: START_US + 5, symbol: 'BTCUSDT', step, equity: '0', maintenance: '0' },
      ...{ size: '-2', limitPrice: '90', bankruptcyPrice: null, amount: '0' },
      ...{ realizedPnl: '-20', realizedFunding: '0' },
    };
    expect(roundTrips([opened], [row], orders)).toMatchObject([{ exitReason, exitTag: null }]);
  });

  it('is that of the last part, and a position that is open at the end has the last mark', () => {
    const part = fill('sell', '1', '90', '1', { orderNumber: 3, tag: 'in', realizedPnl: '-10' });
    const [trade] = roundTrips([opened, part, closedBy({ size: '1', tag: 'out' })], [], orders);
    expect(trade).toMatchObject({ exitReason: 'order', exitTag: 'out' });
    const paid = { timeUs: START_US, symbol: 'BTCUSDT', rate: '0.01', position: '2' };
    const held = { fills: [opened, part], liquidations: [], funding: [{ ...paid, payment: '-3' }] };
    expect(openTrips(held, new Map([['BTCUSDT', 110]]), START_US + 9)).toMatchObject([
      {
        ...{ exitReason: 'endOfRun', exitTag: null, exitUs: START_US + 9, size: 2 },
        ...{ exitPrice: 100, notional: 290, funding: -3, pnl: -3, fills: 2 },
      },
    ]);
  });
});

it('the table of trades has the reason of each exit, sortable and saved as CSV', () => {
  const run = output([
    strategy('a', {
      fills: [
        fill('buy', '1', '100', '1', { tag: 'in' }),
        fill('sell', '1', '110', '0', { orderNumber: 2, tag: 'in', realizedPnl: '10' }),
        fill('buy', '1', '105', '1', { tag: 'again' }),
      ],
      orders: [{ orderNumber: 2, orderType: 'takeProfit' } as OrderRow],
    }),
  ]);
  const [of] = buildReport(run, ABOUT).strategies;
  expect(of!.trades.map(({ exitReason }) => exitReason)).toEqual(['takeProfit']);
  const html = tradeTable(of!, 0, { decimals: new Map(), allRows: 'report.json' });
  expect(html).toContain('<th scope="col" class="text"><button>Exit reason</button></th>');
  expect(html).toContain('data-exact="take profit (in)"');
  expect(html).toContain('data-exact="open at the end"');
  expect(html).toContain('2 of 2');
  const tables = runTables(run, ['trades', 'open_trades']);
  const cells = (name: string): unknown[][] =>
    tables.map(({ columns }) => [...columns.find((column) => column.name === name)!.cells]);
  expect(cells('exit_reason')).toEqual([['takeProfit'], ['endOfRun']]);
  expect(cells('exit_tag')).toEqual([['in'], [null]]);
  expect(cells('tag')).toEqual([['in'], ['again']]);
});

describe('attribution', () => {
  it('parts sum to the total; a fill without a mid counts as inventory', () => {
    const { summary } = strategy('a');
    const parts = attribution(summary, [
      fill('buy', '2', '99', '2', { midBefore: 100, markouts: [null, 99.5, null] }),
      fill('sell', '1', '100', '1', { midBefore: 99, markouts: [null, 100, null] }),
      fill('sell', '1', '100', '0'),
    ]);
    expect(parts).toMatchObject({
      spread: 2 * 1 + 1 * 1,
      adverseSelection: 2 * -0.5 - 1,
      fillsWithoutMid: 1,
      feesMaker: -1.5,
      feesTaker: -0.4,
    });
    expect(parts.spread + parts.adverseSelection + parts.inventory).toBeCloseTo(-3.1, 12);
    expect(parts.total).toBeCloseTo(-5, 12);
  });
});

describe('fill quality', () => {
  it('is weighted by notional, with positive gains', () => {
    const [maker, taker] = fillQuality([
      fill('buy', '1', '100', '1', {
        midBefore: 101,
        arrivalMid: 102,
        queueWaitUs: 10,
        markouts: [102.01, null, null],
      }),
      fill('sell', '3', '100', '-2', { midBefore: 99, arrivalMid: 100, queueWaitUs: 30 }),
      fill('sell', '1', '99', '-3', { role: 'taker', midBefore: 100, arrivalMid: 100 }),
    ]);
    expect(maker).toMatchObject({ fills: 2, notional: 400 });
    expect(maker?.queueWaitUs.median).toBe(20);
    expect(maker?.edgeBps).toBeCloseTo((100 * (1e4 / 101) + 300 * (1e4 / 99)) / 400, 9);
    expect(maker?.slippageBps).toBeCloseTo((100 * (-2e4 / 102)) / 400, 9);
    expect(maker?.markoutBps[0]).toBeCloseTo(100, 9);
    expect(maker?.markoutBps[1]).toBeNull();
    expect(taker?.edgeBps).toBeCloseTo(-100, 9);
    expect(taker?.slippageBps).toBeCloseTo(100, 9);
  });
});

describe('distributions', () => {
  const curve = (...rows: [string, number][]) => ({
    timesUs: rows.map(([day]) => Date.parse(day) * 1000),
    equity: rows.map(([, value]) => value),
  });
  it('the return of a month is its last equity over that of the previous month', () => {
    const months = monthlyReturns(
      curve(
        ['2023-12-30', 100],
        ['2023-12-31', 110],
        ['2024-01-31', 99],
        ['2024-03-01T12:00Z', 198],
      ),
    );
    expect(months.map(({ year, month }) => [year, month])).toEqual([
      [2023, 12],
      [2024, 1],
      [2024, 3],
    ]);
    expect(months.map(({ value }) => value)).toEqual([
      expect.closeTo(0.1, 12),
      expect.closeTo(-0.1, 12),
      1,
    ]);
    expect(months.reduce((growth, { value }) => growth * (1 + value), 1)).toBeCloseTo(1.98, 12);
  });
  it('every value is in one bin of the histogram', () => {
    expect(histogram([0, 1, 2, 3, 4], 2)).toEqual({ low: 0, width: 2, counts: [2, 3] });
    expect(histogram([1, 1, 1], 4)).toBeNull();
  });
  it('a rolling figure uses as many periods as its window', () => {
    const daily = curve(
      ...Array.from({ length: 9 }, (_, i): [string, number] => [`2024-01-0${i + 1}`, 100 + i * i]),
    );
    const points = rolling(daily, null, METRICS_DEFAULTS, 4);
    expect(points).toHaveLength(5);
    // No return is below the target, and there is no market.
    expect(points.every(({ sortino, beta }) => sortino === null && beta === null)).toBe(true);
    expect(points[0]?.timeUs).toBe(Date.parse('2024-01-05') * 1000);
    expect(points.every(({ sharpe }) => (sharpe ?? 0) > 0)).toBe(true);
  });
  it('a window of beta is full, or the figure is unknown', () => {
    const days = (values: readonly number[], skipped = -1) =>
      curve(
        ...values.flatMap((value, i): [string, number][] =>
          i === skipped ? [] : [[`2024-01-0${i + 1}`, value]],
        ),
      );
    const own = [100, 102, 101, 104, 103, 106, 104, 108];
    const betas = (market: readonly number[], skipped?: number) =>
      rolling(days(own), days(market, skipped), METRICS_DEFAULTS, 3).map(({ beta }) => beta);
    const one: unknown = expect.closeTo(1, 12);
    expect(betas(own)).toEqual([one, one, one, one, one]);
    // The market lacks the second day: no pair of the first two returns.
    const market = own.map((value) => value * 3);
    expect(betas(market, 1)).toEqual([null, null, one, one, one]);
    expect(betas(own.map(() => 5))).toEqual([null, null, null, null, null]);
    const flat = rolling(days(own.map(() => 5)), days(own), METRICS_DEFAULTS, 3);
    expect(flat.map(({ beta, sharpe }) => [beta, sharpe])).toEqual(
      Array.from({ length: 5 }, () => [0, null]),
    );
  });
  it('rolling figures are those of their windows to the last bit', () => {
    const random = new RandomStreams('rolling').stream('walk');
    const walk = (steps: number) => {
      let equity = 100;
      const values = Array.from({ length: steps }, () => (equity *= 1 + (random.next() - 0.5) / 9));
      return curve(
        ...values.map((value, i): [string, number] => [
          new Date(Date.UTC(2024, 0, 1 + i)).toISOString(),
          value,
        ]),
      );
    };
    const [own, market] = [walk(80), walk(80)];
    const { returns, perYear } = cut(own, METRICS_DEFAULTS);
    const beside = cut(market, METRICS_DEFAULTS).returns;
    const yearly = (value: number | null) => (value === null ? null : value * Math.sqrt(perYear));
    const { denominator, downside } = METRICS_DEFAULTS;
    const points = rolling(own, market, METRICS_DEFAULTS, 7);
    expect(points).toHaveLength(79 - 6);
    points.forEach((point, i) => {
      const last = returns.slice(i, i + 7);
      const other = beside.slice(i, i + 7);
      // Each term from the samples alone, summed in their order.
      const moment = (values: readonly number[]) => {
        const centre = plainSum(values) / values.length;
        return plainSum(values.map((value) => (value - centre) * (value - centre))) / values.length;
      };
      expect(point).toEqual({
        timeUs: own.timesUs[i + 7],
        sharpe: yearly(sharpe(last, 0, denominator)),
        volatility: yearly(Math.sqrt((moment(last) * 7) / (denominator === 'sample' ? 6 : 7))),
        sortino: yearly(sortino(last, 0, downside)),
        beta: (correlation(last, other) ?? NaN) * Math.sqrt(moment(last) / moment(other)),
      });
    });
  });
  it('charts of rolling figures say why they are not drawn', () => {
    const charts = (more: Partial<StrategyOutput>) => {
      const report = buildReport(output([strategy('a', more)]), ABOUT);
      return rollingCharts(report.strategies[0]!, report);
    };
    const { equity, benchmark } = strategy('a');
    expect(charts({}).match(/data-draws/g)).toHaveLength(3);
    expect(charts({})).toContain('Rolling Sortino, 24 × 15 min: from ');
    const short = charts({ equity: equity.slice(0, 5), benchmark: benchmark.slice(0, 5) });
    expect(short).not.toContain('data-draws');
    expect(short.match(/10 returns, and has [\d.]+ [a-z]+ with 4 returns\./g)).toHaveLength(3);
    const rising = equity.map((point, i) => ({ ...point, equity: 10_000 + i * i }));
    expect(charts({ equity: rising })).toContain('no window has a return below the target');
    expect(charts({ benchmark: [] })).toContain('in no window does buy and hold vary');
    expect(charts({ equity: equity.map((point) => ({ ...point, equity: 5 })) })).toContain(
      'in no window do the returns vary',
    );
  });
});

it('a report has gaps, metrics, benchmark and trades of the run', () => {
  const report = buildReport(output([strategy('a')]), ABOUT);
  expect(report.markets[0]).toMatchObject({ gaps: 1, gapUs: STEP_US, meanSpread: 0.1 });
  const [made] = report.strategies;
  expect(made?.metrics?.periods).toBe(120);
  expect(made?.metrics?.totalReturn).toBeCloseTo(-0.0005, 12);
  expect(made?.benchmark?.totalReturn).toBeCloseTo(0.012, 12);
  expect(made?.trades).toMatchObject([{ symbol: 'BTCUSDT', pnl: -2 }]);
  expect(report.strategies[0]?.months.map(({ month }) => month)).toEqual([7, 8]);
});

it('a run without samples has a report without metrics', () => {
  const { strategies } = buildReport(output([strategy('a', { equity: [], benchmark: [] })]), ABOUT);
  expect(strategies[0]).toMatchObject({ metrics: null, benchmark: null, histogram: null });
});
