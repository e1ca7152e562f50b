/**
 * Recovers the exchange of a folder from the newest valid snapshot, or from the start, by replaying
 * later commands. Every chain hash and checkpoint on the way is verified.
 */
import { statSync } from 'node:fs';
import { ArchiveError } from '../base/archive.ts';
import type { Exchange } from '../engine/exchange.ts';
import { JournalError, type TornTail } from '../journal/format/frames.ts';
import { finish, replaySteps, type Steps } from '../journal/replay/replay.ts';
import { FileError } from '../platform/file-error.ts';
import { mismatchText, unprovenHint, unprovenText } from './mismatch-text.ts';
import { RecoveredDigests } from './recovered-digests.ts';
import { FolderJournal, noSnapshotError, type JournalPlace } from './folder-journal.ts';
import { listSegments, type Segment } from './segments.ts';
import type { OrderDigest } from '../journal/served-exchange.ts';
import { listSnapshots, readSnapshot, snapshotFault, type Snapshot } from './snapshots.ts';

/** End of the journal: where the next group goes, and a torn tail after it. */
export interface JournalEnd extends JournalPlace {
  readonly torn: TornTail | null;
}

export interface Recovered {
  readonly engine: Exchange;
  /** Digests of signed orders. */
  readonly orderIds: readonly OrderDigest[];
  /** 0 without a snapshot. */
  readonly snapshotSeq: number;
  readonly replayed: number;
  /** Rejected snapshots with reasons. */
  readonly passedOver: readonly string[];
  readonly end: JournalEnd;
  /** Bytes of all segments up to the end. */
  readonly journalBytes: number;
  readonly position: FolderJournal['position'];
}

/** A snapshot does not fit the journal; an older one may. */
class SnapshotError extends Error {
  override readonly name = 'SnapshotError';
}

/** The state after commands of earlier rules is compared from the start on. */
const ofEarlierRules = (release: string): string =>
  `has the state by the rules of orrery ${release}`;

/** Limits recovery to a part of the folder. */
export interface RecoverOptions {
  /** Stops after this command instead of the last. */
  readonly untilSeq?: number;
  readonly segments?: readonly Segment[];
  readonly snapshots?: ReturnType<typeof listSnapshots>;
}

/**
 * Why a start does not use a snapshot that is whole: it does not have the configuration of the
 * journal, or the hashes at its command. null if it has them. Throws like `recover`.
 */
export function snapshotMisfit(segments: readonly Segment[], snapshot: Snapshot): string | null {
  if (snapshot.seq < (segments[0]?.afterSeq ?? 0)) return null;
  const journal = new FolderJournal(segments, snapshot);
  if (journal.lastRelease !== null) return ofEarlierRules(journal.lastRelease);
  const options = { verify: true, recover: true, untilSeq: snapshot.seq };
  try {
    const { mismatch } = finish(asSnapshotError(replaySteps(journal, options)));
    return mismatch === null ? null : mismatchText(mismatch);
  } catch (error) {
    if (error instanceof SnapshotError) return error.message;
    throw error;
  }
}

/** Throws `FileError` or `JournalError` if the files are unusable. */
export function recover(folder: string, options: RecoverOptions = {}): Recovered {
  return finish(recoverSteps(folder, options));
}

/**
 * `recover` that returns to the event loop, so that signals arrive. Rejects also with an error that
 * `onStep` throws.
 */
export function recoverPatiently(
  folder: string,
  options: RecoverOptions = {},
  onStep: () => void = () => undefined,
): Promise<Recovered> {
  return finishPatiently(recoverSteps(folder, options), onStep);
}

/** Does all steps, and returns to the event loop between two of them. */
export async function finishPatiently<T>(steps: Steps<T>, onStep: () => void): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await new Promise(setImmediate);
    onStep();
  }
}

function* recoverSteps(folder: string, options: RecoverOptions): Steps<Recovered> {
  const { untilSeq = Infinity, segments = listSegments(folder) } = options;
  const passedOver: string[] = [];
  for (const { name, seq } of options.snapshots ?? listSnapshots(folder)) {
    if (seq > untilSeq) continue;
    const snapshot = readSnapshot(folder, name);
    if (snapshot === null) {
      const fault = snapshotFault(folder, name);
      passedOver.push(`${name} is ${fault === 'outdated' ? 'of another release' : fault}`);
      continue;
    }
    try {
      return yield* recoverFrom(segments, { name, ...snapshot }, untilSeq, passedOver);
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error;
      passedOver.push(`${name}: ${error.message}`);
    }
  }
  if ((segments[0]?.afterSeq ?? 0) > 0) throw noSnapshotError(folder, segments, passedOver);
  return yield* recoverFrom(segments, null, untilSeq, passedOver);
}

function* recoverFrom(
  segments: readonly Segment[],
  snapshot: (Snapshot & { readonly name: string }) | null,
  untilSeq: number,
  passedOver: readonly string[],
): Steps<Recovered> {
  const begins = segments[0]?.afterSeq ?? 0;
  if (snapshot !== null && snapshot.seq < begins) {
    throw new SnapshotError(
      `is older than the journal, which starts after command ${String(begins)}`,
    );
  }
  const journal = new FolderJournal(segments, snapshot, untilSeq);
  if (snapshot !== null && journal.lastRelease !== null) {
    throw new SnapshotError(ofEarlierRules(journal.lastRelease));
  }
  const digests = new RecoveredDigests(snapshot?.orderIds ?? []);
  const steps = replaySteps(journal, {
    verify: true,
    recover: true,
    untilSeq,
    onOrderIds: (frame, at) => {
      digests.add(frame, at);
    },
  });
  const { engine, commands, mismatch, unproven } = yield* asSnapshotError(steps);
  const { seq } = journal.position;
  if (snapshot !== null && seq < snapshot.seq) {
    throw new FileError(
      `${journal.place.segment.path}: ends with command ${String(seq)}, but ${snapshot.name} was written when command ` +
        `${String(snapshot.seq)} was on disk; restore the journal from a copy, or move the snapshot away to continue without the lost commands`,
    );
  }
  if (mismatch !== null) {
    const text = mismatchText(mismatch);
    if (snapshot !== null) throw new SnapshotError(text);
    throw new JournalError(`${journal.place.segment.path}: ${text}`);
  }
  if (unproven !== null) {
    throw new JournalError(`${journal.place.segment.path}: ${unprovenText(unproven)}`, {
      hint: unprovenHint(unproven),
    });
  }
  return {
    engine,
    orderIds: digests.retained(engine),
    snapshotSeq: snapshot?.seq ?? 0,
    replayed: commands,
    passedOver,
    end: { ...journal.place, torn: journal.torn },
    journalBytes: bytesBefore(segments, journal.place.segment) + journal.place.offset,
    position: journal.position,
  };
}

/** A longer journal would delay the start. */
export const HISTORY_BYTES = 16_777_216;

/** A start reads a small journal beyond its snapshot too, for the history of accounts. */
export function isReadWhole(segments: readonly Segment[], end: JournalPlace): boolean {
  const bytes = bytesBefore(segments, end.segment) + end.offset;
  return (segments[0]?.afterSeq ?? 0) <= 0 && bytes <= HISTORY_BYTES;
}

function bytesBefore(segments: readonly Segment[], end: Segment): number {
  return segments
    .slice(0, segments.indexOf(end))
    .reduce((sum, { path }) => sum + statSync(path).size, 0);
}

function* asSnapshotError<T>(steps: Steps<T>): Steps<T> {
  try {
    return yield* steps;
  } catch (error) {
    if (error instanceof ArchiveError) throw new SnapshotError(error.message);
    throw error;
  }
}
