/**
 * Addresses of PostgreSQL: `postgres://user:password@host:5432,standby:5432/database?sslmode=…`.
 * With several hosts, the first that takes writes is used. Options of TLS are those of libpq.
 */
import { UserError } from '../base/user-error.ts';

/** A database that cannot be used. */
export class DatabaseError extends UserError {
  override readonly name = 'DatabaseError';
  readonly code = 'database';
}

const SHAPE = /^(postgres(?:ql)?:\/\/)((?:[^@/?]*@)?)([^/?]*)(.*)$/;

/** One address per host. Throws `DatabaseError`. */
export function hostsOf(address: string): string[] {
  const [, scheme = '', user = '', hosts = '', rest = ''] = SHAPE.exec(address) ?? [];
  if (scheme === '') {
    throw new DatabaseError('the address of the journal must start with postgres://');
  }
  return hosts.split(',').map((host) => `${scheme}${user}${host}${rest}`);
}

/** The address without its password and options, for messages. */
export function shownAddress(address: string): string {
  const [, scheme = '', user = '', hosts = '', rest = ''] = SHAPE.exec(address) ?? [];
  const name = user.slice(0, -1).split(':')[0] ?? '';
  return `${scheme}${name === '' ? '' : `${name}@`}${hosts}${rest.split('?')[0] ?? ''}`;
}
