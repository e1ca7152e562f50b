/** The life of an order: each of its events, with the size ahead of it in the queue after each. */
import type { EngineEvent } from '../../engine/events.ts';
import { sizeText } from '../../gateway/encode.ts';
import type { OrderId } from '../../num/units.ts';
import type { Timeline } from '../../time-machine/timeline.ts';
import { eventTree } from '../../time-machine/views/event-tree.ts';
import { eventText } from './event-text.ts';
import { Slices } from './slices.ts';

export interface OrderMoment {
  readonly seq: number;
  readonly timeUs: number;
  readonly text: string;
  /** After the command; null if it does not rest. */
  readonly ahead: string | null;
}

const MOST = 500;

/** Null when stopped. */
export async function orderHistory(
  timeline: Timeline,
  order: number,
  isStopped: () => boolean,
): Promise<readonly OrderMoment[] | null> {
  const id = order as OrderId;
  const cursor = timeline.cursorAt(timeline.baseSeq);
  const { engine } = cursor;
  const slices = new Slices();
  const moments: OrderMoment[] = [];
  const events: EngineEvent[] = [];
  let lastAhead: number | null = null;
  const add = (timeUs: number, text: string): void => {
    const ahead = engine.queueAhead(id);
    const found = engine.order(id);
    const market = found === undefined ? undefined : engine.market(found.market);
    const shown = ahead === null || market === undefined ? null : sizeText(market, ahead);
    moments.push({ seq: engine.seq, timeUs, text, ahead: shown });
  };
  while (cursor.step((event) => events.push(event)) !== null && moments.length < MOST) {
    const own = events.some((event) => 'orderId' in event && event.orderId === id);
    const ahead = engine.lastOrderId >= id ? engine.queueAhead(id) : null;
    if (own) {
      for (const event of eventTree(engine, events)) {
        if (event.orderId === order) add(event.timeUs, eventText(event));
      }
    } else if (lastAhead !== null && ahead !== null && ahead !== lastAhead) {
      add(engine.nowUs, 'the queue before it changed');
    }
    lastAhead = ahead;
    events.length = 0;
    if (!(await slices.next(isStopped))) return null;
  }
  return moments;
}
