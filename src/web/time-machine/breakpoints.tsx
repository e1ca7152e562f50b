/** Breakpoints: expressions over the state; run on or back to the next instant that one holds. */
import { signal } from '@preact/signals';

export interface Breakpoint {
  readonly text: string;
  /** Commands at which it begins to hold; null until they are counted. */
  readonly hits: number | null;
}

export const breakpoints = signal<readonly Breakpoint[]>([]);
export const adding = signal(false);
