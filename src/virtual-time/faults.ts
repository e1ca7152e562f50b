/**
 * Injected connection faults of a strategy. Runs are reproducible: randomness comes from the seed.
 *
 * - `reject`: this part of writes never reaches the exchange; the response is 503 after the usual
 *   round trip.
 * - `limit`: this part of requests, reads too, is answered 429.
 * - `disconnect`: at random intervals (uniform between 0.5 and 1.5 times the mean) the connection
 *   is lost for a while. Requests then fail at once with 503. Book and trade messages are lost.
 *   Messages on own orders, fills and funding arrive after the reconnect, as for a client that
 *   requests the missed ones.
 *
 * Resting orders stay on the book: faults do not affect the exchange.
 */
import type { RandomStream } from './rng.ts';

export interface FaultOptions {
  /** 0…1 */
  readonly reject: number;
  /** 0…1 */
  readonly limit: number;
  /** Mean µs between disconnections, and their duration; null for none. */
  readonly disconnect: { readonly everyUs: number; readonly forUs: number } | null;
}

export interface Fault {
  readonly status: number;
  readonly message: string;
  /** Whether the response comes at once, without a round trip. */
  readonly atOnce: boolean;
}

export interface SavedFaults {
  readonly downFromUs: number;
  readonly downToUs: number;
}

export class FaultModel {
  private readonly options: FaultOptions;
  private readonly random: RandomStream;
  /** Of the next or current disconnection; drawn on first use. */
  private downFromUs: number;
  private downToUs: number;

  constructor(options: FaultOptions, random: RandomStream, startUs: number) {
    this.options = options;
    this.random = random;
    this.downFromUs = Infinity;
    this.downToUs = options.disconnect === null ? Infinity : startUs;
  }

  get words(): string {
    const { reject, limit, disconnect } = this.options;
    const parts = [
      ...(reject > 0 ? [`${String(reject * 100)} % of writes fail with 503`] : []),
      ...(limit > 0 ? [`${String(limit * 100)} % of requests fail with 429`] : []),
      ...(disconnect === null
        ? []
        : [
            `the connection is lost about every ${String(disconnect.everyUs / 1e6)} s for ${String(disconnect.forUs / 1e6)} s`,
          ]),
    ];
    return parts.length === 0 ? 'none' : parts.join('; ');
  }

  /** The fault of a request that is sent now; null for none. */
  onRequest(atUs: number, write: boolean): Fault | null {
    const { reject, limit } = this.options;
    if (this.backAtUs(atUs) > atUs) {
      return { status: 503, message: 'Connection lost', atOnce: true };
    }
    if (limit > 0 && this.random.next() < limit) {
      return { status: 429, message: 'Too many requests', atOnce: false };
    }
    if (write && reject > 0 && this.random.next() < reject) {
      return { status: 503, message: 'Request lost', atOnce: false };
    }
    return null;
  }

  /** Time of the reconnect; now while connected. Queried times must not decrease. */
  backAtUs(atUs: number): number {
    while (atUs >= this.downToUs) this.plan(this.downToUs);
    return atUs >= this.downFromUs ? this.downToUs : atUs;
  }

  save(): SavedFaults {
    return { downFromUs: this.downFromUs, downToUs: this.downToUs };
  }

  load({ downFromUs, downToUs }: SavedFaults): void {
    this.downFromUs = downFromUs;
    this.downToUs = downToUs;
  }

  private plan(fromUs: number): void {
    const { disconnect } = this.options;
    if (disconnect === null) return;
    this.downFromUs = Math.round(fromUs + disconnect.everyUs * (0.5 + this.random.next()));
    this.downToUs = this.downFromUs + disconnect.forUs;
  }
}
