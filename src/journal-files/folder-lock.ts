/**
 * Lock of a data folder by the kernel (flock on the folder itself), so that no process id and no
 * file decides. It ends with its holder, and holds across process ids and mounts of containers on
 * one host. Deleting files of the folder does not free it.
 *
 * Node has no call for it. The program `flock` (util-linux, BusyBox) locks an inherited descriptor:
 * the lock belongs to the open folder, which this process shares with it and keeps open. The
 * program ends at once.
 *
 * Network and FUSE file systems are refused: their locks may not reach other hosts.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, statfsSync } from 'node:fs';
import { FileError, fileError } from '../platform/file-error.ts';

/** File systems whose locks may be local to one host, by their number in statfs(2). */
const SHARED: Readonly<Record<number, string>> = {
  0x6969: 'NFS',
  0x517b: 'SMB',
  0xff534d42: 'CIFS',
  0xfe534d42: 'SMB',
  0x01021997: '9P',
  0x5346414f: 'AFS',
  0x73757245: 'Coda',
  0x564c: 'NCP',
  0x00c36400: 'Ceph',
  0x0bd00bd0: 'Lustre',
  0x65735546: 'FUSE',
};
/** The descriptor in the child, behind the standard streams. */
const CHILD_FD = 3;
const FLOCK_MS = 10_000;

export interface LockOptions {
  /** The program; tests replace it. */
  readonly program?: string;
  /** Type of the file system; tests replace it. */
  readonly typeOf?: (path: string) => number;
}

/** Holds the lock until `release`, or until the process ends. */
export class FolderLock {
  private fd: number | null;

  private constructor(fd: number) {
    this.fd = fd;
  }

  /** Returns null if another process has the lock. Throws `FileError`. */
  static take(path: string, options: LockOptions = {}): FolderLock | null {
    const { program = 'flock', typeOf = fileSystemType } = options;
    const shared = SHARED[typeOf(path)];
    if (shared !== undefined) {
      throw new FileError(
        `${path}: is on a file system (${shared}) whose locks may not reach other hosts; use a local disk`,
      );
    }
    const fd = openFolder(path);
    try {
      if (!lock(path, fd, program)) {
        closeSync(fd);
        return null;
      }
      mustHold(path, program);
      return new FolderLock(fd);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  release(): void {
    if (this.fd !== null) closeSync(this.fd);
    this.fd = null;
  }
}

function fileSystemType(path: string): number {
  try {
    return statfsSync(path).type;
  } catch (error) {
    throw fileError(path, error);
  }
}

function openFolder(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    throw fileError(path, error);
  }
}

/** True if the open folder is locked now, false if another one has the lock. */
function lock(path: string, fd: number, program: string): boolean {
  const { error, status, signal, stderr } = spawnSync(program, ['-x', '-n', String(CHILD_FD)], {
    stdio: ['ignore', 'ignore', 'pipe', fd],
    timeout: FLOCK_MS,
    encoding: 'utf8',
  });
  if (error !== undefined) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new FileError(
      code === 'ENOENT'
        ? `${path}: cannot be locked: the program "${program}" is missing; install util-linux (Debian, Fedora, macOS with Homebrew: flock) or BusyBox`
        : `${path}: cannot be locked: ${error.message}`,
    );
  }
  if (status === 0) return true;
  const words = stderr.trim();
  if (status === 1 && words === '') return false;
  const reason = signal === null ? words || `exit code ${String(status)}` : `ended by ${signal}`;
  throw new FileError(`${path}: cannot be locked: ${program}: ${reason}`);
}

/** A second lock must be refused: some file systems accept every lock. */
function mustHold(path: string, program: string): void {
  const fd = openFolder(path);
  try {
    if (!lock(path, fd, program)) return;
  } finally {
    closeSync(fd);
  }
  throw new FileError(`${path}: is on a file system without locks; use a local disk`);
}
