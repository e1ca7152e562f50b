/**
 * Closed trades of a strategy: a position of a market from flat to flat. A fill that reverses a
 * position ends one trade and starts the next at the same price; its fee is split by size.
 */
import type { FillRow } from '../../backtest/output.ts';
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

/** In order of closing. A position that is open at the end is not included. */
export function roundTrips(fills: readonly FillRow[]): RoundTrip[] {
  const open = new Map<string, Open>();
  const closed: RoundTrip[] = [];
  for (const fill of fills) {
    const size = Number(fill.size);
    const sign = fill.side === 'buy' ? 1 : -1;
    const after = Number(fill.position);
    const before = after - sign * size;
    const current = open.get(fill.symbol);
    const closing = current === undefined ? 0 : Math.min(size, Math.max(0, -sign * before));
    if (current !== undefined && closing > 0) {
      addClosing(current, fill, closing, size);
      if (closing === size && after !== 0) continue;
      closed.push(finish(current, fill.timeUs));
      open.delete(fill.symbol);
    }
    if (closing === size) continue;
    addOpening(openOf(open, fill, sign), fill, size - closing, size);
  }
  return closed;
}

function openOf(open: Map<string, Open>, fill: FillRow, sign: number): Open {
  let current = open.get(fill.symbol);
  if (current === undefined) {
    current = {
      symbol: fill.symbol,
      sign,
      tag: fill.tag,
      entryUs: fill.timeUs,
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
    open.set(fill.symbol, current);
  }
  return current;
}

function addOpening(trade: Open, fill: FillRow, size: number, whole: number): void {
  trade.position += size;
  trade.largest = Math.max(trade.largest, trade.position);
  trade.openedSize += size;
  trade.openedNotional += size * Number(fill.price);
  trade.fees += feesOf(fill) * (size / whole);
  trade.fills += 1;
}

function addClosing(trade: Open, fill: FillRow, size: number, whole: number): void {
  trade.position -= size;
  trade.closedSize += size;
  trade.closedNotional += size * Number(fill.price);
  trade.fees += feesOf(fill) * (size / whole);
  trade.realized += Number(fill.realizedPnl);
  trade.funding += Number(fill.realizedFunding);
  trade.fills += 1;
  trade.liquidated ||= fill.liquidation;
}

const feesOf = (fill: FillRow): number => Number(fill.fee) + Number(fill.originatorFee);

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
