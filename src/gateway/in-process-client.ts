/** Client of an exchange in the same process, for one caller. */
import {
  ENDPOINTS,
  type EndpointId,
  type ListId,
  type RequestOf,
  type ResponseOf,
} from '../contract/endpoints.ts';
import { MESSAGES } from '../contract/messages.ts';
import type { Caller, Reply } from './context.ts';
import type { Gateway } from './gateway.ts';
import { asPage, MatcherError, type MatcherClient, type PageOf } from './matcher-client.ts';

export class InProcessClient implements MatcherClient {
  private readonly gateway: Gateway;
  private readonly caller: Caller | null;

  constructor(gateway: Gateway, caller: Caller | null) {
    this.gateway = gateway;
    this.caller = caller;
  }

  call<E extends EndpointId>(endpoint: E, request: RequestOf<E>): Promise<ResponseOf<E>> {
    return new Promise((resolve) => {
      resolve(this.callSync(endpoint, request));
    });
  }

  page<E extends ListId>(endpoint: E, request: RequestOf<E>): Promise<PageOf<E>> {
    return new Promise((resolve) => {
      resolve(asPage(this.mustReply(endpoint, request)));
    });
  }

  /** Throws `MatcherError`. */
  callSync<E extends EndpointId>(endpoint: E, request: RequestOf<E>): ResponseOf<E> {
    // Handlers produce the table's types; contract tests validate every body against its schema.
    return this.mustReply(endpoint, request).body as ResponseOf<E>;
  }

  private mustReply(endpoint: EndpointId, request: unknown): Reply {
    if (!Object.hasOwn(ENDPOINTS, endpoint)) {
      throw new MatcherError(endpoint, 404, MESSAGES.routeNotFound.message);
    }
    const reply = this.gateway.handle(endpoint, request, this.caller);
    if (reply.status !== 200) throw new MatcherError(endpoint, reply.status, String(reply.body));
    return reply;
  }
}
