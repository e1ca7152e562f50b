/**
 * Builds the engine with a bug: a node of one source file is replaced while esbuild loads it. The
 * sources stay unchanged.
 */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { mutate, sourcePath } from '../../mutants/build.ts';
import type { PlantedBug } from './bugs.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

export type BuiltFuzzer = typeof import('./entry.ts');

export async function buildWith({ name, file, find, replace }: PlantedBug): Promise<BuiltFuzzer> {
  const edit = { id: name, file: `engine/${file}`, find, replace };
  const path = sourcePath(edit);
  const contents = mutate(await readFile(path, 'utf8'), edit);
  // Next to node_modules packages, so that their imports resolve.
  const outfile = join(ROOT, 'node_modules/.cache/orrery/planted', `${name}.mjs`);
  await build({
    entryPoints: [join(ROOT, 'test/fuzz/planted/entry.ts')],
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    outfile,
    logLevel: 'error',
    plugins: [
      {
        name: 'planted-bug',
        setup: (building) => {
          building.onLoad({ filter: /\.ts$/ }, ({ path: loaded }) =>
            loaded === path ? { contents, loader: 'ts' } : undefined,
          );
        },
      },
    ],
  });
  return (await import(`${pathToFileURL(outfile).href}?${name}`)) as BuiltFuzzer;
}
