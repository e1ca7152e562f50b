/** Virtual time of a simulation: one queue of events, and a seeded source of choices. */
import { Alea } from '../../src/virtual-time/alea.ts';

interface Queued {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

export class World {
  nowMs = 0;
  private readonly random: Alea;
  private readonly heap: Queued[] = [];
  private order = 0;

  constructor(seed: string) {
    this.random = Alea.fromSeed(seed);
  }

  chance(share: number): boolean {
    return this.random.next() < share;
  }
  between(min: number, max: number): number {
    return min + (max - min) * this.random.next();
  }
  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.random.next() * list.length)]!;
  }

  after(ms: number, run: () => void): void {
    const { heap } = this;
    const event = { atMs: this.nowMs + ms, order: this.order++, run };
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const up = (at - 1) >> 1;
      if (isBefore(heap[up]!, event)) break;
      heap[at] = heap[up]!;
      at = up;
    }
    heap[at] = event;
  }

  /** Runs events up to a time. Promises settle between two events. */
  async runUntil(endMs: number): Promise<void> {
    for (;;) {
      const next = this.heap[0];
      if (next === undefined || next.atMs > endMs) break;
      this.removeFirst();
      this.nowMs = next.atMs;
      next.run();
      await new Promise(setImmediate);
    }
    this.nowMs = endMs;
  }

  private removeFirst(): void {
    const { heap } = this;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= heap.length) break;
      if (down + 1 < heap.length && isBefore(heap[down + 1]!, heap[down]!)) down += 1;
      if (isBefore(last, heap[down]!)) break;
      heap[at] = heap[down]!;
      at = down;
    }
    heap[at] = last;
  }
}

const isBefore = (a: Queued, b: Queued): boolean =>
  a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
