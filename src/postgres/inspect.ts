/** Facts about the database of a shared journal, for `orrery doctor`. Changes nothing. */
import type { JournalPosition } from '../journal/format/header.ts';
import type { JournalEnd, Leadership } from '../replication/ports.ts';
import { Tail } from '../replication/tail.ts';
import { JOURNAL_SCHEMA, versionOf } from './migrations.ts';
import { PostgresStore } from './postgres-store.ts';

/** Rights of a server beside `select` (docs/SCALING.md). */
const NEEDED: readonly (readonly [table: string, rights: readonly string[]])[] = [
  ['journal', ['select', 'insert']],
  ['leader', ['select', 'update']],
  ['lease', ['select', 'update']],
  ['epochs', ['select', 'insert']],
  ['snapshots', ['select', 'insert', 'update', 'delete']],
  ['logins', ['select', 'insert', 'delete']],
];

export interface DatabaseFacts {
  /** Of the server, such as `15.18 (Debian 15.18-0)`. */
  readonly version: string;
  readonly major: number;
  readonly takesWrites: boolean;
  /** Time by which the clock here is ahead of the database's; negative if it is behind. */
  readonly clockAheadMs: number;
  /** Settings with which a crash of the database loses what was committed. */
  readonly unsafe: readonly string[];
  /** Version of the schema; 0: there is none. */
  readonly schema: number;
  readonly newestSchema: number;
  readonly mayCreate: boolean;
  /** Rights on tables that the role lacks. */
  readonly missing: readonly string[];
  /** null without a schema that can be read. */
  readonly journal: { readonly end: JournalEnd; readonly lead: Leadership } | null;
}

/** Throws `DatabaseError`. */
export async function inspectDatabase(store: PostgresStore): Promise<DatabaseFacts> {
  const { reads } = store;
  const clockAheadMs = await clockAhead(store);
  const [server] = await reads.query<Record<string, string> & { may_create: boolean }>(
    'server',
    `select current_setting('server_version') as version,
      current_setting('server_version_num') as number,
      current_setting('transaction_read_only') as read_only,
      current_setting('synchronous_commit') as synchronous_commit,
      current_setting('fsync') as fsync,
      has_database_privilege(current_database(), 'create') as may_create`,
  );
  if (server === undefined) throw new Error('the database has no settings');
  const schema = await versionOf(reads, JOURNAL_SCHEMA.name);
  const newestSchema = JOURNAL_SCHEMA.migrations.length;
  const missing = schema === newestSchema ? await missingRights(store) : [];
  const isRead = schema === newestSchema && !missing.some((right) => right.startsWith('select'));
  return {
    version: server['version'] ?? '',
    major: Math.floor(Number(server['number']) / 10_000),
    takesWrites: server['read_only'] === 'off',
    clockAheadMs,
    unsafe: ['synchronous_commit', 'fsync'].filter((name) => server[name] === 'off'),
    ...{ schema, newestSchema, missing, mayCreate: server.may_create },
    journal: isRead ? await store.poll(Number.MAX_SAFE_INTEGER) : null,
  };
}

/** The time of a question is not counted: the answer is of some moment in it. */
async function clockAhead({ reads }: PostgresStore): Promise<number> {
  // The first question opens the connection.
  await reads.query('connection', 'select 1');
  const sentMs = Date.now();
  const [row] = await reads.query<{ ms: string }>(
    'clock',
    'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as ms',
  );
  const theirsMs = Number(row?.ms);
  return Math.min(0, Date.now() - theirsMs) + Math.max(0, sentMs - theirsMs);
}

async function missingRights(store: PostgresStore): Promise<string[]> {
  const missing: string[] = [];
  for (const [table, rights] of NEEDED) {
    for (const right of rights) {
      const [row] = await store.reads.query<{ has: boolean }>(
        'right',
        'select has_table_privilege($1, $2) as has',
        [`orrery.${table}`, right],
      );
      if (row?.has !== true) missing.push(`${right} on orrery.${table}`);
    }
  }
  return missing;
}

/**
 * Replays all rows and compares every hash; null without any. Throws `ReplicationError` or
 * `JournalError`.
 */
export async function replayRows(store: PostgresStore): Promise<JournalPosition | null> {
  const base = await store.base();
  if (base === null) return null;
  const tail = Tail.from({ ...base, snapshot: null });
  for (;;) {
    const { rows, end } = await store.poll(tail.end.seq);
    tail.apply(rows, { onEvent: undefined, onOrderIds: () => undefined });
    if (tail.end.seq >= end.seq) return tail.position;
  }
}
