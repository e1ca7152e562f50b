import { UserError } from '../base/user-error.ts';

/** The journal cannot be written; the exchange is read-only. */
export class StoreStopped extends UserError {
  override readonly name = 'StoreStopped';
  readonly code = 'store-stopped';
}

/** A problem of the store that an operator should know, or its end. */
export type StoreProblem =
  | 'writes_stopped'
  | 'writes_delayed'
  | 'writes_resumed'
  | 'reads_stopped'
  | 'reads_delayed'
  | 'reads_resumed'
  | 'snapshot_failed'
  | 'lease_not_renewed'
  | 'lease_renewed'
  | 'leader_awaited'
  | 'lead_taken';
