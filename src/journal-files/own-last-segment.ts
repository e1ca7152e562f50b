/**
 * Makes the segment that a server continues a file of its folder alone. Where it has another name,
 * as in a copy of hard links, two servers would write to one file: each folder is locked, the file
 * is not. The other name keeps the file; this folder gets a copy, durable before it is renamed.
 */
import { constants } from 'node:fs';
import { copyFile, open, rename, stat } from 'node:fs/promises';
import { listSegments } from './segments.ts';
import { syncFolder } from './snapshots.ts';

export async function ownLastSegment(folder: string): Promise<void> {
  const last = listSegments(folder).at(-1);
  if (last === undefined || (await stat(last.path)).nlink === 1) return;
  const copy = `${last.path}.partial`;
  await copyFile(last.path, copy, constants.COPYFILE_FICLONE);
  const file = await open(copy, 'r+');
  await file.sync().finally(() => file.close());
  await rename(copy, last.path);
  await syncFolder(folder);
}
