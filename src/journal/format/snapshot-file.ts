/** Bytes of a snapshot file of a served exchange: a checksum, and the state after a command. */
import { ArchiveReader } from '../../base/archive.ts';
import type { OrderDigest } from '../served-exchange.ts';

export const SNAPSHOT_MAGIC = 'orrery-snapshot-3';
export const SNAPSHOT_HASH_BYTES = 32;

export interface SnapshotContent {
  /** Last command in the snapshot. */
  readonly seq: number;
  readonly engine: Uint8Array;
  readonly orderIds: readonly OrderDigest[];
}

/** null if the snapshot is damaged or of another version. `sha256`: the digest in hex digits. */
export function decodeSnapshotFile(
  bytes: Uint8Array,
  sha256: (bytes: Uint8Array) => string,
): SnapshotContent | null {
  if (bytes.length <= SNAPSHOT_HASH_BYTES) return null;
  const body = bytes.subarray(SNAPSHOT_HASH_BYTES);
  const recorded = [...bytes.subarray(0, SNAPSHOT_HASH_BYTES)];
  if (sha256(body) !== recorded.map((byte) => byte.toString(16).padStart(2, '0')).join('')) {
    return null;
  }
  const archive = new ArchiveReader(body);
  if (archive.text() !== SNAPSHOT_MAGIC) return null;
  const seq = archive.int();
  const orderIds: OrderDigest[] = [];
  for (let left = archive.int(); left > 0; left--) orderIds.push([archive.int(), archive.text()]);
  const length = archive.int();
  return { seq, orderIds, engine: body.subarray(body.length - length) };
}
