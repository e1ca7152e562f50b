/** Checks of a data folder: rights, lock, disk, journal, snapshots, clock. Changes nothing. */
import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  openSync,
  rmSync,
  statSync,
  statfsSync,
  writeSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { countText } from '../../base/count-text.ts';
import { UserError } from '../../base/user-error.ts';
import { isDenied } from '../../platform/file-error.ts';
import { FolderLock, type LockOptions } from '../../journal-files/folder-lock.ts';
import { FolderJournal } from '../../journal-files/folder-journal.ts';
import { findEmptyJournal } from '../../journal-files/discard-empty-journal.ts';
import { isReadWhole, snapshotMisfit } from '../../journal-files/recover.ts';
import { listSegments, type Segment } from '../../journal-files/segments.ts';
import {
  listSnapshots,
  readSnapshot,
  snapshotFault,
  type Snapshot,
} from '../../journal-files/snapshots.ts';
import { LOGINS_NAME } from '../../journal-files/used-nonces.ts';
import { verifyJournal, type SnapshotVerdict } from '../../journal-files/verify-journal.ts';
import { rulesNote, unprovenHint, unprovenText } from '../../journal-files/mismatch-text.ts';
import { fail, ok, warn, type Finding } from './finding.ts';

const GIB = 2 ** 30;
/** The next segment has up to 64 MiB; a snapshot is written beside its predecessor. */
const MIN_DISK = GIB / 4;
const LOW_DISK = 2 * GIB;
const MIN_INODES = 1000;
const SYNCS = 16;
const SLOW_SYNC_MS = 20;
const BEHIND_MS = 1000;

/** The nearest folder that exists. */
function existing(path: string): string {
  for (let at = resolve(path); ; at = dirname(at)) {
    if (statOf(at) !== null || at === dirname(at)) return at;
  }
}

function statOf(path: string): ReturnType<typeof statSync> | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

/** Advice for a folder that this process cannot write, by the code of the error. */
export function adviceToWrite(code: string | undefined, folder: string): string {
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return 'free space, or enlarge the volume or its quota';
    case 'EROFS':
      return 'mount it for writing, or choose another --data-dir';
    default: {
      const user = String(process.getuid?.() ?? 'the user');
      return `let user ${user} write: chown -R ${user} ${folder}; chmod 700 ${folder}`;
    }
  }
}

/** Files that a start reads and then writes to: the last segment, and used nonces of logins. */
function writtenFiles(path: string): string[] {
  let last: Segment | undefined;
  try {
    last = listSegments(path).at(-1);
  } catch {
    // `checkJournal` reports it.
  }
  const files = [last?.path, join(path, LOGINS_NAME)];
  return files.filter((file) => file !== undefined && statOf(file) !== null) as string[];
}

/** Rights to write, privacy, and the time of a sync. */
export function checkRights(path: string, access = accessSync): Finding[] {
  const there = existing(path);
  const stat = statOf(there);
  if (stat?.isDirectory() !== true) {
    return [fail('folder', `${there} is not a folder`, 'choose another --data-dir')];
  }
  const times: number[] = [];
  const probe = join(there, `doctor-${String(process.pid)}.partial`);
  try {
    const fd = openSync(probe, 'wx', 0o600);
    try {
      for (let i = 0; i < SYNCS; i++) {
        const startMs = performance.now();
        writeSync(fd, Buffer.alloc(4096, i), 0, 4096, 4096 * i);
        fsyncSync(fd);
        times.push(performance.now() - startMs);
      }
    } finally {
      closeSync(fd);
      rmSync(probe, { force: true });
    }
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    return [fail('folder', `cannot write: ${message}`, adviceToWrite(code, there))];
  }
  for (const file of writtenFiles(path)) {
    try {
      access(file, constants.R_OK | constants.W_OK);
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException;
      const advice = adviceToWrite(code, there);
      return [fail('folder', `cannot write: ${message}`, `${advice}; chmod 600 ${file}`)];
    }
  }
  const median = times.sort((a, b) => a - b)[SYNCS >> 1] ?? 0;
  const took = `median ${median.toFixed(1)} ms`;
  const sync =
    median <= SLOW_SYNC_MS
      ? ok('fsync', took)
      : warn('fsync', took, 'orders wait for it: use a local SSD, or --durability relaxed');
  if (there !== resolve(path)) return [ok('folder', `${path} will be created`), sync];
  if ((Number(stat.mode) & 0o077) === 0) return [ok('folder', path), sync];
  const mode = (Number(stat.mode) & 0o777).toString(8);
  return [
    warn('folder', `${path} has mode ${mode}, others can read it`, `chmod 700 ${path}`),
    sync,
  ];
}

/** The kernel's lock, and the program for it. */
export async function checkLock(path: string, options: LockOptions = {}): Promise<Finding> {
  const there = existing(path);
  try {
    const held = FolderLock.take(there, options);
    if (held !== null) {
      held.release();
      return ok('lock', 'free, and the file system keeps it');
    }
  } catch (error) {
    const message = (error as Error).message;
    const advice = isDenied(error)
      ? adviceToWrite('EACCES', path)
      : message.includes('is missing')
        ? 'apt-get install util-linux, or apk add util-linux'
        : 'put the folder on a local disk (ext4, xfs, btrfs, zfs)';
    return fail('lock', message, advice);
  }
  const holder = (await readFile(join(path, 'lock'), 'utf8').catch(() => '')).trim();
  return ok('lock', `in use by process ${holder === '' ? '(unknown)' : holder}`);
}

export function checkDisk(path: string, statfs = statfsSync): Finding {
  const { bavail, bsize, files, ffree } = statfs(existing(path));
  const free = bavail * bsize;
  const found = `${(free / GIB).toFixed(1)} GiB free`;
  const advice = 'free space, enlarge the volume, or delete segments: orrery journal compact';
  if (free < MIN_DISK) return fail('disk', found, advice);
  if (files > 0 && ffree < MIN_INODES) return fail('disk', `${String(ffree)} inodes free`, advice);
  if (free < LOW_DISK) return warn('disk', found, advice);
  return ok('disk', found);
}

export interface FolderFacts {
  readonly findings: Finding[];
  readonly snapshotBytes: number;
}

/**
 * Journal, snapshots and clock. Quick: checksums of the frames that a start reads. `full` replays
 * everything and compares every hash. `nowMs`: null under a virtual clock.
 */
export function checkJournal(
  path: string,
  full: boolean,
  nowMs: number | null = Date.now(),
): FolderFacts {
  const findings: Finding[] = [];
  let snapshotBytes = 0;
  // `checkRights` says what to do about a file in place of the folder.
  if (statOf(existing(path))?.isDirectory() !== true) return { findings, snapshotBytes };
  try {
    if (statOf(path) === null || listSegments(path).length === 0) {
      const orphans = statOf(path) === null ? 0 : listSnapshots(path).length;
      if (orphans === 0) return { findings: [ok('journal', 'a new exchange')], snapshotBytes };
      const advice = 'restore the journal from a backup; the start is refused';
      return { findings: [fail('journal', 'is gone, snapshots are there', advice)], snapshotBytes };
    }
    if (findEmptyJournal(path) !== null) {
      const advice = 'a start removes it and begins a new exchange';
      const torn = warn('journal', 'has the beginning of its first write only', advice);
      return { findings: [torn], snapshotBytes };
    }
    const snapshots = listSnapshots(path).map((named) => ({
      ...named,
      whole: readSnapshot(path, named.name),
    }));
    const segments = listSegments(path);
    const used = snapshots.filter(({ whole }) => whole !== null && !isForeign(segments, whole));
    const found = checkSnapshots(path, segments, snapshots, used);
    findings.push(found);
    if (found.verdict === 'fail') return { findings, snapshotBytes };
    const newest = used[0]?.whole ?? null;
    snapshotBytes = newest?.engine.length ?? 0;
    let journal = new FolderJournal(segments, newest);
    let frames = countFrames(journal);
    if (newest !== null && isReadWhole(segments, journal.place)) {
      journal = new FolderJournal(segments, null);
      frames = countFrames(journal);
    }
    const { seq, timeUs } = journal.position;
    if (newest !== null && seq < newest.seq) {
      const advice = 'restore the journal from a backup, or move the snapshot away';
      findings.push(
        fail('journal', `ends with command ${String(seq)}, before its snapshot`, advice),
      );
    } else {
      const torn = journal.torn === null ? '' : '; an incomplete last write will be removed';
      const from = journal.fromSeq === 0 ? 'the start' : `command ${String(journal.fromSeq)}`;
      const text = `${countText(seq, 'command')}; whole since ${from}: ${countText(frames, 'frame')}${torn}`;
      findings.push(ok('journal', text));
    }
    if (full) findings.push(replayed(path));
    if (nowMs !== null) findings.push(checkClock(timeUs / 1000, nowMs));
  } catch (error) {
    const hint = error instanceof UserError ? error.hint : undefined;
    const denied = isDenied(error) ? adviceToWrite('EACCES', path) : undefined;
    const advice = hint ?? denied ?? 'restore a backup; orrery journal verify shows what is whole';
    findings.push(fail('journal', (error as Error).message, advice));
  }
  return { findings, snapshotBytes };
}

function countFrames(journal: FolderJournal): number {
  let frames = 0;
  while (journal.next() !== null) frames += 1;
  return frames;
}

interface NamedSnapshot {
  readonly name: string;
  readonly whole: Snapshot | null;
}

/** A start passes it over; one of a state after the journal's end is the fault of the journal. */
const isForeign = (segments: readonly Segment[], whole: Snapshot): boolean =>
  snapshotMisfit(segments, whole) !== null;

function checkSnapshots(
  path: string,
  segments: readonly Segment[],
  snapshots: readonly NamedSnapshot[],
  used: readonly NamedSnapshot[],
): Finding {
  const begins = segments[0]?.afterSeq ?? 0;
  const bad = snapshots.filter((one) => !used.includes(one));
  const faults = bad.map(({ name, whole }) => {
    const fault = whole === null ? snapshotFault(path, name) : 'foreign';
    return `${name}: ${SNAPSHOT_FAULTS[fault]}`;
  });
  if (begins > 0 && !used.some(({ whole }) => whole !== null && whole.seq >= begins)) {
    const lost = `none has the state after command ${String(begins)}, where the journal begins`;
    const advice =
      'the start is refused: restore a backup, or serve the folder with the release that wrote it';
    return fail('snapshots', [lost, ...faults].join('; '), advice);
  }
  if (faults.length === 0) return ok('snapshots', String(snapshots.length));
  const advice = 'the start uses an older one, or the whole journal, and takes longer';
  return warn('snapshots', faults.join('; '), advice);
}

const SNAPSHOT_FAULTS = {
  damaged: 'damaged',
  unreadable: 'not a file that can be read',
  outdated: 'of another release',
  foreign: 'of another exchange than the journal, or of another release',
} as const;

/** A start passes over damaged snapshots; `checkSnapshots` warns of them. */
const HARMLESS: readonly SnapshotVerdict[] = ['agrees', 'outdated', 'before', 'damaged'];

function replayed(path: string): Finding {
  const { damage, mismatch, unproven, lastSeq, snapshots } = verifyJournal(path);
  const bad = snapshots.find(({ verdict }) => !HARMLESS.includes(verdict));
  if (damage === null && mismatch === null && unproven === null && bad === undefined) {
    return ok('replay', `${countText(lastSeq, 'command')}, every hash agrees`);
  }
  if (unproven !== null) return fail('replay', unprovenText(unproven), unprovenHint(unproven));
  const found =
    damage ??
    (mismatch === null
      ? `${bad?.name ?? 'a snapshot'}: ${bad?.verdict ?? 'differs'}`
      : `the hash after command ${String(mismatch.seq)} differs`);
  const note = mismatch === null ? null : rulesNote(mismatch);
  const advice = note ?? 'orrery journal verify has details; restore a backup';
  return fail('replay', found, advice);
}

/** The time of the exchange does not go back: it stands still while the clock is behind. */
export function checkClock(lastMs: number, nowMs: number): Finding {
  const behindMs = lastMs - nowMs;
  if (behindMs <= BEHIND_MS) return ok('clock', new Date(nowMs).toISOString());
  return fail(
    'clock',
    `${(behindMs / 1000).toFixed(1)} s behind the last command (${new Date(lastMs).toISOString()})`,
    'set the clock (timedatectl, chronyc makestep); the exchange stands still until then',
  );
}
