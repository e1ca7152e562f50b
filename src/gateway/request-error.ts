/** An error with its reply text, thrown inside the gateway and converted in one place. */
import { UserError } from '../base/user-error.ts';
import type { ErrorReply } from '../contract/messages.ts';

export class RequestError extends UserError {
  override readonly name = 'RequestError';
  readonly code = 'request';
  readonly status: number;
  /** Delay after which a repetition may succeed, for status 429. */
  readonly retryAfterS: number;

  constructor(reply: ErrorReply, retryAfterS = 1) {
    super(reply.message);
    this.status = reply.status;
    this.retryAfterS = retryAfterS;
  }
}
