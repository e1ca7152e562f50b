/**
 * Makes a fresh clone ready: installs packages when they are missing or older than the lockfile,
 * and compiles when a source is newer than the build. Says each thing it does in one line; does
 * nothing, quickly, when all is there.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const inRoot = (...parts) => join(root, ...parts);
const timeOf = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);

function newestIn(folder) {
  let newest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    newest = Math.max(newest, entry.isDirectory() ? newestIn(path) : timeOf(path));
  }
  return newest;
}

/** Ends with one line if the command fails: its own output has the reason. */
function run(what, command, args) {
  console.log(`setup: ${what}`);
  const stdio = ['ignore', 'inherit', 'inherit'];
  const { status, signal, error } = spawnSync(command, args, { cwd: root, stdio });
  if (status === 0) return;
  const reason = error?.message ?? (signal === null ? `exit code ${status}` : `signal ${signal}`);
  console.error(`setup: ${what} failed: ${reason}`);
  process.exit(1);
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`setup: Node 20.19 or newer is required, found ${process.versions.node}`);
  process.exit(2);
}

const packages = inRoot('node_modules');
const installed = join(packages, '.package-lock.json');
// `npm ci` first deletes what a link leads to: the packages of another work tree.
const isLink = lstatSync(packages, { throwIfNoEntry: false })?.isSymbolicLink() === true;
if (isLink && !existsSync(installed)) {
  console.error('setup: node_modules is a link to a folder without packages; install them there');
  process.exit(2);
}
if (!isLink && timeOf(installed) < timeOf(inRoot('package-lock.json'))) {
  run('installing packages (npm ci)', 'npm', ['ci', '--ignore-scripts', '--loglevel=error']);
  const now = new Date();
  utimesSync(installed, now, now);
}

// A separate stamp file: a type check alone updates the compiler's.
const built = inRoot('dist', '.built');
const newest = Math.max(newestIn(inRoot('src')), timeOf(inRoot('tsconfig.json')));
if (timeOf(built) < newest || !existsSync(inRoot('dist', 'cli', 'main.js'))) {
  run('compiling', process.execPath, [inRoot('node_modules', 'typescript', 'bin', 'tsc')]);
  run('bundling the pages', process.execPath, [inRoot('.ci', 'web.mjs')]);
  writeFileSync(built, '');
}
// Its packages may have been installed just now.
const { setup: copyAssets } = await import('./assets.mjs');
await copyAssets();
