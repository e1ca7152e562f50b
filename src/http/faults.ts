/** Faults on demand, so that a client's tests can provoke each documented error. Each is armed for a number of requests. */
import { Fields } from '../gateway/fields.ts';

export const FAULTS = ['timeout', 'nonceStore', 'rateLimit', 'unavailable', 'latency'] as const;
export type Fault = (typeof FAULTS)[number];

const MAX_TIMES = 1_000_000n;
const MAX_LATENCY_MS = 60_000n;

export class Faults {
  private readonly armed = new Map<Fault, number>();
  private latencyMs = 0;

  /** Body of POST /sim/faults: `{fault, times, latencyMs}`; `times` 0 disarms. Throws `RequestError`. */
  arm(body: unknown): Readonly<Record<string, unknown>> {
    const fields = new Fields(body, ['fault', 'times', 'latencyMs'], false);
    const name = fields.text('fault');
    const fault =
      FAULTS.find((known) => known === name) ??
      fields.fail('fault', `must be one of ${FAULTS.join(', ')}`);
    const times = fields.has('times') ? fields.integer('times') : 1n;
    if (times < 0n || times > MAX_TIMES) {
      fields.fail('times', `must be from 0 to ${String(MAX_TIMES)}`);
    }
    if (fault === 'latency') {
      const latency = fields.integer('latencyMs');
      if (latency < 1n || latency > MAX_LATENCY_MS) {
        fields.fail('latencyMs', `must be from 1 to ${String(MAX_LATENCY_MS)}`);
      }
      this.latencyMs = Number(latency);
    } else if (fields.has('latencyMs')) {
      fields.fail('latencyMs', 'belongs to the fault "latency"');
    }
    this.armed.set(fault, Number(times));
    return { fault, times: Number(times) };
  }

  /** Whether this request is to fail so; uses one of its times up. */
  strikes(fault: Fault): boolean {
    const left = this.armed.get(fault) ?? 0;
    if (left === 0) return false;
    this.armed.set(fault, left - 1);
    return true;
  }

  /** Milliseconds that this request waits. */
  delayMs(): number {
    return this.strikes('latency') ? this.latencyMs : 0;
  }
}
