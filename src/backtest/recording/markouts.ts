/** Records the mid at fixed delays after each fill. */
import { MARKOUT_HORIZONS_US } from '../output.ts';

interface Watched {
  readonly timeUs: number;
  readonly market: number;
  readonly markouts: (number | null)[];
}

interface Queue {
  at: number;
  readonly pending: Watched[];
}

export class Markouts {
  /** Fills are in time order, so each delay is a FIFO queue. */
  private queues: Queue[] = MARKOUT_HORIZONS_US.map(() => ({ at: 0, pending: [] }));
  private nextUs = Infinity;

  /** Time of the next sample; Infinity if there is none. */
  get dueUs(): number {
    return this.nextUs;
  }

  watch(timeUs: number, market: number, markouts: (number | null)[]): void {
    for (const { pending } of this.queues) pending.push({ timeUs, market, markouts });
    this.plan();
  }

  /** Samples the mids due at this time. */
  take(atUs: number, mid: (market: number) => number | null): void {
    this.queues.forEach((queue, horizon) => {
      const afterUs = MARKOUT_HORIZONS_US[horizon] ?? 0;
      for (;;) {
        const watched = queue.pending[queue.at];
        if (watched === undefined || watched.timeUs + afterUs > atUs) break;
        watched.markouts[horizon] = mid(watched.market);
        queue.at += 1;
      }
      if (queue.at > 256) {
        queue.pending.splice(0, queue.at);
        queue.at = 0;
      }
    });
    this.plan();
  }

  save(): unknown {
    return this.queues;
  }

  load(saved: unknown): void {
    this.queues = saved as Queue[];
    this.plan();
  }

  private plan(): void {
    this.nextUs = Infinity;
    this.queues.forEach(({ at, pending }, horizon) => {
      const first = pending[at];
      if (first !== undefined) {
        this.nextUs = Math.min(this.nextUs, first.timeUs + (MARKOUT_HORIZONS_US[horizon] ?? 0));
      }
    });
  }
}
