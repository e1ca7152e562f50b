/**
 * Deletes segments whose commands are all in the oldest retained snapshot, oldest first, so an
 * interruption leaves no gap. Recovery of the remaining files is tested first.
 */
import { statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { FileError } from '../platform/file-error.ts';
import { recover } from './recover.ts';
import { listSegments, type Segment } from './segments.ts';
import { listSnapshots, readSnapshot, syncFolder } from './snapshots.ts';

export interface CompactionPlan {
  /** Snapshot from which the journal will start. */
  readonly snapshot: string;
  readonly snapshotSeq: number;
  readonly dropped: readonly { readonly name: string; readonly bytes: number }[];
  readonly kept: readonly string[];
}

/** Throws `FileError` without a usable snapshot, or if the remaining files do not recover. */
export function planCompaction(folder: string): CompactionPlan {
  const segments = listSegments(folder);
  const whole = listSnapshots(folder).filter(({ name }) => readSnapshot(folder, name) !== null);
  const oldest = whole.at(-1);
  if (segments.length === 0) throw new FileError(`${folder}: no journal is in this folder`);
  if (oldest === undefined) {
    throw new FileError(
      `${folder}: no valid snapshot covers the segments to delete; serve the folder and stop the server to write one`,
    );
  }
  const isDropped = (_: Segment, i: number): boolean =>
    (segments[i + 1]?.afterSeq ?? Infinity) <= oldest.seq;
  const dropped = segments.filter(isDropped);
  const kept = segments.slice(dropped.length);
  const before = recover(folder);
  const after = recover(folder, { segments: kept, snapshots: [oldest] });
  if (before.engine.chainHash() !== after.engine.chainHash()) {
    throw new FileError(
      `${folder}: from ${oldest.name} the journal replays to a different chain hash; nothing is deleted (see orrery journal verify)`,
    );
  }
  return {
    snapshot: oldest.name,
    snapshotSeq: oldest.seq,
    dropped: dropped.map(({ name, path }) => ({ name, bytes: statSync(path).size })),
    kept: kept.map(({ name }) => name),
  };
}

/** Executes a plan. */
export async function compact(folder: string, { dropped }: CompactionPlan): Promise<void> {
  const paths = new Map(listSegments(folder).map(({ name, path }) => [name, path]));
  for (const { name } of dropped) {
    const path = paths.get(name);
    if (path !== undefined) await rm(path);
    // Each deletion is durable before the next.
    await syncFolder(folder);
  }
}
