/**
 * Order lifecycle: every status transition and its cause. docs/ORDER-STATES.md draws it;
 * tests show that each transition occurs and no other does.
 */
import type { OrderStatus } from '../read/views.ts';

export interface Transition {
  /** `none`: the order does not exist yet. */
  readonly from: OrderStatus | 'none';
  readonly to: OrderStatus;
  readonly why: string;
}

export const TRANSITIONS: readonly Transition[] = [
  { from: 'none', to: 'new', why: 'accepted' },
  { from: 'none', to: 'rejected', why: 'turned down after admission' },
  { from: 'new', to: 'pending', why: 'waits for a trigger, a time, a turn or a parent' },
  { from: 'pending', to: 'new', why: 'released, nothing filled yet' },
  { from: 'pending', to: 'partiallyFilled', why: 'a leg fires again' },
  { from: 'partiallyFilled', to: 'pending', why: 'what is left of a leg waits again' },
  { from: 'new', to: 'partiallyFilled', why: 'a fill' },
  { from: 'new', to: 'filled', why: 'a fill of all' },
  { from: 'partiallyFilled', to: 'partiallyFilled', why: 'a further fill' },
  { from: 'partiallyFilled', to: 'filled', why: 'the last fill' },
  { from: 'new', to: 'cancelled', why: 'a user, a rule, or a relative ends it' },
  { from: 'partiallyFilled', to: 'cancelled', why: 'a user, a rule, or a relative ends it' },
  { from: 'pending', to: 'cancelled', why: 'a user, a rule, or a relative ends it' },
  { from: 'new', to: 'expired', why: 'its time is over' },
  { from: 'partiallyFilled', to: 'expired', why: 'its time is over' },
  { from: 'pending', to: 'expired', why: 'its time is over' },
];
