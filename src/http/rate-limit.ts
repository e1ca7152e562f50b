/**
 * Requests in a sliding second. Beyond the limit a caller is refused until one second after the first refusal; refused requests do
 * not extend that. Times are the exchange's clock.
 */
const SECOND_US = 1_000_000;
/** Callers that have been silent for a second are forgotten when there are more than this. */
const SWEEP_AT = 10_000;

interface Window {
  /** Times of the last accepted requests, oldest first, as a ring. */
  readonly times: Float64Array;
  next: number;
  refusedUntil: number;
  last: number;
}

export class RateLimit {
  private readonly perSecond: number;
  private readonly windows = new Map<string, Window>();

  constructor(perSecond: number) {
    this.perSecond = perSecond;
  }

  /** Whether a request of this caller is within its limit now. */
  accepts(caller: string, nowUs: number): boolean {
    let window = this.windows.get(caller);
    if (window === undefined) {
      if (this.windows.size >= SWEEP_AT) this.sweep(nowUs);
      const times = new Float64Array(this.perSecond).fill(-Infinity);
      window = { times, next: 0, refusedUntil: -Infinity, last: nowUs };
      this.windows.set(caller, window);
    }
    window.last = nowUs;
    if (nowUs < window.refusedUntil) return false;
    const oldest = window.times[window.next] ?? -Infinity;
    if (nowUs - oldest < SECOND_US) {
      window.refusedUntil = nowUs + SECOND_US;
      return false;
    }
    window.times[window.next] = nowUs;
    window.next = (window.next + 1) % this.perSecond;
    return true;
  }

  private sweep(nowUs: number): void {
    for (const [caller, { last }] of this.windows) {
      if (nowUs - last > SECOND_US) this.windows.delete(caller);
    }
  }
}
