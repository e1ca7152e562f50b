/** Addresses of files that pages link to. */
import { existsSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';

/**
 * Address of a file on a page in `folder`; null if there is no such file. A name may have
 * characters that end the path of an address, such as `#`.
 */
export function fileAddress(folder: string, file: string): string | null {
  if (!existsSync(file)) return null;
  const path = relative(resolve(folder), resolve(file));
  return path.split(sep).map(encodeURIComponent).join('/');
}
