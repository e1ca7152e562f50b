/** Positions, open and past orders of the account. */
import { openOrders, orders, pastOrders, positions, type Position } from './account-state.ts';
import type { Order } from './order-list.ts';
import { money } from '../exact-text.ts';
import { MarketLink, marketOf, Result, Side } from './cells.tsx';
import { DataTable } from '../data-table.tsx';
import type { Column } from '../table.tsx';
import { market, prices, symbol } from './markets.ts';
import { cancel, cancelOrder } from './outbox.ts';
import { closePosition } from './order-form.ts';
import { account, subaccountIndex } from './session.ts';
import { priceText, sizeText, timeText, UNKNOWN } from './text.ts';

const POSITIONS: readonly Column<Position>[] = [
  {
    name: 'Market',
    width: 1.4,
    left: true,
    of: (row) => <MarketLink of={row.symbol} />,
    by: (row) => row.symbol,
  },
  {
    name: 'Side',
    width: 0.8,
    left: true,
    of: ({ quantity }) =>
      quantity.startsWith('-') ? (
        <span class="loss">▼ short</span>
      ) : (
        <span class="gain">▲ long</span>
      ),
  },
  {
    name: 'Size',
    width: 0.8,
    of: (row) => sizeText(row.quantity, marketOf(row.symbol)),
    by: (row) => Number(row.quantity),
  },
  { name: 'Entry', width: 0.9, of: (row) => priceText(row.entryPrice, marketOf(row.symbol)) },
  {
    name: 'Mark',
    width: 0.9,
    of: (row) =>
      priceText(prices.value.get(row.symbol)?.mark ?? row.markPrice, marketOf(row.symbol)),
  },
  { name: 'Liquidation', of: (row) => priceText(row.liquidationPrice, marketOf(row.symbol)) },
  { name: 'Unrealised', of: (row) => <Result text={upnl(row)} />, by: (row) => Number(upnl(row)) },
  { name: 'Funding', width: 0.8, of: (row) => <Result text={row.funding} /> },
  { name: 'Fees', width: 0.7, of: (row) => money(row.fees) },
  {
    name: 'Margin',
    width: 1.2,
    left: true,
    of: (row) => (row.isolated ? `${money(row.margin)} isolated` : 'cross'),
  },
  {
    name: 'ADL',
    width: 0.5,
    of: (row) => (
      <span title="Fifth of the holders of this side; 5 is closed first">
        {row.adlQuantile ?? UNKNOWN}
      </span>
    ),
  },
  {
    name: 'Action',
    width: 0.9,
    of: (row) => (
      <button
        type="button"
        class="button"
        aria-label={`Close ${row.symbol}`}
        onClick={() => {
          closePosition(row);
        }}
      >
        Close
      </button>
    ),
  },
];

/** At the newest mark; updates of a position come with its changes only. */
function upnl({ symbol: of, quantity, basis, upnl: known }: Position): string {
  const mark = prices.value.get(of)?.mark;
  if (mark === null || mark === undefined) return known;
  return (Number(quantity) * Number(mark) - Number(basis)).toFixed(6);
}

export function Positions() {
  return (
    <DataTable
      caption="Open positions"
      rows={positions.value}
      columns={POSITIONS}
      keyOf={(row) => row.symbol}
      empty="No open position"
      file="positions"
    >
      <button
        type="button"
        class="button"
        disabled={positions.value.length === 0}
        onClick={() => {
          for (const position of positions.value) closePosition(position);
        }}
      >
        Close all
      </button>
    </DataTable>
  );
}

const isPart = (order: Order): boolean =>
  order.orderType === 'twap' || order.orderType === 'iceberg';

/** Filled and whole size of the slices of an order's group. */
function progressOf(order: Order): string {
  if (!isPart(order) || order.groupId === null) return '';
  // Read, so that the row follows the other parts.
  const parts = openOrders.value.length < 0 ? [] : [...orders.group(order.groupId)];
  const sum = (of: (one: Order) => string): number =>
    parts.reduce((total, one) => total + Math.abs(Number(of(one))), 0);
  const done = sum((one) => one.settled);
  const all = sum((one) => one.quantity);
  return ` · ${((done / (all || 1)) * 100).toFixed(0)} % of ${String(parts.length)} parts`;
}

export const TERMS: readonly Column<Order>[] = [
  {
    name: 'Market',
    width: 1.3,
    left: true,
    of: (row) => <MarketLink of={row.symbol} />,
    by: (row) => row.symbol,
  },
  { name: 'Side', width: 0.65, left: true, of: (row) => <Side quantity={row.quantity} /> },
  {
    name: 'Type',
    width: 0.95,
    left: true,
    of: (row) => `${row.orderType}${progressOf(row)}`,
    by: (row) => row.orderType,
  },
  {
    name: 'Price',
    width: 0.85,
    of: (row) => priceText(row.price, marketOf(row.symbol)),
    by: (row) => Number(row.price),
  },
  { name: 'Trigger', width: 0.85, of: (row) => priceText(row.triggerPrice, marketOf(row.symbol)) },
  {
    name: 'Filled',
    width: 1.7,
    of: (row) =>
      `${sizeText(row.settled, marketOf(row.symbol))} / ${sizeText(row.quantity, marketOf(row.symbol))}`,
  },
  {
    name: 'Flags',
    width: 1.15,
    left: true,
    of: ({ flags }) =>
      [
        flags.ioc ? 'immediate' : '',
        flags.postOnly ? 'post only' : '',
        flags.reduceOnly ? 'reduce only' : '',
      ]
        .filter((one) => one !== '')
        .join(', '),
  },
  {
    name: 'Status',
    width: 1.15,
    left: true,
    of: ({ status, reason }) => (reason === null ? status : `${status}: ${reason}`),
  },
  {
    name: 'Updated, UTC',
    width: 1.85,
    of: (row) => timeText(row.updatedAt),
    by: (row) => row.updatedAt,
  },
];

const cancelOne = ({ orderId, symbol: of }: Order): void => {
  void cancelOrder(orderId, `Cancel one order of ${of}`);
};

/** Cancels all orders of the subaccount, or those of one market. */
export function cancelAll(of: string | null): void {
  if (account.value === null) return;
  const query = new URLSearchParams({
    account: account.value,
    subaccountIndex: String(subaccountIndex.value),
    ...(of === null ? {} : { symbol: of }),
  });
  void cancel(
    `/account/orders?${query.toString()}`,
    'DELETE',
    `Cancel all of ${of ?? 'the account'}`,
  );
}

const OPEN: readonly Column<Order>[] = [
  ...TERMS,
  {
    name: 'Action',
    width: 0.85,
    of: (row) => (
      <button
        type="button"
        class="button"
        onClick={() => {
          cancelOne(row);
        }}
      >
        Cancel
      </button>
    ),
  },
];

export function OpenOrders() {
  return (
    <DataTable
      caption="Open orders"
      rows={openOrders.value}
      columns={OPEN}
      keyOf={(row) => row.orderId}
      empty="No open order"
      file="orders"
    >
      <button
        type="button"
        class="button"
        disabled={!openOrders.value.some((one) => one.symbol === symbol.value)}
        onClick={() => {
          cancelAll(symbol.value);
        }}
      >
        Cancel all of {market.value?.symbol}
      </button>
      <button
        type="button"
        class="button"
        disabled={openOrders.value.length === 0}
        onClick={() => {
          cancelAll(null);
        }}
      >
        Cancel all
      </button>
    </DataTable>
  );
}

export function PastOrders() {
  return (
    <DataTable
      caption="Past orders"
      rows={pastOrders.value}
      columns={TERMS}
      keyOf={(row) => row.orderId}
      empty="No order has ended yet"
      file="past-orders"
    />
  );
}
