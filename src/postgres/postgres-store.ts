/**
 * The shared journal in PostgreSQL. Each call is one statement, so that no transaction stays open
 * while this process is paused.
 *
 * An append locks the row of the epoch in force (`for share`) and inserts only while the epoch is
 * its own. A take-over updates that row: it waits for an append in progress, and an append that
 * waits for it finds another epoch. `first_seq` is the primary key, so a place is taken once.
 */
import type {
  Candidate,
  JournalBase,
  JournalEnd,
  JournalRow,
  JournalStore,
  Leadership,
  Poll,
  StoredSnapshot,
} from '../replication/ports.ts';
import { decodeSnapshot, encodeSnapshot } from '../journal-files/snapshots.ts';
import { Session } from './session.ts';

const ROWS_A_POLL = 64;
/** Bytes from which a poll takes no further row. */
const BYTES_A_POLL = 4_194_304;
const UNIQUE_VIOLATION = '23505';
const SNAPSHOTS_KEPT = 2;

const POLL = `
  select l.epoch, l.beat, l.holder, l.address, e.last_seq as end_seq, e.chain_hash as end_hash,
    j.first_seq, j.last_seq, j.epoch as row_epoch, j.checksum, j.chain_hash, j.header, j.frames
  from orrery.lease l
  left join lateral (
    select last_seq, chain_hash from orrery.journal order by first_seq desc limit 1
  ) e on true
  left join lateral (
    select * from (
      select *, sum(octet_length(frames)) over (order by first_seq) - octet_length(frames) as before
      from (
        select * from orrery.journal where first_seq > $1
        order by first_seq limit ${String(ROWS_A_POLL)}
      ) next_rows
    ) sized where before < ${String(BYTES_A_POLL)}
  ) j on true
  order by j.first_seq`;

const TAKE_LEAD = `
  with taken as (
    update orrery.lease
    set epoch = epoch + 1, beat = 0, holder = $3, address = $4, renewed_at = clock_timestamp()
    where epoch = $1 and beat = $2
    returning epoch
  ), fenced as (
    update orrery.leader set epoch = taken.epoch from taken returning leader.epoch
  )
  insert into orrery.epochs (epoch, holder, address) select epoch, $3, $4 from fenced
  returning epoch`;

/** A promoted standby may have the epoch, and lack rows that its leader has answered. */
const BEAT = `
  update orrery.lease set beat = beat + 1, renewed_at = clock_timestamp()
  where epoch = $1 and holder <> '' and ($2::bigint = 0 or exists (
    select from orrery.journal
    where first_seq = (select max(first_seq) from orrery.journal where first_seq <= $2::bigint)
      and last_seq = $2::bigint and chain_hash = $3
  ))
  returning beat`;

const RESIGN = `
  update orrery.lease set beat = beat + 1, holder = '', address = '' where epoch = $1`;

const APPEND = `
  with in_force as (select epoch from orrery.leader where epoch = $3 for share),
  newest as (select last_seq, chain_hash from orrery.journal order by first_seq desc limit 1)
  insert into orrery.journal (first_seq, last_seq, epoch, checksum, chain_hash, header, frames)
  select $1, $2, epoch, $4, $5, $6, $7 from in_force
  where coalesce((select last_seq from newest), 0) = $8
    and coalesce((select chain_hash from newest), '') = $9
  returning first_seq`;

/** A snapshot counts if it fits the row that ends with its command. */
const SNAPSHOTS = `
  select s.seq, s.chain_hash, s.body from orrery.snapshots s
  cross join lateral (
    select last_seq, chain_hash from orrery.journal
    where first_seq <= s.seq order by first_seq desc limit 1
  ) j
  where j.last_seq = s.seq and j.chain_hash = s.chain_hash
  order by s.seq desc`;

interface PolledRow {
  readonly epoch: string;
  readonly beat: string;
  readonly holder: string;
  readonly address: string;
  readonly end_seq: string | null;
  readonly end_hash: string | null;
  readonly first_seq: string | null;
  readonly last_seq: string;
  readonly row_epoch: string;
  readonly checksum: string;
  readonly chain_hash: string;
  readonly header: Buffer | null;
  readonly frames: Buffer;
}

export interface StoreOptions {
  readonly address: string;
  /** Time after which an answer is given up. */
  readonly answerMs: number;
  /** A standby has no bound on its delay, and takes no lead; by default it is read. */
  readonly needsPrimary?: boolean;
}

export class PostgresStore implements JournalStore {
  /** Appends, renewals, reads and logins do not wait for each other. */
  private readonly appends: Session;
  private readonly renewals: Session;
  readonly reads: Session;
  readonly logins: Session;
  private readonly bulk: Session;
  private readonly sessions: readonly Session[];
  /** Of this store; null if it does not lead, as far as is known. */
  private epoch: number | null = null;

  constructor({ address, answerMs, needsPrimary = false }: StoreOptions) {
    const options = { address, answerMs, connectMs: answerMs, needsPrimary };
    this.appends = new Session(options);
    this.renewals = new Session(options);
    this.logins = new Session(options);
    this.reads = new Session({ ...options, answerMs: 2 * answerMs });
    // Snapshots may be large.
    this.bulk = new Session({ ...options, answerMs: 100 * answerMs });
    this.sessions = [this.appends, this.renewals, this.reads, this.logins, this.bulk];
  }

  async base(): Promise<JournalBase | null> {
    const [first] = await this.bulk.query<{ header: Buffer }>(
      'header',
      'select header from orrery.journal where first_seq = 1',
    );
    if (first === undefined) return null;
    const stored = await this.bulk.query<{ seq: string; chain_hash: string; body: Buffer }>(
      'snapshots',
      SNAPSHOTS,
    );
    for (const { seq, chain_hash: chainHash, body } of stored) {
      const snapshot = decodeSnapshot(body);
      if (snapshot === null || snapshot.seq !== Number(seq)) continue;
      return { header: first.header, snapshot: { ...snapshot, chainHash } };
    }
    return { header: first.header, snapshot: null };
  }

  async poll(afterSeq: number): Promise<Poll> {
    const found = await this.reads.query<PolledRow>('poll', POLL, [afterSeq]);
    const [one] = found;
    if (one === undefined) throw new Error('the schema has no lease');
    const { epoch, beat, holder, address } = one;
    return {
      lead: { epoch: Number(epoch), beat: Number(beat), holder, address },
      end: { seq: Number(one.end_seq ?? 0), chainHash: one.end_hash ?? '' },
      rows: one.first_seq === null ? [] : found.map(rowOf),
    };
  }

  async takeLead(seen: Leadership, { holder, address }: Candidate): Promise<number | null> {
    const values = [seen.epoch, seen.beat, holder, address];
    const [row] = await this.renewals.write<{ epoch: string }>('take-lead', TAKE_LEAD, values);
    this.epoch = row === undefined ? null : Number(row.epoch);
    return this.epoch;
  }

  async beat(epoch: number, { seq, chainHash }: JournalEnd): Promise<boolean> {
    return (await this.renewals.write('beat', BEAT, [epoch, seq, chainHash])).length > 0;
  }

  async resign(epoch: number): Promise<void> {
    await this.renewals.write('resign', RESIGN, [epoch]);
  }

  /** Gives up a lead that was taken, where the exchange is not open yet. */
  async resignIfLeading(): Promise<void> {
    if (this.epoch !== null) await this.resign(this.epoch);
  }

  async append(row: JournalRow, after: JournalEnd): Promise<boolean> {
    const { firstSeq, lastSeq, epoch, checksum, chainHash, header, bytes } = row;
    const values = [firstSeq, lastSeq, epoch, checksum, chainHash, bytesOf(header), bytesOf(bytes)];
    try {
      const done = await this.appends.write('append', APPEND, [
        ...values,
        ...[after.seq, after.chainHash],
      ]);
      return done.length > 0;
    } catch (error) {
      const { cause } = error as { cause?: { code?: string } };
      if (cause?.code === UNIQUE_VIOLATION) return false;
      throw error;
    }
  }

  async saveSnapshot(snapshot: StoredSnapshot): Promise<void> {
    await this.bulk.query(
      'save-snapshot',
      `insert into orrery.snapshots (seq, chain_hash, body) values ($1, $2, $3)
       on conflict (seq) do update set chain_hash = excluded.chain_hash, body = excluded.body`,
      [snapshot.seq, snapshot.chainHash, bytesOf(encodeSnapshot(snapshot))],
    );
    await this.bulk.query(
      'drop-snapshots',
      `delete from orrery.snapshots where seq not in
       (select seq from orrery.snapshots order by seq desc limit ${String(SNAPSHOTS_KEPT)})`,
    );
  }

  /** Requests in progress reject. */
  abort(): void {
    for (const session of this.sessions) session.abort();
  }

  async close(): Promise<void> {
    await Promise.all(this.sessions.map((session) => session.close()));
  }
}

function rowOf(row: PolledRow): JournalRow {
  return {
    firstSeq: Number(row.first_seq),
    lastSeq: Number(row.last_seq),
    epoch: Number(row.row_epoch),
    checksum: Number(row.checksum),
    chainHash: row.chain_hash,
    bytes: row.frames,
    header: row.header,
  };
}

/** The client sends a Buffer as bytes; it writes other arrays as text. */
function bytesOf(bytes: Uint8Array | null): Buffer | null {
  return bytes === null ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
