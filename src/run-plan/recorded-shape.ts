/**
 * The shape of `run.json`: a file that is damaged, or was edited by hand, is refused with the field
 * that is wrong, before a report fails somewhere in it. Runs of version 0.2.0 lack some fields:
 * plots, divergence, tags, trigger prices and the commands of fills.
 */
import type {
  BacktestOutput,
  BenchmarkPoint,
  EquityPoint,
  FillRow,
  FundingRow,
  LiquidationRow,
  LogRow,
  MarketOutput,
  MarketPoint,
  OrderRow,
  StrategyOutput,
  StrategySummary,
  TransferRow,
} from '../backtest/output.ts';
import type { Note } from '../backtest/note.ts';
import { faultOf, type Of } from '../platform/json-shape.ts';

const POINT = { timeUs: 'time', equity: 'number' } as const satisfies Of<BenchmarkPoint>;
const NOTE = { title: 'text', text: 'text' } as const satisfies Of<Note>;

const MARKET_POINT = {
  timeUs: 'time',
  mid: 'number?',
  mark: 'number?',
  index: 'number?',
  spread: 'number?',
  bidSize: 'number',
  askSize: 'number',
} as const satisfies Of<MarketPoint>;

const MARKET = {
  symbol: 'text',
  tickSize: 'decimal',
  lotSize: 'decimal',
  series: [MARKET_POINT],
  gaps: [{ fromUs: 'time', toUs: 'time' }],
  frozenUs: 'number?',
  fundingRates: [{ timeUs: 'time', rate: 'decimal' }],
  trades: 'number',
  volume: 'decimal',
  divergence: 'record?',
} as const satisfies Of<MarketOutput>;

const EQUITY = {
  ...POINT,
  transfers: 'number?',
  balance: 'number',
  positions: ['number'],
  exposure: 'number',
  // JSON has no Infinity: null without equity.
  leverage: 'number?',
  marginUsage: 'number?',
  maintenanceUsage: 'number?',
} as const satisfies Of<EquityPoint>;

const ORDER = {
  orderId: 'text',
  orderNumber: 'number',
  clientId: 'text?',
  tag: 'text?',
  symbol: 'text',
  orderType: 'text',
  side: 'text',
  price: 'decimal',
  triggerPrice: 'decimal?',
  size: 'decimal',
  ioc: 'flag',
  postOnly: 'flag',
  reduceOnly: 'flag',
  sentUs: 'time',
  arrivedUs: 'time',
  sentMid: 'number?',
  arrivalMid: 'number?',
  restedUs: 'time?',
  queueAhead: 'decimal?',
  endedUs: 'time?',
  status: 'text',
  reason: 'text?',
  filled: 'decimal',
} as const satisfies Of<OrderRow>;

const FILL = {
  fillId: 'number',
  seq: 'number?',
  timeUs: 'time',
  symbol: 'text',
  orderId: 'text',
  orderNumber: 'number',
  tag: 'text?',
  side: 'text',
  role: 'text',
  price: 'decimal',
  size: 'decimal',
  fee: 'decimal',
  originatorFee: 'decimal',
  realizedPnl: 'decimal',
  realizedFunding: 'decimal',
  position: 'decimal',
  liquidation: 'flag',
  sentUs: 'time',
  arrivedUs: 'time',
  arrivalMid: 'number?',
  queueWaitUs: 'number',
  midBefore: 'number?',
  markouts: ['number?'],
} as const satisfies Of<FillRow>;

const FUNDING = {
  timeUs: 'time',
  symbol: 'text',
  rate: 'decimal',
  payment: 'decimal',
  position: 'decimal',
} as const satisfies Of<FundingRow>;

const LIQUIDATION = {
  timeUs: 'time',
  symbol: 'text?',
  step: 'text',
  equity: 'decimal',
  maintenance: 'decimal',
  size: 'decimal',
  limitPrice: 'decimal?',
  bankruptcyPrice: 'decimal?',
  amount: 'decimal',
  fillsBefore: 'number?',
  charges: 'decimal?',
} as const satisfies Of<LiquidationRow>;

const TRANSFER = {
  timeUs: 'time',
  reason: 'text',
  amount: 'decimal',
} as const satisfies Of<TransferRow>;

const SUMMARY = {
  equityStart: 'decimal',
  equityEnd: 'decimal',
  pnl: 'decimal',
  pnlTrading: 'decimal',
  pnlFees: 'decimal',
  feesMaker: 'decimal',
  feesTaker: 'decimal',
  feesOriginator: 'decimal',
  pnlFunding: 'decimal',
  pnlLiquidation: 'decimal',
  transfers: 'decimal',
  fills: 'number',
  makerFills: 'number',
  orders: 'number',
  rejectedOrders: 'number',
  refusedRequests: 'number',
  refusals: 'list?',
  turnover: 'decimal',
  positions: [{ symbol: 'text', final: 'decimal', largest: 'decimal', volume: 'decimal' }],
  maxDrawdown: 'decimal',
} as const satisfies Of<StrategySummary>;

const STRATEGY = {
  id: 'text',
  name: 'text',
  parameters: 'record',
  account: 'text',
  subaccountIndex: 'number',
  symbols: ['text'],
  summary: SUMMARY,
  equity: [EQUITY],
  orders: [ORDER],
  fills: [FILL],
  funding: [FUNDING],
  liquidations: [LIQUIDATION],
  transfers: [TRANSFER],
  benchmark: [POINT],
  log: [{ timeUs: 'time', text: 'text' } as const satisfies Of<LogRow>],
  plots: 'list?',
} as const satisfies Of<StrategyOutput>;

const RUN = {
  firstUs: 'time',
  lastUs: 'time',
  sampleUs: 'number',
  seed: 'text',
  markets: [MARKET],
  strategies: [STRATEGY],
  commands: 'number',
  chainHash: 'text',
  stateHash: 'text',
  assumptions: [NOTE],
  data: [NOTE],
} as const satisfies Of<BacktestOutput & { readonly assumptions: unknown; readonly data: unknown }>;

/** The first field that is not what a run has, and what it must be; null if there is none. */
export function faultOfRun(run: unknown): string | null {
  return faultOf(run, RUN);
}
