/** Pages of every kind, made from runs by hand. */
import type { OrderRow, StrategyOutput } from '../../src/backtest/output.ts';
import { pageLibraries } from '../../src/report/libraries.ts';
import { renderExplanation, renderExplanations } from '../../src/report/explain-page.ts';
import { renderReport, renderRuns } from '../../src/report/html.ts';
import type { ReportedRun } from '../../src/report/page-data.ts';
import { buildReport, type RunOutput } from '../../src/report/report.ts';
import { renderSweep, type SweepReport } from '../../src/report/sweep-page.ts';
import { renderWalk, type WalkReport } from '../../src/report/walk-page.ts';
import { metricsOf } from '../../src/metrics/metrics.ts';
import { ABOUT, fill, output, START_US, STEP_US, strategy } from './fixture.ts';

export const order = (orderNumber: number, more: Partial<OrderRow> = {}): OrderRow => ({
  orderId: `0x${String(orderNumber).padStart(64, '0')}`,
  orderNumber,
  clientId: null,
  tag: 'cross up',
  symbol: 'BTCUSDT',
  orderType: 'limit',
  side: 'buy',
  price: '61800.1',
  size: '0.02',
  ioc: false,
  postOnly: true,
  reduceOnly: false,
  sentUs: START_US + STEP_US,
  arrivedUs: START_US + STEP_US + 5000,
  sentMid: 61_800,
  arrivalMid: 61_800.5,
  restedUs: START_US + STEP_US + 5000,
  queueAhead: '1.5',
  endedUs: START_US + STEP_US + 9e6,
  status: 'filled',
  reason: null,
  filled: '0.02',
  ...more,
});

/** Twenty days of hours, with forty trades in both directions. */
function busy(id: string, drift: number): StrategyOutput {
  const base = strategy(id);
  const hours = Array.from({ length: 24 * 20 }, (_, i) => START_US + i * 3.6e9);
  const equity = hours.map((timeUs, i) => ({
    ...base.equity[i % 121]!,
    timeUs,
    equity: 10_000 + drift * i + 40 * Math.sin(i / 17) + 3 * ((i * 7) % 5),
  }));
  const fills = Array.from({ length: 80 }, (_, i) => {
    const isOpening = i % 2 === 0;
    const isLong = i % 4 < 2;
    const price = (61_800 + ((i * 13) % 90) - (isOpening ? 0 : 20)).toFixed(1);
    return fill(
      isOpening === isLong ? 'buy' : 'sell',
      '0.02',
      price,
      isOpening ? (isLong ? '0.02' : '-0.02') : '0',
      {
        fillId: i + 1,
        seq: 100 + i,
        orderNumber: i + 1,
        timeUs: START_US + (i + 1) * 5.9 * 3.6e9,
        realizedPnl: isOpening ? '0' : String((((i * 31) % 17) - 7) / 2),
        fee: '0.309123',
        tag: isOpening ? 'cross up, fourteen bars after the one before' : 'take profit',
      },
    );
  });
  return {
    ...base,
    equity,
    fills,
    orders: [order(1), order(2, { status: 'rejected', reason: 'postOnlyWouldCross', filled: '0' })],
    benchmark: hours.map((timeUs, i) => ({
      timeUs,
      equity: 10_000 + 30 * Math.sin(i / 40) + i / 5,
    })),
  };
}

function busyRun(strategies: readonly StrategyOutput[]): RunOutput {
  const run = output(strategies);
  const [market] = run.markets;
  const series = Array.from({ length: 24 * 20 }, (_, i) => ({
    ...market!.series[0]!,
    timeUs: START_US + i * 3.6e9,
    mid: 61_800 + 60 * Math.sin(i / 11) + ((i * 7) % 13),
  }));
  return {
    ...run,
    lastUs: START_US + 24 * 20 * 3.6e9,
    sampleUs: 3.6e9,
    markets: [{ ...market!, series }],
  };
}

/** The same over 360 days, whose days fill a year of the heat map. */
function aYear(run: RunOutput): RunOutput {
  const later = <T extends { readonly timeUs: number }>(rows: readonly T[]): T[] =>
    rows.map((row) => ({ ...row, timeUs: START_US + (row.timeUs - START_US) * 18 }));
  return {
    ...run,
    lastUs: START_US + 360 * 86_400e6,
    sampleUs: 18 * 3.6e9,
    markets: run.markets.map((market) => ({ ...market, series: later(market.series) })),
    strategies: run.strategies.map((one) => ({
      ...one,
      equity: later(one.equity),
      benchmark: later(one.benchmark),
      fills: later(one.fills),
    })),
  };
}

/** One fill more than a table shows. */
function manyFills(run: RunOutput): RunOutput {
  const strategies = run.strategies.map((one) => ({
    ...one,
    fills: Array.from({ length: 2001 }, (_, i) => ({
      ...one.fills[i % 80]!,
      fillId: i + 1,
      timeUs: START_US + (i + 1) * 8.6e8,
    })),
  }));
  return { ...run, strategies };
}

const OPTIONS = { ...ABOUT, options: { ...ABOUT.options, period: 3.6e9 } };
const reported = (name: string, drift: number): ReportedRun => {
  const run = busyRun([busy('cross', drift)]);
  const about = {
    ...OPTIONS,
    assumptions: [{ title: 'Latency', text: `${name} ms` }, ...ABOUT.assumptions],
  };
  return {
    name,
    report: buildReport(run, about),
    output: run,
    recording: null,
    explanations: 'explain.html',
    timeMachine: null,
    allRows: `../${name}/report.json`,
  };
};

/** A run of agents has no strategy. */
const agents: ReportedRun = {
  ...{ name: 'agents', recording: null, explanations: null, timeMachine: null },
  report: buildReport(busyRun([]), OPTIONS),
  ...{ output: busyRun([]), allRows: '../agents/report.json' },
};

const values = ['1', '2', '3', '5', '8'];
const trials = values.flatMap((fast, i) =>
  values.map((slow, k) => ({
    number: i * 5 + k,
    values: [fast, slow, 'up'],
    budget: 1,
    score: i === k ? null : i - k / 2,
    pnl: i === k ? null : String(i - k),
    maxDrawdown: i === k ? null : 0.01 * i,
    trades: i === k ? null : 40 + i,
    error: i === k ? `fast ${fast} must be below slow ${slow}` : null,
  })),
);

/** HTML by the name of the page. */
export async function examplePages(): Promise<Readonly<Record<string, string>>> {
  const libraries = await pageLibraries();
  const single = busyRun([busy('cross', 1)]);
  const two = busyRun([busy('cross', 1), busy('carry', -1)]);
  const [one] = single.strategies;
  const curve = {
    timesUs: one!.equity.map(({ timeUs }) => timeUs),
    equity: one!.equity.map((p) => p.equity),
  };
  const walk: WalkReport = {
    title: 'Walk-forward of cross',
    objective: 'sharpe',
    periodUs: 3.6e9,
    windows: [0, 1, 2, 3, 4].map((i) => ({
      trainFromUs: START_US + i * 1.728e11,
      trainToUs: START_US + (i + 2) * 1.728e11,
      testFromUs: START_US + (i + 2) * 1.728e11,
      testToUs: START_US + (i + 3) * 1.728e11,
      parameters: 'fast=5 slow=20',
      trials: 25,
      log: `window-${String(i + 1)}.trials.jsonl`,
      trainScore: 2 + i,
      testScore: 1.5 - i * 0.7,
      testReturn: 0.01 - i * 0.004,
      testPnl: String(100 - 40 * i),
      testTrades: 12,
      returns: Array.from({ length: 48 }, (_, k) => 0.0004 * (((i + k * 7) % 9) - 3.5)),
      error: null,
    })),
    outOfSample: metricsOf(curve),
    efficiency: 0.4,
    assumptions: ABOUT.assumptions,
  };
  const explained = { title: 'cross', latency: '5 ms', folder: 'reports/cross' };
  const sweep: SweepReport = {
    title: 'Search of cross',
    lede: '20 days, 25 trials',
    objective: 'sharpe',
    dimensions: ['fast', 'slow', 'way'].map((name, i) => ({
      name,
      ordered: i < 2,
      values: i < 2 ? values : ['up'],
    })),
    trials,
    best: trials[20]!,
    bestPage: 'best/index.html',
    deflatedSharpe: 0.4,
    counted: 25,
    ratios: 25,
    overfitting: null,
    variations: [{ name: 'fast +20 %', score: 1.2, pnl: '3', error: null }],
    bands: null,
    assumptions: ABOUT.assumptions,
    commandOf: () => 'npx orrery backtest cross.ts --data data/x',
  };
  return {
    report: renderReport(buildReport(single, OPTIONS), single, libraries, {
      explanations: 'explain.html',
      timeMachine: 'time-machine.html',
    }),
    many: renderReport(buildReport(manyFills(single), OPTIONS), manyFills(single), libraries),
    year: renderReport(buildReport(aYear(single), ABOUT), aYear(single), libraries),
    comparison: renderReport(buildReport(two, OPTIONS), two, libraries),
    runs: renderRuns(
      [reported('fast', 1), reported('slow', -0.5), reported('third', 0.2)],
      libraries,
    ),
    lone: renderRuns([reported('fast', 1), agents], libraries),
    orders: renderExplanations(single, explained, libraries),
    order: renderExplanation(
      single,
      {
        order: order(1),
        strategy: one!,
        latency: '5 ms',
        command: "npx orrery explain reports/cross '#1'",
        story: {
          queueModel: 'probPower2',
          steps: Array.from({ length: 20 }, (_, i) => ({
            timeUs: START_US + STEP_US + i * 4e5,
            seq: 100 + i,
            cause: 'trade' as const,
            ahead: (1.5 - i * 0.07).toFixed(3),
            change: '-0.070',
            detail: 'trade of 0.070',
          })),
          bestBid: '61800',
          bestAsk: '61801',
          equity: '10000',
          initialRequirement: '10',
        },
      },
      libraries,
    ),
    sweep: renderSweep(sweep, libraries),
    flat: renderSweep(
      { ...sweep, objective: 'totalReturn', trials: trials.map((one) => ({ ...one, score: 0 })) },
      libraries,
    ),
    walk: renderWalk(walk, libraries),
    idle: renderWalk(
      { ...walk, windows: walk.windows.map((window) => ({ ...window, returns: [0, 0, 0] })) },
      libraries,
    ),
  };
}
