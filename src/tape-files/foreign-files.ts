/** Files of the user in a folder that an import deletes: it refuses to. */
import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { filesNamedIn } from '../tape/manifest.ts';
import { TapeError } from '../tape/record.ts';

/** State of an import; its folder is that of an import. */
export const RESUME = 'resume.json';
/** Files of an import before its first state. */
const OF_IMPORT =
  /^(?:resume\.json\.partial-[\d-]+|[^/]+\/\d{5,}-[^/]+\.(?:events|levels)\.parquet)$/;

/**
 * Rejects with `TapeError` if a dataset's folder has files that its manifest, of any version, does
 * not name.
 */
export async function mustHoldDatasetOnly(folder: string, manifest: string): Promise<void> {
  const named = new Set(['manifest.json', RESUME, ...filesNamedIn(manifest)]);
  const foreign = (await filesIn(folder)).find((name) => !named.has(name));
  if (foreign === undefined) return;
  throw new TapeError(
    `${join(folder, foreign)}: is not a file of the dataset, and a replacement would delete it; move it elsewhere`,
  );
}

/** Rejects with `TapeError` if the folder of a former import has other files, such as a dataset. */
export async function mustBeOfImport(folder: string): Promise<void> {
  const names = await filesIn(folder);
  if (names.includes(RESUME)) return;
  const foreign = names.find((name) => !OF_IMPORT.test(name));
  if (foreign === undefined) return;
  throw new TapeError(
    `${join(folder, foreign)}: is not of a stopped import, which the folder is for; move the folder elsewhere`,
  );
}

/** Paths relative to the folder, with slashes; empty if there is none. Folders do not count. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    },
  );
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'));
}
