/**
 * Fault injection, so that client tests can provoke each documented error. A fault is
 * armed for a number of requests of one endpoint or of any, over HTTP and WebSocket.
 */
import { findEndpoint, type EndpointId } from '../contract/endpoints.ts';
import { internalError, MESSAGES, type ErrorReply } from '../contract/messages.ts';
import { Fields } from '../gateway/fields.ts';
import { RequestError } from '../gateway/request-error.ts';

export const FAULTS = [
  'timeout',
  'nonceStore',
  'rateLimit',
  'unavailable',
  'internalError',
  'lostAnswer',
  'latency',
] as const;
export type Fault = (typeof FAULTS)[number];

const MAX_TIMES = 1_000_000n;
const MAX_LATENCY_MS = 60_000n;
/** Faults that reject a request before it is handled. */
const REFUSALS: readonly (readonly [Fault, ErrorReply])[] = [
  ['unavailable', MESSAGES.unavailable],
  ['rateLimit', MESSAGES.tooManyRequests],
  ['timeout', MESSAGES.requestTimedOut],
  ['internalError', internalError('injected fault')],
];

interface Armed {
  times: number;
  readonly latencyMs: number;
}

export class Faults {
  private readonly armed = new Map<string, Armed>();

  get areArmed(): boolean {
    return this.armed.size > 0;
  }

  /** POST /sim/faults: `{fault, times, endpoint, latencyMs}`. Throws `RequestError`. */
  arm(body: unknown): Readonly<Record<string, unknown>> {
    const fields = new Fields(body, ['fault', 'times', 'endpoint', 'latencyMs'], false);
    const name = fields.text('fault');
    const fault =
      FAULTS.find((known) => known === name) ??
      fields.fail('fault', `must be one of ${FAULTS.join(', ')}`);
    const times = fields.has('times') ? fields.integer('times') : 1n;
    if (times < 0n || times > MAX_TIMES) {
      fields.fail('times', `must be from 0 to ${String(MAX_TIMES)}`);
    }
    const endpoint = fields.has('endpoint') ? readEndpoint(fields) : null;
    const latencyMs = readLatency(fields, fault);
    this.armed.set(keyOf(fault, endpoint), { times: Number(times), latencyMs });
    return { fault, times: Number(times), ...(endpoint === null ? {} : { endpoint }) };
  }

  /** Applies an armed delay or failure; rejects with `RequestError`. null: nothing is armed. */
  inject(endpoint: EndpointId): Promise<void> | null {
    return this.armed.size === 0 ? null : this.dispatch(endpoint);
  }

  private async dispatch(endpoint: EndpointId): Promise<void> {
    for (const [fault, reply] of REFUSALS) {
      if (this.takes(fault, endpoint) !== null) throw new RequestError(reply);
    }
    const latency = this.takes('latency', endpoint);
    if (latency !== null) {
      await new Promise((resolve) => setTimeout(resolve, latency.latencyMs));
    }
  }

  /** True if the login nonce store must fail now. */
  nonceStoreFails(): boolean {
    return this.takes('nonceStore', 'getAuth') !== null;
  }

  /** True if the answer of a completed request must be dropped. */
  dropsReply(endpoint: EndpointId): boolean {
    return this.takes('lostAnswer', endpoint) !== null;
  }

  /** Uses one of a fault's remaining times, if it is armed for this endpoint. */
  private takes(fault: Fault, endpoint: EndpointId): Armed | null {
    if (this.armed.size === 0) return null;
    for (const key of [keyOf(fault, endpoint), keyOf(fault, null)]) {
      const armed = this.armed.get(key);
      if (armed === undefined) continue;
      armed.times -= 1;
      if (armed.times <= 0) this.armed.delete(key);
      if (armed.times >= 0) return armed;
    }
    return null;
  }
}

function keyOf(fault: Fault, endpoint: EndpointId | null): string {
  return `${fault} ${endpoint ?? 'any'}`;
}

function readEndpoint(fields: Fields): EndpointId {
  return (
    findEndpoint(fields.text('endpoint')) ??
    fields.fail('endpoint', 'must be the operation id of an endpoint, such as submitOrder')
  );
}

function readLatency(fields: Fields, fault: Fault): number {
  if (fault !== 'latency') {
    if (fields.has('latencyMs')) fields.fail('latencyMs', 'is only for the fault "latency"');
    return 0;
  }
  const latency = fields.integer('latencyMs');
  if (latency < 1n || latency > MAX_LATENCY_MS) {
    fields.fail('latencyMs', `must be from 1 to ${String(MAX_LATENCY_MS)}`);
  }
  return Number(latency);
}
