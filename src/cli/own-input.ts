/** Refuses an output that would replace an input of the same command. */
import { realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { InputError } from './cli-support.ts';

/**
 * Throws `InputError` if `out` is one of the inputs, by whatever name. Of an input that is a
 * folder, only pages may be replaced.
 */
export function mustNotBeInput(
  option: string,
  out: string | undefined,
  inputs: readonly (string | undefined)[],
): void {
  const file = out === undefined ? null : realPath(out);
  if (file === null) return;
  for (const input of inputs) {
    const known = input === undefined ? null : realPath(input);
    const isInside = known !== null && isFolder(known) && dirname(file) === known;
    if (file !== known && !(isInside && !file.endsWith('.html'))) continue;
    throw new InputError(
      `--${option} ${out ?? ''}: is an input of this command; name another file`,
    );
  }
}

/** null if there is none. */
function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
