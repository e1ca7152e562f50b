/**
 * API client in virtual time. A request arrives at the exchange one entry latency after sending;
 * its response arrives one response latency later and settles the promise. Requests
 * keep their order, and so do responses.
 */
import {
  ENDPOINTS,
  type EndpointId,
  type ListId,
  type RequestOf,
  type ResponseOf,
} from '../contract/endpoints.ts';
import type { Reply } from '../gateway/context.ts';
import {
  asPage,
  MatcherError,
  type AnsweringClient,
  type PageOf,
} from '../gateway/matcher-client.ts';
import { timeUs } from '../num/units.ts';
import type { FaultModel } from '../virtual-time/faults.ts';
import type { LatencyModel } from '../virtual-time/latency.ts';
import { PRIORITY, type Scheduler } from '../virtual-time/scheduler.ts';

export interface VirtualClientPorts {
  readonly scheduler: Scheduler;
  readonly latency: LatencyModel;
  readonly faults: FaultModel | null;
  readonly warmingUp: () => boolean;
  /** Processes a request at its arrival, then calls `reply`; virtual time stands still. */
  readonly arrive: (sent: SentRequest, reply: (reply: Reply) => void) => void;
  /** Called when a request is sent. */
  readonly sent: (endpoint: EndpointId, request: unknown) => void;
  /** Called for a write that was rejected; `isSent` is false for one that was never sent. */
  readonly refused: (endpoint: EndpointId, reply: Reply, isSent: boolean) => void;
  /** Called when a promise settles: callbacks are queued. */
  readonly settled: () => void;
}

export interface SentRequest {
  readonly endpoint: EndpointId;
  readonly request: unknown;
  readonly sentUs: number;
  readonly arrivalUs: number;
  readonly sentMids: readonly (number | null)[];
}

export class VirtualClient implements AnsweringClient {
  // Private: strategies hold this object, and the ports lead to the exchange and future events.
  readonly #ports: VirtualClientPorts;
  readonly #mids: () => readonly (number | null)[];
  #outstanding = 0;
  #onTheWay = 0;
  #lastArrivalUs = 0;
  #lastAnswerUs = 0;

  constructor(ports: VirtualClientPorts, mids: () => readonly (number | null)[]) {
    this.#ports = ports;
    this.#mids = mids;
  }

  /** Number of requests without a response. */
  get outstanding(): number {
    return this.#outstanding;
  }

  /** Number of those that have not arrived at the exchange. */
  get onTheWay(): number {
    return this.#onTheWay;
  }

  call<E extends EndpointId>(endpoint: E, request: RequestOf<E>): Promise<ResponseOf<E>> {
    return this.#send(endpoint, request, ({ body }) => body as ResponseOf<E>);
  }

  page<E extends ListId>(endpoint: E, request: RequestOf<E>): Promise<PageOf<E>> {
    return this.#send(endpoint, request, (reply) => asPage<E>(reply));
  }

  /** Creates one promise only: each further one would settle one microtask later. */
  #send<T>(endpoint: EndpointId, request: unknown, read: (reply: Reply) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      // A copy, so that later changes by the strategy have no effect on the request.
      this.ask(endpoint, structuredCopy(request), (reply) => {
        if (reply.status === 200) resolve(read(reply));
        else reject(new MatcherError(endpoint, reply.status, String(reply.body)));
      });
    });
  }

  /** `request` must not change any more. */
  ask(endpoint: EndpointId, request: unknown, answered: (reply: Reply) => void): void {
    const { scheduler, latency, faults, warmingUp } = this.#ports;
    const sentUs = scheduler.nowUs;
    const write = isWrite(endpoint);
    this.#ports.sent(endpoint, request);
    this.#outstanding += 1;
    const answer = (reply: Reply, isSent = true): void => {
      this.#outstanding -= 1;
      if (write && reply.status !== 200) this.#ports.refused(endpoint, reply, isSent);
      answered(reply);
      this.#ports.settled();
    };
    const now = (status: number, body: string): void => {
      scheduler.at(sentUs, PRIORITY.delivery, () => {
        answer({ status, body }, false);
      });
    };
    if (write && warmingUp()) {
      now(400, 'The strategy is warming up: writes are rejected');
      return;
    }
    const fault = faults?.onRequest(sentUs, write) ?? null;
    if (fault?.atOnce === true) {
      now(fault.status, fault.message);
      return;
    }
    const leftUs = sentUs + latency.computeUs;
    const arrivalUs = this.#arrival(leftUs + latency.entryUs(leftUs));
    const sentMids = this.#mids();
    this.#onTheWay += 1;
    scheduler.at(timeUs(arrivalUs), PRIORITY.order, () => {
      this.#onTheWay -= 1;
      const back = (reply: Reply): void => {
        const backUs = this.#answer(arrivalUs + latency.responseUs(arrivalUs));
        scheduler.at(timeUs(backUs), PRIORITY.delivery, () => {
          answer(reply);
        });
      };
      if (fault !== null) back({ status: fault.status, body: fault.message });
      else this.#ports.arrive({ endpoint, request, sentUs, arrivalUs, sentMids }, back);
    });
  }

  #arrival(atUs: number): number {
    this.#lastArrivalUs = Math.max(this.#lastArrivalUs, atUs);
    return this.#lastArrivalUs;
  }

  #answer(atUs: number): number {
    this.#lastAnswerUs = Math.max(this.#lastAnswerUs, atUs);
    return this.#lastAnswerUs;
  }

  /** Valid only if no request is outstanding. */
  save(): unknown {
    return { lastArrivalUs: this.#lastArrivalUs, lastAnswerUs: this.#lastAnswerUs };
  }

  load(saved: unknown): void {
    const { lastArrivalUs, lastAnswerUs } = saved as {
      readonly lastArrivalUs: number;
      readonly lastAnswerUs: number;
    };
    this.#lastArrivalUs = lastArrivalUs;
    this.#lastAnswerUs = lastAnswerUs;
  }
}

function isWrite(endpoint: EndpointId): boolean {
  return ENDPOINTS[endpoint].method !== 'GET';
}

function structuredCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(structuredCopy);
  if (typeof value !== 'object' || value === null) return value;
  // A spread is an order of magnitude faster than a copy by name; few fields are objects.
  const copy: Record<string, unknown> = { ...value };
  for (const key of Object.keys(copy)) {
    const field = copy[key];
    if (typeof field === 'object' && field !== null) copy[key] = structuredCopy(field);
  }
  return copy;
}
