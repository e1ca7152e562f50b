/**
 * The contract as a typed client. Strategies, scenarios and tests speak to this; whether the exchange is in the same
 * process or behind HTTP is the implementation's business.
 */
import type { EndpointId, RequestOf, ResponseOf } from '../contract/endpoints.ts';

/** An error reply: `message` is the body's text. */
export class MatcherError extends Error {
  override readonly name = 'MatcherError';
  readonly status: number;
  readonly endpoint: EndpointId;

  constructor(endpoint: EndpointId, status: number, message: string) {
    super(message);
    this.status = status;
    this.endpoint = endpoint;
  }
}

export interface MatcherClient {
  /** Rejects with `MatcherError` on any status but 200. */
  call<E extends EndpointId>(endpoint: E, request: RequestOf<E>): Promise<ResponseOf<E>>;
}
