/** The life of an order, and the list of an account's orders: the journal is executed in slices. */
import type { EngineEvent } from '../../engine/events.ts';
import { END_TEXTS } from '../../time-machine/views/reason-texts.ts';
import { priceText, sizeText } from '../../gateway/encode.ts';
import type { Timeline } from '../../time-machine/timeline.ts';
import { OrderLife, type OrderLifeView } from '../../time-machine/views/order-life.ts';
import type { EditText } from './edits.ts';
import { Slices } from './slices.ts';

/** Null when stopped. */
export async function orderHistory(
  timeline: Timeline,
  order: number,
  isStopped: () => boolean,
): Promise<OrderLifeView | null> {
  const life = new OrderLife(order);
  // Orders are numbered in the order of their commands.
  const placed = timeline.firstSeq(({ lastOrderId }) => lastOrderId >= order);
  const cursor = timeline.cursorAt(Math.max(timeline.baseSeq, placed - 1));
  const { engine } = cursor;
  const slices = new Slices();
  const events: EngineEvent[] = [];
  while (cursor.step((event) => events.push(event)) !== null) {
    if (!life.after(engine, events)) break;
    events.length = 0;
    if (!(await slices.next(isStopped))) return null;
  }
  return life.view(engine);
}

/** An order of an account, in the order in which they were placed. */
export interface PlacedOrder {
  readonly number: number;
  readonly seq: number;
  readonly timeUs: number;
  readonly orderId: number;
  readonly orderType: string;
  readonly side: 'buy' | 'sell';
  readonly size: string;
  readonly price: string;
  readonly symbol: string;
  readonly filled: string;
  readonly end: string;
}

export interface PlacedOrders {
  /** The first ones of an account with many. */
  readonly rows: readonly PlacedOrder[];
  readonly count: number;
}

const MOST_ORDERS = 1000;

/** All orders of an account; null when stopped. */
export async function ordersOf(
  timeline: Timeline,
  subaccount: number,
  isStopped: () => boolean,
): Promise<PlacedOrders | null> {
  const cursor = timeline.cursorAt(timeline.baseSeq);
  const { engine } = cursor;
  const slices = new Slices();
  const rows = new Map<number, { row: PlacedOrder; filledLots: number; end: string }>();
  let count = 0;
  const sink = (event: EngineEvent): void => {
    if (!('subaccount' in event) || event.subaccount !== subaccount) return;
    if (event.kind === 'orderAccepted' || event.kind === 'orderRejected') {
      count += 1;
      if (count > MOST_ORDERS) return;
      const market = engine.market(event.market);
      const row: PlacedOrder = {
        number: count,
        seq: event.seq,
        timeUs: event.timeUs,
        orderId: event.orderId,
        orderType: event.orderType,
        side: event.lots > 0 ? 'buy' : 'sell',
        size: sizeText(market, Math.abs(event.lots)),
        price: priceText(market, event.priceTicks),
        symbol: market.spec.symbol,
        filled: '0',
        end: '',
      };
      const end = event.kind === 'orderRejected' ? `rejected: ${END_TEXTS[event.reason]}` : 'live';
      rows.set(event.orderId, { row, filledLots: 0, end });
      return;
    }
    if (event.kind !== 'orderFilled' && event.kind !== 'orderEnded') return;
    const found = rows.get(event.orderId);
    if (found === undefined) return;
    if (event.kind === 'orderFilled') {
      found.filledLots += Math.abs(event.lots);
      const market = engine.market(event.market);
      found.row = { ...found.row, filled: sizeText(market, found.filledLots) };
    } else {
      found.end =
        event.reason === null ? event.status : `${event.status}: ${END_TEXTS[event.reason]}`;
    }
  };
  while (cursor.step(sink) !== null) {
    if (!(await slices.next(isStopped))) return null;
  }
  return { rows: [...rows.values()].map(({ row, end }) => ({ ...row, end })), count };
}

/** The edit that leaves out an order which command `seq` placed. */
export function withoutOrder(timeline: Timeline, seq: number, order: number): EditText {
  const command = timeline.commandAt(seq);
  if (command?.kind !== 'placeOrders' || command.orders.length < 2) return { kind: 'drop', seq };
  // Timers of the same command may place orders first.
  const placed = timeline
    .seek(seq)
    .step?.events.filter(
      ({ kind, cause }) =>
        (kind === 'orderAccepted' || kind === 'orderRejected') && cause === 'command',
    );
  const nth = placed?.findIndex((event) => 'orderId' in event && event.orderId === order) ?? -1;
  return nth < 0 ? { kind: 'drop', seq } : { kind: 'dropOrder', seq, nth, order };
}
