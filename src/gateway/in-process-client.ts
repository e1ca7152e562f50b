/** The client of an exchange in the same process, as one caller. */
import type { EndpointId, RequestOf, ResponseOf } from '../contract/endpoints.ts';
import type { Caller } from './context.ts';
import type { Gateway } from './gateway.ts';
import { MatcherError, type MatcherClient } from './matcher-client.ts';

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

  /** Throws `MatcherError`. */
  callSync<E extends EndpointId>(endpoint: E, request: RequestOf<E>): ResponseOf<E> {
    const { status, body } = this.gateway.handle(endpoint, request, this.caller);
    if (status !== 200) throw new MatcherError(endpoint, status, String(body));
    // The handlers make what the table says; the contract tests hold every body against its schema.
    return body as ResponseOf<E>;
  }
}
