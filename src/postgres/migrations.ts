/**
 * Schemas in versions: of the shared journal here, of campaigns in `job-schema.ts`. A migration is
 * never edited; a change is a new one. The roles of docs/SCALING.md get their rights from it.
 */
import { DatabaseError } from './address.ts';
import type { Session } from './session.ts';

export interface VersionedSchema {
  readonly name: string;
  /** Each brings the schema from the version that is its index to the next one. */
  readonly migrations: readonly string[];
}

const MIGRATIONS: readonly string[] = [
  `
  create table orrery.journal (
    first_seq    bigint primary key,
    last_seq     bigint not null,
    epoch        bigint not null,
    checksum     bigint not null,
    chain_hash   text not null,
    header       bytea,
    frames       bytea not null,
    committed_at timestamptz not null default clock_timestamp(),
    check (last_seq >= first_seq),
    check ((first_seq = 1) = (header is not null))
  ) with (toast_tuple_target = 8160);
  alter table orrery.journal alter column frames set storage external;
  -- The epoch in force. An append locks the row shared; a take-over updates it.
  create table orrery.leader (
    only_row boolean primary key default true check (only_row),
    epoch    bigint not null
  );
  insert into orrery.leader (epoch) values (0);
  -- Renewals, apart from the row that every append locks.
  create table orrery.lease (
    only_row   boolean primary key default true check (only_row),
    epoch      bigint not null,
    beat       bigint not null,
    holder     text not null,
    address    text not null,
    renewed_at timestamptz not null default clock_timestamp()
  ) with (fillfactor = 50);
  insert into orrery.lease (epoch, beat, holder, address) values (0, 0, '', '');
  create table orrery.epochs (
    epoch    bigint primary key,
    holder   text not null,
    address  text not null,
    taken_at timestamptz not null default clock_timestamp()
  );
  create table orrery.snapshots (
    seq        bigint primary key,
    chain_hash text not null,
    body       bytea not null,
    created_at timestamptz not null default clock_timestamp()
  );
  alter table orrery.snapshots alter column body set storage external;
  create table orrery.logins (
    nonce      uuid primary key,
    expires_ms bigint not null
  );
  `,
];

export const JOURNAL_SCHEMA: VersionedSchema = { name: 'orrery', migrations: MIGRATIONS };

/**
 * Brings the schema to this version; returns how many migrations ran. A role without the right to
 * create tables can use a schema of this version. Throws `DatabaseError`.
 */
export async function migrate(
  session: Session,
  { name, migrations }: VersionedSchema = JOURNAL_SCHEMA,
): Promise<number> {
  const newest = migrations.length;
  const found = await versionOf(session, name);
  if (found > newest) {
    throw new DatabaseError(
      `the schema ${name} has version ${String(found)}, this program knows ${String(newest)}; a newer release made it`,
    );
  }
  if (found === newest) return 0;
  // One process migrates; the lock ends with the transaction.
  await session.run('begin');
  let problem = 'is being created by another process, or its commit is not confirmed';
  try {
    await session.run("select pg_advisory_xact_lock(hashtext('orrery schema'))");
    problem = 'cannot be created';
    await session.run(`create schema if not exists ${name};
      create table if not exists ${name}.schema_version (
        version    integer primary key,
        applied_at timestamptz not null default now()
      )`);
    const from = await versionOf(session, name);
    for (const [i, sql] of migrations.entries()) {
      if (i < from) continue;
      await session.run(sql);
      await session.run(`insert into ${name}.schema_version (version) values (${String(i + 1)})`);
    }
    problem = 'waits for its commit, as while a synchronous standby is away';
    await session.run('commit');
    return Math.max(0, newest - from);
  } catch (error) {
    await session.run('rollback').catch(() => undefined);
    throw new DatabaseError(`the schema ${name} ${problem}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** 0: there is no schema. */
export async function versionOf(session: Session, schema: string): Promise<number> {
  const [there] = await session.query<{ found: boolean }>(
    `schema-found ${schema}`,
    `select to_regclass('${schema}.schema_version') is not null as found`,
  );
  if (there?.found !== true) return 0;
  const [row] = await session.query<{ version: number | null }>(
    `schema-version ${schema}`,
    `select max(version) as version from ${schema}.schema_version`,
  );
  return row?.version ?? 0;
}
