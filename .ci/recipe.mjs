/**
 * Samples of the recipes in CONTRIBUTING.md: each is a patch in test/recipes.
 *
 *   node .ci/recipe.mjs open <name,…> <folder>   copies the tracked files, and applies the patches
 *   node .ci/recipe.mjs save <name> <folder>     makes the changes of that folder the patch
 *
 * Where a part of a patch does not apply `open` leaves `.rej` files and ends with 1: repair these
 * files, remove the `.rej` files, then `save`. A name without a patch begins one.
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/** Linked instead of copied: no sample changes them. */
const LINKED = ['node_modules', 'data'];
const [action, name, given] = process.argv.slice(2);
if (!['open', 'save'].includes(action) || name === undefined || given === undefined) {
  console.error('usage: node .ci/recipe.mjs open|save <name> <folder>');
  process.exit(2);
}
const folder = resolve(given);
const patchOf = (one) => join(root, 'test', 'recipes', `${one}.patch`);
const git = (cwd, ...args) =>
  execFileSync('git', args, { cwd, encoding: 'utf8', maxBuffer: 1e8, stdio: 'pipe' });
const lines = (text) => text.split('\n').filter((line) => line !== '');

if (action === 'save') {
  git(folder, 'add', '--all');
  const rejected = lines(git(folder, 'ls-files', '*.rej'));
  if (rejected.length > 0) {
    console.error(`repair and remove ${rejected.join(', ')}`);
    process.exit(1);
  }
  // Little context, so that a change nearby does not spoil the patch.
  const format = ['--cached', '--no-color', '--no-renames', '--unified=1'];
  writeFileSync(patchOf(name), git(folder, 'diff', ...format));
} else {
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    console.error(`${folder} is not empty`);
    process.exit(2);
  }
  for (const path of lines(git(root, '-c', 'core.quotePath=off', 'ls-files'))) {
    if (LINKED.includes(path.split('/')[0]) || !existsSync(join(root, path))) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    copyFileSync(join(root, path), join(folder, path));
  }
  for (const link of LINKED) symlinkSync(join(root, link), join(folder, link));
  git(folder, 'init', '--quiet');
  git(folder, 'add', '--all');
  const author = ['-c', 'user.name=recipe', '-c', 'user.email=recipe@localhost'];
  git(folder, ...author, 'commit', '--quiet', '--no-verify', '--message=base');
  for (const patch of name.split(',').map(patchOf)) {
    if (!existsSync(patch)) continue;
    try {
      git(folder, 'apply', '--reject', patch);
    } catch (error) {
      console.error(error.stderr);
      process.exitCode = 1;
    }
  }
}
