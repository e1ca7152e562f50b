/**
 * Sliding-window rate limit over one second. A caller is rejected until
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
  /** Refusals since the last accepted request. */
  refusals: number;
  last: number;
}

export class RateLimit {
  private readonly perSecond: number;
  private readonly windows = new Map<string, Window>();
  private sweptUs = -Infinity;

  constructor(perSecond: number) {
    this.perSecond = perSecond;
  }

  /** True if the caller's request is within its limit now; it counts as `cost` requests. */
  accepts(caller: string, nowUs: number, cost = 1): boolean {
    const window = this.windowOf(caller, nowUs);
    window.last = nowUs;
    const isAccepted = this.fits(window, nowUs, Math.min(cost, this.perSecond));
    window.refusals = isAccepted ? 0 : window.refusals + 1;
    return isAccepted;
  }

  /** Refusals of the caller since its last accepted request. */
  refusals(caller: string): number {
    return this.windows.get(caller)?.refusals ?? 0;
  }

  private windowOf(caller: string, nowUs: number): Window {
    let window = this.windows.get(caller);
    if (window === undefined) {
      if (this.windows.size >= SWEEP_AT) this.sweep(nowUs);
      window = { times: [], next: 0, refusedUntil: -Infinity, refusals: 0, last: nowUs };
      this.windows.set(caller, window);
    }
    return window;
  }

  private fits(window: Window, nowUs: number, cost: number): boolean {
    if (nowUs < window.refusedUntil) return false;
    const { times, next } = window;
    // Times ascend from `next`; the last one that this request replaces must be a second old.
    const replaced = Math.min(times.length + cost, this.perSecond + cost) - this.perSecond;
    const latest = times[(next + replaced - 1) % this.perSecond] ?? -Infinity;
    if (replaced > 0 && nowUs - latest < SECOND_US) {
      window.refusedUntil = nowUs + SECOND_US;
      return false;
    }
    for (let i = 0; i < cost; i++) this.count(window, nowUs);
    return true;
  }

  private count(window: Window, nowUs: number): void {
    const { times, next } = window;
    if (times.length < this.perSecond) times.push(nowUs);
    else {
      times[next] = nowUs;
      window.next = (next + 1) % this.perSecond;
    }
  }

  private sweep(nowUs: number): void {
    if (nowUs - this.sweptUs < SECOND_US) return;
    this.sweptUs = nowUs;
    for (const [caller, { last }] of this.windows) {
      if (nowUs - last > SECOND_US) this.windows.delete(caller);
    }
  }
}

/**
 * Key of a caller without a token: IPv4 address or IPv6 /64, which one client owns whole. A
 * connection that has ended has no address.
 */
export function callerOfAddress(address: string | undefined): string {
  if (address?.includes(':') !== true) return `ip ${address ?? ''}`;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return `ip ${mapped}`;
  const [head = '', tail] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  const groups = tail === undefined ? before : [...before, ...zeros, ...after];
  return `ip ${groups.slice(0, 4).join(':')}::/64`;
}
