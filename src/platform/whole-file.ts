/**
 * Writes a file atomically: a temporary file, fsync, rename. A failure changes nothing, and a
 * symbolic link stays.
 */
import { rmSync, statSync } from 'node:fs';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { fileError } from './file-error.ts';
import { realFolder } from './make-folder.ts';

/** Names of temporary files of this process differ, so that two writers do not meet. */
let writes = 0;

/** Temporary files of writes in progress. A second Ctrl-C ends the process during one. */
const unfinished = new Set<string>();

function begin(temporary: string): void {
  if (unfinished.size === 0) process.on('exit', removeUnfinished);
  unfinished.add(temporary);
}

function end(temporary: string): void {
  unfinished.delete(temporary);
  if (unfinished.size === 0) process.off('exit', removeUnfinished);
}

function removeUnfinished(): void {
  for (const temporary of unfinished) rmSync(temporary, { force: true });
}

export async function writeWholeFile(
  path: string,
  content: Uint8Array | Iterable<string | Uint8Array>,
): Promise<void> {
  const target = realFolder(path);
  const temporary = `${target}.partial-${String(process.pid)}-${String(writes++)}`;
  begin(temporary);
  try {
    const file = await open(temporary, 'wx');
    try {
      await writeAll(file, content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw fileError(path, error);
  } finally {
    end(temporary);
  }
}

/** The same for a path that a user names: a device or a pipe is written to, and not replaced. */
export function writeOutput(path: string, content: Content): Promise<void> {
  return isStream(path) ? writeTo(path, content) : writeWholeFile(path, content);
}

type Content = Parameters<typeof writeWholeFile>[1];

/** Whether the path is a device or a pipe, such as `/dev/null` and `/dev/stdout`. */
function isStream(path: string): boolean {
  try {
    const found = statSync(path);
    return !found.isFile() && !found.isDirectory();
  } catch {
    return false;
  }
}

async function writeTo(path: string, content: Content): Promise<void> {
  try {
    const file = await open(path, 'w');
    await writeAll(file, content).finally(() => file.close());
  } catch (error) {
    throw fileError(path, error);
  }
}

async function writeAll(file: FileHandle, content: Content): Promise<void> {
  const chunks = content instanceof Uint8Array ? [content] : joined(content);
  for (const chunk of chunks) await file.writeFile(chunk);
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
