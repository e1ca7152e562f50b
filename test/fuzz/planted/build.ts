/**
 * Builds the engine with a bug: a text of one source file is replaced while esbuild loads it. The
 * sources stay unchanged.
 */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { PlantedBug } from './bugs.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

export type BuiltFuzzer = typeof import('./entry.ts');

export async function buildWith({ name, file, find, replace }: PlantedBug): Promise<BuiltFuzzer> {
  const path = join(ROOT, 'src/engine', file);
  const source = await readFile(path, 'utf8');
  if (source.split(find).length !== 2) {
    throw new Error(`${name}: the text to replace does not occur exactly once in ${file}`);
  }
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
          const filter = new RegExp(`${file.replaceAll('/', '[/\\\\]').replaceAll('.', '\\.')}$`);
          building.onLoad({ filter }, ({ path: loaded }) =>
            loaded === path
              ? { contents: source.replace(find, () => replace), loader: 'ts' }
              : undefined,
          );
        },
      },
    ],
  });
  return (await import(`${pathToFileURL(outfile).href}?${name}`)) as BuiltFuzzer;
}
