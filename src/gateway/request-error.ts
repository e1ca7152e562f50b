/**
 * A request that is answered with an error text. Thrown inside the gateway only, where it ends one request, and turned
 * into a reply in one place.
 */
import type { ErrorReply } from '../contract/messages.ts';

export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly status: number;

  constructor(reply: ErrorReply) {
    super(reply.message);
    this.status = reply.status;
  }
}
