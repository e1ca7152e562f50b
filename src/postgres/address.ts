/**
 * Addresses of PostgreSQL: `postgres://user:password@host:5432,standby:5432/database?sslmode=…`.
 * With several hosts, `primary-of.ts` chooses. Options of TLS are those of libpq.
 */
import { UserError } from '../base/user-error.ts';

/** A database that cannot be used. */
export class DatabaseError extends UserError {
  override readonly name = 'DatabaseError';
  readonly code = 'database';
}

const SHAPE = /^(postgres(?:ql)?:\/\/)((?:[^?]*@)?)([^/?]*)(.*)$/s;

/** One address per host. Throws `DatabaseError`. */
export function hostsOf(address: string): string[] {
  const [, scheme = '', user = '', hosts = '', rest = ''] = SHAPE.exec(address) ?? [];
  if (scheme === '') {
    throw new DatabaseError('the address of the database must start with postgres://');
  }
  // The client would take a part of the password for a host, and its message would show it.
  if (isUnencoded(address.slice(scheme.length))) {
    throw new DatabaseError(
      'user and password of the address of the database: write / as %2F, ? as %3F, # as %23',
    );
  }
  return hosts.split(',').map((host) => `${scheme}${user}${host}${rest}`);
}

/** Whether an `@` follows a `/`, `?` or `#` that is of a password, not of a path or an option. */
function isUnencoded(rest: string): boolean {
  const [place = '', options = ''] = rest.split(/\?(.*)/s);
  return /[/#].*@/s.test(place) || (options.includes('@') && !/^\w+=/.test(options));
}

/**
 * The address without its password and options, for messages. Everything up to the last `@` may be
 * a password, also in an address that is not valid.
 */
export function shownAddress(address: string): string {
  const scheme = /^postgres(?:ql)?:\/\//.exec(address)?.[0] ?? '';
  const [place = ''] = address.slice(scheme.length).split('@').at(-1)?.split(/[?&]/) ?? [];
  return scheme + place;
}
