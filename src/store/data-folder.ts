/**
 * The folder of a served exchange: its journal, snapshots that shorten recovery, and a lock, since two writers would ruin both.
 *
 * A snapshot is whole or absent: written beside its name, synced, renamed, and the folder synced. The last two are kept, so that a
 * damaged one falls back to the one before; the journal alone is enough, too.
 */
import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ArchiveReader, ArchiveWriter } from '../base/archive.ts';
import { timeUs, seq as seqOf } from '../num/units.ts';
import type { JournalPosition } from '../sim/journal/frames.ts';
import { FileError, fileError } from './file-error.ts';
import { writeWholeFile } from './whole-file.ts';

export const JOURNAL_NAME = 'journal.orrery';
const KEPT_SNAPSHOTS = 2;
const SNAPSHOT_NAME = /^snapshot-(\d{16})\.bin$/;
const SNAPSHOT_MAGIC = 'orrery-snapshot-1';

/** State at a place in the journal. */
export interface StoredSnapshot {
  readonly position: JournalPosition;
  readonly engine: Uint8Array;
  /** Digests that clients know orders by, with their dense ids. */
  readonly orderIds: readonly (readonly [number, string])[];
}

export class DataFolder {
  readonly path: string;
  private readonly lockPath: string;

  private constructor(path: string) {
    this.path = path;
    this.lockPath = join(path, 'lock');
  }

  /** Makes the folder at need and takes its lock. Throws `FileError` while another process has it. */
  static async open(path: string): Promise<DataFolder> {
    const folder = new DataFolder(path);
    try {
      await mkdir(path, { recursive: true });
    } catch (error) {
      throw fileError(path, error);
    }
    await folder.lock();
    return folder;
  }

  get journalPath(): string {
    return join(this.path, JOURNAL_NAME);
  }

  private async lock(): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      try {
        await writeFile(this.lockPath, `${String(process.pid)}\n`, { flag: 'wx' });
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
          throw fileError(this.lockPath, error);
        }
      }
      const owner = Number((await readFile(this.lockPath, 'utf8').catch(() => '')).trim());
      if (attempt > 2 || isAlive(owner)) {
        throw new FileError(
          `${this.path}: in use by process ${String(owner)}; one exchange writes a folder`,
        );
      }
      // Its process is gone: a crash left it.
      await rm(this.lockPath, { force: true });
    }
  }

  async unlock(): Promise<void> {
    await rm(this.lockPath, { force: true });
  }

  /** Snapshots that are whole, newest first; `damaged` names the others. */
  async snapshots(): Promise<{ readonly whole: StoredSnapshot[]; readonly damaged: string[] }> {
    const whole: StoredSnapshot[] = [];
    const damaged: string[] = [];
    for (const name of await this.snapshotNames()) {
      const snapshot = readSnapshot(await readFile(join(this.path, name)));
      if (snapshot === null) damaged.push(name);
      else whole.push(snapshot);
    }
    return { whole, damaged };
  }

  async writeSnapshot(snapshot: StoredSnapshot): Promise<string> {
    const name = `snapshot-${String(snapshot.position.seq).padStart(16, '0')}.bin`;
    await writeWholeFile(join(this.path, name), snapshotBytes(snapshot));
    await syncFolder(this.path);
    for (const old of (await this.snapshotNames()).slice(KEPT_SNAPSHOTS)) {
      await rm(join(this.path, old), { force: true });
    }
    return name;
  }

  private async snapshotNames(): Promise<string[]> {
    const names = await readdir(this.path);
    return names
      .filter((name) => SNAPSHOT_NAME.test(name))
      .sort()
      .reverse();
  }
}

/** A new file's name is durable only once its folder is. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function snapshotBytes({ position, engine, orderIds }: StoredSnapshot): Uint8Array {
  const archive = new ArchiveWriter();
  archive.text(SNAPSHOT_MAGIC);
  archive.int(position.offset);
  archive.int(position.seq);
  archive.int(position.timeUs);
  archive.int(orderIds.length);
  for (const [id, digest] of orderIds) {
    archive.int(id);
    archive.text(digest);
  }
  archive.int(engine.length);
  const head = archive.bytes();
  const body = Buffer.concat([head, engine]);
  return Buffer.concat([createHash('sha256').update(body).digest(), body]);
}

function readSnapshot(bytes: Uint8Array): StoredSnapshot | null {
  const body = bytes.subarray(32);
  const hash = createHash('sha256').update(body).digest();
  if (bytes.length < 64 || !hash.equals(bytes.subarray(0, 32))) return null;
  const archive = new ArchiveReader(body);
  if (archive.text() !== SNAPSHOT_MAGIC) return null;
  const position = {
    offset: archive.int(),
    seq: seqOf(archive.int()),
    timeUs: timeUs(archive.int()),
  };
  const orderIds: [number, string][] = [];
  for (let left = archive.int(); left > 0; left--) orderIds.push([archive.int(), archive.text()]);
  const length = archive.int();
  return { position, orderIds, engine: body.subarray(body.length - length) };
}
