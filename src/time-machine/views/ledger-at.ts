/**
 * The money of one command as double entries: every amount that leaves one place arrives in
 * another, so the entries sum to zero. Places are the cash and the isolated margin of a
 * subaccount, the cost of its position (what it paid for it, with the sign of a payment), and the
 * outside world for deposits and withdrawals.
 */
import type { EngineEvent } from '../../engine/events.ts';
import type { ExchangeView } from '../../engine/read/views.ts';
import { money } from '../../gateway/encode.ts';
import type { MarketId, SubaccountId } from '../../num/units.ts';
import { subaccountName } from './account-names.ts';

export interface LedgerEntry {
  readonly place: 'cash' | 'isolatedMargin' | 'positionCost' | 'outside';
  /** null for the outside world. */
  readonly subaccount: number | null;
  readonly owner: string;
  readonly symbol: string | null;
  readonly reason: string;
  /** Signed money; all entries of a command sum to 0. */
  readonly amount: string;
  /** Cash or isolated margin after the entry; null for other places. */
  readonly balance: string | null;
  /** Index of its event in the command; −1 for entries that only balance another. */
  readonly event: number;
}

export interface LedgerAt {
  readonly entries: readonly LedgerEntry[];
  /** '0' unless the ledger is wrong. */
  readonly sum: string;
}

interface Row {
  readonly place: LedgerEntry['place'];
  readonly reason: string;
  readonly event: number;
  readonly id: SubaccountId | null;
  readonly market: MarketId | null;
  readonly delta: bigint;
  readonly after: bigint | null;
}

export function ledgerAt(view: ExchangeView, events: readonly EngineEvent[]): LedgerAt {
  const rows = ledgerRows(view, events);
  return {
    entries: rows.map(({ id, market, delta, after, ...row }) => ({
      ...row,
      subaccount: id,
      owner: id === null ? 'outside' : subaccountName(view, id),
      symbol: market === null ? null : view.market(market).spec.symbol,
      amount: money(delta),
      balance: after === null ? null : money(after),
    })),
    sum: money(rows.reduce((sum, { delta }) => sum + delta, 0n)),
  };
}

function ledgerRows(view: ExchangeView, events: readonly EngineEvent[]): Row[] {
  const rows: Row[] = [];
  for (const event of events) {
    switch (event.kind) {
      case 'balanceChanged':
        rows.push(...cashRows(event));
        break;
      case 'isolatedMarginChanged':
        rows.push({
          place: 'isolatedMargin',
          id: event.subaccount,
          market: event.market,
          reason: event.reason,
          delta: event.deltaQuanta,
          after: event.marginQuanta,
          event: event.index,
        });
        break;
      default:
        break;
    }
  }
  return [...rows, ...costRows(view, events)];
}

/** Realised PnL by subaccount since the last print: the part of a payment that is no cost. */
type Realized = Map<SubaccountId, bigint>;

/**
 * Costs of positions. A side that buys `lots` at a price pays `lots × price` into the position; its
 * realised PnL leaves the position for cash. Both sides of a print follow it, the maker first; both
 * parties of a transfer precede it.
 */
function costRows(view: ExchangeView, events: readonly EngineEvent[]): Row[] {
  const rows: Row[] = [];
  const realized: Realized = new Map();
  let print: { readonly lots: number; readonly priceTicks: number } | null = null;
  let side: 'maker' | 'taker' = 'maker';
  for (const event of events) {
    if (event.kind === 'tradePrinted') {
      print = event;
      side = 'maker';
      realized.clear();
    } else if (event.kind === 'balanceChanged' || event.kind === 'isolatedMarginChanged') {
      if (event.reason !== 'realizedPnl') continue;
      realized.set(event.subaccount, (realized.get(event.subaccount) ?? 0n) + event.deltaQuanta);
    } else if (event.kind === 'positionChanged' && print !== null) {
      const { market, subaccount: id } = event;
      const lots = side === 'maker' ? -print.lots : print.lots;
      const paid = notionalOf(view, market, lots, print.priceTicks) + (realized.get(id) ?? 0n);
      rows.push(costRow(id, market, 'fill', -paid, event.index));
      if (side === 'taker') print = null;
      side = 'taker';
    } else if (event.kind === 'positionTransferred') {
      const { market, reason } = event;
      const value = notionalOf(view, market, event.lots, event.priceTicks);
      const given = value - event.fromRealizedQuanta;
      const taken = -value - event.toRealizedQuanta;
      rows.push(costRow(event.from, market, reason, given, event.index));
      rows.push(costRow(event.to, market, reason, taken, event.index));
    }
  }
  return rows;
}

function notionalOf(view: ExchangeView, market: MarketId, lots: number, ticks: number): bigint {
  const { quantaPerTickLot } = view.market(market).spec;
  return BigInt(lots) * BigInt(ticks) * BigInt(quantaPerTickLot);
}

function costRow(
  id: SubaccountId,
  market: MarketId,
  reason: string,
  delta: bigint,
  event: number,
): Row {
  return { place: 'positionCost', id, market, reason, delta, after: null, event };
}

const OUTSIDE: readonly string[] = ['deposit', 'withdrawal'];

function cashRows(event: Extract<EngineEvent, { kind: 'balanceChanged' }>): Row[] {
  const cash: Row = {
    place: 'cash',
    id: event.subaccount,
    market: null,
    reason: event.reason,
    delta: event.deltaQuanta,
    after: event.balanceQuanta,
    event: event.index,
  };
  if (!OUTSIDE.includes(event.reason)) return [cash];
  const outside: Row = {
    place: 'outside',
    id: null,
    market: null,
    reason: event.reason,
    delta: -event.deltaQuanta,
    after: null,
    event: -1,
  };
  return [cash, outside];
}
