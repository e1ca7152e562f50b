/** An input file that cannot be used: says which and why. Commands answer it with exit code 2. */
export class FileError extends Error {
  override readonly name = 'FileError';
}

/** Turns what the file system says into words; anything else passes through. */
export function fileError(path: string, error: unknown): Error {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  switch (code) {
    case 'ENOENT':
      return new FileError(`${path}: no such file or folder`);
    case 'EACCES':
      return new FileError(`${path}: permission denied`);
    case 'EROFS':
      return new FileError(`${path}: the file system is read-only`);
    case 'ENAMETOOLONG':
      return new FileError(`${path}: the name is too long`);
    case 'ELOOP':
      return new FileError(`${path}: symbolic links lead in a circle`);
    case 'EISDIR':
      return new FileError(`${path}: is a folder, a file is expected`);
    case 'ENOTDIR':
      return new FileError(`${path}: a part of the path is not a folder`);
    case 'ENOSPC':
      return new FileError(`${path}: no space left on the device`);
    case 'EIO':
      return new FileError(`${path}: input/output error`);
    default:
      return error instanceof Error ? error : new Error(String(error));
  }
}
