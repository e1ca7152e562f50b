/**
 * Drops segments that no start needs any more: those whose commands are all in the oldest snapshot that is kept. What stays recovers by
 * itself, which is tried before anything goes; the oldest segment goes first, so an interruption leaves a journal without a gap.
 */
import { statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { FileError } from '../platform/file-error.ts';
import { recover } from './recover.ts';
import { listSegments, type Segment } from './segments.ts';
import { listSnapshots, readSnapshot, syncFolder } from './snapshots.ts';

export interface CompactionPlan {
  /** The snapshot that the journal will go on from. */
  readonly snapshot: string;
  readonly snapshotSeq: number;
  readonly dropped: readonly { readonly name: string; readonly bytes: number }[];
  readonly kept: readonly string[];
}

/** Throws `FileError` when there is no snapshot that the journal could go on from, or when what stays would not recover. */
export function planCompaction(folder: string): CompactionPlan {
  const segments = listSegments(folder);
  const whole = listSnapshots(folder).filter(({ name }) => readSnapshot(folder, name) !== null);
  const oldest = whole.at(-1);
  if (segments.length === 0) throw new FileError(`${folder}: no journal is in this folder`);
  if (oldest === undefined) {
    throw new FileError(
      `${folder}: no whole snapshot holds what would be dropped; serving the folder and ending writes one`,
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
      `${folder}: from ${oldest.name} the journal replays to another chain hash; nothing is dropped (see orrery journal verify)`,
    );
  }
  return {
    snapshot: oldest.name,
    snapshotSeq: oldest.seq,
    dropped: dropped.map(({ name, path }) => ({ name, bytes: statSync(path).size })),
    kept: kept.map(({ name }) => name),
  };
}

/** Carries a plan out. */
export async function compact(folder: string, { dropped }: CompactionPlan): Promise<void> {
  const paths = new Map(listSegments(folder).map(({ name, path }) => [name, path]));
  for (const { name } of dropped) {
    const path = paths.get(name);
    if (path !== undefined) await rm(path);
    // Each is gone for good before the next goes.
    await syncFolder(folder);
  }
}
