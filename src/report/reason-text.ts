/** Why an order was sent, or a position closed: a tag, and the kind of protective order. */
import type { OrderRow } from '../backtest/output.ts';
import type { RoundTrip } from './analysis/round-trips.ts';

const PROTECTIVE: Readonly<Record<string, string>> = {
  takeProfit: 'take profit',
  stopLoss: 'stop loss',
  trailingStop: 'trailing stop',
};

/** `stop loss (breakout)`; null without a tag and for an order that protects nothing. */
export function reasonText({ tag, orderType }: Pick<OrderRow, 'tag' | 'orderType'>): string | null {
  const kind = PROTECTIVE[orderType];
  if (kind === undefined) return tag;
  return tag === null || tag === kind ? kind : `${kind} (${tag})`;
}

/** `stop loss (breakout)`, `liquidation`; the tag alone for a plain order, or `order`. */
export function exitText({
  exitReason,
  exitTag,
}: Pick<RoundTrip, 'exitReason' | 'exitTag'>): string {
  switch (exitReason) {
    case 'order':
      return exitTag ?? 'order';
    case 'takeProfit':
    case 'stopLoss':
    case 'trailingStop':
      return reasonText({ tag: exitTag, orderType: exitReason }) ?? 'order';
    case 'liquidation':
    case 'deleveraging':
    case 'delisting':
      return exitReason;
    case 'endOfRun':
      return 'open at the end';
  }
}

/** Reasons of fills, by the number of their order. */
export function reasonsOf(orders: readonly OrderRow[]): ReadonlyMap<number, string | null> {
  return new Map(orders.map((order) => [order.orderNumber, reasonText(order)]));
}
