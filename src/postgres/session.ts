/**
 * One connection to PostgreSQL. It is opened on demand and dropped after any error, since the
 * outcome of what ran on it is unknown. `pg` is an optional peer of the package.
 */
import { userInfo } from 'node:os';
import type { Client, QueryResultRow } from 'pg';
import { asksForPrimary, DatabaseError, hostsOf, shownAddress } from './address.ts';
import { primaryOf } from './primary-of.ts';

/** Time for the end of a connection. */
const END_MS = 1000;

/**
 * A statement that waits for a lock ends when its answer is given up. Each repetition would
 * otherwise leave one more connection that waits, as while a synchronous standby is away.
 */
const BEGIN = `
  select pg_is_in_recovery() as standby, set_config('lock_timeout', $1, false)`;

export interface SessionOptions {
  readonly address: string;
  readonly connectMs: number;
  /** Time after which an answer is given up. */
  readonly answerMs: number;
  /** Whether a single host may be a standby; by default it may. */
  readonly needsPrimary?: boolean;
}

type ClientClass = new (config: object) => Client;

interface Pg {
  readonly Client: ClientClass;
  readonly defaults: { user?: string | undefined };
}

/** Where neither address nor environment names a user, libpq takes that of the process. */
function nameOfUser(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    // No entry for this user id, as in some containers.
    return undefined;
  }
}

/** Throws `DatabaseError` if the package is missing. */
async function loadClient(): Promise<ClientClass> {
  try {
    const { default: pg } = (await import('pg')) as { default: Pg };
    pg.defaults.user ??= nameOfUser();
    return pg.Client;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new DatabaseError('PostgreSQL needs the package pg; install it with: npm install pg');
  }
}

export class Session {
  private readonly options: SessionOptions;
  private opening: Promise<Client> | null = null;
  private current: Client | null = null;
  /** Those of a connection in progress, or of the last one. */
  private clients: readonly Client[] = [];
  private closed = false;
  /** The last statement: one at a time. */
  private last: Promise<unknown> = Promise.resolve();
  /** Warnings of the server during the statement in progress. */
  private warnings: string[] = [];

  constructor(options: SessionOptions) {
    this.options = options;
  }

  query<R extends QueryResultRow>(
    name: string,
    text: string,
    values: unknown[] = [],
  ): Promise<R[]> {
    return this.inTurn(() => this.queryNow<R>(name, text, values));
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.last.then(work);
    this.last = done.catch(() => undefined);
    return done;
  }

  private async queryNow<R extends QueryResultRow>(
    name: string,
    text: string,
    values: unknown[],
  ): Promise<R[]> {
    if (this.closed) throw new Error('the connection is closed');
    this.opening ??= this.connect();
    const { opening } = this;
    try {
      const client = await opening;
      this.warnings = [];
      const { rows } = await client.query<R>({ name, text, values });
      return rows;
    } catch (error) {
      if (this.opening === opening) this.opening = null;
      opening.then(drop, () => undefined);
      throw databaseError(this.options.address, error);
    }
  }

  /**
   * A query whose commit must be whole. A server that gives up waiting for its synchronous standby
   * commits with a warning, which is an unknown outcome here.
   */
  write<R extends QueryResultRow>(name: string, text: string, values: unknown[]): Promise<R[]> {
    return this.inTurn(async () => {
      const rows = await this.queryNow<R>(name, text, values);
      const [warning] = this.warnings;
      if (warning !== undefined) throw new Error(`the commit is not confirmed: ${warning}`);
      return rows;
    });
  }

  /** Statements without parameters, such as a migration. */
  async run(text: string): Promise<void> {
    this.opening ??= this.connect();
    await (await this.opening).query(text);
  }

  /** As `close`, at once: what is in progress rejects. */
  abort(): void {
    this.closed = true;
    for (const { connection } of this.clients) connection.stream.destroy();
  }

  async close(): Promise<void> {
    this.closed = true;
    const client = await this.opening?.catch(() => null);
    this.opening = null;
    if (client === null || client === undefined) return;
    // A server that is out of reach does not answer the end of the connection either.
    const giveUp = setTimeout(() => {
      drop(client);
    }, END_MS);
    await client.end().catch(() => undefined);
    clearTimeout(giveUp);
  }

  private async connect(): Promise<Client> {
    const { address, connectMs, answerMs, needsPrimary } = this.options;
    const hosts = hostsOf(address);
    const ClientOf = await loadClient();
    const clients = hosts.map((connectionString) =>
      clientOf(ClientOf, address, {
        connectionString,
        connectionTimeoutMillis: connectMs,
        query_timeout: answerMs,
        keepAlive: true,
        application_name: 'orrery',
      }),
    );
    this.clients = clients;
    const open = (client: Client): Promise<boolean> => this.begin(client);
    const needs = needsPrimary === true || asksForPrimary(address);
    const takesStandby = hosts.length === 1 && !needs;
    try {
      this.current = await primaryOf(clients, { open, drop, takesStandby });
      return this.current;
    } catch (error) {
      const problems: unknown[] = (error as AggregateError).errors;
      const message = problems.map(messageOf).join('; ');
      throw new DatabaseError(`${shownAddress(address)}: ${message}`, { cause: problems.at(-1) });
    }
  }

  /** True if the server is a standby. */
  private async begin(client: Client): Promise<boolean> {
    client.on('error', () => {
      // A query in progress gets the error; the next one connects again.
      if (this.current === client) this.opening = null;
    });
    client.on('notice', ({ severity, message }) => {
      if (severity === 'WARNING') this.warnings.push(message ?? 'a warning');
    });
    await client.connect();
    const { answerMs } = this.options;
    const { rows } = await client.query<{ standby: boolean }>(BEGIN, [String(answerMs)]);
    return rows[0]?.standby === true;
  }
}

function databaseError(address: string, error: unknown): DatabaseError {
  if (error instanceof DatabaseError) return error;
  return new DatabaseError(`${shownAddress(address)}: ${messageOf(error)}`, { cause: error });
}

/** Throws `DatabaseError` for an address that is not valid, or options whose files are missing. */
function clientOf(ClientOf: ClientClass, address: string, config: object): Client {
  try {
    return new ClientOf(config);
  } catch (error) {
    throw databaseError(address, error);
  }
}

function drop(client: Client): void {
  // A statement in progress would otherwise keep the socket open.
  client.connection.stream.destroy();
  client.end().catch(() => undefined);
}

/** Messages of the client when time is over. */
const TIMEOUTS: ReadonlyMap<string, string> = new Map([
  ['timeout expired', 'no answer to the connection in time: not reachable, or no PostgreSQL'],
  ['Query read timeout', 'no answer to a query in time'],
]);

function messageOf(error: unknown): string {
  const { message, errors } = error as { message?: string; errors?: { message: string }[] };
  // Of the client, without a password.
  if (message?.includes('client password must be a string') === true) {
    return 'it asks for a password: set PGPASSWORD, or write it in ~/.pgpass or in the address';
  }
  const known = message === undefined ? undefined : TIMEOUTS.get(message);
  if (known !== undefined) return known;
  if (message !== undefined && message !== '') return message;
  return errors?.[0]?.message ?? 'cannot connect';
}
