/** Lines of the chart: own orders, the position, its liquidation price, and a planned bracket. */
import { effect, signal } from '@preact/signals';
import { openOrders, positions } from './account-state.ts';
import type { ChartLine } from './chart.tsx';
import { spread } from './frames.ts';
import { price, symbol } from './markets.ts';
import { form, moveOrder, onTick } from './order-form.ts';
import type { Order } from './order-list.ts';
import { isMovable } from './order-request.ts';
import { strategy } from './strategy-state.ts';

/** More lines than these cannot be distinguished. */
const MAX_LINES = 60;
/** Drawing the chart again is the most expensive work of the screen. */
const PAUSE_MS = 200;

const nearest = signal<readonly Order[]>([]);

/** Open orders of the market, those nearest to its mark if there are many. */
function findNearest(): void {
  const own = openOrders.peek().filter((order) => order.symbol === symbol.peek());
  nearest.value = own.length <= MAX_LINES ? own : nearestOf(own, Number(price.peek()?.mark ?? 0));
}

function nearestOf(own: readonly Order[], mark: number): readonly Order[] {
  const distances = Float64Array.from(own, (order) =>
    Math.abs(Number(order.triggerPrice ?? order.price) - mark),
  );
  const most = distances.slice().sort()[MAX_LINES - 1] ?? Infinity;
  return own.filter((_order, i) => (distances[i] ?? Infinity) <= most).slice(0, MAX_LINES);
}

const askNearest = spread(findNearest, PAUSE_MS);

/** Keeps the lines of orders up to date. */
export function followLines(): void {
  effect(() => {
    // Read, so that the effect follows them.
    const of = [symbol.value, openOrders.value, price.value?.mark];
    if (of.length > 0) askNearest();
  });
}

export function linesOf(): ChartLine[] {
  const lines: ChartLine[] = [];
  for (const order of nearest.value) {
    const at = order.triggerPrice ?? (order.status === 'pending' ? null : order.price);
    if (at === null) continue;
    lines.push({
      id: order.orderId,
      price: Number(at),
      title: `${order.orderType} ${order.remaining}`,
      tone: order.quantity.startsWith('-') ? 'sell' : 'buy',
      dashed: true,
      ...(isMovable(order)
        ? {
            onDrop: (to: number) => {
              void moveOrder(order, onTick(to));
            },
          }
        : {}),
    });
  }
  for (const { orderId, symbol: of, quantity, remaining, triggerPrice, price: at } of strategy.value
    ?.orders ?? []) {
    if (of !== symbol.value) continue;
    lines.push({
      id: `strategy ${orderId}`,
      price: Number(triggerPrice ?? at),
      title: `strategy ${quantity.startsWith('-') ? 'sell' : 'buy'} ${remaining.replace('-', '')}`,
      tone: 'text-2',
      dashed: true,
    });
  }
  const held = positions.value.find((one) => one.symbol === symbol.value);
  if (held !== undefined) {
    lines.push({
      id: 'entry',
      price: Number(held.entryPrice),
      title: `${held.quantity.startsWith('-') ? 'short' : 'long'} ${held.quantity.replace('-', '')}`,
      tone: 'accent',
      dashed: false,
    });
    if (held.liquidationPrice !== null) {
      lines.push({
        id: 'liquidation',
        price: Number(held.liquidationPrice),
        title: 'liquidation',
        tone: 'danger',
        dashed: true,
      });
    }
  }
  for (const [name, title] of [
    ['takeProfit', 'planned TP'],
    ['stopLoss', 'planned SL'],
  ] as const) {
    const at = Number(form[name].value);
    if (!form.bracket.value || !(at > 0)) continue;
    lines.push({
      id: name,
      price: at,
      title,
      tone: name === 'takeProfit' ? 'buy' : 'sell',
      dashed: true,
      onDrop: (to) => {
        form[name].value = onTick(to);
      },
    });
  }
  return lines;
}
