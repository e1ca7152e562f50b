/**
 * Sliding-window rate limit over one second of exchange time. A caller is rejected until
 * one second after its first rejection; rejected requests do not extend that.
 */
const SECOND_US = 1_000_000;
/** Number of callers above which those idle for a second are evicted, once a second. */
const SWEEP_AT = 10_000;

interface Window {
  /** Times of the last accepted requests: a ring buffer once full. */
  readonly times: number[];
  next: number;
  refusedUntil: number;
  last: number;
}

export class RateLimit {
  private readonly perSecond: number;
  private readonly windows = new Map<string, Window>();
  private sweptUs = -Infinity;

  constructor(perSecond: number) {
    this.perSecond = perSecond;
  }

  /** True if the caller's request is within its limit now. */
  accepts(caller: string, nowUs: number): boolean {
    let window = this.windows.get(caller);
    if (window === undefined) {
      if (this.windows.size >= SWEEP_AT) this.sweep(nowUs);
      window = { times: [], next: 0, refusedUntil: -Infinity, last: nowUs };
      this.windows.set(caller, window);
    }
    window.last = nowUs;
    if (nowUs < window.refusedUntil) return false;
    const { times, next } = window;
    if (times.length < this.perSecond) {
      times.push(nowUs);
      return true;
    }
    if (nowUs - (times[next] ?? -Infinity) < SECOND_US) {
      window.refusedUntil = nowUs + SECOND_US;
      return false;
    }
    times[next] = nowUs;
    window.next = (next + 1) % this.perSecond;
    return true;
  }

  private sweep(nowUs: number): void {
    if (nowUs - this.sweptUs < SECOND_US) return;
    this.sweptUs = nowUs;
    for (const [caller, { last }] of this.windows) {
      if (nowUs - last > SECOND_US) this.windows.delete(caller);
    }
  }
}

/** Key of a caller without a token: IPv4 address or IPv6 /64, which one client owns whole. */
export function callerOfAddress(address: string): string {
  if (!address.includes(':')) return `ip ${address}`;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return `ip ${mapped}`;
  const [head = '', tail] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  const groups = tail === undefined ? before : [...before, ...zeros, ...after];
  return `ip ${groups.slice(0, 4).join(':')}::/64`;
}
