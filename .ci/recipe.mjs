/**
 * Samples of the recipes in CONTRIBUTING.md: each is a patch in test/recipes.
 *
 *   node .ci/recipe.mjs open <name,…> <folder>   copies the tracked files, and applies the patches
 *   node .ci/recipe.mjs save <name> <folder>     makes the changes of that folder the patch
 *   node .ci/recipe.mjs test                     compiles a copy with all patches, runs their tests
 *
 * Where a part of a patch does not apply `open` leaves `.rej` files and ends with 1: repair these
 * files, remove the `.rej` files, then `save`. A name without a patch begins one.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/** Linked instead of copied: no sample changes them. */
const LINKED = ['node_modules', 'data'];
const patchOf = (one) => join(root, 'test', 'recipes', `${one}.patch`);
const git = (cwd, ...args) =>
  execFileSync('git', args, { cwd, encoding: 'utf8', maxBuffer: 1e8, stdio: 'pipe' });
const lines = (text) => text.split('\n').filter((line) => line !== '');

function save(name, folder) {
  git(folder, 'add', '--all');
  const rejected = lines(git(folder, 'ls-files', '*.rej'));
  if (rejected.length > 0) {
    console.error(`repair and remove ${rejected.join(', ')}`);
    process.exit(1);
  }
  // Little context, so that a change nearby does not spoil the patch.
  const format = ['--cached', '--no-color', '--no-renames', '--unified=1'];
  writeFileSync(patchOf(name), git(folder, 'diff', ...format));
}

function open(names, folder) {
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
  let applied = true;
  for (const patch of names.map(patchOf)) {
    if (!existsSync(patch)) continue;
    try {
      git(folder, 'apply', '--reject', patch);
    } catch (error) {
      console.error(error.stderr);
      applied = false;
    }
  }
  return applied;
}

/** Runs a script of a package in the folder; its output is shown. Ends the process if it fails. */
function must(folder, name, path, ...args) {
  const result = spawnSync(process.execPath, [join(root, 'node_modules', path), ...args], {
    cwd: folder,
    stdio: 'inherit',
  });
  if (result.status === 0) return;
  console.error(`FAILED ${name} with the samples applied`);
  process.exit(1);
}

function test() {
  const names = readdirSync(join(root, 'test', 'recipes'))
    .filter((file) => file.endsWith('.patch'))
    .map((file) => file.slice(0, -'.patch'.length));
  const folder = mkdtempSync(join(tmpdir(), 'orrery-recipes-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  if (!open(names, folder)) process.exit(1);
  const tests = names
    .flatMap((name) => lines(git(root, 'apply', '--numstat', patchOf(name))))
    .map((line) => line.split('\t')[2])
    .filter((path) => path.endsWith('.test.ts'));
  writeFileSync(
    join(folder, 'tsconfig.recipes.json'),
    JSON.stringify({ extends: './tsconfig.test.json', include: ['src/**/*.ts', ...tests] }),
  );
  must(folder, 'tsc', 'typescript/bin/tsc', '-p', 'tsconfig.recipes.json');
  const report = join(folder, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  must(folder, 'vitest', 'vitest/vitest.mjs', 'run', ...tests, ...reporters);
  const ran = JSON.parse(readFileSync(report, 'utf8')).testResults.filter(
    ({ status, assertionResults }) => status === 'passed' && assertionResults.length > 0,
  );
  if (ran.length !== tests.length) {
    console.error(`FAILED ${ran.length} of ${tests.length} test files of the samples ran`);
    process.exit(1);
  }
  console.log(`ok     ${names.length} samples compile, and their ${ran.length} test files pass`);
}

const [action, name, given] = process.argv.slice(2);
if (action === 'test') {
  test();
} else if (!['open', 'save'].includes(action) || name === undefined || given === undefined) {
  console.error('usage: node .ci/recipe.mjs open|save <name> <folder>, or test');
  process.exit(2);
} else if (action === 'save') {
  save(name, resolve(given));
} else if (!open(name.split(','), resolve(given))) {
  process.exitCode = 1;
}
