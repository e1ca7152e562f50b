/**
 * Requests in a sliding second. Beyond the limit a caller is refused until one second after the first refusal; refused requests do
 * not extend that. Times are the exchange's clock.
 */
const SECOND_US = 1_000_000;
/** From so many callers on, those that have been silent for a second are forgotten, once a second. */
const SWEEP_AT = 10_000;

interface Window {
  /** Times of the last accepted requests, as a ring once it is full. */
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

  /** Whether a request of this caller is within its limit now. */
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

/** An address as a caller without a token: of IPv6 its network, since one client has all 2^64 addresses of it. */
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
