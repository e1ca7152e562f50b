/** Scripts and styles of pages, which the build copies from their packages to `dist/assets`. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

/** Throws when the build did not copy it. */
export async function pageAsset(name: string): Promise<Buffer> {
  const { resolve } = createRequire(import.meta.url);
  let path: string;
  try {
    path = resolve(`#assets/${name}`);
  } catch (error) {
    throw new Error(`dist/assets/${name} is missing: run "npm run build"`, { cause: error });
  }
  return readFile(path);
}
