import { UserError } from '../base/user-error.ts';

/** The journal cannot be written; the exchange is read-only. */
export class StoreStopped extends UserError {
  override readonly name = 'StoreStopped';
  readonly code = 'store-stopped';
}

/** A problem of the store that an operator should know, or its end. */
export type StoreProblem =
  'writes_stopped' | 'writes_resumed' | 'reads_stopped' | 'snapshot_failed';
