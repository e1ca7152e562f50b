/** Orders of a live run by what became of them, for its last lines. */
import type { LiveRecord } from './live-record.ts';

/** Refusal of a submit whose effect is unknown; a reason may follow. */
export const NO_ANSWER = 'no answer';

const OPEN: readonly string[] = ['new', 'partiallyFilled', 'pending'];

export interface LiveCounts {
  readonly accepted: number;
  readonly rejected: number;
  readonly unanswered: number;
  /** Accepted orders that had not ended by the last update. */
  readonly open: number;
}

export function countsOf({ orders, ends }: Pick<LiveRecord, 'orders' | 'ends'>): LiveCounts {
  const last = new Map(ends.map(({ orderId, status }) => [orderId, status]));
  const counts = { accepted: 0, rejected: 0, unanswered: 0, open: 0 };
  for (const { order, refusal } of orders) {
    if (refusal?.startsWith(NO_ANSWER) === true) counts.unanswered += 1;
    else if (order === null || order.status === 'rejected') counts.rejected += 1;
    else {
      counts.accepted += 1;
      if (OPEN.includes(last.get(order.orderId) ?? order.status)) counts.open += 1;
    }
  }
  return counts;
}
