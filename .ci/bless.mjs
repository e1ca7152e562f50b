/**
 * `npm run bless`: updates the golden hashes after an intended change of behaviour. Runs every
 * scenario and writes its state hash if all its other expectations hold; then prints the changed
 * files. A changed hash needs an entry in CHANGELOG.md with the reason.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const main = join(root, 'dist', 'cli', 'main.js');
const folders = ['scenarios', join('test', 'fuzz', 'corpus')];
let failed = false;
for (const folder of folders) {
  const { status } = spawnSync(process.execPath, [main, 'run', folder, '--update-hash'], {
    cwd: root,
    stdio: 'inherit',
  });
  failed ||= status !== 0;
}
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' });
const changed = git('diff', '--name-only', '--', ...folders).trim();
console.log(changed === '' ? 'no golden hash changed' : `golden hashes changed in:\n${changed}`);
if (changed !== '' && !git('diff', '--name-only', '--', 'CHANGELOG.md').includes('CHANGELOG')) {
  console.log('CHANGELOG.md has no new entry: add the reason for each changed hash');
}
process.exitCode = failed ? 1 : 0;
