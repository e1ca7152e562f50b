/** Why an order was sent: its tag, and what kind of protective order it is. */
import type { OrderRow } from '../backtest/output.ts';

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

/** Reasons of fills, by the number of their order. */
export function reasonsOf(orders: readonly OrderRow[]): ReadonlyMap<number, string | null> {
  return new Map(orders.map((order) => [order.orderNumber, reasonText(order)]));
}
