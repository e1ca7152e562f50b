/** Formats of recordings by their name, or by the names of files. */
import { basename } from 'node:path';
import { FORMATS, type Format } from '../tape/formats/formats.ts';
import { TapeError } from '../tape/record.ts';

/** Name that detects the format from the file names. */
export const AUTO_FORMAT = 'auto';

/** Row of the format table by name; `auto` is the one format whose pattern all file names match. */
export function formatNamed(name: string, files: readonly string[] = []): Format {
  const isAuto = name === AUTO_FORMAT;
  const names = files.map((path) => basename(path));
  const matches = FORMATS.filter((format) =>
    isAuto ? names.every((file) => format.fileName?.test(file) === true) : format.name === name,
  );
  const [found] = matches;
  if (found !== undefined && matches.length === 1) return found;
  const list = (matches.length === 0 ? FORMATS : matches).map((row) => row.name).join(', ');
  if (isAuto) {
    const count = matches.length === 0 ? 'no format' : 'several formats';
    throw new TapeError(`the file names match ${count}; name one of ${list}`);
  }
  throw new TapeError(`unknown format '${name}'; known formats: ${list}`);
}
