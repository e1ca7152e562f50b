/** Searches the events of a journal for text: `#8841`, `u17`, `orderRejected`, `price 61,200`. */
import type { EngineEvent } from '../../engine/events.ts';
import type { Timeline } from '../../time-machine/timeline.ts';
import { eventTree } from '../../time-machine/views/event-tree.ts';
import { eventText } from './event-text.ts';
import { Slices } from './slices.ts';

export interface Finding {
  readonly seq: number;
  readonly timeUs: number;
  readonly text: string;
}

const MOST = 200;

/** The first findings of the journal; null when stopped. */
export async function searchEvents(
  timeline: Timeline,
  query: string,
  isStopped: () => boolean,
): Promise<readonly Finding[] | null> {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const order = /^#(\d{1,15})$/.exec(query.trim())?.[1];
  const cursor = timeline.cursorAt(timeline.baseSeq);
  const { engine } = cursor;
  const slices = new Slices();
  const found: Finding[] = [];
  const events: EngineEvent[] = [];
  const isOfOrder = (event: EngineEvent): boolean =>
    'orderId' in event && event.orderId === Number(order);
  while (cursor.step((event) => events.push(event)) !== null && found.length < MOST) {
    if (order === undefined || events.some(isOfOrder)) {
      for (const event of eventTree(engine, events)) {
        const text = eventText(event);
        if (!words.every((word) => text.toLowerCase().includes(word))) continue;
        if (found.length < MOST) found.push({ seq: engine.seq, timeUs: event.timeUs, text });
      }
    }
    events.length = 0;
    if (!(await slices.next(isStopped))) return null;
  }
  return found;
}
