/** The mid some time after each fill, taken when that time has come. */
import { MARKOUT_HORIZONS_US } from '../output.ts';

interface Watched {
  readonly timeUs: number;
  readonly market: number;
  readonly markouts: (number | null)[];
}

interface Queue {
  at: number;
  readonly waiting: Watched[];
}

export class Markouts {
  /** Fills come in the order of time, so each horizon is a queue. */
  private queues: Queue[] = MARKOUT_HORIZONS_US.map(() => ({ at: 0, waiting: [] }));
  private nextUs = Infinity;

  /** When the next is due; Infinity when none is. */
  get dueUs(): number {
    return this.nextUs;
  }

  watch(timeUs: number, market: number, markouts: (number | null)[]): void {
    for (const { waiting } of this.queues) waiting.push({ timeUs, market, markouts });
    this.plan();
  }

  /** Takes those that are due at this time. */
  take(atUs: number, mid: (market: number) => number | null): void {
    this.queues.forEach((queue, horizon) => {
      const afterUs = MARKOUT_HORIZONS_US[horizon] ?? 0;
      for (;;) {
        const watched = queue.waiting[queue.at];
        if (watched === undefined || watched.timeUs + afterUs > atUs) break;
        watched.markouts[horizon] = mid(watched.market);
        queue.at += 1;
      }
      if (queue.at > 256) {
        queue.waiting.splice(0, queue.at);
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
    this.queues.forEach(({ at, waiting }, horizon) => {
      const first = waiting[at];
      if (first !== undefined) {
        this.nextUs = Math.min(this.nextUs, first.timeUs + (MARKOUT_HORIZONS_US[horizon] ?? 0));
      }
    });
  }
}
