/**
 * Bundles a program with one mutant. The engine's source has no mutant code: a node of its syntax
 * tree is replaced while its file is loaded. The build fails unless that node exists exactly once.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { syntaxOf } from './aim.ts';
import type { Mutant, SourceEdit } from './mutant.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * File content with the edit applied. Throws if its place does not exist exactly once, or if
 * nothing changes.
 */
export function mutate(
  source: string,
  { id, file, find, replace }: Pick<Mutant, 'id'> & SourceEdit,
): string {
  const [place, other] = syntaxOf(source).find(declarationOf(file), find);
  if (place === undefined || other !== undefined) {
    const count = place === undefined ? 'no' : 'more than one';
    throw new Error(`mutant ${id}: src/${file} has ${count} place with the code ${find}`);
  }
  if (find === replace) throw new Error(`mutant ${id}: its replacement equals its code`);
  return source.slice(0, place.from) + replace + source.slice(place.to);
}

/** The part of a file name after `#`. */
function declarationOf(file: string): string {
  return file.includes('#') ? file.slice(file.indexOf('#') + 1) : '';
}

export function sourcePath({ file }: Pick<SourceEdit, 'file'>): string {
  return join(ROOT, 'src', file.replace(/#.*/, ''));
}

/** Bundles `entry` with its imports into one file; null: without a mutant. */
export async function bundle(entry: string, outfile: string, mutant: Mutant | null): Promise<void> {
  await bundleWith(entry, outfile, mutant?.id ?? 'none', mutant === null ? [] : [mutant]);
}

/** Like `bundle`, with several edits, possibly in several files. */
export async function bundleWith(
  entry: string,
  outfile: string,
  id: string,
  edits: readonly SourceEdit[],
): Promise<void> {
  const byPath = new Map<string, SourceEdit[]>();
  for (const edit of edits) {
    const path = sourcePath(edit);
    byPath.set(path, [...(byPath.get(path) ?? []), edit]);
  }
  const left = new Set(byPath.keys());
  const plugin: Plugin = {
    name: 'mutant',
    setup(setup) {
      if (left.size === 0) return;
      setup.onLoad({ filter: /\.ts$/ }, async (file) => {
        const own = byPath.get(file.path);
        if (own === undefined) return undefined;
        left.delete(file.path);
        let contents = await readFile(file.path, 'utf8');
        for (const edit of own) contents = mutate(contents, { id, ...edit });
        return { contents, loader: 'ts' };
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
    // CommonJS packages find `require`. Modules of the program may import the same name themselves.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    plugins: [plugin],
  });
  if (left.size > 0) {
    throw new Error(`mutant ${id}: src/${edits[0]?.file ?? ''} is not part of the program`);
  }
}
