/** An error with its reply text, thrown inside the gateway and converted in one place. */
import type { ErrorReply } from '../contract/messages.ts';

export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly status: number;

  constructor(reply: ErrorReply) {
    super(reply.message);
    this.status = reply.status;
  }
}
