/** Verifies a journal's checksums, chain hashes and checkpoints, and its snapshots. */
import { statSync } from 'node:fs';
import { ArchiveError } from '../base/archive.ts';
import { Exchange } from '../engine/exchange.ts';
import { JournalError, type TornTail } from '../journal/format/frames.ts';
import { replay, type Mismatch, type Unproven } from '../journal/replay/replay.ts';
import { openJournal } from './folder-journal.ts';
import { listSnapshots, readSnapshot, snapshotFault } from './snapshots.ts';

/**
 * Verdict on a snapshot; `outdated`: of another release, which is not used; `beyond`: after the
 * journal's end, `before`: before its start.
 */
export type SnapshotVerdict = 'agrees' | 'differs' | 'damaged' | 'outdated' | 'beyond' | 'before';

const HARMLESS: readonly SnapshotVerdict[] = ['agrees', 'outdated', 'before'];

export interface JournalVerification {
  readonly isWhole: boolean;
  /** Reading starts after this command; not 0 if the journal was compacted. */
  readonly afterSeq: number;
  readonly lastSeq: number;
  readonly checkpoints: number;
  readonly chainHashes: number;
  readonly chainHash: string;
  readonly stateHash: string;
  /** True if the end frame was read: nothing follows. */
  readonly ended: boolean;
  /** An incomplete last write; its commands were never acknowledged. */
  readonly torn: TornTail | null;
  /** Position and reason of corruption. */
  readonly damage: string | null;
  /** A differing hash. */
  readonly mismatch: Mismatch | null;
  /** Commands of earlier rules that no hash follows; a start refuses the folder. */
  readonly unproven: Unproven | null;
  readonly snapshots: readonly { readonly name: string; readonly verdict: SnapshotVerdict }[];
}

export interface VerifyOptions {
  /** Receives the fraction of the journal that was read; an error of it ends the verification. */
  readonly onProgress?: (fraction: number) => void;
  /** Read with progress: the verification throws the reason of an aborted signal. */
  readonly signal?: AbortSignal;
}

/**
 * Replays a journal file, or the folder of a served exchange, and compares every checksum, every
 * hash, and the snapshots of a folder. Synchronous. Damage and mismatches are in the result.
 *
 * @throws FileError when there is no journal, JournalError when the file is not a journal
 */
export function verifyJournal(path: string, options: VerifyOptions = {}): JournalVerification {
  options.signal?.throwIfAborted();
  const journal = openJournal(path);
  const verdicts = new Map<string, SnapshotVerdict>();
  const due = statSync(path).isDirectory() ? listSnapshots(path).reverse() : [];
  const last: { engine: Exchange | null } = { engine: null };
  const afterCommand = (at: Exchange): void => {
    last.engine = at;
    for (let next = due[0]; next !== undefined && next.seq <= at.seq; next = due[0]) {
      verdicts.set(next.name, next.seq < at.seq ? 'before' : verdictOf(path, next.name, at));
      due.shift();
    }
  };
  let damage: string | null = null;
  let found: Pick<
    JournalVerification,
    'checkpoints' | 'chainHashes' | 'ended' | 'torn' | 'mismatch' | 'unproven'
  > = {
    checkpoints: 0,
    chainHashes: 0,
    ended: false,
    torn: null,
    mismatch: null,
    unproven: null,
  };
  try {
    const replayed = replay(journal, {
      verify: true,
      recover: true,
      afterCommand,
      onProgress: (done, total) => {
        options.onProgress?.(done / total);
        options.signal?.throwIfAborted();
      },
    });
    // A folder that was compacted at its last command has no command to read.
    if (last.engine === null) afterCommand(replayed.engine);
    found = replayed;
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    damage = error.message;
  }
  for (const { name } of due) verdicts.set(name, damage === null ? 'beyond' : 'before');
  const engine = last.engine ?? new Exchange(journal.header.config);
  const snapshots = [...verdicts].map(([name, verdict]) => ({ name, verdict }));
  return {
    isWhole:
      damage === null &&
      found.mismatch === null &&
      found.unproven === null &&
      snapshots.every(({ verdict }) => HARMLESS.includes(verdict)),
    afterSeq: journal.fromSeq,
    lastSeq: engine.seq,
    checkpoints: found.checkpoints,
    chainHashes: found.chainHashes,
    chainHash: engine.chainHash(),
    stateHash: engine.stateHash(),
    ended: found.ended,
    torn: found.torn,
    damage,
    mismatch: found.mismatch,
    unproven: found.unproven,
    snapshots,
  };
}

function verdictOf(folder: string, name: string, at: Exchange): SnapshotVerdict {
  const snapshot = readSnapshot(folder, name);
  if (snapshot === null) return snapshotFault(folder, name) === 'outdated' ? 'outdated' : 'damaged';
  try {
    const restored = Exchange.restore(snapshot.engine);
    const isSame =
      restored.chainHash() === at.chainHash() && restored.stateHash() === at.stateHash();
    return isSame ? 'agrees' : 'differs';
  } catch (error) {
    if (error instanceof ArchiveError) return 'damaged';
    throw error;
  }
}
