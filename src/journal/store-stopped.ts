import { UserError } from '../base/user-error.ts';

/** The journal cannot be written; the exchange is read-only. */
export class StoreStopped extends UserError {
  override readonly name = 'StoreStopped';
  readonly code = 'store-stopped';
}
