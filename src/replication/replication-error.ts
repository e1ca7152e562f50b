import { UserError } from '../base/user-error.ts';

/** The shared journal cannot be used by this server. */
export class ReplicationError extends UserError {
  override readonly name = 'ReplicationError';
  readonly code = 'replication';
}
