/**
 * Faults on purpose: what a strategy's connection does to it. Chance comes from the run's seed, so a run with faults
 * repeats like any other.
 *
 * - `reject`: this part of writes never reaches the exchange; the answer is 503 after the usual way there and back.
 * - `limit`: this part of requests, reads too, is answered 429.
 * - `disconnect`: about every so often (uniform between half and one and a half times) the connection is gone for a
 *   while. Requests then fail at once with 503; what the book and the trades do meanwhile is never heard; news of own orders,
 *   fills and funding comes when the connection is back, as to a client that asks for what it missed.
 *
 * What stands on the book stays there: the exchange knows nothing of the faults.
 */
import type { RandomStream } from './rng.ts';

export interface FaultOptions {
  /** 0…1 */
  readonly reject: number;
  /** 0…1 */
  readonly limit: number;
  /** µs between disconnections on average, and how long each lasts; null for none. */
  readonly disconnect: { readonly everyUs: number; readonly forUs: number } | null;
}

export interface Fault {
  readonly status: number;
  readonly message: string;
  /** Whether the answer comes at once, without a way there and back. */
  readonly atOnce: boolean;
}

export interface SavedFaults {
  readonly downFromUs: number;
  readonly downToUs: number;
}

export class FaultModel {
  private readonly options: FaultOptions;
  private readonly random: RandomStream;
  /** Of the next disconnection, or the one that is on; drawn when time first comes to be asked about. */
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
      ...(limit > 0 ? [`${String(limit * 100)} % of requests are answered 429`] : []),
      ...(disconnect === null
        ? []
        : [
            `the connection is lost about every ${String(disconnect.everyUs / 1e6)} s for ${String(disconnect.forUs / 1e6)} s`,
          ]),
    ];
    return parts.length === 0 ? 'none' : parts.join('; ');
  }

  /** What happens to a request that is sent now; null when nothing does. */
  onRequest(atUs: number, write: boolean): Fault | null {
    const { reject, limit } = this.options;
    if (this.backAtUs(atUs) > atUs) {
      return { status: 503, message: 'The connection is lost', atOnce: true };
    }
    if (limit > 0 && this.random.next() < limit) {
      return { status: 429, message: 'Too many requests', atOnce: false };
    }
    if (write && reject > 0 && this.random.next() < reject) {
      return { status: 503, message: 'The request was lost on its way', atOnce: false };
    }
    return null;
  }

  /** When the connection is there again: now, unless it is lost. Times asked for never go back. */
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
