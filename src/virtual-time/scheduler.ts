/**
 * Discrete-event scheduler in virtual time. Entries run by (time, priority, order of scheduling).
 * At one instant, tape precedes orders, and strategies receive messages last.
 */
import { assert } from '../base/assert.ts';
import type { TimeUs } from '../num/units.ts';

/** At one instant, lower values run first. */
export const PRIORITY = { tape: 0, order: 1, delivery: 2, timer: 3 } as const;
export type Priority = (typeof PRIORITY)[keyof typeof PRIORITY];

/** An entry as data, so that it can be rescheduled after a restart; null if it cannot. */
export type Described = unknown;

export interface SavedEntry {
  readonly atUs: number;
  readonly priority: Priority;
  readonly what: Described;
}

/** Work of an entry. */
export interface Work {
  run(): void;
  /** The entry as data; null if it has none. */
  describe(): Described;
}

interface Entry {
  readonly atUs: TimeUs;
  readonly priority: Priority;
  readonly order: number;
  readonly work: Work;
}

export class Scheduler {
  private readonly heap: Entry[] = [];
  private scheduled = 0;
  private currentUs: TimeUs;

  constructor(startUs: TimeUs) {
    this.currentUs = startUs;
  }

  get nowUs(): TimeUs {
    return this.currentUs;
  }

  /** Time of the next entry; Infinity without one. */
  nextUs(): number {
    return this.heap[0]?.atUs ?? Infinity;
  }

  nextPriority(): number {
    return this.heap[0]?.priority ?? Infinity;
  }

  /** `what` describes the entry for `save`; without it nothing can be saved meanwhile. */
  at(atUs: TimeUs, priority: Priority, run: () => void, what: Described = null): void {
    this.add(atUs, priority, { run, describe: () => what });
  }

  add(atUs: TimeUs, priority: Priority, work: Work): void {
    assert(atUs >= this.currentUs, 'entries are not in the past');
    const entry = { atUs, priority, order: this.scheduled++, work };
    const { heap } = this;
    let place = heap.length;
    heap.push(entry);
    while (place > 0) {
      const parentPlace = (place - 1) >> 1;
      const parent = heap[parentPlace];
      if (parent === undefined || !before(entry, parent)) break;
      heap[place] = parent;
      place = parentPlace;
    }
    heap[place] = entry;
  }

  /** Advances the time without an entry. */
  advanceTo(atUs: TimeUs): void {
    assert(atUs >= this.currentUs, 'virtual time never decreases');
    this.currentUs = atUs;
  }

  /** Runs the next entry at its time; false when there is none. */
  runNext(): boolean {
    const { heap } = this;
    const top = heap[0];
    if (top === undefined) return false;
    const last = heap.pop();
    if (last !== undefined && heap.length > 0) this.sink(last);
    this.currentUs = top.atUs;
    top.work.run();
    return true;
  }

  /** All scheduled entries in run order; null while one has no description. */
  save(): SavedEntry[] | null {
    const waiting = [...this.heap].sort((a, b) => (before(a, b) ? -1 : 1));
    const saved = waiting.map(({ atUs, priority, work }): SavedEntry => ({
      atUs,
      priority,
      what: work.describe(),
    }));
    return saved.some(({ what }) => what === null) ? null : saved;
  }

  private sink(entry: Entry): void {
    const { heap } = this;
    let place = 0;
    for (;;) {
      let childPlace = 2 * place + 1;
      let child = heap[childPlace];
      if (child === undefined) break;
      const right = heap[childPlace + 1];
      if (right !== undefined && before(right, child)) {
        child = right;
        childPlace += 1;
      }
      if (!before(child, entry)) break;
      heap[place] = child;
      place = childPlace;
    }
    heap[place] = entry;
  }
}

function before(a: Entry, b: Entry): boolean {
  if (a.atUs !== b.atUs) return a.atUs < b.atUs;
  if (a.priority !== b.priority) return a.priority < b.priority;
  return a.order < b.order;
}
