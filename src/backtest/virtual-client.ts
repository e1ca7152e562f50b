/**
 * The contract's client in virtual time: a request reaches the exchange an entry latency after it is sent, its answer
 * comes back a response latency later, and the promise settles then (DESIGN §7).
 */
import type { EndpointId, ListId, RequestOf, ResponseOf } from '../contract/endpoints.ts';
import type { Caller, Reply } from '../gateway/context.ts';
import type { Gateway } from '../gateway/gateway.ts';
import {
  asPage,
  MatcherError,
  type MatcherClient,
  type PageOf,
} from '../gateway/matcher-client.ts';
import { timeUs, type TimeUs } from '../num/units.ts';
import type { LatencyModel } from '../sim/latency.ts';
import { PRIORITY, type Scheduler } from '../sim/scheduler.ts';

export class VirtualClient implements MatcherClient {
  /** Requests whose answer has not come back. */
  outstanding = 0;
  private readonly scheduler: Scheduler;
  private readonly gateway: Gateway;
  private readonly caller: Caller;
  private readonly latency: LatencyModel;
  /** Called before the exchange handles a request, so that it is at that time. */
  private readonly arrive: (atUs: TimeUs) => void;

  constructor(
    scheduler: Scheduler,
    gateway: Gateway,
    caller: Caller,
    latency: LatencyModel,
    arrive: (atUs: TimeUs) => void,
  ) {
    this.scheduler = scheduler;
    this.gateway = gateway;
    this.caller = caller;
    this.latency = latency;
    this.arrive = arrive;
  }

  call<E extends EndpointId>(endpoint: E, request: RequestOf<E>): Promise<ResponseOf<E>> {
    return this.send(endpoint, request, ({ body }) => body as ResponseOf<E>);
  }

  page<E extends ListId>(endpoint: E, request: RequestOf<E>): Promise<PageOf<E>> {
    return this.send(endpoint, request, (reply) => asPage<E>(reply));
  }

  /** One promise, since each further one would settle a turn later. */
  private send<T>(endpoint: EndpointId, request: unknown, read: (reply: Reply) => T): Promise<T> {
    const { scheduler, latency } = this;
    this.outstanding += 1;
    // A copy: what the strategy does to its object afterwards is not what it sent.
    const sent = structuredCopy(request);
    return new Promise((resolve, reject) => {
      const arrivalUs = timeUs(scheduler.nowUs + latency.computeUs + latency.entryUs);
      scheduler.at(arrivalUs, PRIORITY.order, () => {
        this.arrive(arrivalUs);
        const reply = this.gateway.handle(endpoint, sent, this.caller);
        scheduler.at(timeUs(arrivalUs + latency.responseUs), PRIORITY.delivery, () => {
          this.outstanding -= 1;
          if (reply.status === 200) resolve(read(reply));
          else reject(new MatcherError(endpoint, reply.status, String(reply.body)));
        });
      });
    });
  }
}

function structuredCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(structuredCopy);
  if (typeof value !== 'object' || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(value)) copy[key] = structuredCopy(field);
  return copy;
}
