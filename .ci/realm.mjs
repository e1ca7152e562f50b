/**
 * Bundles the script of this program for the realms of strategies from the sources. A bundle of the
 * built modules would contain all of the linked engine.
 */
import { build } from 'esbuild';
import { existsSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const SOURCES = join(ROOT, 'src');
const FOLDER = join(ROOT, 'dist', 'strategy-loader', 'guest');
const SCRIPT = join(FOLDER, 'realm.js');

/** Bundles it unless no source has changed since; without a build, does nothing. */
export async function realmIfChanged() {
  if (!existsSync(FOLDER)) return;
  const sources = readdirSync(SOURCES, { recursive: true }).map((name) => join(SOURCES, name));
  const files = [...sources, fileURLToPath(import.meta.url)];
  const newest = Math.max(...files.map((file) => statSync(file).mtimeMs));
  if (existsSync(SCRIPT) && statSync(SCRIPT).mtimeMs > newest) return;
  const { outputFiles } = await build({
    entryPoints: [join(SOURCES, 'strategy-loader', 'guest', 'guest.ts')],
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'neutral',
    target: 'es2023',
    logLevel: 'error',
  });
  // Another process never reads a part of it.
  const partial = `${SCRIPT}.${String(process.pid)}`;
  writeFileSync(partial, outputFiles[0].text);
  renameSync(partial, SCRIPT);
}
