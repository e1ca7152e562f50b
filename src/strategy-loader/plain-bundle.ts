/** A file and its imports as one module without imports, for code that has no part in a run. */
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { BuildFailure } from 'esbuild';
import { UserError } from '../base/user-error.ts';
import { fileError } from '../platform/file-error.ts';
import { build } from './bundler.ts';

/** A file that cannot be bundled. */
export class BundleError extends UserError {
  override readonly name = 'BundleError';
  readonly code = 'bundle';
}

/** Throws `FileError`, or `BundleError` with the place. */
export async function bundlePlain(path: string): Promise<string> {
  await stat(path).catch((error: unknown) => {
    throw fileError(path, error);
  });
  try {
    const { outputFiles } = await build({
      entryPoints: [resolve(path)],
      absWorkingDir: dirname(resolve(path)),
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      target: 'es2023',
      logLevel: 'silent',
    });
    return outputFiles[0]?.text ?? '';
  } catch (error) {
    const [first] = (error as Partial<BuildFailure>).errors ?? [];
    if (first === undefined) throw error;
    const line = first.location === null ? '' : `:${String(first.location.line)}`;
    throw new BundleError(`${path}${line}: ${first.text}`);
  }
}
