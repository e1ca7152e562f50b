/**
 * Closed trades of a strategy: a position of a market from flat to flat. A fill that reverses a
 * position ends one trade and starts the next at the same price; its fee is split by size. A
 * position that a liquidation or a delisting takes ends at the price of the transfer.
 */
import type { FillRow, LiquidationRow } from '../../backtest/output.ts';
import type { TradeRow } from '../../metrics/closed-trades.ts';

export interface RoundTrip extends TradeRow {
  readonly symbol: string;
  readonly side: 'long' | 'short';
  /** Of the order that opened it. */
  readonly tag: string | null;
  readonly entryUs: number;
  readonly exitUs: number;
  /** Max |position| held. */
  readonly size: number;
  /** Size-weighted mean price of the opening fills; `exitPrice`: of the closing fills. */
  readonly entryPrice: number;
  readonly exitPrice: number;
  readonly fees: number;
  readonly funding: number;
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
  fees: number;
  funding: number;
  realized: number;
  fills: number;
  liquidated: boolean;
}

/** A fill, or a position that a liquidation or a delisting moved outside the book. */
interface Change {
  readonly timeUs: number;
  readonly symbol: string;
  readonly sign: number;
  readonly size: number;
  /** Position before it, signed. */
  readonly before: number;
  readonly price: number;
  readonly fees: number;
  readonly realized: number;
  readonly funding: number;
  readonly tag: string | null;
  readonly fills: number;
  readonly liquidated: boolean;
}

/**
 * In order of closing. A position that is open at the end is not included.
 *
 * @param liquidations rows of the account, of which transferred positions count
 */
export function roundTrips(
  fills: readonly FillRow[],
  liquidations: readonly LiquidationRow[] = [],
): RoundTrip[] {
  return tradesOf(fills, liquidations).closed;
}

/** Times and notionals of closed trades, and of positions that are open at the end. */
export function heldTrades(
  fills: readonly FillRow[],
  liquidations: readonly LiquidationRow[],
  endUs: number,
): Pick<RoundTrip, 'entryUs' | 'exitUs' | 'notional'>[] {
  const { closed, open } = tradesOf(fills, liquidations);
  return [
    ...closed,
    ...open.map(({ entryUs, openedNotional, closedNotional }) => ({
      entryUs,
      exitUs: Math.max(entryUs, endUs),
      notional: openedNotional + closedNotional,
    })),
  ];
}

function tradesOf(
  fills: readonly FillRow[],
  liquidations: readonly LiquidationRow[],
): { readonly closed: RoundTrip[]; readonly open: readonly Open[] } {
  const open = new Map<string, Open>();
  const closed: RoundTrip[] = [];
  for (const change of changesOf(fills, liquidations)) {
    const { symbol, size, sign, before } = change;
    const current = open.get(symbol);
    const closing = current === undefined ? 0 : Math.min(size, Math.max(0, -sign * before));
    if (current !== undefined && closing > 0) {
      addClosing(current, change, closing);
      if (closing === size && !isFlat(before + sign * size)) continue;
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

/** Both lists in order of time. Within one instant, a fill says which position it found. */
function changesOf(
  fills: readonly FillRow[],
  liquidations: readonly LiquidationRow[],
): readonly Change[] {
  const changes: Change[] = [];
  const positions = new Map<string, number>();
  const add = (change: Change): void => {
    changes.push(change);
    positions.set(change.symbol, change.before + change.sign * change.size);
  };
  const moved = liquidations.filter(({ realizedPnl }) => realizedPnl !== undefined);
  let next = 0;
  const addMoved = (): void => {
    const row = moved[next];
    next += 1;
    if (row?.symbol != null) add(movedChange(row, row.symbol, positions.get(row.symbol) ?? 0));
  };
  for (const fill of fills) {
    const change = filledChange(fill);
    const isLater = ({ timeUs, symbol }: LiquidationRow): boolean =>
      timeUs > fill.timeUs ||
      (timeUs === fill.timeUs &&
        (symbol !== fill.symbol || isFlat((positions.get(symbol) ?? 0) - change.before)));
    for (let row = moved[next]; row !== undefined && !isLater(row); row = moved[next]) addMoved();
    add(change);
  }
  while (next < moved.length) addMoved();
  return changes;
}

function filledChange(fill: FillRow): Change {
  const size = Number(fill.size);
  const sign = fill.side === 'buy' ? 1 : -1;
  return {
    timeUs: fill.timeUs,
    symbol: fill.symbol,
    sign,
    size,
    before: Number(fill.position) - sign * size,
    price: Number(fill.price),
    fees: Number(fill.fee) + Number(fill.originatorFee),
    realized: Number(fill.realizedPnl),
    funding: Number(fill.realizedFunding),
    tag: fill.tag,
    fills: 1,
    liquidated: fill.liquidation,
  };
}

function movedChange(row: LiquidationRow, symbol: string, before: number): Change {
  const size = Number(row.size);
  return {
    timeUs: row.timeUs,
    symbol,
    sign: Math.sign(size),
    size: Math.abs(size),
    before,
    price: Number(row.limitPrice),
    fees: 0,
    realized: Number(row.realizedPnl),
    funding: Number(row.realizedFunding),
    tag: null,
    fills: 0,
    liquidated: row.step === 'adlFrom' || row.step === 'takeoverFrom',
  };
}

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
      fees: 0,
      funding: 0,
      realized: 0,
      fills: 0,
      liquidated: false,
    };
    open.set(symbol, current);
  }
  return current;
}

function addOpening(trade: Open, change: Change, size: number): void {
  trade.position += size;
  trade.largest = Math.max(trade.largest, trade.position);
  trade.openedSize += size;
  trade.openedNotional += size * change.price;
  trade.fees += change.fees * (size / change.size);
  trade.fills += change.fills;
}

function addClosing(trade: Open, change: Change, size: number): void {
  trade.position -= size;
  trade.closedSize += size;
  trade.closedNotional += size * change.price;
  trade.fees += change.fees * (size / change.size);
  trade.realized += change.realized;
  trade.funding += change.funding;
  trade.fills += change.fills;
  trade.liquidated ||= change.liquidated;
}

function finish(trade: Open, exitUs: number): RoundTrip {
  const pnl = trade.realized + trade.funding - trade.fees;
  return {
    symbol: trade.symbol,
    side: trade.sign > 0 ? 'long' : 'short',
    tag: trade.tag,
    entryUs: trade.entryUs,
    exitUs,
    size: trade.largest,
    entryPrice: trade.openedNotional / trade.openedSize,
    exitPrice: trade.closedNotional / trade.closedSize,
    fees: trade.fees,
    funding: trade.funding,
    notional: trade.openedNotional + trade.closedNotional,
    pnl,
    pnlShare: pnl / trade.openedNotional,
    fills: trade.fills,
    liquidated: trade.liquidated,
  };
}
