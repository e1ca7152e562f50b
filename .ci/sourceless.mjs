/** Scripts of `dist` without a source: a former build made them, and `tsc` deletes none. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
/** Bundles (`link.mjs`, `program.mjs`, `realm.mjs`) and copies (`assets.mjs`). */
const OTHERS = ['linked.js', 'program/', 'strategy-loader/guest/realm.js', 'assets/'];
/** Files of the compiler for one source. */
const COMPILED = /(\.js|\.js\.map|\.d\.ts)$/;

/** Of these paths in `dist`, the compiled ones whose source is gone. */
export function sourceless(paths) {
  return paths
    .filter((path) => COMPILED.test(path) && !OTHERS.some((other) => path.startsWith(other)))
    .filter((path) => !existsSync(join(ROOT, 'src', path.replace(COMPILED, '.ts'))));
}

/** For a package; a process of a former build may still load them. */
export function removeSourceless() {
  const dist = join(ROOT, 'dist');
  for (const path of sourceless(readdirSync(dist, { recursive: true }))) rmSync(join(dist, path));
}
