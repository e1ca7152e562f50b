/**
 * Copies the folder of a served exchange while a server writes to it.
 *
 * A plain copy is not safe then: between two reads of a program such as `cp`, a group may be
 * written across their border, and the copy has a hole before whole groups. Here such a segment is
 * copied again, and cut after its last whole group. Every command that was answered before the
 * backup began is in it.
 */
import { constants, statSync } from 'node:fs';
import { access, chmod, copyFile, open, readdir, rm, stat } from 'node:fs/promises';
import { join, normalize, resolve } from 'node:path';
import { JournalError } from '../journal/format/frames.ts';
import { FileError, fileError, isOutOfSpace } from '../platform/file-error.ts';
import { removeMade } from '../platform/make-folder.ts';
import { makeDurableFolder } from './data-folder.ts';
import { FolderJournal } from './folder-journal.ts';
import { isReadWhole, recoverPatiently } from './recover.ts';
import { listSegments, UNFINISHED_NAME, type Segment } from './segments.ts';
import { listSnapshots, syncFolder } from './snapshots.ts';

const FRAMES_PER_STEP = 4096;
/** Attempts, since a server may delete an old snapshot or add a segment meanwhile. */
const ATTEMPTS = 5;

export interface Backup {
  /** Last command in it. */
  readonly lastSeq: number;
  readonly chainHash: string;
  readonly stateHash: string;
  readonly files: readonly string[];
}

/**
 * Writes a backup into a new or empty folder, and recovers the exchange from it as a test. Throws
 * `FileError`, `JournalError`, or an error of `onStep`, which is called before each file and during
 * the recovery; nothing is left then. All readers refuse a folder that a killed process leaves.
 */
export async function backupFolder(
  from: string,
  to: string,
  onStep: () => void = () => undefined,
): Promise<Backup> {
  if (resolve(to) === resolve(from)) throw new FileError(`${to}: is the folder itself`);
  if (statSync(from, { throwIfNoEntry: false })?.isFile() === true) {
    throw new FileError(`${from}: is a file; name the folder of an exchange`);
  }
  if (listSegments(from).length === 0) {
    throw new FileError(`${from}: no journal is in this folder`);
  }
  const made = await makeEmpty(to);
  for (let attempt = 1; ; attempt++) {
    try {
      return await copyTo(from, to, onStep);
    } catch (error) {
      await empty(to);
      const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (isGone && attempt < ATTEMPTS) continue;
      await removeMade(made);
      throw ofOriginal(fileError(from, error), from, to);
    }
  }
}

/** The mark of an unfinished backup goes last. */
async function empty(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name !== UNFINISHED_NAME) await rm(join(folder, name), { force: true });
  }
  await rm(join(folder, UNFINISHED_NAME), { force: true });
}

/** A fault of a copied file is one of the original: the copy is deleted. */
function ofOriginal(error: Error, from: string, to: string): Error {
  const copy = normalize(to);
  const isOfFile = error instanceof JournalError || error instanceof FileError;
  if (isOfFile && !isOutOfSpace(error) && error.message.startsWith(copy)) {
    error.message = normalize(from) + error.message.slice(copy.length);
  }
  return error;
}

/** Returns the folders that it created. */
async function makeEmpty(path: string): Promise<readonly string[]> {
  const made = await makeDurableFolder(path);
  try {
    const names = await readdir(path);
    if (names.length === 0) return made;
    // Refuses an unfinished backup with its own message.
    listSegments(path);
  } catch (error) {
    await removeMade(made);
    throw fileError(path, error);
  }
  throw new FileError(`${path}: is not empty; a backup needs a folder of its own`);
}

async function copyTo(from: string, to: string, onStep: () => void): Promise<Backup> {
  const mark = join(to, UNFINISHED_NAME);
  await (await open(mark, 'wx', 0o600)).close();
  await syncFolder(to);
  // Names first: every listed snapshot has its commands in the listed segments.
  const snapshots = listSnapshots(from);
  const segments = listSegments(from).map((segment) => ({
    segment,
    copy: { ...segment, path: join(to, segment.name) },
  }));
  const files: string[] = [];
  const last = segments.at(-1);
  for (const pair of segments) {
    onStep();
    const { segment, copy } = pair;
    if (pair === last) await copyWhole(segment, copy, onStep);
    else await copyDurably(segment.path, copy.path);
    files.push(segment.name);
  }
  for (const { name } of snapshots) {
    onStep();
    // A start passes it over, too; the recovery below shows whether it is needed.
    if ((await faultOf(join(from, name))) !== null) continue;
    await copyDurably(join(from, name), join(to, name));
    files.push(name);
  }
  await syncFolder(to);
  onStep();
  const copies = segments.map(({ copy }) => copy);
  const { engine, position, end } = await recoverPatiently(to, { segments: copies }, onStep);
  if (isReadWhole(copies, end)) await readFrames(new FolderJournal(copies, null), onStep);
  await rm(mark);
  await syncFolder(to);
  return {
    lastSeq: position.seq,
    chainHash: engine.chainHash(),
    stateHash: engine.stateHash(),
    files,
  };
}

/**
 * The whole groups of the segment that is written to. A fault that a second copy has too is damage
 * of the journal, not a write during the copy.
 */
async function copyWhole(segment: Segment, copy: Segment, onStep: () => void): Promise<void> {
  let fault = '';
  for (let attempt = 1; ; attempt++) {
    await copyDurably(segment.path, copy.path);
    const journal = new FolderJournal([copy], null);
    try {
      await readFrames(journal, onStep);
    } catch (error) {
      if (!(error instanceof JournalError)) throw error;
      if (error.message === fault || attempt === ATTEMPTS) throw error;
      fault = error.message;
      continue;
    }
    await cutAt(copy.path, journal.place.offset);
    return;
  }
}

/** Throws `JournalError` where one is damaged, or an error of `onStep`. */
async function readFrames(journal: FolderJournal, onStep: () => void): Promise<void> {
  for (let count = 1; journal.next() !== null; count++) {
    if (count % FRAMES_PER_STEP > 0) continue;
    // A signal arrives in the event loop.
    await new Promise(setImmediate);
    onStep();
  }
}

async function cutAt(path: string, end: number): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.truncate(end);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Why a file cannot be copied; a named pipe would be waited for. Rejects if it is gone. */
async function faultOf(path: string): Promise<Error | null> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) return fileError(path, { code: 'EISDIR' });
    if (!found.isFile()) return new FileError(`${path}: is not a regular file`);
    await access(path, constants.R_OK);
    return null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error;
    return fileError(path, error);
  }
}

async function copyDurably(from: string, to: string): Promise<void> {
  const fault = await faultOf(from);
  if (fault !== null) throw fault;
  try {
    await copyFile(from, to);
    await chmod(to, 0o600);
    const file = await open(to, 'r+');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    // The disk of the backup, not the one of the exchange.
    throw isOutOfSpace(error) ? fileError(to, error) : error;
  }
}
