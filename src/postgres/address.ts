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

const SEVERAL = 'postgres://a:5432,b:5432/exchange';
/** Values of `target_session_attrs` for a server that takes writes. */
const PRIMARY = ['read-write', 'primary'];
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
  const all = hosts.split(',');
  refuseOtherServers(optionsOf(address), all.length);
  return all.map((host) => `${scheme}${user}${host}${rest}`);
}

/** Whether the options ask for a server that takes writes. */
export function asksForPrimary(address: string): boolean {
  return PRIMARY.includes(optionsOf(address).get('target_session_attrs') ?? '');
}

function optionsOf(address: string): URLSearchParams {
  return new URLSearchParams(/\?(.*)/s.exec(address)?.[1] ?? '');
}

/** The client ignores these options of libpq, and would use another server than they name. */
function refuseOtherServers(options: URLSearchParams, hosts: number): void {
  for (const name of ['hostaddr', 'service']) {
    if (!options.has(name)) continue;
    throw new DatabaseError(
      `the address of the database: ${name} is not supported; name the host, as in ${SEVERAL}`,
    );
  }
  if (['host', 'port'].some((name) => options.get(name)?.includes(',') === true)) {
    throw new DatabaseError(`the address of the database: write several hosts as ${SEVERAL}`);
  }
  const choice = options.get('target_session_attrs');
  const isKnown = choice === null || PRIMARY.includes(choice) || (choice === 'any' && hosts === 1);
  if (isKnown) return;
  throw new DatabaseError(
    `the address of the database: target_session_attrs must be ${PRIMARY.join(' or ')}; ` +
      'of several hosts the first that takes writes is used',
  );
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
