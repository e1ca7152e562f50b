import { UserError } from '../../base/user-error.ts';

/** A damaged journal, or one of another version; the message has the position and the reason. */
export class JournalError extends UserError {
  override readonly name = 'JournalError';
  readonly code = 'journal';
}
