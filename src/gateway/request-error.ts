/** An error with its reply text, thrown inside the gateway and converted in one place. */
import { UserError } from '../base/user-error.ts';
import type { ErrorReply } from '../contract/messages.ts';

export class RequestError extends UserError {
  override readonly name = 'RequestError';
  readonly code = 'request';
  readonly status: number;

  constructor(reply: ErrorReply) {
    super(reply.message);
    this.status = reply.status;
  }
}
