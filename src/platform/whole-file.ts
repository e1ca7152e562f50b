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
      const chunks = content instanceof Uint8Array ? [content] : joined(content);
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

/** Characters of joined texts: each write is a request to the thread pool. */
const MIN_WRITE = 1 << 18;

/** The same content with short texts joined. */
function* joined(chunks: Iterable<string | Uint8Array>): Generator<string | Uint8Array> {
  let text = '';
  for (const chunk of chunks) {
    if (typeof chunk === 'string') text += chunk;
    if (typeof chunk === 'string' && text.length < MIN_WRITE) continue;
    if (text !== '') yield text;
    text = '';
    if (typeof chunk !== 'string') yield chunk;
  }
  if (text !== '') yield text;
}
