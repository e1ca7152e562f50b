/** Writes a file atomically: a temporary file, fsync, rename. A failure changes nothing. */
import { open, rename, rm } from 'node:fs/promises';
import { fileError } from './file-error.ts';

/** Names of temporary files of this process differ, so that two writers do not meet. */
let writes = 0;

export async function writeWholeFile(
  path: string,
  content: Uint8Array | Iterable<string | Uint8Array>,
): Promise<void> {
  const temporary = `${path}.partial-${String(process.pid)}-${String(writes++)}`;
  try {
    const file = await open(temporary, 'wx');
    try {
      const chunks = content instanceof Uint8Array ? [content] : content;
      for (const chunk of chunks) await file.writeFile(chunk);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw fileError(path, error);
  }
}
