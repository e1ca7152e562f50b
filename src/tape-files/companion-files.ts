/** Files that are read together with the others of a recording. */
import { basename } from 'node:path';
import type { Format } from '../tape/formats/formats.ts';

interface FilesOfFormat {
  readonly format: Format;
  readonly files: readonly string[];
}

/** Files without their companions, in order. */
export function filesToRead(options: FilesOfFormat): readonly string[] {
  const companions = companionFiles(options);
  return options.files.filter((path) => !companions.includes(path));
}

/**
 * Companion files, read together with the others: a LOBSTER order book with its messages, HTTP
 * snapshots with a feed captured by cryptofeed. Empty if all files match the companion pattern.
 */
export function companionFiles({ format, files }: FilesOfFormat): readonly string[] {
  const companions = files.filter((path) => format.companion?.test(basename(path)) === true);
  return companions.length < files.length ? companions : [];
}
