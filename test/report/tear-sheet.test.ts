/** Excursions, sides, calendar, candles and number formats, checked by hand. */
import { expect, test } from 'vitest';
import { money, percent, probability, prose, ratio } from '../../src/design/number-text.ts';
import { cut } from '../../src/metrics/curve.ts';
import { metricsOf } from '../../src/metrics/metrics.ts';
import { METRICS_DEFAULTS } from '../../src/metrics/options.ts';
import { calendarRows, dailyReturns } from '../../src/report/analysis/calendar.ts';
import { monthlyReturns } from '../../src/report/analysis/distributions.ts';
import { withExcursions } from '../../src/report/analysis/excursions.ts';
import { priceCandles } from '../../src/report/analysis/price-candles.ts';
import { heldTrades, roundTrips } from '../../src/report/analysis/round-trips.ts';
import { sideResults } from '../../src/report/analysis/sides.ts';
import { momentsOf } from '../../src/report/explain-page.ts';
import { scoreText, titleOf } from '../../src/report/objective-text.ts';
import { buildReport } from '../../src/report/report.ts';
import { figures, verdict } from '../../src/report/sections/figures.ts';
import { decimalsOf, fillTable, fundingTable } from '../../src/report/sections/lists.ts';
import { metricsTables } from '../../src/report/sections/measures.ts';
import { dayMap } from '../../src/report/sections/months.ts';
import { listed } from '../../src/report/text.ts';
import { ABOUT, fill, output, strategy } from './fixture.ts';

const point = (timeUs: number, mid: number | null, mark: number | null = null) => ({
  ...{ timeUs, mid, mark, index: null, spread: 1, bidSize: 1, askSize: 1 },
});
const DAY_US = 86_400e6;

test('excursions are the largest moves against and for a position while it is held', () => {
  const trades = roundTrips([
    fill('buy', '1', '100', '1', { timeUs: 10 }),
    fill('sell', '1', '104', '0', { timeUs: 50, realizedPnl: '4' }),
    fill('sell', '2', '104', '-2', { timeUs: 60 }),
    fill('buy', '2', '105', '0', { timeUs: 80, realizedPnl: '-2' }),
  ]);
  const series = [
    point(5, 50),
    point(10, 101),
    point(20, 97),
    point(30, null, 110),
    point(40, null),
    point(55, 500),
    point(70, 103),
    point(90, 1),
  ];
  const [long, short] = withExcursions(trades, [{ symbol: 'BTCUSDT', series }]);
  expect(long?.mae).toBeCloseTo(0.03, 12);
  expect(long?.mfe).toBeCloseTo(0.1, 12);
  expect(short?.mae).toBeCloseTo(1 / 104, 12);
  expect(short?.mfe).toBeCloseTo(1 / 104, 12);
  const [unseen] = withExcursions(trades, []);
  expect(unseen).toMatchObject({ mae: 0, mfe: 0.04 });
});

test('sides sum to the totals, and a single side has no total', () => {
  const both = withExcursions(
    roundTrips([
      fill('buy', '1', '100', '1', { timeUs: 1 }),
      fill('sell', '1', '104', '0', { timeUs: 3, realizedPnl: '4' }),
      fill('sell', '1', '104', '-1', { timeUs: 4, symbol: 'ETH' }),
      fill('buy', '1', '105', '0', { timeUs: 9, symbol: 'ETH', realizedPnl: '-1' }),
    ]),
    [],
  );
  const rows = sideResults(both);
  expect(rows.map(({ symbol, side, trades, pnl }) => [symbol, side, trades, pnl])).toEqual([
    ['BTCUSDT', 'long', 1, 4],
    ['ETH', 'short', 1, -1],
    ['BTCUSDT', null, 1, 4],
    ['ETH', null, 1, -1],
    [null, 'long', 1, 4],
    [null, 'short', 1, -1],
    [null, null, 2, 3],
  ]);
  expect(rows.at(-1)).toMatchObject({ winRate: 0.5, profitFactor: 4, meanHeldUs: 3.5 });
  expect(sideResults(both.slice(0, 1))).toHaveLength(1);
  expect(sideResults([])).toEqual([]);
});

test('days are in UTC, and a gap of days is one return', () => {
  const start = Date.UTC(2023, 11, 31) * 1000;
  const curve = {
    timesUs: [0, 0.5, 0.9, 1.1, 1.2, 5.5].map((day) => start + day * DAY_US),
    equity: [100, 90, 110, 121, 132, 66],
  };
  const days = dailyReturns(curve);
  expect(days.map(({ day }) => day)).toEqual(['2023-12-31', '2024-01-01', '2024-01-05']);
  expect(days.map(({ value }) => Number(value.toFixed(9)))).toEqual([0.1, 0.2, -0.5]);
  const [day, month, year, ...others] = calendarRows(curve);
  expect(day).toMatchObject({ period: 'day', count: 3, worst: -0.5 });
  expect(day?.best).toBeCloseTo(0.2, 12);
  expect(day?.gaining).toBeCloseTo(2 / 3, 12);
  expect(month).toMatchObject({ period: 'month', count: 2 });
  expect(year?.worst).toBeCloseTo(66 / 110 - 1, 12);
  expect(others).toEqual([]);
  expect(dailyReturns({ timesUs: [0, 1], equity: [0, 0] })).toEqual([
    { day: '1970-01-01', value: 0 },
  ]);
});

test('a sample at midnight ends its day, as in the periods of the metrics', () => {
  const start = Date.UTC(2023, 11, 30) * 1000;
  const curve = {
    timesUs: [0, 0.5, 1, 1.5, 2].map((day) => start + day * DAY_US),
    equity: [100, 105, 110, 120, 121],
  };
  const { returns } = cut(curve, { ...METRICS_DEFAULTS, period: DAY_US });
  expect(returns.map((value) => Number(value.toFixed(9)))).toEqual([0.1, 0.1]);
  expect(dailyReturns(curve).map(({ day, value }) => [day, Number(value.toFixed(9))])).toEqual([
    ['2023-12-30', 0.1],
    ['2023-12-31', 0.1],
  ]);
  expect(monthlyReturns(curve).map(({ year, month }) => [year, month])).toEqual([[2023, 12]]);
  expect(calendarRows(curve).map(({ period }) => period)).toEqual(['day']);
});

test('candles open at the close before, skip gaps, and need samples', () => {
  const series = Array.from({ length: 240 }, (_, i) =>
    point(i * 1e6, i >= 60 && i < 65 ? null : 100 + (i % 5)),
  );
  const candles = priceCandles(series, 1e6);
  expect(candles?.seconds).toBe(5);
  expect(candles?.rows.slice(0, 2)).toEqual([
    [0, 100, 104, 100, 104],
    [5, 104, 104, 100, 104],
  ]);
  // The candle after a gap opens at its own first price.
  expect(candles?.rows.find(([at]) => at === 60)).toBeUndefined();
  expect(candles?.rows.find(([at]) => at === 65)?.[1]).toBe(100);
  expect(priceCandles(series.slice(0, 30), 1e6)).toBeNull();
  expect(priceCandles([], 1e6)).toBeNull();
});

test('a ruin in the first period is named: liquidation, the end of returns, no ratio', () => {
  const curve = { timesUs: [0, DAY_US, 2 * DAY_US], equity: [10_000, 0, 0] };
  const metrics = metricsOf(curve, [], { period: DAY_US });
  const { strategies } = buildReport(output([strategy('a')]), ABOUT);
  const [first] = strategies;
  const step = { symbol: 'BTCUSDT', equity: '-5', maintenance: '1', size: '1', amount: '-5' };
  const row = { ...step, timeUs: 0, step: 'adl', limitPrice: null, bankruptcyPrice: null };
  const summary = { ...first!.summary, pnlLiquidation: '54688' };
  const ruined = { ...first!, summary, metrics, liquidations: [row] };
  expect(verdict(ruined)).toContain(' It was liquidated. Ratios of 1 return are not significant.');
  const delevered = [{ ...row, step: 'adlTo' }];
  expect(verdict({ ...ruined, liquidations: delevered })).not.toContain('liquidated');
  expect(figures(ruined)).toContain('fewer than two returns');
  const tables = metricsTables(ruined, { options: METRICS_DEFAULTS, sampleUs: DAY_US });
  expect(tables).toContain('Only 1 return: ratios');
  expect(tables).toContain('Equity fell to 0, where the returns end.');
});

test('sizes have the decimals of the lot, small amounts two digits, and 0.00 no colour', () => {
  const decimals = decimalsOf([{ symbol: 'BTCUSDT', tickSize: '0.1', lotSize: '0.001' }]);
  const fills = [
    fill('buy', '0.17', '61000.1', '0.17', { realizedPnl: '0' }),
    fill('sell', '0.17', '61000.1', '-0.05', { realizedPnl: '-0.004' }),
  ];
  const rows = fillTable(
    { fills },
    0,
    { reasons: new Map(), order: () => null, instant: null },
    { decimals, allRows: 'report.json' },
  );
  expect(rows).toContain('<td>0.170</td>');
  expect(rows).toContain('<td>−0.050</td>');
  expect(rows).toContain('<td class="loss" title="-0.004" data-exact="-0.004">−0.0040</td>');
  expect(rows).toContain('<td title="0" data-exact="0">0.00</td>');
  const paid = { timeUs: 0, symbol: 'BTCUSDT', rate: '0.0001', position: '2', payment: '-0.009' };
  const funding = fundingTable({ funding: [paid] }, 0, { decimals, allRows: 'report.json' });
  expect(funding).toContain('<td>2.000</td>');
  const low = fundingTable({ funding: [{ ...paid, rate: '-0.0000003' }] }, 0, {
    ...{ decimals, allRows: 'report.json' },
  });
  expect(low).toContain('data-exact="-0.0000003">0.0000\u202f%</td>');
  expect(funding).toContain('<td class="loss" title="-0.009" data-exact="-0.009">−0.01</td>');
});

test('lines of an explanation become moments', () => {
  const moments = momentsOf([
    'order 0x1',
    '',
    '2024-08-08 23:54:16.298123  Sent.',
    '                            Further.',
    '2024-08-08 23:54:17.000000  Filled.',
  ]);
  expect(moments).toEqual([
    { at: '', text: 'order 0x1' },
    { at: '2024-08-08 23:54:16.298123', text: 'Sent. Further.' },
    { at: '2024-08-08 23:54:17.000000', text: 'Filled.' },
  ]);
});

test.each([
  [percent(0.12345), '12.35\u202f%'],
  [percent(0.000612), '0.061\u202f%'],
  [percent(-0.0002), '−0.020\u202f%'],
  [percent(null), '–'],
  [percent(Infinity), '∞\u202f%'],
  [percent(10_000), '1,000,000.00\u202f%'],
  [percent(21_565_744_234.6777), '> 1,000,000\u202f%'],
  [percent(-21_565_744_234.6777), '< −1,000,000\u202f%'],
  [percent(0), '0.00\u202f%'],
  [ratio(99.994), '99.99'],
  [money(0.0003), '+0.00030'],
  [money(-0.000001), '−0.000001'],
  [money(-0.0000004), '0.00'],
  [money(0.004999), '+0.0050'],
  [money(-1234.567), '−1,234.57'],
  [ratio(-1234.5), '−1,235'],
  [ratio(NaN), '–'],
  [ratio(1e-12), '0.00'],
  [probability(0.0000035), '< 0.1\u202f%'],
  [probability(0.99999), '> 99.9\u202f%'],
  [probability(1), '100.0\u202f%'],
  [probability(0), '0.0\u202f%'],
  [scoreText('totalReturn', 0.1), '10.00\u202f%'],
  [scoreText('sharpe', null), '–'],
  [titleOf('-maxDrawdown'), 'minus max drawdown'],
  [titleOf('sharpe'), 'Sharpe'],
])('%s is written as %s', (text, wanted) => {
  expect(text).toBe(wanted);
});

test.each([
  ['6551 updates, 21313 trades, 1 snapshot.', '6,551 updates, 21,313 trades, 1 snapshot.'],
  ['from -1272.403 ms to -0.05 (-7)', 'from −1,272.403 ms to −0.05 (−7)'],
  ['starts with 10000.', 'starts with 10,000.'],
  ['mid 61390.45: 1841.75 worse', 'mid 61,390.45: 1,841.75 worse'],
  ['2024-08-08 23:54:16 in 2022', '2024-08-08 23:54:16 in 2022'],
  ['order #12345, fill 12345: seed=20240808', 'order #12345, fill 12345: seed=20240808'],
  ['18aa2b1583ea 0.0001 3-5 a-1 10000-20000', '18aa2b1583ea 0.0001 3-5 a-1 10000-20000'],
])('numbers of the sentence "%s" have thousands and minus signs', (text, shown) => {
  expect(prose(text)).toBe(shown);
});

test('a fee of a fill has the sign of the fees of a trade', () => {
  const html = (fee: string): string =>
    fillTable(
      { fills: [fill('buy', '1', '100', '1', { fee })] },
      0,
      { reasons: new Map(), order: () => null, instant: null },
      {
        decimals: decimalsOf([{ symbol: 'BTCUSDT', tickSize: '0.1', lotSize: '0.001' }]),
        allRows: 'report.json',
      },
    );
  expect(html('0.25')).toContain('data-exact="-0.250000">−0.25<');
  expect(html('-0.25')).toContain('data-exact="0.250000">+0.25<');
});

test('a position that is open at the end counts in exposure and turnover, not as a trade', () => {
  const fills = [
    fill('buy', '1', '100', '1', { timeUs: 10 }),
    fill('sell', '1', '104', '0', { timeUs: 50, realizedPnl: '4' }),
    fill('buy', '2', '105', '2', { timeUs: 60 }),
  ];
  const held = heldTrades(fills, [], 100);
  expect(held.map(({ entryUs, exitUs, notional }) => [entryUs, exitUs, notional])).toEqual([
    [10, 50, 204],
    [60, 100, 210],
  ]);
  const curve = { timesUs: [0, 100], equity: [1000, 1000] };
  const metrics = metricsOf(curve, roundTrips(fills), METRICS_DEFAULTS, null, held);
  expect(metrics.trades?.trades).toBe(1);
  expect(metrics.trades?.bestTradeShare).toBeCloseTo(0.04, 12);
  expect(metrics.trades?.maxTradeUs).toBe(40);
  expect(metrics.exposure).toBeCloseTo(0.8, 12);
  expect(metrics.turnover).toBeCloseTo(0.414, 12);
});

test('names of months in the map of days are at least two weeks apart', () => {
  const dayIn = (start: string, offset: number): string =>
    new Date(Date.parse(start) + offset * 86_400_000).toISOString().slice(0, 10);
  for (const start of ['2022-01-01', '2024-01-01', '2024-02-25', '2025-01-01', '2026-03-30']) {
    const days = Array.from({ length: 100 }, (_, i) => ({ day: dayIn(start, i), value: 0.001 }));
    const heads = [...dayMap(days).matchAll(/<th scope="col">(.*?)<\/th>/g)].map(
      ([, text]) => text,
    );
    const named = heads.flatMap((text, week) => (/^[A-Z]/.test(text ?? '') ? [week] : []));
    expect(named.length, start).toBeGreaterThanOrEqual(3);
    for (const [i, week] of named.entries()) {
      if (i > 0) expect(week - (named[i - 1] ?? 0), start).toBeGreaterThanOrEqual(2);
    }
  }
});

test('a title lists a few names, and counts the others of many', () => {
  expect(listed(['A', 'B', 'C', 'D'])).toBe('A, B, C, D');
  expect(listed(['A', 'B', 'C', 'D', 'E'])).toBe('A, B, C and 2 others');
});
