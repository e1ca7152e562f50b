/**
 * Copies a journal from PostgreSQL into a data folder, and verifies each row: its place, epoch,
 * checksum and chain hash. The commands of `orrery journal` read the copy, and `orrery serve
 * --data-dir` continues it.
 */
import { open, rename, rm } from 'node:fs/promises';
import { JournalWriter } from '../journal/format/frames.ts';
import { DataFolder, makeDurableFolder } from '../journal-files/data-folder.ts';
import { listSegments, segmentPath } from '../journal-files/segments.ts';
import { syncFolder } from '../journal-files/snapshots.ts';
import { FileError, fileError } from '../platform/file-error.ts';
import { removeMade } from '../platform/make-folder.ts';
import type { Poll } from '../replication/ports.ts';
import { ReplicationError } from '../replication/replication-error.ts';
import { Tail } from '../replication/tail.ts';
import { DatabaseError, shownAddress } from './address.ts';
import { JOURNAL_SCHEMA, versionOf } from './migrations.ts';
import { PostgresStore } from './postgres-store.ts';

const ANSWER_MS = 60_000;

export interface PulledJournal {
  readonly commands: number;
  readonly rows: number;
  readonly chainHash: string;
}

export interface PullOptions {
  readonly onProgress?: (fraction: number) => void;
  /** Ends a wait for the database, too. */
  readonly signal?: AbortSignal;
}

/**
 * Throws `FileError`, `DatabaseError` or `ReplicationError`, or the reason of the signal. Nothing
 * is left then.
 */
export async function pullJournal(
  address: string,
  folder: string,
  { onProgress = () => undefined, signal }: PullOptions = {},
): Promise<PulledJournal> {
  const store = new PostgresStore({ address, answerMs: ANSWER_MS });
  const abort = (): void => {
    store.abort();
  };
  signal?.addEventListener('abort', abort);
  let made: readonly string[] = [];
  let locked: DataFolder | null = null;
  try {
    made = await makeDurableFolder(folder);
    // Another pull or a server would write files of the same names.
    locked = await DataFolder.open(folder);
    if (listSegments(folder).length > 0) throw new FileError(`${folder}: has a journal already`);
    if ((await versionOf(store.reads, JOURNAL_SCHEMA.name)) === 0) {
      throw new DatabaseError(
        `${shownAddress(address)}: has no journal; orrery serve --journal creates one`,
      );
    }
    const base = await store.base();
    if (base === null) throw new ReplicationError(`${shownAddress(address)}: the journal is empty`);
    const path = segmentPath(folder, 0);
    const temporary = `${path}.partial`;
    const file = await open(temporary, 'wx', 0o600);
    try {
      const pulled = await copy(
        store,
        Tail.from({ ...base, snapshot: null }),
        async (bytes) => {
          signal?.throwIfAborted();
          await file.writeFile(bytes);
        },
        onProgress,
        base.header,
      );
      await file.sync();
      await rename(temporary, path);
      await syncFolder(folder);
      return pulled;
    } finally {
      await file.close();
      await rm(temporary, { force: true });
    }
  } catch (error) {
    await locked?.unlock();
    locked = null;
    await removeMade(made);
    signal?.throwIfAborted();
    throw fileError(folder, error);
  } finally {
    signal?.removeEventListener('abort', abort);
    await locked?.unlock();
    await store.close();
  }
}

async function copy(
  store: PostgresStore,
  tail: Tail,
  write: (bytes: Uint8Array) => Promise<void>,
  onProgress: (fraction: number) => void,
  header: Uint8Array,
): Promise<PulledJournal> {
  await write(header);
  let rows = 0;
  let poll: Poll;
  do {
    poll = await store.poll(tail.end.seq);
    tail.apply(poll.rows, { onEvent: undefined, onOrderIds: () => undefined });
    for (const { bytes } of poll.rows) await write(bytes);
    rows += poll.rows.length;
    onProgress(tail.end.seq / poll.end.seq);
  } while (tail.end.seq < poll.end.seq);
  // The hash of the last row, for a verification of the copy.
  const writer = new JournalWriter(tail.position);
  writer.chain(tail.position.seq, tail.position.timeUs, tail.end.chainHash);
  const last = writer.takeGroup();
  if (last !== null) await write(last.bytes);
  return { commands: tail.end.seq, rows, chainHash: tail.end.chainHash };
}
