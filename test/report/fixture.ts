/**
 * A hand-made recorded run: thirty hours, one market or two, fills with figures that can be checked
 * by hand.
 */
import type { BacktestOutput, FillRow, StrategyOutput } from '../../src/backtest/output.ts';
import type { ReportAbout } from '../../src/report/report.ts';
import { METRICS_DEFAULTS } from '../../src/metrics/options.ts';

export const START_US = Date.UTC(2024, 6, 31, 23) * 1000;
/** 15 minutes between two samples. */
export const STEP_US = 900_000_000;

export function fill(
  side: 'buy' | 'sell',
  size: string,
  price: string,
  position: string,
  more: Partial<FillRow> = {},
): FillRow {
  return {
    fillId: 1,
    seq: 1,
    timeUs: START_US,
    symbol: 'BTCUSDT',
    orderId: '0x1',
    orderNumber: 1,
    tag: null,
    side,
    role: 'maker',
    price,
    size,
    fee: '0',
    originatorFee: '0',
    realizedPnl: '0',
    realizedFunding: '0',
    position,
    liquidation: false,
    sentUs: START_US,
    arrivedUs: START_US,
    arrivalMid: null,
    queueWaitUs: 0,
    midBefore: null,
    markouts: [null, null, null],
    ...more,
  };
}

export function strategy(id: string, more: Partial<StrategyOutput> = {}): StrategyOutput {
  const equity = Array.from({ length: 121 }, (_, i) => ({
    timeUs: START_US + i * STEP_US,
    equity: 10_000 + (i % 7) - i / 20,
    balance: 10_000,
    positions: [((i % 5) - 2) / 100],
    exposure: 100,
    leverage: 0.01,
    marginUsage: 0.002,
    maintenanceUsage: 0.001,
  }));
  return {
    id,
    name: 'made by hand',
    parameters: { size: '0.02' },
    account: '0x0000000000000000000000000000000000000001',
    subaccountIndex: 0,
    symbols: ['BTCUSDT'],
    summary: {
      equityStart: '10000',
      equityEnd: '9995',
      pnl: '-5',
      pnlTrading: '-3.1',
      pnlFees: '-1.9',
      feesMaker: '-1.5',
      feesTaker: '-0.4',
      feesOriginator: '0',
      pnlFunding: '0',
      pnlLiquidation: '0',
      transfers: '0',
      fills: 2,
      makerFills: 2,
      orders: 4,
      rejectedOrders: 1,
      refusedRequests: 0,
      refusals: [],
      turnover: '2472',
      positions: [{ symbol: 'BTCUSDT', final: '0', largest: '0.02', volume: '0.04' }],
      maxDrawdown: '9.05',
    },
    equity,
    orders: [],
    fills: [
      fill('buy', '0.02', '61800.1', '0.02', { timeUs: START_US + STEP_US }),
      fill('sell', '0.02', '61700.1', '0', {
        timeUs: START_US + 30 * STEP_US,
        realizedPnl: '-2',
        fillId: 2,
      }),
    ],
    funding: [],
    liquidations: [],
    transfers: [],
    benchmark: equity.map(({ timeUs }, i) => ({ timeUs, equity: 10_000 + i })),
    log: [],
    plots: [],
    ...more,
  };
}

/** All but the engine, which reports do not read. */
export function output(
  strategies: readonly StrategyOutput[],
  more: Partial<BacktestOutput> = {},
): BacktestOutput {
  return {
    firstUs: START_US,
    lastUs: START_US + 120 * STEP_US,
    deliveredUs: START_US + 120 * STEP_US,
    unanswered: [],
    sampleUs: STEP_US,
    seed: '1',
    markets: [
      {
        symbol: 'BTCUSDT',
        tickSize: '0.1',
        lotSize: '0.001',
        series: Array.from({ length: 121 }, (_, i) => ({
          timeUs: START_US + i * STEP_US,
          mid: i === 60 ? null : 61_800 + (i % 9),
          mark: i === 60 ? null : 61_800,
          index: null,
          spread: 0.1,
          bidSize: 1,
          askSize: 1,
        })),
        gaps: [{ fromUs: START_US + 60 * STEP_US, toUs: START_US + 61 * STEP_US }],
        frozenUs: 0,
        fundingRates: [],
        trades: 5,
        volume: '1.5',
        divergence: { size: '0.02', levels: 2 },
      },
    ],
    strategies,
    commands: 10,
    chainHash: 'c'.repeat(32),
    stateHash: 'd'.repeat(64),
    journal: new Uint8Array(),
    engine: undefined as never,
    cancelled: false,
    checkpoint: null,
    ...more,
  };
}

export const ABOUT: ReportAbout = {
  title: 'A run',
  assumptions: [{ title: 'Mark', text: 'from the book' }],
  data: [{ title: 'Gaps', text: 'one' }],
  verify: ['npm run demo'],
  bundle: { 'bundle of a': 'b'.repeat(64) },
  options: { ...METRICS_DEFAULTS, period: STEP_US },
  trials: null,
};
