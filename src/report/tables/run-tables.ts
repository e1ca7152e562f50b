/**
 * A run as tables whose columns are the same in every run: names, order and types. Money, prices
 * and sizes are doubles; their exact text is in run.json. Times are µs since the Unix epoch.
 */
import { takesAnyPrice } from '../../backtest/any-price.ts';
import type {
  BacktestOutput,
  EquityPoint,
  FillRow,
  FundingRow,
  LiquidationRow,
  LogRow,
  MarketOutput,
  MarketPoint,
  OrderRow,
  PlotOutput,
  StrategyOutput,
} from '../../backtest/output.ts';
import { closedTrades, openTrades, type ExcursionTrip } from '../analysis/excursions.ts';

/** `time` is µs, UTC; `int` has 64 bits; `text` is a dictionary. Ints and flags are never null. */
export type ColumnType = 'time' | 'int' | 'float' | 'text' | 'flag';
export type TableCell = number | string | boolean | null;

export interface TableColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly cells: readonly TableCell[];
}

export interface RunTable {
  readonly name: string;
  readonly rows: number;
  readonly columns: readonly TableColumn[];
}

/** The part of a run that is exported. */
export type ExportedRun = Pick<BacktestOutput, 'strategies' | 'markets'>;

/** A column's type and its cell of a row, with the strategy or market that the row belongs to. */
type Columns<T> = Readonly<
  Record<string, readonly [ColumnType, (row: T, of: string) => TableCell]>
>;

const numeric = (text: string | null): number | null => (text === null ? null : Number(text));

const EQUITY: Columns<EquityPoint> = {
  strategy: ['text', (_row, strategy) => strategy],
  time: ['time', (row) => row.timeUs],
  equity: ['float', (row) => row.equity],
  balance: ['float', (row) => row.balance],
  exposure: ['float', (row) => row.exposure],
  leverage: ['float', (row) => row.leverage],
  margin_usage: ['float', (row) => row.marginUsage],
  maintenance_usage: ['float', (row) => row.maintenanceUsage],
};

interface PositionSample {
  readonly timeUs: number;
  readonly market: string;
  readonly position: number;
}

const POSITIONS: Columns<PositionSample> = {
  strategy: ['text', (_row, strategy) => strategy],
  time: ['time', (row) => row.timeUs],
  market: ['text', (row) => row.market],
  position: ['float', (row) => row.position],
};

const FILLS: Columns<FillRow> = {
  strategy: ['text', (_row, strategy) => strategy],
  fill_id: ['int', (row) => row.fillId],
  time: ['time', (row) => row.timeUs],
  market: ['text', (row) => row.symbol],
  order_number: ['int', (row) => row.orderNumber],
  order_id: ['text', (row) => row.orderId],
  tag: ['text', (row) => row.tag],
  side: ['text', (row) => row.side],
  role: ['text', (row) => row.role],
  price: ['float', (row) => Number(row.price)],
  size: ['float', (row) => Number(row.size)],
  fee: ['float', (row) => Number(row.fee)],
  originator_fee: ['float', (row) => Number(row.originatorFee)],
  realized_pnl: ['float', (row) => Number(row.realizedPnl)],
  realized_funding: ['float', (row) => Number(row.realizedFunding)],
  position: ['float', (row) => Number(row.position)],
  liquidation: ['flag', (row) => row.liquidation],
  sent: ['time', (row) => row.sentUs],
  arrived: ['time', (row) => row.arrivedUs],
  arrival_mid: ['float', (row) => row.arrivalMid],
  queue_wait_us: ['int', (row) => row.queueWaitUs],
  mid_before: ['float', (row) => row.midBefore],
  mid_1s: ['float', (row) => row.markouts[0] ?? null],
  mid_10s: ['float', (row) => row.markouts[1] ?? null],
  mid_60s: ['float', (row) => row.markouts[2] ?? null],
};

const ORDERS: Columns<OrderRow> = {
  strategy: ['text', (_row, strategy) => strategy],
  order_number: ['int', (row) => row.orderNumber],
  order_id: ['text', (row) => row.orderId],
  client_id: ['text', (row) => row.clientId],
  tag: ['text', (row) => row.tag],
  market: ['text', (row) => row.symbol],
  order_type: ['text', (row) => row.orderType],
  side: ['text', (row) => row.side],
  price: ['float', (row) => (takesAnyPrice(row, row.arrivalMid) ? null : Number(row.price))],
  trigger_price: ['float', (row) => numeric(row.triggerPrice ?? null)],
  size: ['float', (row) => Number(row.size)],
  filled: ['float', (row) => Number(row.filled)],
  ioc: ['flag', (row) => row.ioc],
  post_only: ['flag', (row) => row.postOnly],
  reduce_only: ['flag', (row) => row.reduceOnly],
  status: ['text', (row) => row.status],
  reason: ['text', (row) => row.reason],
  sent: ['time', (row) => row.sentUs],
  arrived: ['time', (row) => row.arrivedUs],
  rested: ['time', (row) => row.restedUs],
  ended: ['time', (row) => row.endedUs],
  sent_mid: ['float', (row) => row.sentMid],
  arrival_mid: ['float', (row) => row.arrivalMid],
  queue_ahead: ['float', (row) => numeric(row.queueAhead)],
};

const TRADES: Columns<ExcursionTrip> = {
  strategy: ['text', (_row, strategy) => strategy],
  market: ['text', (row) => row.symbol],
  side: ['text', (row) => row.side],
  tag: ['text', (row) => row.tag],
  exit_reason: ['text', (row) => row.exitReason],
  exit_tag: ['text', (row) => row.exitTag],
  entry: ['time', (row) => row.entryUs],
  exit: ['time', (row) => row.exitUs],
  size: ['float', (row) => row.size],
  entry_price: ['float', (row) => row.entryPrice],
  exit_price: ['float', (row) => row.exitPrice],
  fees: ['float', (row) => row.fees],
  funding: ['float', (row) => row.funding],
  notional: ['float', (row) => row.notional],
  pnl: ['float', (row) => row.pnl],
  pnl_share: ['float', (row) => row.pnlShare],
  mae: ['float', (row) => row.mae],
  mfe: ['float', (row) => row.mfe],
  fills: ['int', (row) => row.fills],
  liquidated: ['flag', (row) => row.liquidated],
};

const FUNDING: Columns<FundingRow> = {
  strategy: ['text', (_row, strategy) => strategy],
  time: ['time', (row) => row.timeUs],
  market: ['text', (row) => row.symbol],
  rate: ['float', (row) => Number(row.rate)],
  payment: ['float', (row) => Number(row.payment)],
  position: ['float', (row) => Number(row.position)],
};

const LIQUIDATIONS: Columns<LiquidationRow> = {
  strategy: ['text', (_row, strategy) => strategy],
  time: ['time', (row) => row.timeUs],
  market: ['text', (row) => row.symbol],
  step: ['text', (row) => row.step],
  equity: ['float', (row) => Number(row.equity)],
  maintenance: ['float', (row) => Number(row.maintenance)],
  size: ['float', (row) => Number(row.size)],
  limit_price: ['float', (row) => numeric(row.limitPrice)],
  bankruptcy_price: ['float', (row) => numeric(row.bankruptcyPrice)],
  amount: ['float', (row) => Number(row.amount)],
};

interface PlotPoint extends Pick<PlotOutput, 'name' | 'symbol' | 'pane'> {
  readonly timeUs: number;
  readonly value: number | null;
}

const PLOTS: Columns<PlotPoint> = {
  strategy: ['text', (_row, strategy) => strategy],
  name: ['text', (row) => row.name],
  market: ['text', (row) => row.symbol],
  pane: ['text', (row) => row.pane],
  time: ['time', (row) => row.timeUs],
  value: ['float', (row) => row.value],
};

const LOG: Columns<LogRow> = {
  strategy: ['text', (_row, strategy) => strategy],
  time: ['time', (row) => row.timeUs],
  text: ['text', (row) => row.text],
};

const MARKETS: Columns<MarketPoint> = {
  market: ['text', (_row, market) => market],
  time: ['time', (row) => row.timeUs],
  mid: ['float', (row) => row.mid],
  mark: ['float', (row) => row.mark],
  index: ['float', (row) => row.index],
  spread: ['float', (row) => row.spread],
  bid_size: ['float', (row) => row.bidSize],
  ask_size: ['float', (row) => row.askSize],
};

/** Columns of every table, with their types: the documented schema. */
export const RUN_TABLES: Readonly<Record<string, Readonly<Record<string, ColumnType>>>> = typesOf({
  equity: EQUITY,
  positions: POSITIONS,
  fills: FILLS,
  orders: ORDERS,
  trades: TRADES,
  open_trades: TRADES,
  funding: FUNDING,
  liquidations: LIQUIDATIONS,
  plots: PLOTS,
  log: LOG,
  markets: MARKETS,
});

function typesOf(
  tables: Readonly<Record<string, Columns<never>>>,
): Record<string, Record<string, ColumnType>> {
  const types = (columns: Columns<never>): Record<string, ColumnType> =>
    Object.fromEntries(Object.entries(columns).map(([name, [type]]) => [name, type]));
  return Object.fromEntries(Object.entries(tables).map(([name, table]) => [name, types(table)]));
}

/** Rows of one strategy or market. */
type RowsOf<T> = readonly [of: string, rows: readonly T[]];

/** Every table of a run; each is made when asked for, with or without rows. */
const MAKERS = {
  equity: (run) =>
    tableOf(
      'equity',
      EQUITY,
      each(run, ({ equity }) => equity),
    ),
  positions: (run) =>
    tableOf(
      'positions',
      POSITIONS,
      each(run, (strategy) => positionsOf(strategy, run.markets)),
    ),
  fills: (run) =>
    tableOf(
      'fills',
      FILLS,
      each(run, ({ fills }) => fills),
    ),
  orders: (run) =>
    tableOf(
      'orders',
      ORDERS,
      each(run, ({ orders }) => orders),
    ),
  trades: (run) =>
    tableOf(
      'trades',
      TRADES,
      each(run, (strategy) => closedTrades(strategy, run.markets)),
    ),
  open_trades: (run) =>
    tableOf(
      'open_trades',
      TRADES,
      each(run, (strategy) => openTrades(strategy, run.markets)),
    ),
  funding: (run) =>
    tableOf(
      'funding',
      FUNDING,
      each(run, ({ funding }) => funding),
    ),
  liquidations: (run) =>
    tableOf(
      'liquidations',
      LIQUIDATIONS,
      each(run, ({ liquidations }) => liquidations),
    ),
  plots: (run) => tableOf('plots', PLOTS, each(run, plotPoints)),
  log: (run) =>
    tableOf(
      'log',
      LOG,
      each(run, ({ log }) => log),
    ),
  markets: ({ markets }) =>
    tableOf(
      'markets',
      MARKETS,
      markets.map(({ symbol, series }) => [symbol, series]),
    ),
} satisfies Record<string, (run: ExportedRun) => RunTable>;

export type TableName = keyof typeof MAKERS;

/** Tables of a run, all of them or those that are named. */
export function runTables(
  run: ExportedRun,
  names: readonly TableName[] = Object.keys(MAKERS) as TableName[],
): RunTable[] {
  return names.map((name) => MAKERS[name](run));
}

const each = <T>(
  { strategies }: ExportedRun,
  rows: (strategy: StrategyOutput) => readonly T[],
): RowsOf<T>[] => strategies.map((strategy) => [strategy.id, rows(strategy)]);

function tableOf<T>(name: string, columns: Columns<T>, groups: readonly RowsOf<T>[]): RunTable {
  return {
    name,
    rows: groups.reduce((sum, [, rows]) => sum + rows.length, 0),
    columns: Object.entries(columns).map(([column, [type, cell]]) => {
      const cells: TableCell[] = [];
      for (const [of, rows] of groups) {
        // Runs of earlier versions lack some fields.
        for (const row of rows) cells.push(cell(row, of) ?? null);
      }
      return { name: column, type, cells };
    }),
  };
}

function positionsOf(
  { equity, symbols }: StrategyOutput,
  markets: readonly MarketOutput[],
): PositionSample[] {
  const traded = markets.flatMap(({ symbol: market }, i) =>
    symbols.includes(market) ? [{ market, i }] : [],
  );
  const samples: PositionSample[] = [];
  for (const { timeUs, positions } of equity) {
    for (const { market, i } of traded) {
      samples.push({ timeUs, market, position: positions[i] ?? 0 });
    }
  }
  return samples;
}

/** Runs of earlier versions have no plots. */
function plotPoints({ plots }: Partial<StrategyOutput>): PlotPoint[] {
  return (plots ?? []).flatMap(({ name, symbol, pane, timesUs, values }) =>
    timesUs.map((timeUs, i) => ({ name, symbol, pane, timeUs, value: values[i] ?? null })),
  );
}
