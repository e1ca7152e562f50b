import { UserError } from '../base/user-error.ts';

/** An unusable input file; the message names the file and the reason. Commands exit with code 2. */
export class FileError extends UserError {
  override readonly name = 'FileError';
  readonly code = 'file';
}

/** True for an error of this machine's files, which another machine may not have. */
export function isFileFault(error: unknown): boolean {
  if (error instanceof FileError) return true;
  return typeof (error as NodeJS.ErrnoException | null | undefined)?.errno === 'number';
}

/** `missing` is the hint; an address of a database gets its own. */
export function noSuchFile(path: string, missing?: string): FileError {
  const isAddress = /^postgres(ql)?:/.test(path);
  const hint = isAddress ? 'a database: orrery journal pull copies it to a folder' : missing;
  return new FileError(`${path}: no such file or folder`, hint === undefined ? {} : { hint });
}

/**
 * Converts a file-system error to a `FileError`; returns any other error unchanged. `missing` is
 * the hint for a file that does not exist.
 */
export function fileError(path: string, error: unknown, missing?: string): Error {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  switch (code) {
    case 'ENOENT':
      return noSuchFile(path, missing);
    case 'EACCES':
      return new FileError(`${path}: permission denied`, { cause: error });
    case 'EROFS':
      return new FileError(`${path}: the file system is read-only`);
    case 'ENAMETOOLONG':
      return new FileError(`${path}: file name too long`);
    case 'ELOOP':
      return new FileError(`${path}: symbolic links form a cycle`);
    case 'EISDIR':
      return new FileError(`${path}: is a folder; expected a file`);
    case 'ENOTDIR':
      return new FileError(`${path}: a component of the path is not a folder`);
    case 'ENOSPC':
      return new FileError(`${path}: no space left on the device`, { cause: error });
    case 'EFBIG':
      return new FileError(`${path}: larger than the limit of a file's size`);
    case 'EIO':
      return new FileError(`${path}: input/output error`);
    case 'EMFILE':
    case 'ENFILE':
      return new FileError(`${path}: too many open files`);
    case 'EDQUOT':
      return new FileError(`${path}: disk quota exceeded`, { cause: error });
    default:
      return error instanceof Error ? error : new Error(String(error));
  }
}

/** True if this user has no right to the file. */
export function isDenied(error: unknown): boolean {
  const { code, cause } = error as { code?: string; cause?: { code?: string } };
  return code === 'EACCES' || cause?.code === 'EACCES';
}

/** True if a write failed since the disk is full, or the quota of the user is used up. */
export function isOutOfSpace(error: unknown): boolean {
  const { code } = (error instanceof FileError ? (error.cause ?? error) : error) as {
    readonly code?: unknown;
  };
  return code === 'ENOSPC' || code === 'EDQUOT';
}
