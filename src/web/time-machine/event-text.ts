/** An event as one line. */
import type { EventAt } from '../../time-machine/views/event-tree.ts';

/** Fields with a place of their own. */
const SHOWN: readonly string[] = ['at', 'owner', 'account', 'order', 'subaccount'];

export const fieldsText = ({ fields }: Pick<EventAt, 'fields'>): string =>
  Object.entries(fields)
    .filter(([name]) => !SHOWN.includes(name))
    .map(([name, value]) => `${name} ${value}`)
    .join(' · ');

export function eventText(event: EventAt): string {
  const order = event.orderId === null ? '' : ` #${String(event.orderId)}`;
  const cause = event.cause === 'command' ? '' : ` (${event.cause})`;
  return `${event.kind}${order} ${event.owner ?? ''}${cause} ${fieldsText(event)}`;
}
