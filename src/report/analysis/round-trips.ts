/**
 * Closed trades of a strategy: a position of a market from flat to flat. A fill that reverses a
 * position ends one trade and starts the next at the same price; its fee is split by size. A
 * position that a liquidation or a delisting takes ends at the price of the transfer.
 */
import type {
  FillRow,
  FundingRow,
  LiquidationRow,
  OrderRow,
  StrategyOutput,
} from '../../backtest/output.ts';
import type { TradeRow } from '../../metrics/closed-trades.ts';

/**
 * How the last part of a position was closed: by an order, by a protective order that triggered, by
 * the exchange, or not before the run ended.
 */
export type ExitReason =
  | 'order'
  | 'takeProfit'
  | 'stopLoss'
  | 'trailingStop'
  | 'liquidation'
  | 'deleveraging'
  | 'delisting'
  | 'endOfRun';

export interface RoundTrip extends TradeRow {
  readonly symbol: string;
  readonly side: 'long' | 'short';
  /** Of the order that opened it. */
  readonly tag: string | null;
  readonly exitReason: ExitReason;
  /** Of the order that closed the last part: that of the parent for a protective order. */
  readonly exitTag: string | null;
  readonly entryUs: number;
  readonly exitUs: number;
  /** Max |position| held. */
  readonly size: number;
  /** Size-weighted mean price of the opening fills; `exitPrice`: of the closing fills. */
  readonly entryPrice: number;
  readonly exitPrice: number;
  /** Of its fills, and what a liquidation or deleveraging took; negative if it paid more. */
  readonly fees: number;
  readonly funding: number;
  /** Of its fills, as for turnover: a position that is taken is not traded. */
  readonly notional: number;
  /** Price gains + funding − fees. */
  readonly pnl: number;
  /** pnl ÷ notional of the opening fills. */
  readonly pnlShare: number;
  readonly fills: number;
  readonly liquidated: boolean;
}

interface Open {
  symbol: string;
  sign: number;
  tag: string | null;
  entryUs: number;
  position: number;
  largest: number;
  openedSize: number;
  openedNotional: number;
  closedSize: number;
  closedNotional: number;
  notional: number;
  fees: number;
  funding: number;
  realized: number;
  fills: number;
  liquidated: boolean;
  exitReason: ExitReason;
  exitTag: string | null;
}

/** A fill, or a position that a liquidation or a delisting moved outside the book. */
interface Change {
  readonly timeUs: number;
  readonly symbol: string;
  readonly sign: number;
  readonly size: number;
  /** Position before it, signed. */
  readonly before: number;
  /** Position after it, signed: of a fill as it is recorded, without the rounding of sums. */
  readonly after: number;
  readonly price: number;
  readonly fees: number;
  readonly realized: number;
  readonly funding: number;
  readonly tag: string | null;
  readonly fills: number;
  readonly liquidated: boolean;
  /** If it closes a position. */
  readonly reason: ExitReason;
}

/** Orders of a run, by which the reason of an exit is known. */
type Orders = readonly Pick<OrderRow, 'orderNumber' | 'orderType'>[];

/**
 * In order of closing. A position that is open at the end is not included.
 *
 * @param liquidations rows of the account, of which transferred positions count
 * @param orders without them, each fill counts as that of a plain order
 */
export function roundTrips(
  fills: readonly FillRow[],
  liquidations: readonly LiquidationRow[] = [],
  orders: Orders = [],
): RoundTrip[] {
  return tradesOf(fills, liquidations, orders).closed;
}

/**
 * Positions that are open at the end, in order of opening, as trades that end at these prices.
 *
 * @param prices last mark by market; a position without one is valued at its last fill
 */
export function openTrips(
  { fills, liquidations, funding }: Pick<StrategyOutput, 'fills' | 'liquidations' | 'funding'>,
  prices: ReadonlyMap<string, number>,
  endUs: number,
): RoundTrip[] {
  return tradesOf(fills, liquidations, []).open.map((trade) => {
    const { symbol, sign, position, openedNotional, openedSize } = trade;
    const price = prices.get(symbol) ?? openedNotional / openedSize;
    const closedNotional = trade.closedNotional + position * price;
    const ended: Open = {
      ...trade,
      closedNotional,
      closedSize: openedSize,
      realized: sign * (closedNotional - openedNotional),
      funding: trade.funding + unrealizedFunding(symbol, { fills, liquidations, funding }),
      exitReason: 'endOfRun',
      exitTag: null,
    };
    return finish(ended, Math.max(trade.entryUs, endUs));
  });
}

/** Payments of a market that no fill or transfer has realised. */
function unrealizedFunding(
  market: string,
  rows: {
    readonly fills: readonly FillRow[];
    readonly liquidations: readonly LiquidationRow[];
    readonly funding: readonly FundingRow[];
  },
): number {
  const total = <T extends { readonly symbol: string | null }>(
    all: readonly T[],
    of: (row: T) => string | undefined,
  ): number =>
    all.reduce((sum, row) => (row.symbol === market ? sum + Number(of(row) ?? 0) : sum), 0);
  const realized = (row: FillRow | LiquidationRow): string | undefined => row.realizedFunding;
  const paid = total(rows.funding, ({ payment }) => payment);
  const pending = paid - total(rows.fills, realized) - total(rows.liquidations, realized);
  // Payments have six decimals; the rest is rounding of sums.
  return Math.round(pending * 1e6) / 1e6;
}

/** Times and notionals of closed trades, and of positions that are open at the end. */
export function heldTrades(
  fills: readonly FillRow[],
  liquidations: readonly LiquidationRow[],
  endUs: number,
): Pick<RoundTrip, 'entryUs' | 'exitUs' | 'notional'>[] {
  const { closed, open } = tradesOf(fills, liquidations, []);
  return [
    ...closed,
    ...open.map(({ entryUs, notional }) => ({
      entryUs,
      exitUs: Math.max(entryUs, endUs),
      notional,
    })),
  ];
}

function tradesOf(
  fills: readonly FillRow[],
  liquidations: readonly LiquidationRow[],
  orders: Orders,
): { readonly closed: RoundTrip[]; readonly open: readonly Open[] } {
  const open = new Map<string, Open>();
  const closed: RoundTrip[] = [];
  for (const change of changesOf(fills, liquidations, orders)) {
    const { symbol, size, sign, before, after } = change;
    const current = open.get(symbol);
    const held = current === undefined ? 0 : Math.max(0, -sign * before);
    const closing = size - held > LEAST_SIZE * size ? held : size;
    if (current !== undefined && closing > 0) {
      addClosing(current, change, closing);
      if (closing === size && !isFlat(after)) continue;
      closed.push(finish(current, change.timeUs));
      open.delete(symbol);
    }
    if (closing === size) continue;
    addOpening(openOf(open, change), change, size - closing);
  }
  return { closed, open: [...open.values()] };
}

/** Differences below are rounding of sums. */
const LEAST_SIZE = 1e-12;
const isFlat = (position: number): boolean => Math.abs(position) < LEAST_SIZE;

/** Both lists in order. In earlier runs, a fill says which position it found within an instant. */
function changesOf(
  fills: readonly FillRow[],
  liquidations: readonly LiquidationRow[],
  orders: Orders,
): readonly Change[] {
  const types = new Map(orders.map(({ orderNumber, orderType }) => [orderNumber, orderType]));
  const changes: Change[] = [];
  const positions = new Map<string, number>();
  const add = (change: Change): void => {
    changes.push(change);
    positions.set(change.symbol, change.after);
  };
  const moved = liquidations.filter(({ realizedPnl }) => realizedPnl !== undefined);
  let next = 0;
  const addMoved = (): void => {
    const row = moved[next];
    next += 1;
    if (row?.symbol != null) add(movedChange(row, row.symbol, positions.get(row.symbol) ?? 0));
  };
  for (const [i, fill] of fills.entries()) {
    const change = filledChange(fill, types.get(fill.orderNumber));
    const isLater = ({ timeUs, symbol, fillsBefore }: LiquidationRow): boolean =>
      fillsBefore === undefined
        ? timeUs > fill.timeUs ||
          (timeUs === fill.timeUs &&
            (symbol !== fill.symbol || isFlat((positions.get(symbol) ?? 0) - change.before)))
        : fillsBefore > i;
    for (let row = moved[next]; row !== undefined && !isLater(row); row = moved[next]) addMoved();
    add(change);
  }
  while (next < moved.length) addMoved();
  return changes;
}

function filledChange(fill: FillRow, orderType: string | undefined): Change {
  const size = Number(fill.size);
  const sign = fill.side === 'buy' ? 1 : -1;
  return {
    timeUs: fill.timeUs,
    symbol: fill.symbol,
    sign,
    size,
    before: Number(fill.position) - sign * size,
    after: Number(fill.position),
    price: Number(fill.price),
    fees: Number(fill.fee) + Number(fill.originatorFee),
    realized: Number(fill.realizedPnl),
    funding: Number(fill.realizedFunding),
    tag: fill.tag,
    fills: 1,
    liquidated: fill.liquidation,
    reason: fill.liquidation ? 'liquidation' : isProtective(orderType) ? orderType : 'order',
  };
}

function isProtective(
  type: string | undefined,
): type is 'takeProfit' | 'stopLoss' | 'trailingStop' {
  return type === 'takeProfit' || type === 'stopLoss' || type === 'trailingStop';
}

function movedChange(row: LiquidationRow, symbol: string, before: number): Change {
  const size = Number(row.size);
  return {
    timeUs: row.timeUs,
    symbol,
    sign: Math.sign(size),
    size: Math.abs(size),
    before,
    after: before + size,
    price: Number(row.limitPrice),
    fees: -Number(row.amount) - Number(row.charges ?? 0) || 0,
    realized: Number(row.realizedPnl),
    funding: Number(row.realizedFunding),
    tag: null,
    fills: 0,
    liquidated: row.step === 'adlFrom' || row.step === 'takeoverFrom',
    reason: TRANSFERS[row.step] ?? 'liquidation',
  };
}

/** The side that deleveraging closes is not the one that is liquidated. */
const TRANSFERS: Readonly<Record<string, ExitReason>> = {
  adlTo: 'deleveraging',
  delistingFrom: 'delisting',
  delistingTo: 'delisting',
};

function openOf(open: Map<string, Open>, { symbol, sign, tag, timeUs }: Change): Open {
  let current = open.get(symbol);
  if (current === undefined) {
    current = {
      symbol,
      sign,
      tag,
      entryUs: timeUs,
      position: 0,
      largest: 0,
      openedSize: 0,
      openedNotional: 0,
      closedSize: 0,
      closedNotional: 0,
      notional: 0,
      fees: 0,
      funding: 0,
      realized: 0,
      fills: 0,
      liquidated: false,
      exitReason: 'order',
      exitTag: null,
    };
    open.set(symbol, current);
  }
  return current;
}

function addOpening(trade: Open, change: Change, size: number): void {
  trade.position += size;
  trade.largest = Math.max(trade.largest, Math.abs(change.after));
  trade.openedSize += size;
  trade.openedNotional += size * change.price;
  trade.notional += change.fills * size * change.price;
  trade.fees += change.fees * (size / change.size);
  trade.fills += change.fills;
}

function addClosing(trade: Open, change: Change, size: number): void {
  trade.position -= size;
  trade.closedSize += size;
  trade.closedNotional += size * change.price;
  trade.notional += change.fills * size * change.price;
  trade.fees += change.fees * (size / change.size);
  trade.realized += change.realized;
  trade.funding += change.funding;
  trade.fills += change.fills;
  trade.liquidated ||= change.liquidated;
  trade.exitReason = change.reason;
  trade.exitTag = change.tag;
}

function finish(trade: Open, exitUs: number): RoundTrip {
  const pnl = trade.realized + trade.funding - trade.fees;
  return {
    symbol: trade.symbol,
    side: trade.sign > 0 ? 'long' : 'short',
    tag: trade.tag,
    exitReason: trade.exitReason,
    exitTag: trade.exitTag,
    entryUs: trade.entryUs,
    exitUs,
    size: trade.largest,
    entryPrice: trade.openedNotional / trade.openedSize,
    exitPrice: trade.closedNotional / trade.closedSize,
    fees: trade.fees,
    funding: trade.funding,
    notional: trade.notional,
    pnl,
    pnlShare: pnl / trade.openedNotional,
    fills: trade.fills,
    liquidated: trade.liquidated,
  };
}
