/** Order lifecycle: status transitions and their causes; docs/ORDER-STATES.md draws it. */
import type { OrderStatus } from '../read/views.ts';

export interface Transition {
  /** `none`: the order does not exist yet. */
  readonly from: OrderStatus | 'none';
  readonly to: OrderStatus;
  readonly why: string;
}

export const TRANSITIONS: readonly Transition[] = [
  { from: 'none', to: 'new', why: 'accepted' },
  { from: 'none', to: 'rejected', why: 'rejected after admission' },
  { from: 'new', to: 'pending', why: 'waits for a trigger, a time, a predecessor or a parent' },
  { from: 'pending', to: 'new', why: 'activated, unfilled' },
  { from: 'pending', to: 'partiallyFilled', why: 'a partly filled leg fires again' },
  { from: 'partiallyFilled', to: 'pending', why: 'the rest of a leg waits again' },
  { from: 'new', to: 'partiallyFilled', why: 'a fill' },
  { from: 'new', to: 'filled', why: 'a complete fill' },
  { from: 'partiallyFilled', to: 'partiallyFilled', why: 'a further fill' },
  { from: 'partiallyFilled', to: 'filled', why: 'the last fill' },
  { from: 'new', to: 'cancelled', why: 'ended by a user, a rule or a related order' },
  { from: 'partiallyFilled', to: 'cancelled', why: 'ended by a user, a rule or a related order' },
  { from: 'pending', to: 'cancelled', why: 'ended by a user, a rule or a related order' },
  { from: 'new', to: 'expired', why: 'expired' },
  { from: 'partiallyFilled', to: 'expired', why: 'expired' },
  { from: 'pending', to: 'expired', why: 'expired' },
];
