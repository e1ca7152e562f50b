/**
 * Bundles a program with one mutant in it. The engine's source knows nothing of mutants: the text is replaced while its file is
 * read, and a mutant whose text does not occur exactly once does not build.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import type { Mutant } from './mutant.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The file with the mutant in it. Throws when its text does not occur exactly once, or changes nothing. */
export function mutate(source: string, { id, file, find, replace }: Mutant): string {
  const parts = source.split(find);
  if (parts.length !== 2) {
    throw new Error(
      `mutant ${id}: its text occurs ${String(parts.length - 1)} times in src/${file}, once is needed`,
    );
  }
  if (find === replace) throw new Error(`mutant ${id}: replaces its text by itself`);
  return parts.join(replace);
}

export function sourcePath({ file }: Mutant): string {
  return join(ROOT, 'src', file);
}

/** Writes `entry` and all that it imports to one file; null builds it as it is. */
export async function bundle(entry: string, outfile: string, mutant: Mutant | null): Promise<void> {
  let applied = 0;
  const plugin: Plugin = {
    name: 'mutant',
    setup(setup) {
      if (mutant === null) return;
      const path = sourcePath(mutant);
      setup.onLoad({ filter: /\.ts$/ }, async (file) => {
        if (file.path !== path) return undefined;
        applied += 1;
        return { contents: mutate(await readFile(path, 'utf8'), mutant), loader: 'ts' };
      });
    },
  };
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'silent',
    // Packages that were written for require find it.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    plugins: [plugin],
  });
  if (mutant !== null && applied !== 1) {
    throw new Error(`mutant ${mutant.id}: src/${mutant.file} is no part of the program`);
  }
}
