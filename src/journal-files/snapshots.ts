/**
 * Snapshots of a served exchange: state after a command, with a checksum. A snapshot is atomic: it
 * is written to a temporary file, synced, renamed, and the folder synced. The last two are kept, so
 * that recovery can skip a damaged one.
 */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ArchiveReader, ArchiveWriter } from '../base/archive.ts';
import {
  decodeSnapshotFile,
  SNAPSHOT_HASH_BYTES as HASH_BYTES,
  SNAPSHOT_MAGIC as MAGIC,
  type SnapshotContent,
} from '../journal/format/snapshot-file.ts';
import { fileError } from '../platform/file-error.ts';
import { readRegularFile } from '../platform/regular-file.ts';
import { writeWholeFile } from '../platform/whole-file.ts';

const KEPT = 2;
const NAME = /^snapshot-(\d{16})\.bin$/;

export type Snapshot = SnapshotContent;

/** Snapshots with their last commands, newest first. Throws `FileError`. */
export function listSnapshots(folder: string): { readonly name: string; readonly seq: number }[] {
  try {
    return readdirSync(folder)
      .map((name) => ({ name, seq: Number(NAME.exec(name)?.[1] ?? NaN) }))
      .filter(({ seq }) => !Number.isNaN(seq))
      .sort((a, b) => b.seq - a.seq);
  } catch (error) {
    throw fileError(folder, error);
  }
}

/** null if the snapshot is damaged, unreadable or of another version. */
export function readSnapshot(folder: string, name: string): Snapshot | null {
  let bytes: Uint8Array;
  try {
    bytes = readRegularFile(join(folder, name));
  } catch {
    return null;
  }
  return decodeSnapshot(bytes);
}

/** null if the snapshot is damaged or of another version. */
export function decodeSnapshot(bytes: Uint8Array): Snapshot | null {
  return decodeSnapshotFile(bytes, sha256);
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Why `readSnapshot` returns null: whole files of another release are not damaged. */
export function snapshotFault(folder: string, name: string): 'damaged' | 'outdated' | 'unreadable' {
  let bytes: Uint8Array;
  try {
    bytes = readRegularFile(join(folder, name));
  } catch {
    return 'unreadable';
  }
  try {
    const body = bytes.subarray(HASH_BYTES);
    const isWhole = createHash('sha256')
      .update(body)
      .digest()
      .equals(bytes.subarray(0, HASH_BYTES));
    return isWhole && new ArchiveReader(body).text() !== MAGIC ? 'outdated' : 'damaged';
  } catch {
    return 'damaged';
  }
}

/** Writes a snapshot and returns the file name. */
export async function writeSnapshot(folder: string, snapshot: Snapshot): Promise<string> {
  const name = `snapshot-${String(snapshot.seq).padStart(16, '0')}.bin`;
  await writeWholeFile(join(folder, name), encodeSnapshot(snapshot));
  await syncFolder(folder);
  for (const old of listSnapshots(folder).slice(KEPT)) {
    await rm(join(folder, old.name), { force: true });
  }
  return name;
}

/** Bytes of a snapshot, with a checksum. */
export function encodeSnapshot({ seq, engine, orderIds }: Snapshot): Uint8Array {
  const archive = new ArchiveWriter();
  archive.text(MAGIC);
  archive.int(seq);
  archive.int(orderIds.length);
  for (const [id, digest] of orderIds) {
    archive.int(id);
    archive.text(digest);
  }
  archive.int(engine.length);
  const body = Buffer.concat([archive.bytes(), engine]);
  return Buffer.concat([createHash('sha256').update(body).digest(), body]);
}

/** Makes new file names in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
