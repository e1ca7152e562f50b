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
  TransferRow,
} from '../backtest/output.ts';
import type { Note } from '../backtest/note.ts';
import { faultOf, type Of } from '../platform/json-shape.ts';

const POINT = { timeUs: 'number', equity: 'number' } as const satisfies Of<BenchmarkPoint>;
const NOTE = { title: 'text', text: 'text' } as const satisfies Of<Note>;

const MARKET_POINT = {
  timeUs: 'number',
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
  gaps: [{ fromUs: 'number', toUs: 'number' }],
  fundingRates: [{ timeUs: 'number', rate: 'decimal' }],
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
  sentUs: 'number',
  arrivedUs: 'number',
  sentMid: 'number?',
  arrivalMid: 'number?',
  restedUs: 'number?',
  queueAhead: 'decimal?',
  endedUs: 'number?',
  status: 'text',
  reason: 'text?',
  filled: 'decimal',
} as const satisfies Of<OrderRow>;

const FILL = {
  fillId: 'number',
  seq: 'number?',
  timeUs: 'number',
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
  sentUs: 'number',
  arrivedUs: 'number',
  arrivalMid: 'number?',
  queueWaitUs: 'number',
  midBefore: 'number?',
  markouts: ['number?'],
} as const satisfies Of<FillRow>;

const FUNDING = {
  timeUs: 'number',
  symbol: 'text',
  rate: 'decimal',
  payment: 'decimal',
  position: 'decimal',
} as const satisfies Of<FundingRow>;

const LIQUIDATION = {
  timeUs: 'number',
  symbol: 'text?',
  step: 'text',
  equity: 'decimal',
  maintenance: 'decimal',
  size: 'decimal',
  limitPrice: 'decimal?',
  bankruptcyPrice: 'decimal?',
  amount: 'decimal',
} as const satisfies Of<LiquidationRow>;

const TRANSFER = {
  timeUs: 'number',
  reason: 'text',
  amount: 'decimal',
} as const satisfies Of<TransferRow>;

const STRATEGY = {
  id: 'text',
  name: 'text',
  parameters: 'record',
  account: 'text',
  subaccountIndex: 'number',
  symbols: ['text'],
  summary: 'record',
  equity: [EQUITY],
  orders: [ORDER],
  fills: [FILL],
  funding: [FUNDING],
  liquidations: [LIQUIDATION],
  transfers: [TRANSFER],
  benchmark: [POINT],
  log: [{ timeUs: 'number', text: 'text' } as const satisfies Of<LogRow>],
  plots: 'list?',
} as const satisfies Of<StrategyOutput>;

const RUN = {
  firstUs: 'number',
  lastUs: 'number',
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
